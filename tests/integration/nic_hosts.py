"""What the interface tests check, on the hosts and from outside."""

import contextlib
import functools
import inspect
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fleet import BIN, Fleet
from runs import output_of, started, wait_until
from slb_lab.lab import Host

PLAYBOOK = str(Path(__file__).with_name("adopt.yml"))
# Everything of the named interfaces, and of the host what an adoption could change.
_DUMP = r"""
import glob, json, re, subprocess, sys, time
def lines(*words):
    return subprocess.run(words, stdout=subprocess.PIPE).stdout.decode()
def is_still(name):  # ens17 has a profile that NetworkManager tries again and again
    return not str(name).startswith("veth") and name != "ens17"
def dump():
    found = {}
    for link in json.loads(lines("ip", "-details", "-json", "address", "show")):
        if link and is_still(link["ifname"]):
            addresses = ["%s/%s %s" % (each["local"], each["prefixlen"], sorted(
                key for key in each if not key.endswith("life_time"))) for each in link["addr_info"] if "local" in each]
            found["link " + link["ifname"]] = [sorted(link["flags"]), link["mtu"], link["address"], sorted(addresses)]
    for family in ("-4", "-6"):
        for route in json.loads(lines("ip", family, "-json", "route", "show", "table", "all") or "[]"):
            if is_still(route.get("dev")):
                route.pop("expires", None)
                key = "routes %s %s" % (family, route.get("dev"))
                found[key] = sorted(found.get(key, []) + [json.dumps(route, sort_keys=True)])
    for name in sys.argv[1:]:
        for path in glob.glob("/proc/sys/net/ipv[46]/*/%s/*" % name):
            try:
                found[path] = open(path).read()
            except OSError:
                pass
    for path in ["/etc/resolv.conf"] + glob.glob("/etc/NetworkManager/**", recursive=True):
        try:
            found[path] = re.sub("(?m)^timestamp=.*", "", open(path).read())
        except OSError:
            pass
    for line in lines("nmcli", "-t", "-f", "DEVICE,STATE,CONNECTION", "device").splitlines():
        if is_still(line.partition(":")[0]):
            found["device " + line.partition(":")[0]] = line
    return json.dumps(found)
found = dump()
while re.search("tentative|connecting|deactivating", found):
    time.sleep(0.2)
    found = dump()
print(found)
"""


def everywhere(fleet: Fleet, scenario: Callable[[Host], None]) -> None:
    """Play a scenario on all hosts side by side: they mostly wait."""
    hosts = list(fleet.hosts.values())
    with ThreadPoolExecutor(len(hosts)) as players:
        played = [players.submit(scenario, host) for host in hosts]
    troubles = [error for each in played if (error := each.exception()) is not None]
    for host, each in zip(hosts, played, strict=True):
        if (error := each.exception()) is not None:
            error.add_note(f"on {host.name}")
    if troubles:
        raise troubles[0]


def on_each_host(scenario: Callable[..., None]) -> Callable[..., None]:
    """Make a long test of a scenario with the parameters ``fleet`` and ``host``, which is played everywhere."""

    @pytest.mark.long
    @functools.wraps(scenario)
    def test(fleet: Fleet, **fixtures: Any) -> None:
        everywhere(fleet, lambda host: scenario(fleet=fleet, host=host, **fixtures))

    parameters = inspect.signature(scenario).parameters
    wanted = [each for name, each in parameters.items() if name != "host"]
    setattr(test, "__signature__", inspect.Signature(wanted))  # noqa: B010
    return test


def shell(host: Host, script: str, check: bool = True) -> str:
    return host.exec(["sh", "-c", script], check=check).stdout


def dump(host: Host, *names: str) -> dict[str, Any]:
    """Return addresses, routes, kernel settings, files and NetworkManager's view of a host at rest."""
    return json.loads(host.exec(["python3", "-c", _DUMP, *names], timeout=180).stdout)


def across_a_reboot(seen: dict[str, Any]) -> dict[str, Any]:
    """Return a dump without MAC addresses and kernel settings: the lab creates its interfaces at each boot."""
    text = json.dumps({key: value for key, value in seen.items() if not key.startswith("/proc/")})
    return json.loads(re.sub(r"fe80::[0-9a-f:]+|(?:[0-9a-f]{2}:){5}[0-9a-f]{2}", "...", text))


def across_a_restart(seen: dict[str, Any]) -> dict[str, Any]:
    """Return a dump without what NetworkManager 1.30 changes at some starts: who configured an interface, and how."""
    return {
        key: str(value).replace(" (externally)", "").replace("'noprefixroute', ", "") for key, value in seen.items()
    }


def differences(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    return {
        key: (before.get(key), after.get(key))
        for key in before.keys() | after.keys()
        if before.get(key) != after.get(key)
    }


def require_restored(
    host: Host, before: dict[str, Any], *names: str, part: Callable[..., dict[str, Any]] = dict
) -> None:
    """Wait until ``part`` of a dump is as before."""

    def is_restored() -> bool:
        last.clear()
        last.update(differences(part(before), part(dump(host, *names))))
        return not last

    last: dict[str, Any] = {}
    try:
        wait_until(is_restored, "as before", 150)
    except AssertionError:
        raise AssertionError(f"{host.name}: {json.dumps(last, indent=1)}") from None


def addresses(host: Host, interface: str) -> list[str]:
    links = json.loads(shell(host, f"ip -json address show dev '{interface}'"))
    return sorted(f"{entry['local']}/{entry['prefixlen']}" for entry in links[0]["addr_info"])


def routes(host: Host, interface: str) -> list[str]:
    """Return destination and gateway of each route over the interface, without link-local ones."""
    listed = [
        route
        for family in ("-4", "-6")
        for route in json.loads(shell(host, f"ip -json {family} route show table all dev {interface}"))
        if route.get("type", "unicast") == "unicast" and route["dst"] != "fe80::/64"
    ]
    return sorted(f"{route['dst']} via {route.get('gateway')}" for route in listed)


def devices(host: Host) -> dict[str, str]:
    """Return NetworkManager's state of each device."""
    lines = shell(host, "LC_ALL=C nmcli --terse --fields DEVICE,STATE device").splitlines()
    return dict(line.split(":", 1) for line in lines)


def offered(host: Host) -> list[str]:
    """Return what the web console offers: interfaces with an active connection of NetworkManager's own."""
    rows = shell(host, "LC_ALL=C nmcli --terse --fields DEVICE,STATE,CONNECTION device").splitlines()
    found = (row.split(":", 2) for row in rows)
    return [device for device, state, connection in found if state == "connected" and connection]


@contextlib.contextmanager
def adopting(fleet: Fleet, host: Host, **options: Any) -> Iterator[subprocess.Popen]:
    """A controller whose change is armed and not confirmed yet."""
    command = [BIN / "ansible-playbook", "-i", fleet.inventory, PLAYBOOK, "-l", host.name, "-e", json.dumps(options)]
    with started(command, fleet.inventory.parent, env=fleet.environment()) as controller:
        host.exec(["sh", "-c", "while ! ls /run/slb-fleet/*/armed >/dev/null 2>&1; do sleep 0.05; done"], timeout=180)
        yield controller


def end(fleet: Fleet, controller: subprocess.Popen, status: int) -> str:
    """Wait for the end of the controller with this status. Return what it has printed."""
    controller.wait(400)
    output = output_of(fleet.inventory.parent, controller)
    assert controller.returncode == status, output
    return output
