"""What a run did, seen without trust in the product or Ansible: files, processes, memory, words."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import threading
import unicodedata
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runs import Run

if TYPE_CHECKING:
    from playbooks import Controller

LONGEST = 480.0
"""Seconds after which a run is one without end, also on a machine that is busy with much else."""
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_OURS = {"playbook.json", "hosts.json", "output", "results.json"}


@dataclass(frozen=True)
class Watched(Run):
    """``left``: command lines of the processes of the run that are still there."""

    left: list[str]
    results: dict[str, list[Any]]

    @property
    def reported(self) -> str:
        """What the collection prints. Lines of Ansible also show keys that the collection dropped."""
        end = re.search(r"^(?:Result:  |slb\.fleet\.\w+(?: --check)?   )", self.output, re.MULTILINE)
        return self.output[end.start() :] if end else ""

    @property
    def report(self) -> dict[str, str]:
        """What the report says of each host, without its times."""
        lines = self.output.partition("EACH HOST")[2].splitlines()[1:]
        told = (line.split(maxsplit=1) for line in lines if line.strip())
        return {host: re.sub(r"\b\d+ s\b", "", " ".join("".join(rest).split())) for host, *rest in told}

    def lines_of(self, host: str) -> list[str]:
        """Every line that begins as one about that host does."""
        # Not those that name several.
        about = re.compile(rf"(?:[\w]+: \[{host}\]|\[{host}\]|{host})(?![\w,-]| and )")
        return [line for line in self.reported.splitlines() if about.match(line.strip())]

    def assert_visible(self) -> None:
        """Nothing in it moves a cursor, turns a line around or begins one that the eye takes for another's."""
        text = self.reported + json.dumps(self.results, ensure_ascii=False)
        bad = {char for char in text if char not in "\n\t" and unicodedata.category(char) in _HIDDEN}
        places = [text[max(0, text.index(char) - 300) :][:600] for char in bad]
        assert not bad, (sorted(map(ascii, bad)), *map(ascii, places))


def watched(
    controller: Controller, plays: list[dict[str, Any]], inventory: dict[str, Any], *options: str,
    seconds: float = LONGEST, **environment: str,
) -> Watched:  # fmt: skip
    """As ``Controller.run``, but looked at from outside; ended after ``seconds``, and that is a failure."""
    mark = uuid.uuid4().hex
    results = controller.folder / "results.json"
    results.write_text("")
    environment = {
        "SLB_TEST_RUN": mark,
        "SLB_TEST_RESULTS": str(results),
        "ANSIBLE_CALLBACK_PLUGINS": str(Path(__file__).parent / "callback_plugins"),
        "ANSIBLE_CALLBACKS_ENABLED": "slb.fleet.report,results",
        "SLB_REPORT_EACH_HOST": "true",
        "ANSIBLE_FORKS": "12",
        **environment,
    }
    output = controller.folder / "output"
    with output.open("wb") as file:
        process = subprocess.Popen(
            controller.command(plays, inventory, *options),
            env=controller.environment(**environment),
            cwd=controller.folder,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        killer = threading.Timer(seconds, os.killpg, (process.pid, signal.SIGKILL))
        killer.start()
        process.wait()
        killer.cancel()
    text = output.read_bytes().decode(errors="surrogateescape")
    assert process.returncode >= 0, f"It did not end within {seconds} s:\n{text[-3000:]}"
    return Watched(
        status=process.returncode,
        output=text,
        left=_processes(mark),
        results=_results(results),
    )


def tree(folder: Path) -> dict[str, str]:
    """Every file and folder below, with its mode and what is in it; but for what the test itself puts there."""
    return {
        str(path.relative_to(folder)): f"{path.lstat().st_mode:o} {_digest(path)}"
        for path in sorted(folder.rglob("*"))
        if path.name not in _OURS
    }


def _digest(path: Path) -> str:
    if path.is_symlink():
        return str(path.readlink())
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def _processes(mark: str) -> list[str]:
    """Those of the run, wherever they went: they have its environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes():
                found.append(path.with_name("cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


def _results(file: Path) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for line in file.read_text().splitlines():
        host, *rest = json.loads(line)
        found.setdefault(host, []).append(rest)
    return found
