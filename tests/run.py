"""Run the project's tests stage by stage: one line when a stage starts and ends, its whole output if it fails.

All stages of `make test`, or those named: `python tests/run.py ruff unit`. With --thorough, the stages and tests that
`make test` leaves out as well. Each stage's output is kept in .cache/test-logs.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"
LOGS = ROOT / ".cache" / "test-logs"


class Stage(NamedTuple):
    """``thorough``: only `make thorough` runs it, unless it is named. ``priority``: that of `nice`."""

    name: str
    command: str
    thorough: bool = False
    priority: int = 10


SANITY_OPTIONS = "--skip-test pylint --skip-test pep8 --skip-test yamllint --skip-test changelog"
"""Of `make test`: the stages ruff, yamllint and changelog have their rules. `make thorough` and a release skip none."""

# Two of these keep the processors busy: the short ones first, then the longest.
BUSY = (
    Stage("ruff", "ruff check . && ruff format --check ."),
    Stage("python-3.6", "vermin --quiet --no-tips --target=3.6- --violations $(tests/tools/host-code)"),
    Stage("yamllint", "yamllint --strict ."),
    Stage("changelog", "antsibull-changelog lint"),
    Stage("sanity", "tests/tools/ansible-test .venv sanity $SANITY_OPTIONS"),
    Stage("unit", "tests/tools/elsewhere pytest --numprocesses 2 --dist worksteal tests/unit"),
    Stage("client", "pytest --numprocesses 2 tests/client"),
    Stage("ways", "pytest --numprocesses 2 tests/ways"),
    Stage("ansible-lint", "ansible-lint --offline --strict --profile production"),
    Stage("mypy", "tests/tools/mypy"),
    Stage("licences", "tests/tools/licences", thorough=True),
    Stage("docs", "tests/tools/docsite && pytest tests/docsite", thorough=True),
    Stage("release", "pytest tests/release", thorough=True),
    Stage("page", "pytest tests/page", thorough=True),
    Stage("hostile", "pytest --numprocesses 2 --dist loadfile tests/hostile", thorough=True),
    Stage("canned", "pytest --numprocesses 2 tests/canned", thorough=True),
    Stage("awx", "tests/tools/awx-modules && pytest --numprocesses 2 tests/awx", thorough=True),
    Stage("all-histories", "pytest --numprocesses 2 --maxschedchunk 1 -m long tests/histories", thorough=True),
)
# Lanes of stages that mostly wait for a lab, each with its own one. They run side by side, and go first.
LABS = (
    (
        Stage("integration", "pytest tests/integration --ignore tests/integration/deployment", priority=0),
        Stage("lab", "pytest tests/lab/tests", thorough=True, priority=0),
    ),
    (Stage("deployment", "SLB_TEST_LAB=deployment pytest tests/integration/deployment", thorough=True, priority=0),),
    (Stage("ee", "pytest tests/ee", thorough=True, priority=0),),
)
# One uses all processors, one measures their time, and in one galaxy-importer limits the time of ansible-lint.
ALONE = (
    # Dealt out test by test: those that take long are the first in their file.
    Stage("histories", "pytest --numprocesses 2 --maxschedchunk 1 -m 'not long' tests/histories"),
    Stage("scale", "tests/tools/python tests/bench/scale.py --gate", thorough=True, priority=0),
    Stage("artifact", "tests/tools/candidate --import", thorough=True, priority=0),
)
DOCKER = Stage("docker", "tests/tools/kernel-room && tests/tools/docker-engine up")
STAGES = (*ALONE, DOCKER, *BUSY, *(stage for lane in LABS for stage in lane))


def run(stage: Stage, variables: dict[str, str]) -> bool:
    log = LOGS / f"{stage.name}.log"
    print(f"==> {stage.name}: {stage.command}", flush=True)
    begin = time.monotonic()
    with log.open("wb") as output:
        status = subprocess.run(
            ["nice", "-n", str(stage.priority), "bash", "-euo", "pipefail", "-c", stage.command],
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
    print(f"{text}\n    {stage.name} FAILED in {seconds:.0f} s (status {status}); its whole output: {log}", flush=True)
    return False


def main(names: list[str], home: str, *, is_thorough: bool) -> int:
    unknown = set(names) - {stage.name for stage in STAGES}
    if unknown:
        print(f"Unknown stages: {shlex.join(unknown)}. Known: {' '.join(stage.name for stage in STAGES)}.")
        return 2
    LOGS.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    variables = dict(
        os.environ,
        PATH=f"{BIN}:{os.environ['PATH']}",
        ANSIBLE_HOME=home,
        ANSIBLE_COLLECTIONS_PATH=str(ROOT / ".cache" / "dev"),
        ANSIBLE_FORCE_COLOR="0",
        NO_COLOR="1",
        PYTEST_ADDOPTS="" if is_thorough else "-m 'not long'",
        SANITY_OPTIONS="" if is_thorough else SANITY_OPTIONS,
    )
    wanted = {stage for stage in STAGES if stage.name in names or (not names and (is_thorough or not stage.thorough))}
    lanes = [[stage for stage in lane if stage in wanted] for lane in LABS]
    first = [*(stage for stage in ALONE if stage in wanted), *([DOCKER] if DOCKER in wanted or any(lanes) else [])]
    results = [run(stage, variables) for stage in first]
    with ThreadPoolExecutor(2) as busy, ThreadPoolExecutor() as labs:
        done = labs.map(lambda lane: [run(stage, variables) for stage in lane], lanes)
        results += busy.map(lambda stage: run(stage, variables), [stage for stage in BUSY if stage in wanted])
        results += [passed for lane in done for passed in lane]
    print(f"All stages took {(time.monotonic() - begin) / 60:.1f} minutes.")
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--thorough", action="store_true")
    options.add_argument("stages", nargs="*")
    given = options.parse_args()
    # Ansible writes into its home when it is imported. The path is short: sockets of ssh are in it.
    with tempfile.TemporaryDirectory(prefix="slb-", ignore_cleanup_errors=True) as ansible_home:
        status = main(given.stages, ansible_home, is_thorough=given.thorough)
    sys.exit(status)
