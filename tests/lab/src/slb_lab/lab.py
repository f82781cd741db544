"""A lab: engine hosts, a management node, and what is needed to reach them. For the command line and for tests."""

import asyncio
import hashlib
import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncssh

from slb_lab import docker, folder, inventory
from slb_lab.errors import LabError
from slb_lab.folder import Folder
from slb_lab.hosts import containers, files, images, readiness, room
from slb_lab.management import ManagementNode
from slb_lab.progress import Report, silent
from slb_lab.topology import HostSpec, Topology

_READY_SECONDS = 120
DEFAULT_TOPOLOGY = Path(__file__).with_name("default.yml")


class Host:
    """One engine host of a lab that is up."""

    def __init__(self, lab: str, container: containers.Container, spec: HostSpec) -> None:
        self.name = container.host
        self.id = container.id
        self.address = container.address
        self.spec = spec
        self.container = containers.object_name(lab, container.host)

    def exec(
        self, command: Sequence[str], *, check: bool = True, timeout: float = 60, stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run COMMAND as root on the host, past its network and its sshd.

        ``timeout``: seconds. Raises LabError if it does not end in time or, unless ``check`` is off, if it fails.
        """
        outcome = docker.attempt(
            ["exec", "--interactive", self.container, *command], stdin=stdin.encode(), timeout=timeout
        )
        if check and outcome.returncode != 0:
            said = outcome.stderr.strip() or outcome.stdout.strip()
            raise LabError(f"{self.name}: {' '.join(command)!r} ended with {outcome.returncode}: {said}")
        return outcome

    def reboot(self) -> None:
        """Restart the machine; ``Lab.wait_ready`` waits until it is back.

        Docker's own restart gives bullseye's file system back read-only, as its systemd left it.
        """
        docker.run(["stop", "--time", "5", self.container], timeout=60)
        docker.run(["start", self.container], timeout=60)


class Lab:
    """The lab NAME. ``load`` gives one that is there, ``up`` makes it so."""

    def __init__(self, name: str, folder: Folder | None = None) -> None:
        self.folder = folder or Folder(name)
        self.name = name
        self.management_node = ManagementNode(self.folder.management_node)

    @classmethod
    @contextmanager
    def new(cls, name: str, topology: Topology) -> Iterator["Lab"]:
        """Make a lab from nothing, and remove it at the end."""
        lab = cls(name)
        lab.down()
        try:
            lab.up(topology)
            yield lab
        finally:
            lab.down()

    @classmethod
    def load(cls, name: str = "default") -> "Lab":
        """The lab of that name, which must be there; LabError if it is not."""
        lab = cls(name)
        if not lab.folder.topology.exists():
            others = ", ".join(each.name for each in folder.existing()) or "none"
            raise LabError(f"There is no lab {name!r} (there are: {others}). Make it with 'slb-lab up --name {name}'.")
        return lab

    @property
    def topology(self) -> Topology:
        return Topology.load(self.folder.topology)

    @property
    def hosts(self) -> dict[str, Host]:
        """Its hosts by name, in the topology's order; those that have no container are missing."""
        there = containers.of_lab(self.name)
        wanted = self.topology.hosts
        return {name: Host(self.name, there[name], wanted[name]) for name in wanted if name in there}

    def host(self, name: str) -> Host:
        hosts = self.hosts
        if name not in hosts:
            raise LabError(f"The lab {self.name!r} has no host {name!r} (it has: {', '.join(hosts) or 'none'}).")
        return hosts[name]

    def up(self, wanted: Topology | None = None, report: Report = silent) -> None:
        """Make the lab what WANTED says (default: what it was, for a new lab the one in default.yml).

        Hosts that are as wanted are left as they are; a host whose description has changed is made again.
        Can be run again at any time, also after an interrupted run. Raises LabError.
        """
        docker.require_engine()
        self._require_ours()
        with self.folder.locked():
            if wanted is None:
                there = self.folder.topology
                wanted = Topology.load(there if there.exists() else DEFAULT_TOPOLOGY)
            folder.write(self.folder.topology, wanted.dump().encode())
            kinds = {(host.release, host.runtime) for host in wanted.hosts.values()}
            with ThreadPoolExecutor(max_workers=2) as builders:
                list(builders.map(lambda kind: images.ensure_host_image(kind[0], kind[1], report), sorted(kinds)))
            containers.ensure_network(self.name, self.folder.path)
            kept = self._make_containers(wanted, report)
            self.management_node.configure(wanted, self.folder.private_key)
            asyncio.run(self._start_all(report))
            # Else the engine list names engines of hosts that are gone.
            for engine in self.management_node.state()["engines"]:
                if engine["address"] not in kept:
                    self.management_node.forget(engine["name"])

    def wait_ready(self, host: Host, report: Report = silent, timeout: float = _READY_SECONDS) -> str:
        """Wait until the host can be used; systemd's state then. LabError with what was last seen on time-out."""
        return asyncio.run(self._ready(host, report, timeout))

    def down(self, report: Report = silent) -> None:
        """Remove everything that the lab consists of, however much of it there is; images stay."""
        docker.require_engine()
        self._require_ours()
        with self.folder.locked():
            self.management_node.stop()
            containers.remove_all(self.name)
            self.folder.remove()
        report(f"lab {self.name}", "gone")

    def inventory(self) -> dict[str, Any]:
        """An Ansible inventory of the lab."""
        return inventory.of(self.hosts, self.management_node, self.folder)

    def _require_ours(self) -> None:
        kept_in = containers.labs().get(self.name, self.folder.path)
        if kept_in != self.folder.path:
            raise LabError(
                f"A lab {self.name!r} that is kept in {kept_in} is there already. "
                f"Choose another name, or set SLB_LAB_HOME={kept_in.parent}."
            )

    def _make_containers(self, wanted: Topology, report: Report) -> set[str]:
        """Return the addresses of the hosts that were there and stay."""
        there = containers.of_lab(self.name)
        engine = wanted.management_node.engine
        made_from = {
            name: _digest([images.host_image(host.release, host.runtime), engine.model_dump(), host.model_dump()])
            for name, host in wanted.hosts.items()
        }
        # A container that never ran may lack its files: its making was interrupted.
        stale = {
            name: container
            for name, container in there.items()
            if container.made_from != made_from.get(name) or container.state == "created"
        }
        containers.remove(self.name, stale)
        for name in stale:
            report(name, "made again" if name in wanted.hosts else "removed")
        kept = {name: container for name, container in there.items() if name not in stale}
        kept_addresses = {container.address for container in kept.values()}
        addresses = containers.free_addresses(self.name, kept_addresses)
        keys = {container.address: container.host_key for container in kept.values()}
        for name, host in wanted.hosts.items():
            if name in kept:
                continue
            key = asyncssh.generate_private_key("ssh-ed25519", comment=name)
            address, public = next(addresses), key.export_public_key().decode().strip()
            report(name, f"creating ({host.release}, {address})")
            chosen = files.files(
                host,
                engine_image=engine.image,
                engine_port=engine.port,
                authorized_key=self.folder.public_key(),
                host_key=key.export_private_key().decode(),
            )
            containers.create(
                self.name,
                name,
                image=images.host_image(host.release, host.runtime),
                address=address,
                made_from=made_from[name],
                host_key=public,
                files=files.archive(chosen),
            )
            keys[address] = public
        lines = "".join(f"{address} {key}\n" for address, key in keys.items())
        folder.write(self.folder.known_hosts, lines.encode())
        return kept_addresses

    async def _start_all(self, report: Report) -> None:
        hosts = self.hosts.values()
        room.require(len(containers.running() | {host.id for host in hosts}))
        at_once = asyncio.Semaphore(2 * (os.cpu_count() or 1))

        async def start(host: Host) -> None:
            async with at_once:
                report(host.name, f"starting ({host.spec.release}, {host.address})")
                await asyncio.to_thread(containers.start, self.name, host.name)
                state = await self._ready(host, report, _READY_SECONDS)
            report(host.name, f"ready ({host.spec.release}, {host.address}, systemd: {state})")

        node = asyncio.to_thread(self._start_management_node, report)
        outcomes = await asyncio.gather(node, *map(start, hosts), return_exceptions=True)
        failed = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        if failed:
            raise next(
                (error for error in failed if not isinstance(error, LabError)), LabError(" ".join(map(str, failed)))
            )

    async def _ready(self, host: Host, report: Report, timeout: float) -> str:
        target = readiness.Target(
            name=host.name,
            address=host.address,
            key=self.folder.private_key,
            known_hosts=self.folder.known_hosts,
            runtime=host.spec.runtime,
            image=self.topology.management_node.engine.image,
        )
        return await readiness.wait(
            target,
            lambda seen: report(host.name, seen),
            lambda: containers.require_running(self.name, host.name),
            timeout,
        )

    def _start_management_node(self, report: Report) -> None:
        report("management node", "starting")
        self.management_node.start()
        report("management node", f"serves at {self.management_node.base_url}")


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
