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
    kernel,
    kernel_commands,
    kernel_state,
    kernel_way_back,
    snapshot,
)


def shell(script: str) -> None:
    subprocess.run(["sh"], input=script, text=True, capture_output=True, check=False)


def dump(name: str) -> dict[str, str]:
    found = dumped.kernel([name])
    return {**found[""], **found[name]}


def still(name: str) -> None:
    """Addresses are probed for, but on a link that is down or has no carrier only once it has one."""

    def is_still() -> bool:
        (link,) = kernel.ip_json("address", "show", "dev", name)
        return link["operstate"] != "UP" or not any("tentative" in each for each in link["addr_info"])

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


def always() -> list[Case]:
    """One address of the link that IPv6 makes of its secret, and a newer one; it has it made so still, or no more. And
    an address that is the source of a route over another interface.
    """
    peer = "ip link add {0} type veth peer name p{0} netns lan; ip -n lan link set p{0} up"
    made = (
        "echo 3 > /proc/sys/net/ipv6/conf/{0}/addr_gen_mode; ip link set {0} up",
        "ip address add fe80::39/64 nodad dev {0}",
    )
    no_more = "ip link set {0} addrgenmode eui64"
    source = (
        "ip link set {0} up; ip address add fd88::23/128 nodad dev {0}",
        "ip -6 route append blackhole fd88:1::/80 metric 2329 table 300 proto 99 src fd88::23",
    )
    return [
        Case(number, name, "", (peer.format(name),), tuple(each.format(name) for each in things))
        for number, name, things in ((-1, "secret", made), (-2, "nomore", (*made, no_more)), (-4, "source", source))
    ]


def play(made: Case, lost: list[str]) -> dict[str, object]:
    name = made.name
    without_networkmanager = [each for each in (*made.making, *made.things) if not each.startswith("nmcli")]
    shell("\n".join(without_networkmanager))
    still(name)
    if kernel_commands.unreplayable(name, kernel.routes()):
        return {}  # it is left alone
    states, rules, before = kernel_state.read([name]), kernel.rules(), dump(name)
    if any(key.startswith("multicast group ff05::") for key in before):
        return {}  # it is left alone as well
    shell("\n".join(lost))
    if made.number % 2:
        # As the guard does, which does not wait for what else is to be done.
        snapshot.put_lost_back({"kernel": states, "devices": {}, "profiles": {}, "rules": rules})
    troubles = kernel_way_back.put_rules_back(rules, []) + kernel_way_back.put_back(states, {})
    still(name)
    changed = differences(before, dump(name))
    return {"case": made.number, "lost": lost, "troubles": troubles, "changed": changed} if troubles or changed else {}


def main(first: int, end: int) -> None:
    shell("ip netns add lan; ip link set lo up")
    drawn = [case(number) for number in range(first, end)]
    each_lost = {made: losses(random.Random(-made.number), made.name) for made in drawn}
    each_lost.update({made: [f"ip address flush dev {made.name}"] for made in always()})
    for made, lost in each_lost.items():
        found = play(made, lost)
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
