"""At a terminal: the line of progress is drawn by a thread of its own while Ansible prints and forks."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from ansible_collections.slb.fleet.tests.bench import scale
from ansible_collections.slb.fleet.tests.unit.report.canned import HURRY

ROOT = Path(__file__).resolve().parents[3]
BENCH = ROOT / "tests" / "bench"
DEADLINE = 120.0
BOTH_AT_ONCE = """
import threading
from ansible.utils.display import Display
from ansible_collections.slb.fleet.plugins.plugin_utils._report.progress_display import InPlace

line, over = InPlace(), threading.Event()

def draw():
    while not over.is_set():
        line.show("how far it is")

drawing = threading.Thread(target=draw)
drawing.start()
for number in range(20000):
    Display().display(f"printed {number}")
over.set()
drawing.join()
line.end()
print("the end")
"""


def at_a_terminal(command: list[str], environment: Mapping[str, str]) -> tuple[int | None, str]:
    """What a person would be shown, and the status; None where the command does not come to its end."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100", **environment},
        start_new_session=True,
    )
    os.close(theirs)
    shown, deadline = b"", time.monotonic() + DEADLINE
    try:
        while time.monotonic() < deadline:
            if select.select([ours], [], [], 0.2)[0]:
                try:
                    shown += os.read(ours, 65536)
                except OSError:  # Linux says so when the other side is closed.
                    return process.wait(DEADLINE), shown.decode(errors="replace")
        return None, shown.decode(errors="replace")
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 9)
            process.wait()
        os.close(ours)


def rows(shown: str) -> list[str]:
    """What a terminal has on its rows after what was written to it."""
    written = re.sub(r"\x1b\[[0-9;]*m", "", shown).replace("\r\n", "\n").split("\n")
    return [each.rpartition("\r\x1b[K")[2] for each in written]


def test_a_thread_that_draws_and_one_that_prints_do_not_wait_for_each_other() -> None:
    environment = {"PYTHONPATH": str(ROOT / ".cache" / "dev")}
    status, shown = at_a_terminal([sys.executable, "-c", BOTH_AT_ONCE], environment)
    assert status == 0, f"after {len(shown.splitlines())} lines nothing came any more"
    assert rows(shown) == [*(f"printed {number}" for number in range(20000)), "the end", ""]


@pytest.mark.parametrize("verbosity", ["-v", "-vvvv"])
def test_a_run_that_prints_much_comes_to_its_end(tmp_path: Path, verbosity: str) -> None:
    hosts = 30
    answers, inventory = tmp_path / "answers.json", tmp_path / "inventory.yml"
    answers.write_text(json.dumps(scale.STATES))
    inventory.write_text(yaml.safe_dump(scale.fleet(hosts, answers, troubled=True)))
    (tmp_path / "callbacks").mkdir()
    (tmp_path / "callbacks" / "hurry.py").write_text(HURRY)
    command = [str(Path(sys.executable).parent / "ansible-playbook"), "-i", str(inventory), verbosity]
    status, shown = at_a_terminal(
        [*command, "slb.fleet.diagnose"],
        {
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".cache" / "dev"),
            "ANSIBLE_CONNECTION_PLUGINS": str(BENCH / "connection_plugins"),
            "ANSIBLE_CALLBACK_PLUGINS": str(tmp_path / "callbacks"),
            "ANSIBLE_CALLBACKS_ENABLED": "slb.fleet.report,hurry",
            "ANSIBLE_PIPELINING": "1",
            "ANSIBLE_LOCAL_TEMP": str(tmp_path),
        },
    )
    assert status is not None, f"the run hangs, and had printed: {shown[-2000:]}"
    text = "\n".join(rows(shown))
    assert f"slb.fleet.diagnose: {hosts} hosts" in text
    assert f"/{hosts} looked at" in shown, "the line was drawn"
    assert f"/{hosts} looked at" not in text, "and is left nowhere"
