"""What the report costs at 5,000 hosts: in memory, and in time against what Ansible itself spends on a host."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

from ansible_collections.slb.fleet.plugins.plugin_utils._report.files import AT_ANY_MOMENT, AT_THE_END, write_all
from ansible_collections.slb.fleet.plugins.plugin_utils._report.progress_line import line
from ansible_collections.slb.fleet.plugins.plugin_utils._report.terminal import lines
from ansible_collections.slb.fleet.tests.unit.report.told_runs import ABSENT, LIVE, PROVEN, Happenings

HOSTS = 5000
RUN_SECONDS_OF_CPU = HOSTS * 0.025
"""A task on a host costs Ansible a fork, a connection and an answer: some 25 ms of the processor, and often more."""


def fleet() -> Happenings:
    run = Happenings(folder="/reports")
    names = [f"edge-{number}.site-{number % 40}.example" for number in range(HOSTS)]
    run.play("look", *names)
    for number, name in enumerate(names):
        if number % 50 == 0:
            run.fail(name, LIVE, 0.02)
        else:
            run.look(name, ABSENT if number % 3 == 0 else PROVEN, 0.02)
    return run


def test_it_takes_at_most_one_twentieth_of_the_runs_time(tmp_path: Path) -> None:
    begin = time.process_time()
    run = fleet()
    gathering = time.process_time() - begin
    begin = time.process_time()
    write_all(tmp_path, run.so_far(), AT_ANY_MOMENT)
    writing = time.process_time() - begin
    begin = time.process_time()
    line(run.gathering.tally(run.now), [])
    progress = time.process_time() - begin
    begin = time.process_time()
    document = run.ended()
    write_all(tmp_path, document, AT_THE_END)
    list(lines(document))
    ending = time.process_time() - begin
    # A fortieth of the time at most is spent on writing meanwhile, and one line of progress is made each second.
    whole = gathering + 2 * ending + RUN_SECONDS_OF_CPU * (1 / 40 + progress)
    print(f"gathering {gathering:.2f} writing {writing:.2f} progress {progress:.4f} ending {ending:.2f} s")
    assert whole < RUN_SECONDS_OF_CPU / 20, (gathering, writing, progress, ending)


def test_it_takes_at_most_60_megabytes(tmp_path: Path) -> None:
    tracemalloc.start()
    try:
        run = fleet()
        write_all(tmp_path, run.ended(), AT_THE_END)
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 60_000_000
