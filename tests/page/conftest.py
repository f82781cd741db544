"""One Chromium for all tests of this folder."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, chromium

TOOL = Path(__file__).resolve().parents[1] / "tools" / "chromium"


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = subprocess.run([TOOL], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    with chromium(program, tmp_path_factory.mktemp("chromium")) as found:
        yield found
