"""The Pythons that the collection is tried with, as far as they can be had on this machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

# What pyenv and this Debian may be too old for, and the suite of Debian that has it.
_OF_DEBIAN = {"3.14": "forky"}


def interpreter(version: str) -> Path | None:
    """``3.12`` as pyenv has it, or the search path, or a later Debian (``debian-python``); None where none works."""
    found = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python{version}"))
    found += [Path(folder) / f"python{version}" for folder in os.environ["PATH"].split(":")]
    return next(filter(_works, found), None) or _of_debian(version)


def _works(python: Path) -> bool:
    # Of what is on the path, some are shims that lead nowhere.
    return python.exists() and subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


def _of_debian(version: str) -> Path | None:
    if version not in _OF_DEBIAN:
        return None
    tool = Path(__file__).with_name("debian-python")
    made = subprocess.run([tool, version, _OF_DEBIAN[version]], stdout=subprocess.PIPE, text=True, check=False)
    return Path(made.stdout.strip()) if made.returncode == 0 else None
