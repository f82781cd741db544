"""One Chromium for all tests of this folder."""

import subprocess
from pathlib import Path

import pytest
from browser import chromium

TOOL = Path(__file__).resolve().parents[1] / "tools" / "chromium"


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    program = subprocess.run([TOOL], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    with chromium(program, tmp_path_factory.mktemp("chromium")) as found:
        yield found
