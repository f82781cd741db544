"""A step on a host ends, also where the host answers no more."""

from __future__ import annotations

import signal
import subprocess
import time
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.errors import AnsibleConnectionFailure

from ansible_collections.slb.fleet.plugins.plugin_utils import _on_host
from ansible_collections.slb.fleet.plugins.plugin_utils._on_host import OnHostAction, as_seconds
from ansible_collections.slb.fleet.tests.tools.runs import wait_until


class Frozen(OnHostAction):
    """Its host never answers, and its connection plugin tries again after every error."""

    def __init__(self) -> None:
        self.dropped = 0
        self._connection = SimpleNamespace(_load_name="ssh", transport="ssh", reset=self._drop)
        self.child: subprocess.Popen[bytes] | None = None
        self._discovered_interpreter_key = None
        self._task, self._templar = SimpleNamespace(delegate_to=None), None

    def _drop(self) -> None:
        self.dropped += 1
        time.sleep(60)

    def _execute_module(self, **given: Any) -> dict[str, Any]:
        assert self.child
        while True:
            try:
                self.child.wait()
            except Exception:
                continue


def test_it_ends_in_time_and_takes_its_ssh_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the connection that ssh shares, which may be stuck as well."""
    monkeypatch.setattr(_on_host, "_RESET_SECONDS", 0.3)
    frozen = Frozen()
    # Before the bounded time, whose end could be in the midst of it.
    frozen.child = subprocess.Popen(["sleep", "60"])
    begin = time.monotonic()
    with pytest.raises(AnsibleConnectionFailure, match=r"did not answer within 0 seconds.*run again"):
        frozen.on_host("slb.fleet.host_info", {}, 0.3, {})
    assert time.monotonic() - begin < 30, "the child and the connection's end take 60 s each"
    assert frozen.dropped == 1
    assert frozen.child.wait(30) == -signal.SIGTERM


def test_the_tasks_own_time_out_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    rang: list[int] = []
    monkeypatch.setattr(Frozen, "_execute_module", lambda self, **given: {"changed": True})
    before = signal.signal(signal.SIGALRM, lambda number, frame: rang.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        assert Frozen().on_host("slb.fleet.motd", {}, 60, {}) == {"changed": True}
        wait_until(lambda: rang, "the alarm")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(("value", "seconds"), [(None, 180), ("12", 12), ("soon", 0), (-3, 0), ("inf", 86_400)])
def test_what_is_no_number_is_not_waited_for(value: Any, seconds: float) -> None:
    assert as_seconds(value, 180) == seconds
