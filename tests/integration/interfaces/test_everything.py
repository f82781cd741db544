"""Interfaces made up at random: what is not as it was is said, and given back, all is as it was.

Everything that can be asked of an interface is dumped before, adopted and given back; nothing here knows how an
adoption works. A case is made again by its number: ``make interfaces CASES=1 SEED=17``.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator

import pytest
from fleet import Fleet
from nic_hosts import devices, eventually, everywhere, shell, topology
from slb_lab.lab import Host

FIRST = int(os.environ.get("SEED", "1"))
CASES = range(FIRST, FIRST + int(os.environ.get("CASES", "3")))
NAME = "rnd0"
OF_THE_LINK = ("fe80:", "ff00:")


@pytest.fixture(scope="module")
def fleet(make_fleet: Callable[[str, dict], Fleet]) -> Fleet:
    fleet = make_fleet("nic-random", topology({}))
    for host in fleet.lab.hosts.values():
        shell(host, "ip netns add lan")
    return fleet


def made_up(case: int) -> list[str]:
    """The commands that make the interface of a case."""
    chance = random.Random(case)
    commands = [f"link add {NAME} type veth peer name {NAME}p netns lan", f"-n lan link set {NAME}p up"]
    if chance.random() < 0.5:
        commands.append(f"link set {NAME} address 02:00:00:00:00:{chance.randrange(256):02x}")
    commands += [f"link set {NAME} mtu {chance.choice((1500, 1500, 1400, 9000))}", f"link set {NAME} up"]
    commands += [f"address add {each} dev {NAME}" for each in (*_inet(chance), *_inet6(chance))]
    for number in range(chance.randrange(4)):
        words = [f"10.{100 + number}.0.0/16 via 10.201.0.1"]
        words += chance.choice(([], [f"metric {chance.randrange(1, 999)}"], [f"table {chance.randrange(100, 110)}"]))
        words += chance.choice(([], [], ["mtu 1300"], ["src 10.201.0.2"], ["advmss 1200"]))
        words += chance.choice(([], [], ["proto static"], ["proto 186"]))
        commands.append(f"route add {' '.join(words)} dev {NAME}")
    commands += [
        f"neighbor add 10.201.0.{number} lladdr 02:00:00:00:01:{number:02x} dev {NAME} nud permanent"
        for number in range(50, 50 + chance.randrange(3))
    ]
    return commands


def _inet(chance: random.Random) -> Iterator[str]:
    for number in range(2, 2 + chance.randrange(1, 4)):
        marks = chance.choice(("", "", f"label {NAME}:{number}", "preferred_lft 0", "noprefixroute"))
        yield f"10.201.0.{number}/24 brd + {marks if number > 2 else ''}"


def _inet6(chance: random.Random) -> Iterator[str]:
    for number in range(2, 2 + chance.randrange(4)):
        yield f"fd88::{number}/64 nodad {chance.choice(('', '', 'preferred_lft 0'))}"


def settings(case: int) -> dict[str, str]:
    chance = random.Random(-case)
    values = {
        "ipv4/forwarding": "01",
        "ipv4/rp_filter": "012",
        "ipv4/arp_ignore": "012",
        "ipv6/forwarding": "01",
        "ipv6/ndisc_notify": "01",
        "ipv6/accept_ra": "012",
        "ipv6/dad_transmits": "012",
    }
    return {key: chance.choice(value) for key, value in values.items()}


def dump(host: Host) -> dict[str, str]:
    """Everything, one line each: by what it is, its value."""
    (link,) = json.loads(shell(host, f"ip -details -json address show dev {NAME}"))
    found = {key: str(link.get(key)) for key in ("address", "mtu", "qdisc", "txqlen", "operstate", "promiscuity")}
    for family in ("inet", "inet6"):
        own = [each for each in link["addr_info"] if each["family"] == family and not _of_the_link(each["local"])]
        found[f"order of {family}"] = " ".join(each["local"] for each in own)
        for each in own:
            for key, value in each.items():
                if not key.endswith("_life_time"):
                    found[f"{each['local']} {key}"] = str(value)
            found[f"{each['local']} deprecated"] = str(each["preferred_life_time"] == 0)
    for family in ("-4", "-6"):
        for route in json.loads(shell(host, f"ip -N -json {family} route show table all dev {NAME}")):
            if route.get("type", "unicast") == "unicast" and not _of_the_link(route["dst"]):
                fields = {key: value for key, value in route.items() if key not in ("flags", "protocol")}
                found[f"route {json.dumps(fields, sort_keys=True)} protocol"] = str(route.get("protocol"))
        found[f"rules {family}"] = shell(host, f"ip -json {family} rule")
    for each in json.loads(shell(host, f"ip -json neighbor show nud permanent dev {NAME}")):
        if not _of_the_link(each["dst"]) and not each["dst"].startswith(("ff", "224.")):
            found[f"neighbour {each['dst']}"] = each["lladdr"]
    for line in shell(host, f"grep -s . /proc/sys/net/ipv[46]/conf/{NAME}/*; true").splitlines():
        path, value = line.split(":", 1)
        found[f"{path.split('/')[4]} {path.rsplit('/', 1)[1]}"] = value
    found["tc"] = shell(host, f"tc qdisc show dev {NAME}")
    found["token"] = shell(host, f"ip token get dev {NAME}")
    found["resolv.conf"] = shell(host, "cat /etc/resolv.conf")
    found["state"] = devices(host)[NAME]
    files = "find /etc/NetworkManager /run/NetworkManager/system-connections -type f | sort | xargs md5sum"
    found["files"] = shell(host, f"{files}; ls /var/lib/slb-fleet/interfaces 2>/dev/null; true")
    return found


def _of_the_link(address: str) -> bool:
    return address.startswith(OF_THE_LINK)


def differences(before: dict[str, str], after: dict[str, str]) -> dict[str, str]:
    keys = sorted(before.keys() | after.keys())
    return {key: f"{before.get(key)} -> {after.get(key)}" for key in keys if before.get(key) != after.get(key)}


def said(difference: str, words: str) -> bool:
    """Whether the result names it: an address, a neighbour or a setting by its name."""
    first, *rest = difference.split()
    if difference in ("state", "files") or rest[-1:] == ["protocol"]:
        return True  # being under control is what was asked for, and then its routes are NetworkManager's
    if first in ("ipv4", "ipv6"):
        return f"{difference} is" in words
    if first in ("neighbour", "order"):
        return rest[-1] in words
    return first in words


@pytest.mark.parametrize("case", CASES)
def test_what_is_not_as_it_was_is_said_and_given_back_it_is_as_it_was(fleet: Fleet, case: int) -> None:
    def scenario(host: Host) -> None:
        shell(host, f"ip link del {NAME} 2>/dev/null; ip {made_up(case)[0]}")
        try:
            play(host)
        finally:
            shell(host, f"ip link del {NAME}")

    def play(host: Host) -> None:
        eventually(lambda: NAME in devices(host), 20, "NetworkManager sees it")
        shell(host, f"nmcli device set {NAME} managed no")
        eventually(lambda: devices(host)[NAME] == "unmanaged", 20, "it is unmanaged")
        for key, value in settings(case).items():
            family, setting = key.split("/")
            shell(host, f"echo {value} > /proc/sys/net/{family}/conf/{NAME}/{setting}")
        for command in made_up(case)[1:]:
            shell(host, f"ip {command}")
        before = dump(host)
        result = fleet.module(host.name, "interface", interfaces=[NAME], dhcp_timeout=4)
        adopted = [each for each in result.get("adopted", []) if each["name"] == NAME]
        now = differences(before, dump(host))
        if not adopted:
            (why,) = [each["reason"] for each in result["left_alone"] if each["name"] == NAME]
            assert not now, (why, now)
            return
        words = " ".join([*adopted[0]["not_kept"], *adopted[0]["notes"]])
        silent = {key: change for key, change in now.items() if not said(key, words)}
        assert not silent, (words, silent)
        returned = fleet.module(host.name, "interface", interfaces=[NAME], state="absent")
        assert not returned["failed"], returned
        assert differences(before, dump(host)) == {}

    everywhere(fleet, scenario)
