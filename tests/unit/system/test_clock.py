"""How old a note is does not follow a clock that is set."""

import time

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._system import clock


def test_uptime_is_what_the_kernel_counts_from_the_boot():
    before = clock.uptime()
    assert 0 < before <= clock.uptime()
    assert len(clock.boot_id()) == 36


@pytest.mark.parametrize("shift", [-1e6, 0.0, 1e6])
def test_within_one_boot_only_the_uptime_counts(shift):
    noted = clock.uptime() - 100
    assert 100 <= clock.age(clock.boot_id(), noted, time.time() + shift) < 130
    assert clock.age(clock.boot_id(), clock.uptime() + 1e6, time.time() + shift) == 0


def test_what_is_of_an_earlier_boot_is_older_than_this_one():
    assert clock.age("another", 5.0, time.time() + 1e6) >= clock.uptime() - 30
    assert clock.age("another", 5.0, time.time() - 1e9) >= 1e9 - 30
