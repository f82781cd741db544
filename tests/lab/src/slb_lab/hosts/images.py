"""The images of the engine hosts, cached by their content."""

import fcntl
import hashlib
import logging
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from slb_lab import docker
from slb_lab.folder import LabError
from slb_lab.topology import Release, Runtime

_CONTEXT = Path(__file__).with_name("image")
_LOCKS = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "slb-lab"
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")

log = logging.getLogger(__name__)


def host_image(release: Release, runtime: Runtime) -> str:
    """The name of the image of RELEASE's hosts with RUNTIME, whether it is there already or not."""
    digest = hashlib.sha256()
    for path in sorted(_CONTEXT.rglob("*")):
        if path.is_file():
            executable = os.access(path, os.X_OK)
            digest.update(f"{path.relative_to(_CONTEXT)}\0{executable}\0".encode() + path.read_bytes() + b"\0")
    return f"slb-lab-host:{release}-{runtime}-{digest.hexdigest()[:12]}"


def ensure_host_image(release: Release, runtime: Runtime) -> str:
    """Make the image of RELEASE and RUNTIME unless it is there. Return its name."""
    image = host_image(release, runtime)
    with _one_builder(release):
        if not docker.exists("image", image):
            base = ensure_base_image(release)
            log.info("image %s: building the host's image (about a minute)", release)
            variables = (f"BASE={base}", f"RELEASE={release}", f"RUNTIME={runtime}")
            arguments = [*(f"--build-arg={variable}" for variable in variables), "--label", docker.LABEL]
            docker.run(["build", "--network", "host", "--tag", image, *arguments, str(_CONTEXT)], timeout=1200)
    return image


def ensure_base_image(release: Release) -> str:
    """The name of RELEASE's bare Debian, which is made unless it is there."""
    base = f"slb-lab-base:{release}"
    if not docker.exists("image", base):
        log.info("image %s: making Debian with debootstrap (about a minute)", release)
        _bootstrap(release, base)
    return base


def _bootstrap(release: Release, image: str) -> None:
    """From Debian's archive, whose signature is checked. A registry's image would be another word to trust."""
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        raise LabError(
            f"There is no image {image}, and debootstrap, which makes it, is not installed or not run by root. Install "
            "debootstrap and run as root; or pull a Debian image by its digest and tag it "
            f"(docker tag debian@sha256:... {image})."
        )
    if not _KEYRING.exists():
        raise LabError(f"The keys of Debian's archive are missing: {_KEYRING}. Install debian-archive-keyring.")
    with tempfile.TemporaryDirectory(prefix="slb-lab-", dir="/var/tmp") as folder:
        made = subprocess.run(
            ["debootstrap", "--variant=minbase", "--force-check-gpg", f"--keyring={_KEYRING}", release, folder],
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        if made.returncode != 0:
            raise LabError(f"debootstrap of {release} failed: {' '.join(made.stdout.splitlines()[-3:])}")
        with subprocess.Popen(["tar", "-C", folder, "-c", "."], stdout=subprocess.PIPE) as tar:
            subprocess.run(
                ["docker", "import", "-", image], stdin=tar.stdout, capture_output=True, timeout=300, check=True
            )


@contextmanager
def _one_builder(release: Release) -> Iterator[None]:
    """Labs that come up side by side wait for each other's images instead of building them twice."""
    _LOCKS.mkdir(parents=True, exist_ok=True)
    with (_LOCKS / f"image-{release}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
