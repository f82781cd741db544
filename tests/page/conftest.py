import subprocess
from pathlib import Path

import pytest
from nodes import _clean_environment, authority, certificates, start  # noqa: F401

TOOL = Path(__file__).resolve().parents[1] / "tools" / "chromium"


@pytest.fixture(scope="session")
def chromium():
    return subprocess.run([TOOL], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
