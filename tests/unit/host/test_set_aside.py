"""What is taken out of the way is noted first; a runtime that is killed or fails at any step is a script here."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.module_utils import _observation as observation
from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._host import (
    containers,
    engine_container,
    moves,
    notes,
    record,
    set_aside,
)

DOCKER = """#!/usr/bin/env python3
import json, sys
state = {state!r}
with open(state) as stream:
    slb = json.load(stream)
verb, rest = sys.argv[1], sys.argv[2:]
with open({log!r}, "a") as stream:
    print(*sys.argv[1:], file=stream)
def name_or_id(what):
    return slb and what in (slb["Name"], slb["Id"])
if verb in (slb.get("fails") or "").split():
    sys.exit("it is broken")
if verb == "container":
    if not name_or_id(rest[1]):
        sys.exit("no such container")
    print(json.dumps([dict(slb, Name="/" + slb["Name"])]))
    if slb.get("loops"):  # until a stop is in time, it is started anew between any two looks
        slb["RestartCount"] = slb.get("RestartCount", 0) + 1
        with open(state, "w") as stream:
            json.dump(slb, stream)
    sys.exit()
if verb == "ps" and "--format" in rest:
    is_shown = slb["Name"].startswith("slb-leftover-") and ("--all" in rest or slb["State"]["Status"] == "running")
    print(slb["Name"] if is_shown else "")
    sys.exit()
if verb == "ps":
    print("c1" if name_or_id(rest[-1].partition("=")[2].strip("^/?$")) else "", end="")
    sys.exit()
if not slb.get("Id"):
    sys.exit("No such container")
if verb == "update":
    name, _, count = rest[0].partition("=")[2].partition(":")
    slb["HostConfig"]["RestartPolicy"] = {{"Name": name, "MaximumRetryCount": int(count or 0)}}
elif verb == "stop":
    slb["State"].update(Status="exited", Pid=0)
    slb["loops"] = max(0, slb.get("loops", 0) - 1)
    if slb["HostConfig"].get("AutoRemove"):
        slb = {{"Name": "", "Id": ""}}
elif verb == "rename":
    slb["Name"] = rest[1]
elif verb == "rm":
    slb = {{"Name": "", "Id": ""}}
else:
    if verb == "start":
        if slb["State"]["Status"] == "stopping":
            sys.exit("container must be in Created or Stopped state to be started")
        slb["State"]["StartedAt"] = "2026-11-20T15:00:00Z"
    slb["State"]["Status"] = {{"start": "running", "unpause": "running", "pause": "paused"}}[verb]
with open(state, "w") as stream:
    json.dump(slb, stream)
"""


class Docker:
    """A host with one container, by a ``docker`` or ``podman`` that remembers what was done to it."""

    def __init__(self, folder: Path, program: str) -> None:
        self._program = program
        self._state = folder / "state.json"
        self._log = folder / "log"
        self.is_now()
        script = folder / program
        script.write_text(DOCKER.format(state=str(self._state), log=str(self._log)))
        script.chmod(0o755)

    def is_now(self, status: str = "running", policy: str = "on-failure", count: int = 3, **more: Any) -> None:
        container = {
            "Id": "c1",
            "Name": "slb",
            "Config": {"Image": "slb:1"},
            "HostConfig": {
                "RestartPolicy": {"Name": policy, "MaximumRetryCount": count},
                "NetworkMode": "none",
                "AutoRemove": more.pop("auto_remove", False),
            },
            "State": {"Status": status, "Pid": 0, "ExitCode": 0, "StartedAt": "2026-11-20T13:14:00Z"},
        }
        self._state.write_text(json.dumps(dict(container, **more)))

    def change(self, **values: Any) -> None:
        self._state.write_text(json.dumps(dict(json.loads(self._state.read_text()), **values)))

    @property
    def seen(self) -> tuple[str, str, str]:
        """Name, state and restart policy."""
        container = containers.inspect(self._program, "c1")
        return container.name, container.state, container.whole_restart_policy

    @property
    def done(self) -> list[str]:
        """The verbs that change something, in their order."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        return [line.split()[0] for line in lines if line.split()[0] not in ("container", "ps")]


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Docker:
    return host_of("docker", tmp_path, monkeypatch)


@pytest.fixture
def podman(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Docker:
    """One before 5.1."""
    host = host_of("podman", tmp_path, monkeypatch)
    host.is_now("running", "always", 0, fails="update")
    monkeypatch.setattr(moves, "_CALM_SECONDS", 0.2)
    return host


def host_of(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Docker:
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setattr(containers, "_SOCKETS", {})
    monkeypatch.setattr(containers.commands, "_SEARCH_PATH", "/usr/bin:/bin")
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(containers, "PROGRAMS", (program,))
    monkeypatch.setattr(set_aside, "PATH", str(tmp_path / "slb-fleet" / "set-aside.json"))
    monkeypatch.setattr(record, "PATH", str(tmp_path / "facts.d" / "slb_engine.fact"))
    monkeypatch.setattr(moves, "_GONE_SECONDS", 0.5)
    return Docker(programs, program)


def stop(remove: bool = False, because: str = "list", check_mode: bool = False) -> dict[str, Any]:
    return engine_container.stopped(None, None, True, 1, remove, because, check_mode).values


def test_what_is_taken_away_is_noted_and_comes_back_as_it_was(docker: Docker) -> None:
    assert set_aside.look() is None
    name = stop()["set_aside_as"]
    assert docker.seen == (name, "exited", "no")
    path = Path(set_aside.PATH)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    seen = observation.observe(["engine_container"])["set_aside"]
    expected = {"id": "c1", "name": name, "state": "running", "restart_policy": "on-failure:3", "because": "list"}
    assert {key: seen[key] for key in expected} == expected
    assert seen["exists"] is True
    assert 0 <= seen["age"] < 5
    noted = json.loads(path.read_text())
    path.write_text(json.dumps(dict(noted, at=noted["at"] - 7200)))
    moved = set_aside.look()
    assert moved is not None
    assert moved["age"] < 5, "a clock that is set forward makes nothing old"

    checked = engine_container.restored(mistaken=False, check_mode=True)
    assert checked.changed
    assert docker.seen == (name, "exited", "no")
    result = engine_container.restored(mistaken=False, check_mode=False)
    assert result.changed
    assert result.values["restored"] is True
    assert result.values["after"]["state"] == "running"
    assert docker.seen == ("slb", "running", "on-failure:3")
    assert docker.done[-3:] == ["start", "rename", "update"]
    assert not path.exists()
    again = engine_container.restored(mistaken=False, check_mode=False)
    assert (again.changed, again.values["restored"]) == (False, False)


@pytest.mark.parametrize(
    ("before", "after"),
    [("paused", "paused"), ("restarting", "running"), ("exited", "exited"), ("created", "created")],
)
def test_it_gets_the_state_back_that_it_had(docker: Docker, before: str, after: str) -> None:
    docker.is_now(before, "always", 0)
    stop()
    engine_container.restored(mistaken=False, check_mode=False)
    assert docker.seen == ("slb", after, "always")


class Killed(BaseException):
    """Our process is gone at this point."""


def killed_before(monkeypatch: pytest.MonkeyPatch, verb: str, act: Callable[[], object]) -> None:
    real = containers.commands.run

    def run(argv: list[str], timeout: float) -> object:
        if argv[1] == verb:
            raise Killed
        return real(argv, timeout)

    with monkeypatch.context() as patch:
        patch.setattr(containers.commands, "run", run)
        with pytest.raises(Killed):
            act()


@pytest.mark.parametrize(
    ("state", "verb"),
    [(state, verb) for state in ("running", "paused") for verb in ("update", "stop", "rename")]
    + [("paused", "unpause")],
)
@pytest.mark.parametrize(("because", "kept"), [("operator", "operator"), ("ended", "list"), ("record", "list")])
def test_a_stop_that_was_killed_between_two_steps_goes_on_and_knows_what_it_was(
    docker: Docker, monkeypatch: pytest.MonkeyPatch, state: str, verb: str, because: str, kept: str
) -> None:
    docker.is_now(state)
    killed_before(monkeypatch, verb, stop)
    noted = set_aside.look()
    assert noted is not None
    assert (noted["name"], noted["state"], noted["restart_policy"]) == ("slb", state, "on-failure:3")
    stop(because=because)
    noted = set_aside.look()
    assert noted is not None
    assert (noted["state"], noted["restart_policy"], noted["because"]) == (state, "on-failure:3", kept)
    engine_container.restored(mistaken=False, check_mode=False)
    assert docker.seen == ("slb", state, "on-failure:3")


def test_what_a_person_paused_after_a_killed_stop_comes_back_paused(
    docker: Docker, monkeypatch: pytest.MonkeyPatch
) -> None:
    docker.is_now("running")
    killed_before(monkeypatch, "stop", stop)
    docker.is_now("paused", "no", 0)
    stop()
    engine_container.restored(mistaken=False, check_mode=False)
    assert docker.seen == ("slb", "paused", "on-failure:3")


@pytest.mark.parametrize("verb", ["rename", "update", "start", "pause"])
@pytest.mark.parametrize("then", ["restored", "stopped"])
def test_a_return_that_was_killed_between_two_steps_can_go_on_or_be_undone(
    docker: Docker, monkeypatch: pytest.MonkeyPatch, verb: str, then: str
) -> None:
    docker.is_now("paused")
    stop()
    killed_before(monkeypatch, verb, lambda: engine_container.restored(mistaken=False, check_mode=False))
    if then == "stopped":
        stop()
    engine_container.restored(mistaken=False, check_mode=False)
    assert docker.seen == ("slb", "paused", "on-failure:3")


def test_what_was_put_back_for_a_mistake_is_remembered(docker: Docker) -> None:
    docker.is_now("running")
    stop()
    for _ in range(2):
        engine_container.restored(mistaken=True, check_mode=False)
        noted = set_aside.look()
        assert noted is not None
        assert (noted["name"], noted["mistaken"], docker.seen[:2]) == ("slb", True, ("slb", "running"))
    with pytest.raises(HostError, match="because the list was wrong"):
        stop(because="list")
    stop(because="operator")
    noted = set_aside.look()
    assert noted is not None
    assert (noted["mistaken"], noted["because"], noted["state"]) == (False, "operator", "running")


@pytest.mark.parametrize("verb", ["rename", "update", "start"])
def test_a_mistake_is_remembered_though_the_way_back_was_killed(
    docker: Docker, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """Whoever ends the way back does not know the reason any more."""
    docker.is_now("running")
    stop()
    killed_before(monkeypatch, verb, lambda: engine_container.restored(mistaken=True, check_mode=False))
    noted = set_aside.look()
    assert noted is not None
    assert (noted["mistaken"], noted["going_back"]) == (True, True)
    engine_container.restored(mistaken=False, check_mode=False)
    noted = set_aside.look()
    assert noted is not None
    assert (noted["mistaken"], noted["going_back"], docker.seen) == (True, False, ("slb", "running", "on-failure:3"))


@pytest.mark.parametrize("place", ["write", "forget"])
def test_a_kill_around_the_note_is_outlived(docker: Docker, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    def killed(*arguments: object) -> None:
        raise Killed

    if place == "write":
        with monkeypatch.context() as patch, pytest.raises(Killed):
            patch.setattr(set_aside, "write", killed)
            stop()
        assert docker.done == [], "nothing is touched before it is noted"
        return
    stop()
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(set_aside, "forget", killed)
        engine_container.restored(mistaken=False, check_mode=False)
    result = engine_container.restored(mistaken=False, check_mode=False)
    assert (result.changed, result.values["restored"]) == (True, False)
    assert set_aside.look() is None


def test_a_container_that_somebody_brought_back_by_hand_is_noted_as_it_is_now(docker: Docker) -> None:
    stop()
    docker.is_now("exited", "no", 0)
    stop()
    noted = set_aside.look()
    assert noted is not None
    assert (noted["state"], noted["restart_policy"]) == ("exited", "no")


def test_a_full_disk_stops_nothing(docker: Docker, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise HostError("No space left on device.", "Make room.")

    for module, function in ((record.room, "try_writing"), (set_aside, "write_ours")):
        with monkeypatch.context() as patch:
            patch.setattr(module, function, full)
            with pytest.raises(HostError, match="No space left"):
                stop()
    assert docker.done == []
    with monkeypatch.context() as patch:
        patch.setattr(record, "unwritable", lambda: "it is read-only")
        for check_mode in (True, False):
            with pytest.raises(HostError, match="read-only"):
                stop(check_mode=check_mode)
    assert docker.done == []
    assert stop(check_mode=True)["after"]["state"] == "absent"
    assert docker.done == []
    assert set_aside.look() is None


@pytest.mark.parametrize("kind", ["damaged", "wrong", "fifo", "large"])
def test_a_note_that_cannot_be_used_is_null_and_is_kept_beside(docker: Docker, kind: str) -> None:
    path = Path(set_aside.PATH)
    path.parent.mkdir()
    if kind == "fifo":
        os.mkfifo(path)
    else:
        content = {"damaged": "{", "large": "x" * 70000, "wrong": json.dumps({"id": "--all", "name": "slb"})}[kind]
        path.write_text(content)
    assert set_aside.look() is None
    with pytest.raises(notes.NoteError):
        set_aside.read()
    with pytest.raises(HostError, match="is not known"):
        engine_container.restored(mistaken=False, check_mode=False)
    stop()
    kept = list(path.parent.glob("set-aside.json.invalid-2*"))
    assert len(kept) == 1
    noted = set_aside.look()
    assert noted is not None
    assert noted["id"] == "c1"


def test_a_removed_container_leaves_no_note(docker: Docker) -> None:
    stop(remove=True)
    assert docker.done == ["update", "stop", "rm"]
    assert not Path(set_aside.PATH).exists()


def test_one_that_deletes_itself_is_stopped_on_the_operators_word_alone(docker: Docker) -> None:
    for state in ("running", "paused"):
        docker.is_now(state, "no", 0, auto_remove=True)
        with pytest.raises(HostError, match=" remove: true"):
            stop()
    assert docker.done == []
    assert stop(remove=True)["set_aside_as"] is None
    assert docker.done == ["unpause", "stop", "rm"], "the stop has deleted it, which is no failure of the removal"
    assert not Path(set_aside.PATH).exists()
    docker.is_now("created", "no", 0, auto_remove=True)
    assert stop()["set_aside_as"].startswith("slb-leftover-")


def test_one_that_systemd_makes_is_left_to_it(podman: Docker) -> None:
    """It would be there again at once, and for good."""
    unit = {"PODMAN_SYSTEMD_UNIT": "slb@1.service"}
    podman.is_now("running", "no", 0, auto_remove=True, Config={"Image": "slb:1", "Labels": unit})
    for check_mode, remove in ((True, False), (False, False), (False, True)):
        with pytest.raises(
            HostError, match=r"by the systemd unit slb@1.service.*`systemctl disable --now slb@1.service`"
        ):
            stop(remove=remove, check_mode=check_mode)
    assert podman.done == []
    podman.change(Config={"Image": "slb:1", "Labels": {"PODMAN_SYSTEMD_UNIT": "x; rm -rf /"}})
    assert containers.look().systemd_unit is None, "it is for an operator to type"


def test_a_removal_that_fails_is_a_failure(docker: Docker) -> None:
    docker.change(fails="rm")
    with pytest.raises(HostError, match="could not be removed"):
        stop(remove=True)


def test_a_container_that_cannot_be_stopped_has_its_restart_policy_again(docker: Docker) -> None:
    docker.change(fails="stop")
    with pytest.raises(HostError, match="Nothing was changed"):
        stop()
    assert docker.seen == ("slb", "running", "on-failure:3")
    assert set_aside.look() is None


def test_what_was_stopped_and_cannot_be_renamed_runs_again(docker: Docker) -> None:
    docker.change(fails="rename")
    with pytest.raises(HostError, match="was started again as it was"):
        stop()
    assert docker.seen == ("slb", "running", "on-failure:3")
    assert set_aside.look() is None


def test_a_stop_that_fails_half_way_says_how_things_are(docker: Docker) -> None:
    docker.change(fails="rename start")
    with pytest.raises(HostError) as failure:
        stop()
    words = str(failure.value)
    assert "is exited now, with the restart policy no; it was running, with on-failure:3" in words
    assert "state: restored" in words
    assert failure.value.values["after"]["restart_policy"] == "no"
    docker.change(fails=None)
    engine_container.restored(mistaken=False, check_mode=False)
    assert docker.seen == ("slb", "running", "on-failure:3")


def test_a_move_that_could_do_nothing_leaves_the_note_as_it_was(docker: Docker) -> None:
    docker.change(fails="update")
    with pytest.raises(HostError, match="Nothing was changed"):
        stop()
    assert set_aside.look() is None
    earlier = set_aside.Note("c0", "slb-leftover-x", "docker", "exited", "no", "ended", 5.0, "boot", 5.0, False, False)
    set_aside.write(earlier)
    with pytest.raises(HostError, match="Nothing was changed"):
        stop()
    assert set_aside.read() == earlier


def test_one_that_podman_starts_again_and_again_is_stopped_until_it_stays_down(podman: Docker) -> None:
    """A stop between two of its runs is none, and podman calls that a success."""
    podman.change(loops=3, State={"Status": "stopped", "Pid": 0, "ExitCode": 1, "StartedAt": "2026-11-20T13:14:00Z"})
    name = stop()["set_aside_as"]
    assert podman.done == ["update", "stop", "stop", "stop", "rename"]
    assert podman.seen == (name, "exited", "always")


def test_one_that_never_stays_down_keeps_its_name(podman: Docker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moves, "_DOWN_SECONDS", 0)
    podman.change(loops=10**6)
    with pytest.raises(HostError, match=r"starts it anew.*`podman rm --force slb`"):
        stop()
    assert "rename" not in podman.done
    assert podman.seen[0] == "slb"


def test_one_whose_stop_was_killed_is_stopped_by_the_next(podman: Docker) -> None:
    podman.change(State={"Status": "stopping", "Pid": 0, "ExitCode": 0, "StartedAt": "2026-11-20T13:14:00Z"})
    name = stop()["set_aside_as"]
    assert podman.seen == (name, "exited", "always")


def test_one_whose_stop_was_killed_is_stopped_and_started_to_be_what_it_was(
    podman: Docker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It serves on, takes no start, and would not be restarted when it ends."""
    killed_before(monkeypatch, "stop", stop)
    podman.change(State={"Status": "stopping", "Pid": 0, "ExitCode": 0, "StartedAt": "2026-11-20T13:14:00Z"})
    assert engine_container.restored(mistaken=False, check_mode=False).values["restored"] is True
    assert podman.done[-2:] == ["stop", "start"]
    assert (podman.seen, containers.inspect("podman", "c1").stopping) == (("slb", "running", "always"), False)


def test_a_stop_that_does_not_end_leaves_nothing_that_is_stopping(
    podman: Docker, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = containers.tell

    def tell(program: str, *arguments: str, seconds: float = 0) -> None:
        if arguments[:3] == ("stop", "-t", "1"):
            podman.change(State={"Status": "stopping", "Pid": 0, "ExitCode": 0, "StartedAt": "2026-11-20T13:14:00Z"})
            raise HostError("It did not end.", "See why.")
        real(program, *arguments, seconds=seconds)

    monkeypatch.setattr(containers, "tell", tell)
    with pytest.raises(HostError, match="was started again as it was"):
        stop()
    assert podman.done == ["update", "stop", "start"]


@pytest.mark.parametrize(("fails", "policy", "starts"), [("update", "always", True), ("update", "no", False)])
def test_what_the_next_boot_starts_is_said(podman: Docker, fails: str, policy: str, starts: bool) -> None:
    podman.is_now("running", policy, 0, fails=fails)
    assert stop()["starts_at_boot"] is starts


def test_what_the_next_boot_does_not_start_is_not_said(docker: Docker) -> None:
    docker.is_now("running", "always", 0)
    assert stop()["starts_at_boot"] is False


def test_what_was_taken_away_and_runs_again_is_seen(docker: Docker) -> None:
    docker.is_now("running", Name="slb-leftover-1")
    assert observation.observe(["engine_container"])["running_leftovers"] == ["slb-leftover-1"]
    docker.is_now("exited", Name="slb-leftover-1")
    assert observation.observe(["engine_container"])["running_leftovers"] == []
    docker.is_now("running")
    assert observation.observe(["engine_container"])["running_leftovers"] == []


def test_a_runtime_that_does_not_answer_is_not_asked_for_leftovers(
    docker: Docker, monkeypatch: pytest.MonkeyPatch
) -> None:
    docker.change(fails="container ps")
    monkeypatch.setattr(containers, "names", lambda *given, **named: pytest.fail("it would hang once more"))
    assert observation.observe(["engine_container"])["running_leftovers"] == []


def test_what_was_taken_away_by_podmans_docker_comes_back_without_it(podman: Docker) -> None:
    """The package podman-docker was removed since."""
    stop()
    note = set_aside.read()
    assert note is not None
    set_aside.write(note._replace(runtime="docker"))
    seen = set_aside.look()
    assert seen is not None
    assert seen["exists"] is True
    engine_container.restored(mistaken=False, check_mode=False)
    assert podman.seen == ("slb", "running", "always")


def test_what_is_gone_or_has_lost_its_name_is_not_put_back(docker: Docker) -> None:
    stop()
    docker.change(Id="c2", Name="slb")
    with pytest.raises(HostError, match="taken by another one"):
        engine_container.restored(mistaken=False, check_mode=False)
    docker.change(Id="c2", Name="other")
    with pytest.raises(HostError, match="is gone"):
        engine_container.restored(mistaken=False, check_mode=False)
    noted = set_aside.look()
    assert noted is not None
    assert noted["exists"] is False
    docker.change(fails="container")
    docker.change(Id="c1")
    noted = set_aside.look()
    assert noted is not None
    assert noted["exists"] is None, "a runtime that does not answer does not say that it is gone"


def test_a_return_that_fails_says_how_things_are(docker: Docker) -> None:
    stop()
    docker.change(fails="start")
    with pytest.raises(HostError, match=r"slb-leftover-\S+ is exited now, with the restart policy no; it was running"):
        engine_container.restored(mistaken=False, check_mode=False)
    docker.change(fails=None)
    engine_container.restored(mistaken=False, check_mode=False)
    assert docker.seen == ("slb", "running", "on-failure:3")


def test_a_wait_for_a_newer_container_needs_a_request(docker: Docker) -> None:
    with pytest.raises(HostError, match="the record is none"):
        engine_container.running(1, 0, True, False)
    assert engine_container.running(1, 0, False, False).values["after"]["state"] == "running"
    record.pending("edge-1", "192.0.2.11", "https://node.example.com", 1, False)
    with pytest.raises(HostError, match="running before the request"):
        engine_container.running(0, 0, True, False)
    docker.change(State={"Status": "running", "Pid": 0, "ExitCode": 0, "StartedAt": "2999-11-20T13:14:00Z"})
    assert engine_container.running(0, 0, True, False).values["after"]["state"] == "running"


def test_what_was_put_back_is_older_than_any_request(docker: Docker) -> None:
    stop()
    engine_container.restored(mistaken=True, check_mode=False)
    record.pending("edge-1", "192.0.2.11", "https://node.example.com", 1, False)
    docker.change(State={"Status": "running", "Pid": 0, "ExitCode": 0, "StartedAt": "2999-11-20T13:14:00Z"})
    assert observation.observe(["engine_container"])["engine_container"]["after_request"] is False
    with pytest.raises(HostError, match="running before the request"):
        engine_container.running(0, 0, True, False)


def test_a_look_says_whether_it_was_made_as_root(docker: Docker, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = observation.observe(["engine_container", "record"])
    assert seen["root"] is (os.geteuid() == 0)
    assert seen["record"] == {"state": "none", "unwritable": None}
    assert (seen["engine_container"]["after_request"], seen["engine_container"]["auto_remove"]) == (None, False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert observation.observe([])["root"] is False
