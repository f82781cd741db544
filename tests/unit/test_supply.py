"""What is installed for tests and releases is what was tried: by checksum, wherever it comes from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = [file for file in (ROOT / "tests" / "tools").iterdir() if file.is_file()]
PINNED = re.compile(r"[\w.-]+==\S+( ; .+)?( \\\n    --hash=sha256:[0-9a-f]{64})+\n")


@pytest.mark.parametrize("file", sorted((ROOT / "requirements").rglob("*.txt")), ids=lambda file: file.name)
def test_each_package_has_its_version_and_checksums(file: Path) -> None:
    assert PINNED.sub("", file.read_text()) == ""


def test_nothing_is_installed_without_them() -> None:
    lines = [line for program in PROGRAMS for line in program.read_text().splitlines()]
    installs = [line for line in lines if re.search(r"-m pip\b.* (install|download) ", line)]
    assert len(installs) >= 5
    # The lab is of this repository.
    others = [line for line in installs if "--require-hashes" not in line and "--editable tests/lab" not in line]
    assert others == []
