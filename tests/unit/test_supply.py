"""Packages for tests and releases are installed with the pinned checksums."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = [file for file in (ROOT / "tests" / "tools").iterdir() if file.is_file()]
PINNED = re.compile(r"[\w.-]+==\S+( ; .+)?( \\\n    --hash=sha256:[0-9a-f]{64})+\n")


@pytest.mark.parametrize("file", sorted((ROOT / "requirements").glob("*.txt")), ids=lambda file: file.name)
def test_each_package_has_a_version_and_checksums(file):
    assert PINNED.sub("", file.read_text()) == ""


def test_tools_install_packages_with_checksums():
    lines = [line for program in PROGRAMS for line in program.read_text().splitlines()]
    installs = [line for line in lines if re.search(r"(-m|uv) pip (.* )?(install|download) ", line)]
    assert len(installs) >= 5
    # The lab comes from this repository.
    assert not [line for line in installs if "--require-hashes" not in line and "--editable tests/lab" not in line]
