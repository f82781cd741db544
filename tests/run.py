"""Runs the project's tests, stage by stage: a line for each as it starts and ends, its output where it fails.

All stages, or those named: `python tests/run.py ruff unit`. With --thorough, also what is marked as long: the stage
chaos, and tests with the marker "long". Each stage's output is kept in .cache/test-logs.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"
LOGS = ROOT / ".cache" / "test-logs"


class Stage(NamedTuple):
    name: str
    command: str
    is_long: bool = False


# The lanes go on side by side: what works on the code keeps the processor busy, what works on labs mostly waits.
CODE = (
    Stage("ruff", "ruff check . && ruff format --check ."),
    Stage("mypy", "tests/tools/mypy"),
    Stage("python-3.6", "vermin --quiet --no-tips --target=3.6- --violations $(tests/tools/host-code)"),
    Stage("yamllint", "yamllint --strict ."),
    Stage("ansible-lint", "ansible-lint --offline --strict --profile production"),
    Stage("changelog", "antsibull-changelog lint"),
    Stage("licences", "tests/tools/licences"),
    Stage("docs", "tests/tools/docsite"),
    Stage("unit", "pytest tests/unit"),
    Stage("page", "pytest tests/page"),
    Stage("client", "pytest --numprocesses 2 --dist loadfile tests/hostile"),
    Stage("awx", "tests/tools/awx-modules && pytest --numprocesses 2 tests/awx"),
    Stage("sanity", "tests/tools/sanity"),
    Stage("release", "pytest tests/release"),
)
LABS = (
    Stage("molecule", "tests/tools/molecule"),
    Stage("lab", "pytest tests/lab/tests"),
    Stage("host", "pytest tests/integration/host"),
    Stage("examples", "pytest tests/integration/test_examples.py"),
    Stage("interfaces", "pytest tests/integration/interfaces"),
)
FLEETS = (
    Stage("deployment", "pytest tests/integration/deployment"),
    Stage("report", "pytest tests/integration/report"),
    Stage("foretold", "pytest tests/integration/foretold"),
    Stage("histories", "pytest tests/integration/histories"),
    Stage("chaos", "tests/tools/python tests/chaos/run.py --seconds 120 --seed 1", is_long=True),
)
# One measures the processor's time; in the other galaxy-importer gives ansible-lint a bounded one.
ALONE = (
    Stage("scale", "tests/tools/python tests/bench/scale.py --gate"),
    Stage("artifact", "tests/tools/candidate"),
)
DOCKER = Stage("docker", "tests/tools/kernel-room && tests/tools/docker-engine up")
LANES = (CODE, LABS, FLEETS)
STAGES = (*ALONE, DOCKER, *CODE, *LABS, *FLEETS)


def environment(*, is_thorough: bool) -> dict[str, str]:
    return dict(
        os.environ,
        PATH=f"{BIN}:{os.environ['PATH']}",
        ANSIBLE_COLLECTIONS_PATH=str(ROOT / ".cache" / "dev"),
        ANSIBLE_FORCE_COLOR="0",
        NO_COLOR="1",
        PYTEST_ADDOPTS="" if is_thorough else "-m 'not long'",
    )


def run(stage: Stage, variables: dict[str, str]) -> bool:
    log = LOGS / f"{stage.name}.log"
    print(f"==> {stage.name}: {stage.command}", flush=True)
    begin = time.monotonic()
    with log.open("wb") as output:
        status = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", stage.command],
            cwd=ROOT,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
    seconds = time.monotonic() - begin
    text = log.read_text(errors="replace").rstrip()
    if status == 0:
        last = text.splitlines()[-1][:120] if text else ""
        print(f"    {stage.name} passed in {seconds:.0f} s  {last}", flush=True)
        return True
    print(f"{text}\n    {stage.name} FAILED in {seconds:.0f} s (status {status}); all of its output: {log}", flush=True)
    return False


def main(names: list[str], *, is_thorough: bool) -> int:
    unknown = set(names) - {stage.name for stage in STAGES}
    if unknown:
        print(f"Unknown stages: {shlex.join(unknown)}. Known: {' '.join(stage.name for stage in STAGES)}.")
        return 2
    LOGS.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    variables = environment(is_thorough=is_thorough)

    def wanted(stages: Iterable[Stage]) -> list[Stage]:
        return [each for each in stages if each.name in names or (not names and (is_thorough or not each.is_long))]

    lanes = [wanted(lane) for lane in LANES]
    first = [*wanted(ALONE), *([DOCKER] if any(lanes[1:]) else wanted([DOCKER]))]
    results = [run(stage, variables) for stage in first]
    with ThreadPoolExecutor() as side_by_side:
        for passed in side_by_side.map(lambda lane: [run(stage, variables) for stage in lane], lanes):
            results += passed
    print(f"All stages took {(time.monotonic() - begin) / 60:.1f} minutes.")
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--thorough", action="store_true")
    options.add_argument("stages", nargs="*")
    given = options.parse_args()
    sys.exit(main(given.stages, is_thorough=given.thorough))
