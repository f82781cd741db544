"""What the report costs at 5,000 hosts: in memory, and in time against what Ansible itself spends on them."""

from __future__ import annotations

import resource
import statistics
import time
import tracemalloc
from pathlib import Path

import pytest
import yaml

from ansible_collections.slb.fleet.plugins.plugin_utils._report.files import AT_THE_END, write_all
from ansible_collections.slb.fleet.plugins.plugin_utils._report.progress_line import line
from ansible_collections.slb.fleet.plugins.plugin_utils._report.terminal import lines
from ansible_collections.slb.fleet.plugins.plugin_utils._report.watcher import SHARE
from ansible_collections.slb.fleet.tests.unit.report.canned import Canned
from ansible_collections.slb.fleet.tests.unit.report.told_runs import ABSENT, HEALTHY, LIVE, Happenings

HOSTS = 5000
PING = [{"hosts": "engines", "gather_facts": False, "tasks": [{"ansible.builtin.ping": {}}]}]


def fleet() -> Happenings:
    run = Happenings(folder="/reports")
    names = [f"edge-{number}.site-{number % 40}.example" for number in range(HOSTS)]
    run.play("look", *names)
    for number, name in enumerate(names):
        if number % 50 == 0:
            run.fail(name, LIVE, 0.02)
        else:
            run.look(name, ABSENT if number % 3 == 0 else HEALTHY, 0.02)
    return run


def seconds_of_a_task(folder: Path) -> float:
    """What one task on one host takes of the processor, measured now: a machine that is busy is so for all."""
    used, sizes = [], (20, 120)
    for size in sizes:
        place = folder / str(size)
        place.mkdir()
        fleet = Canned(place, **{f"edge_{number}": "healthy" for number in range(size)})
        (place / "ping.yml").write_text(yaml.safe_dump(PING))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        status, output = fleet.run("ping.yml")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert status == 0, output
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return (used[1] - used[0]) / (sizes[1] - sizes[0])


def share_of_the_report(folder: Path) -> float:
    """What part of a run's time of the processor the report takes, where a run is one task on each host."""
    folder.mkdir()
    run_seconds = HOSTS * seconds_of_a_task(folder)
    begin = time.process_time()
    run = fleet()
    gathering = time.process_time() - begin
    begin = time.process_time()
    line(run.gathering.tally(run.now), [])
    progress = time.process_time() - begin
    begin = time.process_time()
    document = run.ended()
    write_all(folder, document, AT_THE_END)
    list(lines(document))
    ending = time.process_time() - begin
    # So much of the time at most is spent on writing meanwhile, and on lines of progress, of which one is made each
    # second where that is less.
    return (gathering + 2 * ending) / run_seconds + 1 / SHARE + min(progress, 1 / SHARE)


@pytest.mark.long
def test_it_takes_at_most_one_twentieth_of_the_runs_time(tmp_path: Path) -> None:
    shares = [share_of_the_report(tmp_path / str(number)) for number in range(5)]
    assert statistics.median(shares) < 1 / 20, shares


@pytest.mark.long
def test_it_takes_at_most_60_megabytes(tmp_path: Path) -> None:
    tracemalloc.start()
    try:
        run = fleet()
        write_all(tmp_path, run.ended(), AT_THE_END)
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 60_000_000
