"""What a manager takes from an interface comes back in the kernel by itself, to the last attribute."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from fleet import ROOT

HERE = Path(__file__).parent
FIRST = int(os.environ.get("SEED", "0"))
CASES = int(os.environ.get("CASES", "10"))


def test_whatever_was_lost_is_there_again() -> None:
    inside = "mount -t sysfs none /sys && mount -t tmpfs none /run && mkdir /run/netns && exec "
    play = f"'{sys.executable}' '{HERE / 'kernel_alone.py'}' {FIRST} {FIRST + CASES}"
    completed = subprocess.run(
        ["unshare", "--net", "--mount", "sh", "-c", inside + play],
        env=dict(os.environ, PYTHONPATH=f"{ROOT / '.cache' / 'dev'}:{ROOT / 'tests' / 'tools'}:{HERE}"),
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout == ""
