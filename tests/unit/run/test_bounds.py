"""What an answer may cost the controller while it still comes, which is when a host can make it cost the most."""

from __future__ import annotations

import ctypes
import time

import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils._bounded import bounded, heard_in_bounds
from ansible_collections.slb.fleet.plugins.plugin_utils._host_answer import HostAnswerError

MEGABYTE = 1 << 20


@pytest.fixture(autouse=True)
def _nothing_is_kept_for_later() -> None:
    """What other tests have given back is the system's: an answer would first fill what this process still has."""
    ctypes.CDLL(None).malloc_trim(0)


class Talking:
    """A connection over which so many megabytes come, fifty a second."""

    def __init__(self, megabytes: int) -> None:
        self._megabytes = megabytes
        self.heard: list[bytes] = []

    def exec_command(self, command: str) -> tuple[int, bytes, bytes]:
        for _number in range(self._megabytes):
            self.heard.append(b"x" * MEGABYTE)
            time.sleep(0.02)
        return 0, b"".join(self.heard), b""


def hear(talking: Talking) -> tuple[int, bytes, bytes]:
    with bounded(60), heard_in_bounds(talking):
        return talking.exec_command("any")


def test_what_does_not_end_is_ended_long_before_it_is_as_large_as_what_may_be_made_of_an_answer() -> None:
    talking = Talking(90)
    with pytest.raises(HostAnswerError, match="larger than 4 MB, or does not end"):
        hear(talking)
    assert 20 < len(talking.heard) < 70


def test_what_is_large_and_ends_is_heard() -> None:
    assert hear(Talking(4)) == (0, b"x" * 4 * MEGABYTE, b"")


def test_of_what_was_heard_as_much_as_before_may_be_made() -> None:
    with bounded(60):
        made = b"x" * 64 * MEGABYTE
        time.sleep(0.6)
    assert len(made) == 64 * MEGABYTE
