"""Waiting for an engine: until it is up, or the time is over; then what was seen first and last is told."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError, WaitError
from ansible_collections.slb.fleet.plugins.module_utils._host import containers, engine_container, set_aside
from ansible_collections.slb.fleet.plugins.module_utils._host.containers import Container


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[Container]:
    """What is seen, look by look; the last of it is what stays."""
    todo: list[Container] = []
    monkeypatch.setattr(containers, "look", lambda: todo.pop(0) if len(todo) > 1 else todo[0])
    monkeypatch.setattr(engine_container, "_POLL_SECONDS", 0.01)
    return todo


def up() -> Container:
    return Container(name="slb", state="running", id="abc", started_at=time.time() - 60)


def test_it_is_waited_for_until_it_is_up(looks: list[Container]) -> None:
    looks += [Container(name="slb", state="absent"), Container(name="slb", state="created", id="abc"), up()]
    result = engine_container.running(60, 5, False, check_mode=False)
    assert (result.values["before"]["state"], result.values["after"]["state"]) == ("absent", "running")
    assert result.values["waited"] < 30
    assert not result.changed


def test_what_was_seen_first_and_last_is_told_when_the_time_is_over(looks: list[Container]) -> None:
    looks += [Container(name="slb", state="absent"), Container(name="slb", state="exited", id="abc")]
    with pytest.raises(WaitError, match=r"within 0.05 seconds; last seen: the container is exited") as raised:
        engine_container.running(0.05, 5, False, check_mode=False)
    assert raised.value.values["before"]["state"] == "absent"
    assert raised.value.values["after"]["state"] == "exited"


@pytest.mark.parametrize(("runtime", "command"), [("podman", "podman"), (None, "docker")])
def test_who_has_to_look_for_himself_is_told_the_command_that_the_host_has(
    looks: list[Container], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runtime: str | None, command: str
) -> None:
    looks += [Container(name="slb", state="absent", runtime=runtime)]
    with pytest.raises(WaitError, match=f"`{command} ps --all`"):
        engine_container.running(0.05, 5, False, check_mode=False)
    damaged = tmp_path / "set-aside.json"
    damaged.write_text("{")
    monkeypatch.setattr(set_aside, "PATH", str(damaged))
    with pytest.raises(HostError, match=f"`{command} ps --all`"):
        engine_container.restored(mistaken=False, check_mode=False)


def test_check_mode_looks_once(looks: list[Container]) -> None:
    looks += [Container(name="slb", state="absent"), up()]
    result = engine_container.running(60, 5, False, check_mode=True)
    assert result.values["before"] == result.values["after"]
    assert len(looks) == 1
