"""What a healthy fleet costs over real SSH: `tests/tools/python tests/bench/ssh.py [--hosts 1000] [--forks 20]`.

One asyncssh server answers for thousands of loopback addresses, each a host with a state of its own; ssh processes,
ControlPersist and pipelining are real. Printed are wall and CPU time of the controller (user and system, all of its
processes, ssh included) for slb.fleet.audit, which looks at each host once, and for one ping task, and what is left of
ssh's shared connections. The server's own time is not in it.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from engine_host import EngineHosts
from engine_modules import address_of

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
NODE = "https://console.example"


def address(number: int) -> str:
    return f"127.{1 + number // 62500}.{number // 250 % 250}.{number % 250 + 1}"


def serve(folder: Path, hosts: list[str], ready: Any, over: Any) -> None:
    """In a process of its own, whose time is not the controller's."""
    with EngineHosts(
        folder, verified_at=dict.fromkeys(hosts, NODE), addresses=tuple(map(address, range(len(hosts))))
    ) as all_:
        ready.put({host: all_.variables(host) for host in hosts})
        over.wait()


def inventory(variables: dict[str, dict[str, Any]], sockets: Path) -> dict[str, Any]:
    hosts = {}
    for number, (host, own) in enumerate(variables.items()):
        shared = "-o ControlMaster=auto -o ControlPersist=20s"
        arguments = own["ansible_ssh_args"].replace("-o ControlMaster=no", shared)
        hosts[host] = {
            **own,
            "ansible_host": address(number),
            "ansible_ssh_args": arguments,
            "ansible_control_path": f"{sockets}/%%C",
            # What its record names.
            "slb_manage_ip": address_of(host),
            "slb_engine_name": host,
        }
    common = {"ansible_python_interpreter": "/usr/bin/python3", "slb_base_url": NODE, "slb_settle": 0}
    return {"engines": {"hosts": hosts, "vars": {**common, "slb_username": "admin", "slb_password": "not asked for"}}}


def play(playbook: str, hosts: Path, forks: int, folder: Path) -> tuple[float, float]:
    """Wall and CPU seconds of one run, which has to succeed."""
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".cache" / "dev"),
        "ANSIBLE_PIPELINING": "1",
        "ANSIBLE_CALLBACKS_ENABLED": "slb.fleet.report",
        "ANSIBLE_STDOUT_CALLBACK": "slb.fleet.fleet",
        "ANSIBLE_LOCAL_TEMP": str(folder / "tmp"),
    }
    with (folder / "output").open("w+b") as output:
        begin = time.monotonic()
        started = subprocess.Popen(
            [str(BIN / "ansible-playbook"), "-i", str(hosts), "--forks", str(forks), playbook],
            env=environment, stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
        _, status, used = os.wait4(started.pid, 0)
        wall = time.monotonic() - begin
        if status:
            output.seek(0)
            sys.exit(output.read()[-5000:].decode())
    return wall, used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--forks", type=int, default=20)
    options = parser.parse_args()
    names = [f"edge-{number}" for number in range(1, options.hosts + 1)]
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        ready, over = multiprocessing.Queue(), multiprocessing.Event()
        server = multiprocessing.Process(target=serve, args=(folder / "ssh", names, ready, over))
        server.start()
        stack.callback(server.join)
        stack.callback(over.set)
        hosts, sockets, ping = folder / "hosts.json", folder / "cm", folder / "ping.yml"
        sockets.mkdir()
        hosts.write_text(json.dumps(inventory(ready.get(timeout=120), sockets)))
        ping.write_text(
            json.dumps([{"hosts": "engines", "gather_facts": False, "tasks": [{"ansible.builtin.ping": {}}]}])
        )
        print(f"{options.hosts} hosts over SSH, {options.forks} forks, {os.cpu_count()} CPUs")
        print(f"{'':20}{'wall s':>10}{'CPU s':>10}{'CPU s a host':>15}")
        for what, playbook in (("one ping", str(ping)), ("slb.fleet.audit", "slb.fleet.audit")):
            wall, cpu = play(playbook, hosts, options.forks, folder)
            print(f"{what:20}{wall:10.1f}{cpu:10.1f}{cpu / options.hosts:15.3f}", flush=True)
        # They end by themselves, and the folder with their sockets goes.
        deadline = time.monotonic() + 60
        while any(sockets.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.5)
        print(f"shared connections that are left: {len(list(sockets.iterdir()))}")


if __name__ == "__main__":
    main()
