"""A lab: engine hosts, a management node, and what is needed to reach them. For the command line and for tests."""

import hashlib
import logging
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import asyncssh

from slb_lab import docker
from slb_lab.folder import Folder, LabError, write
from slb_lab.hosts import containers, files, images
from slb_lab.management import ManagementNode
from slb_lab.topology import HostSpec, Topology

_READY_SECONDS = 120
# While the image is loaded, Podman 4.3 may lose it to a second command.
_LOOK = """
state=$(systemctl is-system-running)
[ "$state" = starting ] || {runtime} image inspect --format "$state, with image" slb:1 2>&1 | tail -n 1
systemctl list-jobs --no-legend --full | awk '$4 == "running" {{ printf "%s ", $2 }}'
"""

log = logging.getLogger(__name__)


class Host:
    """One engine host of a lab that is up."""

    def __init__(self, lab: str, name: str, address: str, spec: HostSpec) -> None:
        self.name, self.address, self.spec = name, address, spec
        self.container = containers.object_name(lab, name)

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

    def start(self) -> None:
        """Start the host, and wait until it has booted and its container runtime has the image."""
        docker.run(["start", self.container])
        look, seen = ["sh", "-c", _LOOK.format(runtime=self.spec.runtime)], ""
        deadline = time.monotonic() + _READY_SECONDS
        while not seen.startswith(("running, with image", "degraded, with image")):
            if time.monotonic() > deadline:
                raise LabError(f"{self.name} ({self.address}) was not ready within {_READY_SECONDS} s; seen: {seen}.")
            time.sleep(0.3)
            looked = self.exec(look, check=False)
            seen = looked.stdout.strip() or looked.stderr.strip()
        log.info("%s: ready (%s, %s)", self.name, self.spec.release, self.address)

    def reboot(self) -> None:
        """Docker's own restart gives bullseye's file system back read-only, as its systemd left it."""
        docker.run(["stop", "--time", "5", self.container])
        self.start()


class Lab:
    """The lab NAME. ``up`` makes it what a topology says."""

    def __init__(self, name: str) -> None:
        self.name, self.folder = name, Folder(name)
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

    @property
    def topology(self) -> Topology:
        return Topology.load(self.folder.topology)

    @property
    def hosts(self) -> dict[str, Host]:
        """Its hosts by name, in the topology's order."""
        addresses = containers.addresses(self.name)
        return {name: Host(self.name, name, addresses[name], spec) for name, spec in self.topology.hosts.items()}

    def up(self, wanted: Topology) -> None:
        """Make the lab what WANTED says. Can be run again at any time: hosts that are as wanted stay as they are.

        Raises LabError.
        """
        docker.require_engine()
        authorized_key = self.folder.make()
        kinds = sorted({(host.release, host.runtime) for host in wanted.hosts.values()})
        with ThreadPoolExecutor(max_workers=2) as builders:
            made_from = " ".join(builders.map(lambda kind: images.ensure_host_image(*kind), kinds))
        made_from += hashlib.sha256(wanted.model_dump_json().encode()).hexdigest()
        self.management_node.configure(wanted, self.folder.private_key)
        is_new = not self.folder.made_from.exists() or self.folder.made_from.read_text() != made_from
        if is_new:
            self._make_containers(wanted, authorized_key)
            write(self.folder.topology, wanted.dump().encode())
            write(self.folder.made_from, made_from.encode())
        self.management_node.start()
        with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as starters:
            list(starters.map(Host.start, self.hosts.values()))
        # Else the engine list names engines of hosts that are gone.
        for engine in self.management_node.state()["engines"] if is_new else []:
            self.management_node.forget(engine["name"])
        log.info("management node: serves at %s", self.management_node.base_url)

    def down(self) -> None:
        """Remove everything that the lab consists of, however much of it there is; images stay."""
        docker.require_engine()
        self.management_node.stop()
        containers.remove_all(self.name)
        self.folder.remove()

    def inventory(self) -> dict[str, Any]:
        """An Ansible inventory: the group ``engines``, and the variables that the collection's playbooks take."""
        node = self.management_node
        known = f"-o UserKnownHostsFile={self.folder.known_hosts} -o GlobalKnownHostsFile=/dev/null"
        return {
            "engines": {
                "hosts": {host.name: {"ansible_host": host.address} for host in self.hosts.values()},
                "vars": {
                    "ansible_user": "root",
                    "ansible_ssh_private_key_file": str(self.folder.private_key),
                    "ansible_ssh_common_args": f"{known} -o StrictHostKeyChecking=yes -o IdentitiesOnly=yes",
                    "ansible_python_interpreter": "/usr/bin/python3",
                    "slb_base_url": node.base_url,
                    "slb_username": node.username,
                    "slb_password": node.password,
                    "slb_tls_fingerprint": node.tls_fingerprint,
                },
            }
        }

    def _make_containers(self, wanted: Topology, authorized_key: str) -> None:
        self.folder.made_from.unlink(missing_ok=True)
        containers.remove_all(self.name)
        free, known = containers.make_network(self.name), list[str]()
        for name, host in wanted.hosts.items():
            key, address = asyncssh.generate_private_key("ssh-ed25519"), next(free)
            log.info("%s: creating (%s, %s)", name, host.release, address)
            archive = files.archive(files.files(host, authorized_key, key.export_private_key().decode()))
            image = images.host_image(host.release, host.runtime)
            containers.create(self.name, name, image=image, address=address, files=archive)
            known.append(f"{address} {key.export_public_key().decode()}")
        write(self.folder.known_hosts, "".join(known).encode())
