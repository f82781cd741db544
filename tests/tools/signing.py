"""Make a GnuPG key for the test of a release."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def signer(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Its name, and the variable by which gpg finds it: in a key ring that is made in ``folder``."""
    ring = folder / "ring"
    ring.mkdir(mode=0o700)
    name, where = "key@home.example", {"GNUPGHOME": str(ring)}
    made = ["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", name, "ed25519", "sign"]
    environment = {**os.environ, **where}
    subprocess.run(made, env=environment, check=True)
    try:
        yield name, where
    finally:
        subprocess.run(["gpgconf", "--kill", "all"], env=environment, check=True)
