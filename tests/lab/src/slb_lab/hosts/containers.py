"""The containers that are a lab's engine hosts, and the network that they share."""

import contextlib
import ipaddress
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from slb_lab import docker
from slb_lab.errors import LabError

FOLDER_LABEL = "slb-lab-folder"
HOST_LABEL = "slb-lab-host"
MADE_FROM_LABEL = "slb-lab-made-from"
HOST_KEY_LABEL = "slb-lab-host-key"
# Set aside for benchmarks (RFC 2544), so that no lab hides a network that its user needs.
_RANGE = ipaddress.ip_network("198.18.0.0/15")
_CGROUPS = Path("/sys/fs/cgroup")
# Full privileges are more than systemd and Docker need, and more than some machines can give.
_PRIVILEGES = [
    *("--cap-add", "ALL", "--cap-drop", "SYS_RESOURCE"),
    *("--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined"),
    *("--cgroupns", "host"),
    *("--device-cgroup-rule", "c 5:* rwm"),  # crun's rules for a container name the whole major number
    *("--tmpfs", "/run:exec,mode=755", "--tmpfs", "/tmp:exec,mode=1777"),
    *("--sysctl", "net.ipv6.conf.all.disable_ipv6=0", "--sysctl", "net.ipv6.conf.default.disable_ipv6=0"),
]


@dataclass(frozen=True)
class Container:
    """One engine host as Docker sees it. ``state``: created, running, exited, …"""

    host: str
    id: str
    address: str
    state: str
    made_from: str
    host_key: str


def object_name(lab: str, host: str = "") -> str:
    return f"slb-lab-{lab}" + (f"-{host}" if host else "")


def of_lab(lab: str) -> dict[str, Container]:
    """The lab's containers by host name."""
    ids = docker.run(["ps", "--all", "--quiet", "--no-trunc", "--filter", f"label={docker.LABEL}={lab}"]).split()
    found = {}
    for record in docker.inspect("container", ids):
        labels = record["Config"]["Labels"]
        network = record["NetworkSettings"]["Networks"][object_name(lab)]
        found[labels[HOST_LABEL]] = Container(
            host=labels[HOST_LABEL],
            id=record["Id"],
            address=network["IPAMConfig"]["IPv4Address"],
            state=record["State"]["Status"],
            made_from=labels[MADE_FROM_LABEL],
            host_key=labels[HOST_KEY_LABEL],
        )
    return found


def labs() -> dict[str, Path]:
    """The folders of all labs that this machine's Docker knows, by the labs' names. Each lab has its network."""
    formats = ["--format", f'{{{{.Label "{docker.LABEL}"}}}} {{{{.Label "{FOLDER_LABEL}"}}}}']
    listed = docker.run(["network", "ls", "--filter", f"label={docker.LABEL}", *formats])
    found = (line.partition(" ") for line in listed.splitlines())
    return {lab: Path(kept_in) for lab, _, kept_in in found if kept_in}


def running() -> set[str]:
    """The ids of the running hosts of all labs."""
    listed = docker.run(["ps", "--quiet", "--no-trunc", "--filter", f"label={docker.LABEL}"])
    return set(listed.split())


def require_running(lab: str, host: str) -> None:
    """Raise LabError if the host's container has ended."""
    (record,) = docker.inspect("container", [object_name(lab, host)])
    state = record["State"]
    if state["Status"] != "running":
        raise LabError(f"The container of {host} is {state['Status']} (exit status {state['ExitCode']}).")


def ensure_network(lab: str, folder: Path) -> None:
    """Make the network of the lab that is kept in FOLDER, unless it is there.

    The subnet is named because Docker gives a container an address that it keeps only in a subnet that was.
    """
    network = object_name(lab)
    if docker.exists("network", network):
        return
    for subnet in _RANGE.subnets(new_prefix=24):
        arguments = [
            "--subnet",
            str(subnet),
            "--label",
            f"{docker.LABEL}={lab}",
            "--label",
            f"{FOLDER_LABEL}={folder}",
            network,
        ]
        outcome = docker.attempt(["network", "create", *arguments])
        if outcome.returncode == 0:
            return
        if not re.search(r"overlap|already in use", outcome.stderr):
            raise LabError(f"The lab's network cannot be made: {outcome.stderr.strip()}")
    raise LabError("Every subnet of 198.18.0.0/15 is in use. Remove labs with 'slb-lab down --all'.")


def free_addresses(lab: str, used: set[str]) -> Iterator[str]:
    """Addresses of the lab's network that no host in USED has, lowest first."""
    (record,) = docker.inspect("network", [object_name(lab)])
    subnet = ipaddress.ip_network(record["IPAM"]["Config"][0]["Subnet"])
    # The first nine are left to the gateway and to whatever a user adds by hand.
    return (str(address) for address in list(subnet.hosts())[9:] if str(address) not in used)


def create(lab: str, host: str, *, image: str, address: str, made_from: str, host_key: str, files: bytes) -> None:
    """Create a host's container, not started, with FILES (a tar) in it."""
    name = object_name(lab, host)
    labels = {docker.LABEL: lab, HOST_LABEL: host, MADE_FROM_LABEL: made_from, HOST_KEY_LABEL: host_key}
    arguments = [part for key, value in labels.items() for part in ("--label", f"{key}={value}")]
    place = ["--name", name, "--hostname", host, "--network", object_name(lab), "--ip", address]
    docker.run(["create", *place, *arguments, *_PRIVILEGES, *_cgroup_mounts(), image])
    docker.run(["cp", "-", f"{name}:/"], stdin=files)


def _cgroup_mounts() -> list[str]:
    """Let systemd write below the machine's control groups.

    Under cgroup v1 it gets a folder of its own for the hierarchies: it adds to that folder and remounts it,
    which the machine's own would not survive unchanged.
    """
    if (_CGROUPS / "cgroup.controllers").exists():
        return ["--volume", f"{_CGROUPS}:{_CGROUPS}:rw"]
    hierarchies = (path for path in sorted(_CGROUPS.iterdir()) if path.resolve().is_mount())
    return ["--tmpfs", str(_CGROUPS), *(f"--volume={path}:{path}:rw" for path in hierarchies)]


def start(lab: str, host: str) -> None:
    docker.run(["start", object_name(lab, host)])


def remove(lab: str, hosts: Collection[str]) -> None:
    _remove([object_name(lab, host) for host in hosts])


def remove_all(lab: str) -> None:
    """Remove whatever there is of the lab's containers and network, in whatever state."""
    labelled = ["--quiet", "--filter", f"label={docker.LABEL}={lab}"]
    ids = docker.run(["ps", "--all", *labelled]).split()
    _remove(ids)
    networks = docker.run(["network", "ls", *labelled]).split()
    if networks:
        docker.run(["network", "rm", *networks])


def _remove(containers: Collection[str]) -> None:
    """A container that is paused inside a host cannot be killed with the host, and would keep it from going."""
    thaw = "for i in docker podman; do $i ps --quiet --filter status=paused | xargs --no-run-if-empty $i unpause; done"
    for container in containers:
        with contextlib.suppress(LabError):  # a host that does not answer is removed nevertheless
            docker.attempt(["exec", container, "sh", "-c", thaw], timeout=30)
    if containers:
        docker.run(["rm", "--force", "--volumes", *containers], timeout=120)
