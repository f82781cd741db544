"""A condition is looked at at once, and a last time when the time is over."""

import time

from ansible_collections.slb.fleet.plugins.module_utils._system.waiting import wait_for


def test_what_is_so_is_not_waited_for():
    begin = time.monotonic()
    assert wait_for(lambda: True, 0)
    assert wait_for(lambda: True, 60, 60)
    assert time.monotonic() - begin < 30


def test_without_time_it_is_looked_at_once():
    looks = []
    assert not wait_for(lambda: looks.append(1), 0)
    assert not wait_for(lambda: looks.append(1), -5)
    assert len(looks) == 2


def test_it_is_waited_for_until_it_is_so():
    looks = []
    assert wait_for(lambda: looks.append(1) or len(looks) == 3, 60, 0.01)
    assert len(looks) == 3


def test_the_last_look_is_when_the_time_is_over_and_not_a_pause_later():
    begin, looks = time.monotonic(), []
    assert not wait_for(lambda: looks.append(time.monotonic() - begin), 0.2, 60)
    assert len(looks) == 2
    assert 0.2 <= looks[1] < 30
