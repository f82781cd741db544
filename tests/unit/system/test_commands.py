"""A command ends in time, says what it has to say in one language, and what it says is never lost."""

import sys
import time
from pathlib import Path

from ansible_collections.slb.fleet.plugins.module_utils._system import commands, processes
from ansible_collections.slb.fleet.plugins.module_utils._system.waiting import wait_for


def test_whatever_its_status_is_it_is_told():
    done = commands.attempt(["sh", "-c", "echo out; echo why >&2; exit 3"], 30)
    assert (done.rc, done.stdout, done.stderr, done.words) == (3, "out\n", "why\n", "why")
    assert commands.attempt(["cat"], 30, "given").stdout == "given"
    assert commands.attempt(["cat"], 30).words == "it printed nothing"
    assert commands.attempt(["printf", "\\377"], 30).stdout == "\ufffd"


def test_what_does_not_end_is_killed_with_its_children(tmp_path):
    child = tmp_path / "child"
    begin = time.monotonic()
    assert commands.attempt(["sh", "-c", f"sleep 300 & echo $! > {child}; wait"], 3).is_killed
    assert time.monotonic() - begin < 60
    number = int(child.read_text())
    assert wait_for(lambda: processes.identity(number) is None, 30)


def test_it_speaks_english_and_is_found_under_a_short_path(monkeypatch):
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    monkeypatch.setenv("LANGUAGE", "zh")
    monkeypatch.setenv("PATH", "/nowhere")
    program = "import os; print(os.environ['LC_ALL'], os.environ['LANGUAGE'], os.environ['PATH'].split(':')[0])"
    assert commands.attempt([sys.executable, "-c", program], 30).stdout == "C C /nowhere\n"
    assert Path(commands.find("sh") or "").name == "sh"
    assert commands.find("no-such-program") is None
