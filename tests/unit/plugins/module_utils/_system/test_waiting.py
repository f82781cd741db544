"""What a caller gets of work that ends in time, fails, or does not end."""

import threading

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._system.waiting import within
from ansible_collections.slb.fleet.tests.unit.errors import code_of


def test_work_in_time_has_its_result_and_its_error():
    assert within(60, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        within(60, lambda: 1 / 0)


def test_work_that_does_not_end_is_left_behind():
    assert code_of(within, 0.01, threading.Event().wait) == "host_timeout"
