"""The containers that are a lab's engine hosts, and the network that they share."""

import contextlib
import ipaddress
import json
import re
from collections.abc import Iterator
from pathlib import Path

from slb_lab import docker
from slb_lab.folder import LabError

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


def object_name(lab: str, host: str = "") -> str:
    return f"slb-lab-{lab}" + (f"-{host}" if host else "")


def addresses(lab: str) -> dict[str, str]:
    """The addresses of the lab's hosts by their names."""
    ids = docker.run(["ps", "--all", "--quiet", "--filter", f"label={docker.LABEL}={lab}"]).split()
    records = json.loads(docker.run(["container", "inspect", *ids])) if ids else []
    of_lab = object_name(lab)
    return {
        record["Config"]["Hostname"]: record["NetworkSettings"]["Networks"][of_lab]["IPAMConfig"]["IPv4Address"]
        for record in records
    }


def make_network(lab: str) -> Iterator[str]:
    """Make the network of the lab. Return its addresses for hosts.

    The subnet is named because Docker gives a container an address that it keeps only in a subnet that was.
    """
    for subnet in _RANGE.subnets(new_prefix=24):
        labels = ["--subnet", str(subnet), "--label", f"{docker.LABEL}={lab}"]
        outcome = docker.attempt(["network", "create", *labels, object_name(lab)])
        if outcome.returncode == 0:
            # The first nine are left to the gateway and to whatever a user adds by hand.
            return map(str, list(subnet.hosts())[9:])
        if not re.search(r"overlap|already in use", outcome.stderr):
            raise LabError(f"The lab's network cannot be made: {outcome.stderr.strip()}")
    raise LabError("Every subnet of 198.18.0.0/15 is in use. Remove labs with 'slb-lab down'.")


def create(lab: str, host: str, *, image: str, address: str, files: bytes) -> None:
    """Create a host's container, not started, with FILES (a tar) in it."""
    name = object_name(lab, host)
    place = ["--name", name, "--hostname", host, "--network", object_name(lab), "--ip", address]
    docker.run(["create", *place, "--label", f"{docker.LABEL}={lab}", *_PRIVILEGES, *_cgroup_mounts(), image])
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


def remove_all(lab: str) -> None:
    """Remove whatever there is of the lab's containers and network, in whatever state."""
    labelled = ["--quiet", "--filter", f"label={docker.LABEL}={lab}"]
    # A container that is paused inside a host cannot be killed with the host, and would keep it from going.
    thaw = "for i in docker podman; do $i ps --quiet --filter status=paused | xargs --no-run-if-empty $i unpause; done"
    ids = docker.run(["ps", "--all", *labelled]).split()
    for container in ids:
        with contextlib.suppress(LabError):  # a host that does not answer is removed nevertheless
            docker.attempt(["exec", container, "sh", "-c", thaw], timeout=30)
    if ids:
        docker.run(["rm", "--force", "--volumes", *ids], timeout=120)
    networks = docker.run(["network", "ls", *labelled]).split()
    if networks:
        docker.run(["network", "rm", *networks])
