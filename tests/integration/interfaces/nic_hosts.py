"""What the interface tests look at, on the hosts and from outside."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import requests
from fleet import BIN, Fleet
from runs import output_of, started, wait_until
from slb_lab.lab import Host

PLAYBOOK = str(Path(__file__).with_name("adopt.yml"))
HOSTS = {"bullseye": "nic-b", "bookworm": "nic-k", "trixie": "nic-t"}


def everywhere(fleet: Fleet, scenario: Callable[[Host], None]) -> None:
    """Plays a scenario on all hosts side by side: they mostly wait."""
    hosts = list(fleet.lab.hosts.values())
    with ThreadPoolExecutor(len(hosts)) as players:
        played = [players.submit(scenario, host) for host in hosts]
    troubles = [error for each in played if (error := each.exception()) is not None]
    for host, each in zip(hosts, played, strict=True):
        if (error := each.exception()) is not None:
            error.add_note(f"on {host.name}")
    if troubles:
        raise troubles[0]


def topology(nics: dict[str, dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A lab with one host of each release, all with the same interfaces."""
    return {"hosts": {host: {"release": release, "nics": nics, **more} for release, host in HOSTS.items()}}


def shell(host: Host, script: str, check: bool = True) -> str:
    return host.exec(["sh", "-c", script], check=check).stdout


def addresses(host: Host, interface: str) -> list[str]:
    links = json.loads(shell(host, f"ip -json address show dev '{interface}'"))
    return sorted(f"{entry['local']}/{entry['prefixlen']}" for entry in links[0]["addr_info"])


def routes(host: Host, interface: str) -> list[str]:
    """Destination, gateway and metric of each route over the interface, in both families.

    Not the link-local one: it comes and goes with the link-local address.
    """
    listed = [
        route
        for family in ("-4", "-6")
        for route in json.loads(shell(host, f"ip -json {family} route show table all dev {interface}"))
        if route.get("type", "unicast") == "unicast" and route["dst"] != "fe80::/64"
    ]
    return sorted(f"{route['dst']} via {route.get('gateway')} metric {route.get('metric', 0)}" for route in listed)


def kernel(host: Host, *interfaces: str) -> dict[str, Any]:
    return {name: (addresses(host, name), routes(host, name)) for name in interfaces}


def devices(host: Host) -> dict[str, str]:
    """NetworkManager's word for the state of each device."""
    lines = shell(host, "LC_ALL=C nmcli --terse --fields DEVICE,STATE device").splitlines()
    return dict(line.split(":", 1) for line in lines)


def profiles(host: Host) -> dict[str, list[str]]:
    """The files of the profiles that are bound to each interface."""
    uuids = shell(host, "LC_ALL=C nmcli --terse --fields UUID,FILENAME connection").splitlines()
    found: dict[str, list[str]] = {}
    for line in uuids:
        uuid, path = line.split(":", 1)
        name = shell(host, f"nmcli --get-values connection.interface-name connection show {uuid}").strip()
        found.setdefault(name, []).append(path)
    return found


def offered(fleet: Fleet, host: Host) -> list[str]:
    """The interfaces that the web console offers for selection: it asks NetworkManager on the host."""
    node = fleet.lab.management_node
    with requests.Session() as session:
        verify = str(node.certificate)
        answer = session.post(
            f"{node.base_url}/account/login/",
            json={"username": node.username, "password": node.password},
            verify=verify,
            timeout=30,
        )
        assert answer.ok, answer.text
        answer = session.get(f"{node.base_url}/console/hosts/{host.address}/interfaces", verify=verify, timeout=60)
    assert answer.ok, answer.text
    return answer.json()["items"]


def reboot(fleet: Fleet, *hosts: Host) -> None:
    """Reboots hosts and waits until they are ready."""
    for host in hosts:
        host.reboot()
    for host in hosts:
        fleet.lab.wait_ready(host)


def eventually(condition: Callable[[], bool], seconds: float, what: str) -> None:
    wait_until(condition, what, seconds)


def reaches(fleet: Fleet, host: Host) -> bool:
    """Whether a new SSH connection to the host works."""
    variables = fleet.lab.inventory()["engines"]["vars"]
    command = ["ssh", *variables["ansible_ssh_common_args"].split(), "-o", "ConnectTimeout=3", "-o", "BatchMode=yes"]
    command += ["-i", variables["ansible_ssh_private_key_file"], f"root@{host.address}", "true"]
    return subprocess.run(command, capture_output=True, timeout=30, check=False).returncode == 0


def result(output: str, host: str) -> dict[str, Any]:
    """What the playbook's last debug task printed for a host."""
    text = output.split(f"ok: [{host}] => ", 1)[1]
    return json.JSONDecoder().raw_decode(text)[0]["adoption"]


def status(host: Host) -> str:
    text = shell(host, "cat /run/slb-fleet/interfaces/status.json 2>/dev/null || echo '{}'")
    return json.loads(text).get("state", "none")


@contextlib.contextmanager
def adopting(fleet: Fleet, host: Host, **options: Any) -> Iterator[subprocess.Popen]:
    """A controller that is at it, caught when the change is made and not yet confirmed."""
    # Nothing of an earlier change may be mistaken for this one's state.
    shell(host, "rm -rf /run/slb-fleet")
    extra = json.dumps(options)
    command = [BIN / "ansible-playbook", "-i", fleet.inventory, PLAYBOOK, "-l", host.name, "-e", extra]
    with started(command, fleet.inventory.parent, env=fleet.environment()) as controller:
        yield controller


def said_at_the_end(fleet: Fleet, controller: subprocess.Popen, seconds: float) -> str:
    """What a controller that was caught, and then went on, has printed."""
    controller.wait(seconds)
    return output_of(fleet.inventory.parent, controller)


def wait_for(host: Host, state: str, seconds: float = 120) -> None:
    """Close to the moment: the confirmation follows soon."""
    script = f"""
        i=0
        while [ $i -lt {int(seconds * 50)} ]; do
            grep -qs '"state": "{state}"' /run/slb-fleet/interfaces/status.json && exit 0
            sleep 0.02; i=$((i + 1))
        done
        exit 1
    """
    host.exec(["sh", "-c", script], timeout=seconds * 2)
