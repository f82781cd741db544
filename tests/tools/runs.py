"""Runs Ansible's own commands, as a user does, and waits for what they do: the one place for all tests."""

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Run:
    """A run that has ended: what it printed, and what the recap counts for each host."""

    status: int
    output: str

    def assert_ok(self) -> None:
        assert self.status == 0, self.output[-5000:]

    @property
    def recap(self) -> dict[str, dict[str, int]]:
        lines = re.findall(r"^(\S+)\s+: (ok=.*)$", self.output, re.MULTILINE)
        return {host: {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", counts)} for host, counts in lines}

    def of(self, counter: str) -> dict[str, int]:
        return {host: counts[counter] for host, counts in self.recap.items()}

    @property
    def changed(self) -> int:
        assert self.recap, self.output
        return sum(self.of("changed").values())

    @property
    def report(self) -> dict[str, str]:
        """The line of each host in the report that the collection's callback prints."""
        lines = self.output.partition("EACH HOST")[2].splitlines()[1:]
        return dict(line.split(maxsplit=1) for line in lines if line.strip())

    @property
    def verified_by(self) -> dict[str, str]:
        """By host: ``host`` or ``engine_list``. Hosts that are not healthy are left out."""
        found = {host: re.match(r"verified by (\w+)", line) for host, line in self.report.items()}
        return {host: match[1] for host, match in found.items() if match}

    @property
    def words(self) -> str:
        """The output with its line breaks and indentation folded."""
        return " ".join(self.output.split())


def run(command: Sequence[str | Path] | str, timeout: float = 300, **how: Any) -> Run:
    """To its end. ``how``: folder, environment and the like, as for a process."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
        check=False,
        **how,
    )
    return Run(done.returncode, done.stdout)


@contextmanager
def started(
    command: Sequence[str | Path], folder: Path, stdin: int = subprocess.DEVNULL, **how: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """In a process group of its own, killed at the end if it still runs. ``folder``: where what it prints is kept."""
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as output:
        process = subprocess.Popen(
            command, stdin=stdin, stdout=output, stderr=subprocess.STDOUT, start_new_session=True, **how
        )
    Path(output.name).rename(_output(folder, process))
    try:
        yield process
    finally:
        kill(process)


def output_of(folder: Path, process: subprocess.Popen[Any]) -> str:
    """What one that was started there has printed so far."""
    return _output(folder, process).read_text(errors="replace")


def _output(folder: Path, process: subprocess.Popen[Any]) -> Path:
    return folder / f"{process.pid}.output"


def kill(process: subprocess.Popen[Any]) -> None:
    """As a power cut would, with all its workers, which ansible-core puts into sessions of their own."""
    if process.poll() is None:
        os.kill(process.pid, signal.SIGSTOP)
        for each in [*_descendants(process.pid), process.pid]:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        process.wait()


def _descendants(process: int) -> list[int]:
    children: list[int] = []
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            children += map(int, path.read_text().split())
    return [*children, *(each for child in children for each in _descendants(child))]


def wait_until(
    condition: Callable[[], object], what: str | Callable[[], str], seconds: float = 30, every: float = 0.05
) -> None:
    """``what``: that is waited for, in words, or what says what was seen instead."""
    deadline = time.monotonic() + seconds
    while not condition():
        said = what if isinstance(what, str) else what()
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {said}"
        time.sleep(every)
