"""What a page has its reader type, and a shell that types it."""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from runs import Run, run

ROOT = Path(__file__).resolve().parents[2]
# Set for the tests: with them, Ansible would find another collection, or this one.
NOT_OF_A_READER = re.compile("ANSIBLE_|PYTHON|VIRTUAL_ENV|PYTEST_|GIT_|MAKE|MFLAGS")


def block(page: str, within: str) -> str:
    """The one block of commands on the page in which these words are."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    (found,) = (each for each in blocks if within in each)
    return found


def type_in(folder: Path, lines: str, more: Mapping[str, str] | None = None) -> Run:
    """Run the lines as a user with a plain system, whose home is ``HOME`` of ``more``."""
    kept = {name: value for name, value in os.environ.items() if not NOT_OF_A_READER.match(name)}
    python = f"{sys.base_prefix}/bin"
    environment = {**kept, "PATH": f"{python}:/usr/bin:/bin", **(more or {})}
    return run(["bash", "-euo", "pipefail", "-c", lines], timeout=3000, cwd=folder, env=environment)
