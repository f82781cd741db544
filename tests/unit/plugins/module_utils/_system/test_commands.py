"""A command ends in time, and prints in one language."""

import sys
import time

from ansible_collections.slb.fleet.plugins.module_utils._system import commands, processes
from ansible_collections.slb.fleet.plugins.module_utils._system.waiting import wait_for


def test_command_without_end_is_killed_with_its_children(tmp_path):
    child = tmp_path / "child"
    begin = time.monotonic()
    assert commands.attempt(["sh", "-c", f"sleep 300 & echo $! > {child}; wait"], 3).is_killed
    assert time.monotonic() - begin < 60
    number = int(child.read_text())
    assert wait_for(lambda: (seen := processes.find(number)) is None or seen.state == "Z", 30)


def test_command_prints_english_also_under_a_short_path(monkeypatch):
    for name, value in (("LC_ALL", "zh_CN.UTF-8"), ("LANGUAGE", "zh"), ("PATH", "/nowhere")):
        monkeypatch.setenv(name, value)
    program = "import os; print(os.environ['LC_ALL'], os.environ['LANGUAGE']); os.write(1, b'\\xff')"
    assert commands.attempt([sys.executable, "-c", program], 30).stdout in ("C C\n\ufffd", "\ufffdC C\n")
    assert commands.find("sh")
    assert commands.find("no-such-program") is None
