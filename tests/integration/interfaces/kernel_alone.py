"""Makes up interfaces, takes from them what a manager may take, and has the kernel's part put back: no host needed.

Runs in namespaces of its own, with the first case and the one after the last; prints what is not as it was.
"""

from __future__ import annotations

import random
import subprocess
import sys

import dumped
from compared import differences
from made_up import Case, case
from runs import wait_until

from ansible_collections.slb.fleet.plugins.module_utils._network import (
    ip_commands,
    kernel,
    kernel_state,
    snapshot,
)


def shell(script: str) -> None:
    subprocess.run(["sh"], input=script, text=True, capture_output=True, check=False)


def dump(name: str) -> dict[str, str]:
    found = dumped.kernel([name])
    return {**found[""], **found[name]}


def still(name: str) -> None:
    """Addresses are probed for."""

    def is_still() -> bool:
        return not any("tentative" in each for each in kernel.ip_json("address", "show", "dev", name)[0]["addr_info"])

    wait_until(is_still, name, 20)


def losses(chance: random.Random, name: str) -> list[str]:
    conf = "/proc/sys/net/{}/conf/" + name
    everything = [
        f"ip address flush dev {name}",
        f"ip -4 address flush dev {name}",
        f"ip link set {name} down; ip link set {name} up",
        f"ip link set {name} down; ip link set {name} address 02:11:11:11:11:11; ip link set {name} up",
        f"ip route flush dev {name}; ip -6 route flush dev {name}",
        f"ip neighbor flush dev {name} nud permanent; ip neighbor flush dev {name} nud noarp",
        f"ip link set {name} mtu 1480",
        f"for each in rp_filter arp_ignore forwarding; do echo 1 > {conf.format('ipv4')}/$each; done",
        f"echo 0 > {conf.format('ipv6')}/accept_ra; echo 1 > {conf.format('ipv6')}/addr_gen_mode",
        f"echo 1 > {conf.format('ipv6')}/disable_ipv6",
        f"ip address add 10.250.0.1/24 dev {name}; ip route add 10.251.0.0/16 via 10.250.0.9 dev {name}",
        f"ip token set ::99 dev {name}",
        "ip rule del lookup 100; ip -6 rule del lookup 100",
    ]
    return chance.sample(everything, chance.randrange(1, 5))


def play(made: Case) -> dict[str, object]:
    name = made.name
    without_networkmanager = [each for each in (*made.making, *made.things) if not each.startswith("nmcli")]
    shell("\n".join(without_networkmanager))
    still(name)
    if kernel_state.unreplayable(name, kernel.routes()):
        return {}  # it is left alone
    states, rules, before = kernel_state.read([name]), kernel.rules(), dump(name)
    lost = losses(random.Random(-made.number), name)
    shell("\n".join(lost))
    troubles = ip_commands.run(snapshot._rule_commands(rules)) + snapshot._put_kernel_back(states, {})
    still(name)
    changed = differences(before, dump(name))
    return {"case": made.number, "lost": lost, "troubles": troubles, "changed": changed} if troubles or changed else {}


def main(first: int, end: int) -> None:
    shell("ip netns add lan; ip link set lo up")
    for number in range(first, end):
        made = case(number)
        found = play(made)
        if found:
            print(found, flush=True)
        script = [f"ip link del {made.name}"]
        for family in ("-4", "-6"):
            script += [
                f"ip {family} route flush table all type {kind}" for kind in ("blackhole", "unreachable", "throw")
            ]
            script.append(f"while ip {family} rule del lookup 100; do :; done")
        shell("\n".join(script))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
