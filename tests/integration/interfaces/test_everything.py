"""Interfaces made up at random: what is not as it was is said, and given back, all is as it was.

Everything that can be asked is dumped before, adopted and given back; nothing here knows how an adoption works. Twenty
cases are on each host at a time. In some blocks something goes wrong in between, and then all is to be as it was within
the bound. ``make interfaces CASES=2000 SEED=1``; a case is made again by its number, alone: ``CASES=1 SEED=17``, and
with ``REDUCE=1`` with ever fewer things, until none can be left out.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from compared import Dump, differences, kind_of, unsaid
from fleet import Fleet
from made_up import TOGETHER, Case, case
from nic_hosts import devices, eventually, everywhere, shell, topology
from slb_lab.lab import Host
from troubles import BACK_WITHIN, TROUBLES

FIRST = int(os.environ.get("SEED", "1"))
LAST = FIRST + int(os.environ.get("CASES", "19")) - 1
BLOCKS = range(FIRST // TOGETHER, LAST // TOGETHER + 1)
DUMP = Path(__file__).with_name("dumped.py").read_text()
SEEN = Path(__file__).resolve().parents[3] / ".cache" / "interfaces.tsv"
CONFIGURATION = """
[device-made-up]
match-device=interface-name:dv*
managed=0
[keyfile]
unmanaged-devices+=interface-name:st*
"""


@pytest.fixture(scope="module")
def fleet(make_fleet: Callable[[str, dict], Fleet]) -> Fleet:
    fleet = make_fleet("nic-random", topology({}))
    named = [each.name for block in BLOCKS for each in cases(block)]
    for host in fleet.lab.hosts.values():
        put(host, "/etc/NetworkManager/conf.d/50-made-up.conf", CONFIGURATION)
        ifupdown = "".join(f"iface {name} inet manual\n" for name in named if name.startswith("iu"))
        put(host, "/etc/network/interfaces.d/made-up", ifupdown)
        shell(host, "ip netns add lan; systemctl restart NetworkManager")
    return fleet


def put(host: Host, path: str, content: str) -> None:
    host.exec(["sh", "-c", f"mkdir -p $(dirname {path}); cat > {path}"], stdin=content)


def cases(block: int) -> list[Case]:
    numbers = range(block * TOGETHER, (block + 1) * TOGETHER)
    return [case(number) for number in numbers if FIRST <= number <= LAST]


@dataclass
class Violation:
    """``number``: of the case; None where it is the host's."""

    number: int | None
    what: str


def dump(host: Host, played: list[Case]) -> dict[str, Dump]:
    names = [each.name for each in played]
    return json.loads(host.exec(["python3", "-", *names], stdin=DUMP).stdout)


def make(host: Host, played: list[Case]) -> None:
    unmade(host, played)
    shell(host, "\n".join(each.making[0] for each in played))
    eventually(lambda: {each.name for each in played} <= devices(host).keys(), 60, "NetworkManager sees them")
    script = [line for each in played for line in (*each.making[1:], *each.things)]
    # What the kernel or the host's tools do not know is not made.
    host.exec(["sh"], stdin="".join(f"{{ {line}; }} >/dev/null 2>&1 || :\n" for line in script), timeout=120)
    settled(host, played)


def settled(host: Host, played: list[Case]) -> None:
    """NetworkManager has seen all that was done."""
    last: list[dict[str, Dump]] = []

    def still() -> bool:
        last.append(dump(host, played))
        return len(last) > 1 and not any(differences(last[-2][name], found) for name, found in last[-1].items())

    eventually(still, 60, "all is still")


def unmade(host: Host, played: list[Case]) -> None:
    """With what a case has that does not go with its interface."""
    script = [f"ip link del {each.name}; nmcli connection delete of-{each.name}" for each in played]
    for family in ("-4", "-6"):
        numbers = f"ip {family} rule | grep 'lookup 100' | cut -d: -f1"
        script.append(f"for priority in $({numbers}); do ip {family} rule del priority $priority; done")
        script += [f"ip {family} route flush table all type {kind}" for kind in ("blackhole", "unreachable", "throw")]
    script.append("rm -f /var/lib/slb-fleet/interfaces/*")
    host.exec(["sh"], stdin="exec >/dev/null 2>&1\n" + "\n".join([*script, "true"]), timeout=120)


def play(fleet: Fleet, host: Host, played: list[Case], lift: bool, seen: Counter[str]) -> Iterator[Violation]:
    make(host, played)
    before = dump(host, played)
    names = [each.name for each in played]
    wish = {"interfaces": names, "dhcp_timeout": 4, "confirm_timeout": 120, "lift_unmanaged": lift}
    result = fleet.module(host.name, "interface", **wish)
    if result["failed"]:
        yield Violation(None, f"the adoption failed: {result.get('msg')}")
        return
    settled(host, played)
    now = dump(host, played)
    sentences = {each["name"]: [*each["not_kept"], *each["notes"]] for each in result["adopted"]}
    reasons = {each["name"]: each["reason"] for each in result["left_alone"]}
    for each in played:
        had, has = before[each.name], now[each.name]
        if each.name in sentences:
            silent = unsaid(had, has, sentences[each.name])
            if silent:
                yield Violation(each.number, f"adopted, and nothing says: {silent}; said: {sentences[each.name]}")
            if has.get("networkmanager state") != "connected":
                yield Violation(each.number, f"adopted, and NetworkManager says {has.get('networkmanager state')}")
            changed = differences(had, has)
            seen.update(f"{kind_of(key)}\t{'said' if key in changed else 'kept'}" for key in had)
        elif each.name not in reasons:
            yield Violation(each.number, "neither adopted nor left alone")
        else:
            seen[
                f"(left alone) {''.join(' ' if c.isdigit() else c for c in reasons[each.name])[:100]}\tleft alone"
            ] += 1
            if differences(had, has):
                yield Violation(each.number, f"left alone ({reasons[each.name]}), but {differences(had, has)}")
    if differences(before[""], now[""]):
        yield Violation(None, f"the host's: {differences(before[''], now[''])}; remarks: {result.get('remarks')}")
    returned = fleet.module(host.name, "interface", interfaces=names, state="absent", confirm_timeout=120)
    if returned["failed"]:
        yield Violation(None, f"giving back failed: {returned.get('msg')}")
    settled(host, played)
    yield from not_as_before(before, dump(host, played), played, "given back, but ")


def not_as_before(
    before: dict[str, Dump], after: dict[str, Dump], played: list[Case], words: str
) -> Iterator[Violation]:
    for number, name in [(None, ""), *((each.number, each.name) for each in played)]:
        changed = differences(before[name], after[name])
        if changed:
            yield Violation(number, f"{words}{changed}")


def play_trouble(fleet: Fleet, host: Host, played: list[Case], lift: bool, trouble: str) -> Iterator[Violation]:
    make(host, played)
    before = dump(host, played)
    names = [each.name for each in played]
    gone: list[str] = []
    with TROUBLES[trouble](fleet, host, names, lift) as struck:
        gone += struck.gone
        if struck.kernel_alone:
            wanted = {name: kernels(found) for name, found in before.items()}
            last: dict[str, Dump] = {}

            def back() -> bool:
                last.update(dump(host, played))
                return not any(differences(wanted[name], kernels(last[name])) for name in wanted)

            try:
                eventually(back, struck.seconds_left(BACK_WITHIN), "the kernel's part is back")
            except AssertionError:
                yield from not_as_before(wanted, {name: kernels(each) for name, each in last.items()}, played, trouble)
    struck.require_restored(120)
    settled(host, [each for each in played if each.name not in gone])
    rest = [each for each in played if each.name not in gone]
    yield from not_as_before(before, dump(host, rest), rest, f"{trouble}: ")


def kernels(found: Dump) -> Dump:
    """Without what only NetworkManager can put back."""
    return {key: value for key, value in found.items() if not key.startswith(("networkmanager", "file "))}


def reduced(fleet: Fleet, host: Host, failing: Case, lift: bool) -> str:
    """The least that fails."""

    def fails(tried: Case) -> bool:
        return any(play(fleet, host, [tried], lift, Counter()))

    if not fails(failing):
        return "alone it does not fail"
    at = 0
    while at < len(failing.things):
        smaller = failing.without([at])
        if fails(smaller):
            failing = smaller
        else:
            at += 1
    return "\n".join((*failing.making, *failing.things))


@pytest.mark.parametrize("block", BLOCKS)
def test_what_is_not_as_it_was_is_said_and_given_back_it_is_as_it_was(fleet: Fleet, block: int) -> None:
    chance = random.Random(-block - 1)
    lift = chance.random() < 0.5
    trouble = chance.choice(sorted(TROUBLES)) if block and chance.random() < 0.4 else None
    played = cases(block)

    def scenario(host: Host) -> None:
        seen: Counter[str] = Counter()
        if trouble is None:
            found = list(play(fleet, host, played, lift, seen))
        else:
            found = list(play_trouble(fleet, host, played, lift, trouble))
        with SEEN.open("a") as stream:
            stream.writelines(f"{host.spec.release}\t{key}\t{number}\n" for key, number in seen.items())
        told = [f"case {each.number}: {each.what}" for each in found]
        numbers = sorted({each.number for each in found if each.number is not None})
        if numbers and trouble is None and "REDUCE" in os.environ:
            told.append(f"the least of case {numbers[0]}:\n{reduced(fleet, host, case(numbers[0]), lift)}")
        unmade(host, played)
        assert not found, f"{host.spec.release}, lift {lift}, {trouble}:\n" + "\n".join(told)

    everywhere(fleet, scenario)
