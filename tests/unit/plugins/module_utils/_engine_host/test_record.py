"""The record protects each step on a host: what a kill interrupts, the next run continues or restores."""

import io
import json
import multiprocessing
import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import container, gather, record, runtimes, sockets
from ansible_collections.slb.fleet.plugins.module_utils._engine_host.managers import Manager
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._system import clock, commands, waiting
from ansible_collections.slb.fleet.tests.unit.plugins.module_utils._engine_host.fake_runtime import FakeRuntime, Host

ENGINE = {"name": "edge-1", "manage_ip": "192.0.2.1", "base_url": "https://console.example"}
SET_ASIDE = {
    **{"container_id": None, "container_state": None, "allow_established": False, "remove": False},
    "ignored_starters": [],
    **{"request_id": None, "time_limit": None, "lock_timeout": 1},
}


@pytest.fixture
def host(monkeypatch, tmp_path, uptime=clock.uptime):
    # Records of the tests are up to an hour old, and this machine may have been started a minute ago.
    monkeypatch.setattr(clock, "uptime", lambda: uptime() + 7200)
    return Host(monkeypatch, tmp_path, FakeRuntime())


def options(host, **changes):
    """Return the options of ``prepare`` that fit the host as it is now."""
    noted, seen = record.read(), container.find_container()
    expected = {
        "container_id": seen.id,
        "container_state": seen.state,
        "record_state": noted["state"],
        "record_request_id": noted.get("request_id"),
    }
    given = {
        "request_id": "aa11",
        "action": "install" if seen.state == "absent" else "replace",
        "expected": expected,
        "allow_established": False,
        "remove": False,
        "ignored_starters": [],
        "stop_timeout": 1,
        "lock_timeout": 1,
        "time_limit": None,
    }
    return {**ENGINE, **given, **changes}


def prepare(host, **changes):
    return record.prepare(options(host, **changes), False).values


def set_aside(check_mode=False, **changes):
    expected = {key: changes.pop(key) for key in ("container_id", "container_state") if key in changes}
    return record.set_aside({**ENGINE, **SET_ASIDE, "stop_timeout": 1, "expected": expected, **changes}, check_mode)


def verify(container_id, remove_leftovers=False, **changes):
    given = {"container_id": container_id, "verified_by": "host", "remove_leftovers": remove_leftovers}
    return record.verify({**ENGINE, **given, **changes}, False)


def mark(request_id="aa11", time_limit=None):
    return record.mark({"request_id": request_id, "lock_timeout": 1, "time_limit": time_limit})


def restore(request_id="aa11", open_age=0, requested_age=0):
    ages = {"open_age": open_age, "requested_age": requested_age}
    return record.restore({"request_id": request_id, "lock_timeout": 1, **ages}, False)


def code_of(act):
    with pytest.raises(FleetError) as raised:
        act()
    # The folder of the tests is longer than the one of the record.
    summary = raised.value.summary.replace(str(Path(record.PATH).parent), "/etc/ansible/facts.d")
    assert len(summary) <= 220
    assert raised.value.fix
    return raised.value.code


def test_prepare_replace_records_and_sets_aside(host):
    host.runtime.add()
    result = record.prepare(options(host), False)
    name = result.values["set_aside_as"]
    assert host.runtime.show() == (name, "exited", "no")
    assert host.runtime.changes == ["update", "stop", "rename"]
    noted = host.file()
    assert noted is not None
    assert (noted["state"], noted["request_id"], noted["containers_before"]) == ("prepared", "aa11", ["c1"])
    kept = {"id": "c1", "name": name, "runtime": "docker", "restart_policy": "on-failure:3", "state": "running"}
    assert noted["set_aside"] == {**kept, "stop_timeout": 1, "purpose": "replace"}
    assert noted["previous"] is None
    assert [path.stat().st_mode & 0o777 for path in (host.path, host.path.parent)] == [0o644, 0o755]
    assert 0 <= result.values["record"]["age"] < 5
    assert (result.values["before"]["state"], result.values["after"]["state"]) == ("running", "absent")


def test_prepare_install_records_without_container(host):
    result = prepare(host)
    assert result["set_aside_as"] is None
    assert result["record"]["containers_before"] == []
    assert host.runtime.changes == []
    assert restore().values["restored"] is False
    assert host.file() is None


def test_record_of_this_moment_has_no_negative_age(host, monkeypatch):
    prepare(host)
    monkeypatch.setattr(record.clock, "uptime", lambda: host.file()["uptime"] - 0.5)
    assert record.show(record.read())["age"] == 0


def test_prepare_install_beside_a_manager_is_refused(host, monkeypatch):
    monkeypatch.setattr(container, "find_manager", lambda *_unused: Manager("systemd unit slb.service", "Run `x`."))
    assert code_of(lambda: prepare(host)) == "managed_by_systemd"
    assert record.read()["state"] == "none"


def test_prepare_check_mode_changes_nothing(host):
    host.runtime.add()
    before = host.state()
    result = record.prepare(options(host), True)
    assert result.changed
    assert result.values["record"]["state"] == "prepared"
    assert set_aside(check_mode=True).changed
    assert host.state() == before


def test_prepare_again_is_idempotent(host):
    host.runtime.add()
    given = options(host)
    first = record.prepare(given, False)
    lasting = host.state()
    second = record.prepare(given, False)
    assert host.state() == lasting
    assert second.values["set_aside_as"] == first.values["set_aside_as"]
    assert second.values["record"]["request_id"] == "aa11"


@pytest.mark.parametrize("status", ["running", "paused", "exited", "created", "restarting"])
def test_restore_returns_to_the_state_before(host, status):
    host.runtime.add(status=status, policy="always", max=0)
    verify("c1")
    before = host.state()
    prepare(host)
    result = restore()
    assert (result.changed, result.values["restored"]) == (True, True)
    if status == "restarting":
        assert host.runtime.show() == ("slb", "running", "always")
        assert host.state()[1] == before[1]
    else:
        assert host.state() == before
    assert not restore().changed


def test_prepare_killed_at_each_step_is_finished(host):
    host.runtime.add()
    given = options(host)
    for number in host.kills(lambda: record.prepare(given, False)):
        result = record.prepare(given, False)
        assert host.runtime.show() == (result.values["set_aside_as"], "exited", "no"), number
        noted = record.read()
        assert (noted["state"], noted["set_aside"]["state"]) == ("prepared", "running")
        assert noted["set_aside"]["restart_policy"] == "on-failure:3"
    assert number == 5, "record, policy, stop, rename, record"


@pytest.mark.parametrize("status", ["running", "exited"])
def test_restore_after_a_kill_at_each_step(host, monkeypatch, status):
    """The kill comes in ``prepare`` and once more in ``restore``."""
    host.runtime.add(status=status)
    verify("c1", base_url="https://other.example")
    before = host.state()
    monkeypatch.setattr(record, "_STEP_SECONDS", -9)  # no stop can be pending any more
    kills = 0
    for _number in host.kills(lambda: prepare(host)):
        for _second in host.kills(restore):
            kills += 1
            restore()
            assert host.state() == before
            assert record.read()["state"] == "verified"
    assert kills >= 15


def test_set_aside_killed_at_each_step_is_finished_or_restored(host, monkeypatch):
    monkeypatch.setattr(record, "_STEP_SECONDS", -9)  # no stop can be pending any more
    host.runtime.add(status="running", policy="always", max=0)
    verify("c1")
    before = host.state()
    for number in host.kills(set_aside):
        if number % 2:
            set_aside(container_id="c1")
            noted = record.read()
            assert noted["state"] == "none"
            assert (noted["set_aside"]["purpose"], noted["set_aside"]["state"]) == ("remediate", "running")
            assert not set_aside().changed, "no container is a good state"
        assert record.restore_set_aside(1, False).changed is (number > 0)
        assert host.state() == before
        assert not record.restore_set_aside(1, False).changed
    assert number == 5


@pytest.mark.parametrize(
    "change",
    [
        {"container_id": "c2"},
        {"container_id": None},
        {"container_state": "exited"},
        {"container_state": "absent", "container_id": None},
        {"record_state": "verified"},
        {"record_request_id": "bb22"},
    ],
)
def test_prepare_changed_host_is_refused(host, change):
    host.runtime.add()
    before = host.state()
    given = options(host)
    given["expected"].update(change)
    assert code_of(lambda: record.prepare(given, False)) == "state_changed"
    assert host.state() == before
    assert code_of(lambda: record.prepare(options(host, action="install"), False)) == "state_changed"


def test_prepare_changed_host_names_both_states(host):
    host.runtime.add()
    given = options(host)
    given["expected"].update(container_state="exited")
    with pytest.raises(FleetError, match=r"from exited to running"):
        record.prepare(given, False)


def test_prepare_crash_loop_counts_as_unchanged(host):
    host.runtime.add(status="restarting")
    given = options(host)
    host.runtime.containers["c1"]["State"]["Status"] = "running"
    assert record.prepare(given, False).changed


def test_prepare_interrupted_request_of_another_run_is_refused(host):
    host.runtime.add()
    assert host.kill_before(2, lambda: prepare(host))
    assert code_of(lambda: prepare(host, request_id="bb22")) == "state_changed"
    assert record.read()["request_id"] == "aa11"


def test_prepare_restored_request_is_not_sent_again(host):
    host.runtime.add()
    before = host.state()
    prepare(host)
    assert host.kill_before(1, restore)
    assert record.read()["state"] == "restoring"
    assert code_of(lambda: prepare(host)) == "state_changed"
    assert restore().values["restored"]
    assert host.state() == before


@pytest.mark.parametrize(
    ("case", "code"),
    [
        ("connections", "container_in_use"),
        ("unseen", "container_in_use"),
        ("auto_remove", "container_would_be_deleted"),
        ("compose", "managed_by_other"),
        ("podman unit", "managed_by_systemd"),
        ("unit file", "managed_by_systemd"),
        ("unknown", "container_state_unknown"),
        ("not root", "permission_denied"),
        ("record", "record_not_writable"),
    ],
)
def test_safety_check_changes_nothing(host, monkeypatch, case, code):
    labels = {"compose": {"com.docker.compose.config-hash": "y"}, "podman unit": {"PODMAN_SYSTEMD_UNIT": "x.service"}}
    host.runtime.add(labels=labels.get(case), auto_remove=case == "auto_remove")
    given = options(host)
    if case in ("connections", "unseen"):
        inbound = ["192.0.2.9:40000"] * 12 if case == "connections" else None
        monkeypatch.setattr(sockets, "find_connections", lambda seen: sockets.Connections(inbound))
        assert record.prepare({**given, "allow_established": True}, True).changed
    if case == "auto_remove":
        assert record.prepare({**given, "remove": True}, True).changed
    if case == "unit file":
        (host.units / "engine.service").write_text("[Service]\nExecStart=/usr/bin/docker run \\\n --name %p slb:1\n")
        assert record.prepare(given, True).changed, "the unit's container has another name"
        (host.units / "engine.service").rename(host.units / "slb.service")
    if case == "unknown":
        host.runtime.containers["c1"]["State"]["Status"] = "removing"
    if case == "not root":
        monkeypatch.setattr(os, "geteuid", lambda: 1000)
    if case == "record":
        host.path.mkdir(parents=True)
        given = options(host)
    before = host.state() if case != "record" else None
    with pytest.raises(FleetError) as raised:
        record.prepare(given, False)
    assert (raised.value.code, "12 connections (from 192.0.2.9" in raised.value.summary) == (
        code,
        case == "connections",
    )
    assert code_of(set_aside) == code
    assert host.runtime.changes == []
    assert before is None or host.state() == before


def test_prepare_auto_remove_container_may_be_lost(host):
    host.runtime.add(auto_remove=True, policy="no", max=0)
    result = prepare(host, remove=True)
    assert (result["set_aside_as"], result["record"]["set_aside"]) == (None, None)
    assert host.runtime.containers == {}


def test_prepare_failed_stop_may_still_be_carried_out(host):
    host.runtime.add()
    host.runtime.fails["stop"] = "tried to kill container, but did not receive an exit event"
    with pytest.raises(FleetError) as raised:
        prepare(host)
    assert (raised.value.code, raised.value.values) == ("container_command_failed", {"is_unknown": True})
    assert record.read()["state"] == "preparing"


def test_refused_stop_puts_the_restart_policy_back(host):
    host.runtime.add(policy="always", max=0)
    before = host.state()
    host.runtime.fails["stop"] = "Error response from daemon: cannot stop container: slb: permission denied"
    with pytest.raises(FleetError) as raised:
        prepare(host)
    assert raised.value.code == "container_command_failed"
    assert host.state() == before


def test_verified_engine_that_is_gone_again_is_noted(host):
    def install(identity):
        prepare(host, request_id=identity)
        mark(identity)
        host.runtime.add(identity)
        verify(identity)
        return record.read()["replaced_gone"]

    assert install("c1") is None
    host.runtime.containers.clear()
    assert install("c2") is True
    host.runtime.containers.clear()
    assert record.show(record.read())["replaced_gone"]
    assert set_aside().changed, "the operator knows"
    assert record.read()["replaced_gone"] is None
    assert not set_aside().changed


@pytest.mark.parametrize("verb", ["update", "rename"])
def test_prepare_failed_command_restores(host, verb):
    host.runtime.add()
    before = host.state()
    host.runtime.fails[verb] = "it is broken"
    with pytest.raises(FleetError, match="it is broken") as raised:
        prepare(host)
    assert (raised.value.code, raised.value.values["restored"]) == ("container_command_failed", verb != "update")
    assert host.state() == before


def test_prepare_full_disk_restores(host, monkeypatch):
    host.runtime.add()
    before = host.state()[0]
    replace = record.files.replace

    def full(path, content, mode):
        if b'"prepared"' in content:
            raise OSError(28, "No space left on device")
        replace(path, content, mode)

    monkeypatch.setattr(record.files, "replace", full)
    assert code_of(lambda: prepare(host)) == "record_not_writable"
    assert host.state() == (before, None)


@pytest.mark.parametrize("is_late", [False, True])
def test_prepare_command_without_answer_is_unknown(host, is_late):
    """A killed ``docker stop`` is carried out by the daemon later, or was carried out already."""
    host.runtime.add()
    step = host.runtime.before

    def hang(verb):
        step(verb)
        if verb == "stop":
            host.runtime.before = step
            if not is_late:
                host.runtime.containers["c1"]["State"]["Status"] = "exited"
            raise TimeoutError

    host.runtime.before = hang
    if not is_late:
        assert prepare(host)["record"]["state"] == "prepared"
        return
    assert code_of(lambda: prepare(host)) == container.TIMEOUT
    assert record.read()["state"] == "preparing"
    host.runtime.containers["c1"]["State"]["Status"] = "exited"
    assert restore().values["restored"]
    assert host.runtime.show() == ("slb", "running", "on-failure:3")


def test_prepare_recreated_container_is_reported(host):
    host.runtime.add()
    verify("c1")
    step = host.runtime.before
    attempt = host.runtime.attempt

    def recreate(*arguments):
        answer = attempt(*arguments)
        if host.runtime.changes[-1:] == ["rename"]:
            host.runtime.add("c2")
        return answer

    host.runtime.attempt = recreate
    assert code_of(lambda: prepare(host)) == "container_recreated"
    assert host.runtime.before is step
    noted = record.read()
    assert (noted["state"], noted["last_verified"], noted["set_aside"]["id"]) == ("restoring", "c1", "c1")
    assert host.runtime.show("c2") == ("slb", "running", "on-failure:3")


@pytest.mark.parametrize("how", ["start", "ends"])
def test_restore_container_that_does_not_start(host, how):
    host.runtime.add()
    before = host.state()
    name = prepare(host)["set_aside_as"]
    host.runtime.fails = {"start": "driver failed"} if how == "start" else {}
    host.runtime.ends_after_start = "exited" if how == "ends" else ""
    for _attempt in ("of the step", "of the rescue"):
        with pytest.raises(FleetError, match="driver failed" if how == "start" else "port 80 is in use") as raised:
            restore()
        assert raised.value.code == "partially_restored"
    assert "engine_container -a state=restored" in raised.value.fix
    assert host.runtime.show() == (name, "exited", "no")
    assert record.read()["state"] == "restoring"
    host.runtime.fails, host.runtime.ends_after_start = {}, ""
    assert record.restore_set_aside(1, False).values["restored"]
    assert host.state() == before


@pytest.mark.parametrize(("verb", "code"), [("start", "partially_restored"), ("update", None)])
def test_restore_without_an_answer_after_a_change(host, monkeypatch, verb, code):
    """The failure says that the container was changed; one that was restored completely is not a failure."""
    host.runtime.add()
    prepare(host)
    answer, seen = host.runtime.attempt, []

    def attempt(argv, timeout):
        if verb in seen:
            return commands.Completed(argv, 1, "", "Cannot connect to the Docker daemon")
        done = answer(argv, timeout)
        seen.extend(word for word in argv if word == verb)
        return done

    monkeypatch.setattr(host.runtime, "attempt", attempt)
    if code:
        assert code_of(restore) == code
    else:
        assert restore().values["restored"]


@pytest.mark.parametrize("is_new", [False, True])
def test_restore_with_the_name_taken_restores_nothing(host, is_new):
    """A container that came when a request may have been sent may be its engine."""
    host.runtime.add()
    if not is_new:
        host.runtime.add("c2", "other")
    name = prepare(host)["set_aside_as"]
    if is_new:
        mark()
    host.runtime.add("c2")
    before = host.state()
    assert not restore("bb22").changed
    assert code_of(lambda: record.restore_set_aside(1, False)) == "name_taken"
    assert host.state() == before
    if is_new:
        assert not restore().values["restored"]
    else:
        assert code_of(restore) == "name_taken"
    noted = record.read()
    assert (noted["state"], noted["request_id"] == "aa11") == (("requested", False) if is_new else ("restoring", True))
    assert host.runtime.show() == (name, "exited", "no")


def test_prepare_waits_for_a_stop_whose_command_was_killed(host, monkeypatch):
    """Docker carries the stop out after its client is gone: the step must not be reversed before."""
    host.runtime.add()
    times = {"inspected": 0}
    monkeypatch.setattr(container, "_INTERVAL", 0.01)
    attempt = host.runtime.attempt

    def kill_client(argv, timeout):
        if "stop" in argv:
            times["inspected"] = 3
            return commands.Completed(argv, 137, "", "")
        if "inspect" in argv and times["inspected"]:
            times["inspected"] -= 1
            if not times["inspected"]:
                host.runtime.containers["c1"]["State"]["Status"] = "exited"
        return attempt(argv, timeout)

    host.runtime.attempt = kill_client
    assert prepare(host)["record"]["state"] == "prepared"
    assert host.runtime.changes == ["update", "rename"]


def test_restore_waits_for_a_stop_that_may_be_pending(host, monkeypatch):
    host.runtime.add()
    assert host.kill_before(3, lambda: prepare(host)), "the module dies before the rename"
    host.runtime.containers["c1"]["State"]["Status"] = "running"
    waited = []

    def end(aside, seconds):
        waited.append(seconds)
        host.runtime.containers["c1"]["State"]["Status"] = "exited"

    monkeypatch.setattr(container, "wait_for_stop", end)
    assert restore().values["restored"]
    assert host.runtime.show() == ("slb", "running", "on-failure:3")
    assert waited == [3.0]


@pytest.mark.parametrize("act", [restore, lambda: record.restore_set_aside(1, False)])
def test_restore_leaves_a_record_whose_stop_may_be_pending(host, monkeypatch, act):
    """A restored container would be stopped later, and no record would show that it ran."""
    monkeypatch.setattr(container, "wait_for_stop", lambda _aside, _seconds: None)
    host.runtime.add()
    assert host.kill_before(2, lambda: prepare(host)), "the module dies before the stop"
    before = host.state()
    with pytest.raises(FleetError) as raised:
        act()
    assert (raised.value.code, raised.value.values) == ("replacement_in_progress", {"is_unknown": True})
    assert (host.state(), record.read()["state"]) == (before, "preparing")
    host.runtime.containers["c1"]["State"]["Status"] = "exited"  # the stop that was pending
    assert act().values["restored"]
    assert host.runtime.show() == ("slb", "running", "on-failure:3")


def test_restore_after_the_time_of_a_pending_stop(host, monkeypatch):
    monkeypatch.setattr(container, "wait_for_stop", lambda _aside, _seconds: None)
    host.runtime.add()
    assert host.kill_before(2, lambda: prepare(host)), "the module dies before the stop"
    noted = host.file()
    assert code_of(restore) == "replacement_in_progress"
    host.path.write_text(json.dumps({**noted, "uptime": noted["uptime"] - 600}))
    assert restore().values["restored"]


def test_stop_command_has_the_time_of_the_stop(host):
    host.runtime.add()
    attempt, times = host.runtime.attempt, {}

    def timed(argv, timeout):
        times.update({verb: timeout for verb in ("stop", "rename") if verb in argv})
        return attempt(argv, timeout)

    host.runtime.attempt = timed
    prepare(host, stop_timeout=50)
    assert times["stop"] - times["rename"] == 50


def test_restore_of_an_untouched_container_is_at_once(host, monkeypatch):
    """The first write comes before the stop: without it, no stop is pending."""
    monkeypatch.setattr(container, "wait_for_stop", lambda _aside, _seconds: None)
    host.runtime.add()
    assert host.kill_before(1, lambda: prepare(host)), "the module dies before its first write"
    assert (record.read()["state"], restore().changed, host.file()) == ("preparing", True, None)
    assert host.runtime.show() == ("slb", "running", "on-failure:3")


def test_restore_of_a_stop_that_is_over_waits_for_nothing(host, monkeypatch):
    """A person has started the container again; and a step of an install has stopped none."""
    monkeypatch.setattr(container, "wait_for_stop", lambda _aside, _seconds: pytest.fail("nothing is pending"))
    host.runtime.add()
    prepare(host)
    host.runtime.containers["c1"]["Name"] = "slb"
    host.runtime.containers["c1"]["State"]["Status"] = "running"
    assert restore().values["restored"]
    assert (host.runtime.show(), host.file()) == (("slb", "running", "on-failure:3"), None)

    host.runtime.containers.clear()
    assert host.kill_before(1, lambda: prepare(host, action="install")), "the module dies before the record is prepared"
    assert (record.read()["state"], restore().changed, host.file()) == ("preparing", True, None)


def test_container_of_nobody_keeps_its_name(host):
    """No request was sent, so the new container is not an engine: both are named, and nothing is recorded."""
    host.runtime.add()
    name = prepare(host)["set_aside_as"]
    host.runtime.add("c2")
    with pytest.raises(FleetError) as raised:
        restore()
    assert raised.value.code == "name_taken"
    assert name in raised.value.summary
    assert "c2" in raised.value.summary
    assert record.read()["state"] == "restoring"
    del host.runtime.containers["c1"]
    assert not restore().values["restored"]
    assert record.read()["state"] == "none"


def test_restore_respects_the_wait_of_the_run_that_requested(host):
    host.runtime.add()
    prepare(host, wait_timeout=600)
    mark()
    assert not restore(requested_age=0.001).changed
    assert restore(requested_age=0).values["restored"], "the run's own request, which was not sent"


def test_restore_by_hand_keeps_a_young_request(host):
    """The deployment may be in progress: no run may send another request meanwhile."""
    host.runtime.add()
    prepare(host, wait_timeout=600)
    mark()
    assert record.restore_set_aside(1, False).values["restored"]
    noted = record.read()
    assert (noted["state"], noted["request_id"], noted["set_aside"]) == ("requested", "aa11", None)
    assert host.runtime.show() == ("slb", "running", "on-failure:3")


def test_restore_by_hand_of_nothing_keeps_the_record(host):
    """A person has deleted the leftover of a verified engine: its record still holds."""
    assert "names no set-aside container" in record.restore_set_aside(1, False).values["msg"]
    host.runtime.add("c1")
    prepare(host)
    host.runtime.add("c2")
    verify("c2")
    del host.runtime.containers["c1"]
    before = host.state()
    result = record.restore_set_aside(1, False)
    assert (result.changed, "was deleted" in result.values["msg"], host.state()) == (False, True, before)


def test_restore_acts_on_old_records_of_its_request(host):
    host.runtime.add()
    prepare(host)
    assert not restore(open_age=100).changed
    mark()
    assert not restore(requested_age=100).changed
    assert not restore(requested_age=None).changed
    assert restore().values["restored"]


def test_mark_keeps_the_time_of_the_first(host):
    assert code_of(mark) == "state_changed"
    prepare(host)
    assert code_of(lambda: mark("bb22")) == "state_changed"
    assert code_of(lambda: mark(time_limit=-1)) == "host_timeout"
    first = mark()
    assert (first.changed, first.values["record"]["state"]) == (True, "requested")
    lasting = host.state()
    assert (mark().changed, host.state()) == (False, lasting)
    assert code_of(lambda: prepare(host)) == "state_changed"


@pytest.mark.parametrize("action", ["install", "replace"])
def test_mark_beside_a_container_that_has_come_is_refused(host, action):
    if action == "replace":
        host.runtime.add()
    prepare(host)
    host.runtime.add("c2")
    assert code_of(mark) == "state_changed"
    assert (record.read()["state"], record.read()["sent"]) == ("prepared", None)
    if action == "replace":
        assert code_of(restore) == "name_taken"


@pytest.mark.parametrize("change", ["started", "used", "renamed"])
def test_prepare_checks_again_before_the_stop(host, monkeypatch, change):
    host.runtime.add(status="running" if change == "used" else "exited")
    before = host.state()
    changed = {}

    def step(verb):
        item = host.runtime.containers["c1"]
        if verb == "update" and not changed:
            changed["done"] = True
            if change == "started":
                item["State"]["Status"] = "running"
            elif change == "renamed":
                item["Name"] = "mine"
            else:
                inbound = sockets.Connections(["192.0.2.9:40000"])
                monkeypatch.setattr(sockets, "find_connections", lambda seen: inbound)

    host.runtime.before = step
    assert code_of(lambda: prepare(host)) == ("container_in_use" if change == "used" else "state_changed")
    assert "stop" not in host.runtime.changes
    assert record.read()["state"] == "none"
    if change == "used":
        assert host.state() == before


def test_prepare_on_a_slow_host_changes_nothing(host, monkeypatch):
    host.runtime.add()
    attempt, times = host.runtime.attempt, iter(range(0, 900, 9))

    def slow(*arguments):
        moment[0] = float(next(times))
        return attempt(*arguments)

    moment = [0.0]
    monkeypatch.setattr(waiting.time, "monotonic", lambda: moment[0])
    host.runtime.attempt = slow
    before = host.state()
    assert code_of(lambda: prepare(host, time_limit=60)) == "host_timeout"
    assert (host.state(), host.runtime.changes) == (before, [])


def test_prepare_out_of_time_undoes_the_step(host, monkeypatch):
    host.runtime.add()
    before = host.state()
    moment = [0.0]
    monkeypatch.setattr(waiting.time, "monotonic", lambda: moment[0])

    def step(verb):
        moment[0] += 100 if verb == "stop" else 0

    host.runtime.before = step
    assert code_of(lambda: prepare(host, time_limit=60)) == "host_timeout"
    assert host.state() == before


def test_restore_goes_on_after_a_rename_whose_answer_is_lost(host):
    host.runtime.add()
    before = host.state()
    prepare(host)

    def lose(verb):
        if verb == "rename":
            host.runtime.containers["c1"]["Name"] = "slb"
            raise LookupError("context deadline exceeded")

    host.runtime.before = lose
    restore()
    assert host.state() == before


def test_restore_goes_on_after_a_pause_whose_answer_is_lost(host):
    host.runtime.add(status="paused")
    before = host.state()
    prepare(host)

    def lose(verb):
        if verb == "pause":
            host.runtime.containers["c1"]["State"]["Status"] = "paused"
            raise LookupError("context deadline exceeded")

    host.runtime.before = lose
    assert restore().values["restored"]
    assert host.state() == before


def test_prepare_dead_container_gets_only_a_new_name(host):
    host.runtime.add(status="dead", policy="always", max=0)
    before = host.state()
    prepare(host)
    assert host.runtime.changes == ["rename"]
    restore()
    assert (host.runtime.changes, host.state()) == (["rename", "rename"], before)


@pytest.mark.parametrize(("program", "version"), [("docker", ""), ("podman", "4.3.1"), ("podman", "5.1.0")])
def test_full_disk_ends_the_step_before_the_stop(monkeypatch, tmp_path, program, version):
    host = Host(monkeypatch, tmp_path, FakeRuntime(program, version))
    host.runtime.add(policy="no", max=0)
    host.runtime.fails = {"update": "no space left on device", "rename": "no space left on device"}
    assert code_of(lambda: prepare(host)) == "container_command_failed"
    assert host.runtime.changes == []
    assert host.runtime.show() == ("slb", "running", "no")


def test_verify_restores_the_policy_of_the_container(host):
    """A person renames the set-aside container back, and the engine list shows it as running."""
    host.runtime.add(policy="always", max=0)
    prepare(host)
    host.runtime.containers["c1"].update(Name="slb")
    host.runtime.containers["c1"]["State"]["Status"] = "running"
    verify("c1")
    assert host.runtime.show() == ("slb", "running", "always")
    assert not verify("c1").changed


@pytest.mark.parametrize("is_taken", [False, True])
def test_restore_removed_container_restores_the_record(host, is_taken):
    host.runtime.add()
    verify("c1")
    before = host.state()[1]
    prepare(host)
    del host.runtime.containers["c1"]
    if is_taken:
        host.runtime.add("c2")
    result = record.restore_set_aside(1, False)
    assert (result.changed, result.values["restored"]) == (True, False)
    assert host.state()[1] == before


def test_install_after_remediate_keeps_the_leftover(host):
    host.runtime.add()
    verify("c1")
    first = host.state()
    name = set_aside().values["set_aside_as"]
    remediated = host.state()
    prepare(host)
    assert (record.read()["set_aside"], record.read()["previous"]["set_aside"]["id"]) == (None, "c1")
    restore()
    assert host.state() == remediated, "a rejected install does not restore the container of remediate"
    assert host.runtime.show() == (name, "exited", "no")
    assert record.restore_set_aside(1, False).values["restored"]
    assert host.state() == first


def test_set_aside_remove_deletes_the_container(host):
    host.runtime.add(auto_remove=True)
    verify("c1")
    assert set_aside(remove=True).values["set_aside_as"] is None
    assert (host.runtime.containers, host.file()) == ({}, None)


def test_set_aside_remove_deletes_what_an_earlier_run_set_aside(host):
    """A run that was killed after its step left it; a leftover of a verified engine is not such a container."""
    host.runtime.add("c1")
    assert set_aside(container_id="c1", container_state="running", request_id="bb22").changed
    before = host.state()
    shown = set_aside(request_id="cc33", remove=True, check_mode=True)
    assert (shown.changed, host.state()) == (True, before)
    again = set_aside(request_id="cc33", remove=True)
    assert (again.changed, again.values["set_aside_as"]) == (True, None)
    assert (host.runtime.containers, host.file()) == ({}, None)
    assert not set_aside(request_id="dd44", remove=True).changed

    host.runtime.add("c2")
    prepare(host)
    host.runtime.add("c3")
    verify("c3")
    del host.runtime.containers["c3"]
    assert not set_aside(request_id="ee55", remove=True).changed
    assert "c2" in host.runtime.containers


def test_set_aside_remove_counts_only_its_own_deletion(host):
    """A person has deleted the container that was set aside: the step has changed nothing."""
    host.runtime.add("c1")
    assert set_aside(container_id="c1", container_state="running", request_id="bb22").changed
    del host.runtime.containers["c1"]
    before = host.state()
    for check_mode in (True, False):
        assert not set_aside(request_id="cc33", remove=True, check_mode=check_mode).changed
    assert host.state() == before


def test_verify_keeps_or_removes_the_leftover(host):
    host.runtime.add("c1")
    prepare(host)
    host.runtime.add("c2")
    host.runtime.add("c3", "slb-leftover-of-another-user", "exited")
    assert code_of(lambda: verify("c1")) == "state_changed"
    result = verify("c2")
    assert result.changed
    noted = record.read()
    assert (noted["state"], noted["last_verified"], noted["verified_by"]) == ("verified", "c2", "host")
    assert (noted["previous"], noted["request_id"], noted["containers_before"]) == (None, "aa11", [])
    assert noted["set_aside"]["id"] == "c1"
    assert not verify("c2").changed
    assert verify("c2", remove_leftovers=True).changed
    assert record.read()["set_aside"] is None
    assert set(host.runtime.containers) == {"c2", "c3"}
    assert not verify("c2", remove_leftovers=True).changed
    verify("c2", base_url="https://other.example")
    assert record.read()["request_id"] is None


@pytest.mark.parametrize("case", ["runs", "renamed"])
def test_verify_keeps_a_leftover_in_use(host, case):
    host.runtime.add("c1")
    prepare(host)
    if case == "runs":
        host.runtime.containers["c1"]["State"]["Status"] = "running"
    else:
        host.runtime.containers["c1"]["Name"] = "mine"
    host.runtime.add("c2")
    verify("c2", remove_leftovers=True)
    assert "c1" in host.runtime.containers
    assert record.read()["set_aside"]["id"] == "c1"


def test_last_verified_is_kept_for_the_same_engine(host):
    host.runtime.add()
    verify("c1")
    prepare(host)
    assert record.read()["last_verified"] == "c1"
    restore()
    prepare(host, request_id="bb22", name="edge-2")
    assert record.read()["last_verified"] is None
    restore("bb22")
    assert record.read()["name"] == "edge-1"


def start(check_mode=False, **changes):
    return record.start({"lock_timeout": 1, "container_id": None, "ignored_starters": [], **changes}, check_mode)


def verified_and(host, status, **values):
    host.runtime.add(**values)
    verify("c1")
    host.runtime.containers["c1"]["State"]["Status"] = status
    host.runtime.changes.clear()


@pytest.mark.parametrize("status", ["exited", "created"])
def test_start_verified_container_is_started_once(host, status):
    verified_and(host, status)
    checked = start(check_mode=True)
    assert (checked.changed, checked.values["started"], host.runtime.changes) == (True, True, [])
    result = start(container_id="c1")
    assert (result.changed, result.values["started"], result.values["after"]["state"]) == (True, True, "running")
    assert not start().changed and host.runtime.changes == ["start"]
    assert record.read()["state"] == "verified"


@pytest.mark.parametrize(
    ("case", "code"),
    [
        ("another container", "state_changed"),
        ("unverified", "unverified_container"),
        ("absent", "unverified_container"),
        ("paused", "container_not_started"),
        ("auto_remove", "container_not_started"),
        ("mount", "container_not_started"),
        ("unmounted", "container_not_started"),
        ("port", "container_not_started"),
        ("manager", "managed_by_systemd"),
    ],
)
def test_start_refused_changes_nothing(host, monkeypatch, case, code):
    verified_and(host, "paused" if case == "paused" else "exited", auto_remove=case == "auto_remove")
    item, given = host.runtime.containers["c1"], {}
    if case == "another container":
        given = {"container_id": "c2"}
    elif case == "unverified":
        record.remove(False)
    elif case == "absent":
        host.runtime.containers.clear()
    elif case == "mount":
        item["Mounts"] = [{"Type": "volume", "Source": "/none"}, {"Type": "bind", "Source": "/srv/not-mounted"}]
    elif case == "unmounted":
        disk = host.path.parents[1] / "disk"
        disk.mkdir()
        fstab = host.path.parents[1] / "fstab"
        fstab.write_text(f"# /dev/sdb1 /none\nbroken\n/dev/sdc1 / ext4 defaults 0 1\n/dev/sda1 {disk} ext4 nofail\n")
        monkeypatch.setattr(record, "_FSTAB", str(fstab))
        item["Mounts"] = [{"Type": "bind", "Source": str(disk / ".")}, {"Type": "bind", "Source": str(disk)}]
    elif case == "port":
        item["HostConfig"]["PortBindings"] = {"443/tcp": [{"HostIp": "", "HostPort": "443"}], "53/udp": None}
        listening = [
            {"port": 443, "process": "nginx", "engine": True},
            {"port": 22, "process": "sshd", "engine": False},
        ]
        monkeypatch.setattr(sockets, "find_listening", lambda seen: listening if 443 in seen.published_ports else [])
    elif case == "manager":
        monkeypatch.setattr(container, "find_manager", lambda *_unused: Manager("systemd unit slb.service", "x"))
    assert code_of(lambda: start(**given)) == code
    assert host.runtime.changes == []


def test_start_with_a_folder_on_a_mounted_disk(host, monkeypatch):
    verified_and(host, "exited")
    host.runtime.containers["c1"]["Mounts"] = [{"Type": "bind", "Source": "/proc/self"}]
    fstab = host.path.parents[1] / "fstab"
    fstab.write_text("proc /proc proc defaults 0 0\n")
    monkeypatch.setattr(record, "_FSTAB", str(fstab))
    start()
    assert host.runtime.changes == ["start"]


@pytest.mark.parametrize("how", ["refused", "exited", "restarting", "no answer"])
def test_start_that_fails_is_reported(host, monkeypatch, how):
    verified_and(host, "exited")
    if how == "refused":
        host.runtime.fails["start"] = "network 12ab not found"
    elif how in ("exited", "restarting"):
        host.runtime.ends_after_start = how
    else:
        monkeypatch.setattr(host.runtime, "before", raise_timeout)
    with pytest.raises(FleetError) as raised:
        start()
    is_unknown = how == "no answer"
    code = container.TIMEOUT if is_unknown else "container_not_started"
    assert (raised.value.code, raised.value.values.get("is_unknown", False)) == (code, is_unknown)
    assert record.read()["state"] == "verified"
    assert container.find_container().state == "exited", "a crash loop is stopped again"


def raise_timeout(_verb):
    raise TimeoutError


def fail(_path):
    raise OSError(5, "Input/output error")


def test_remove_is_idempotent(host):
    host.runtime.add()
    verify("c1")
    assert record.remove(True).changed
    assert record.remove(False).changed
    assert not record.remove(False).changed
    assert host.file() is None


def test_age_after_reboot_and_in_the_future(host):
    prepare(host)
    noted = host.file()
    assert noted is not None

    def read_with(**values):
        host.path.write_text(json.dumps({**noted, **values}))
        return record.show(record.read())

    assert 100 <= read_with(uptime=clock.uptime() - 100)["age"] < 130
    rebooted = read_with(boot_id="another", uptime=clock.uptime() + 1e6)
    assert rebooted["state"] == "prepared"
    assert rebooted["age"] == pytest.approx(clock.uptime(), abs=30)
    assert read_with(uptime=clock.uptime() + 0.5)["age"] < 0.5
    future = read_with(uptime=clock.uptime() + 3600)
    assert future["state"] == "invalid"
    assert "future" in future["why"]


@pytest.mark.parametrize(
    "values",
    [
        {"state": "confirmed"},
        {"name": None},
        {"name": "\ud800"},
        {"request_id": "--all"},
        {"uptime": float("nan")},
        {"uptime": 10**400},
        {"uptime": -0.5},
        {"uptime": True},
        {"boot_id": None},
        {"last_verified": 5},
        {"set_aside": {"id": "c1"}},
        {"previous": {"state": "verified"}},
    ],
)
def test_read_invalid_value_is_invalid(host, values):
    prepare(host)
    host.path.write_text(json.dumps({**(host.file() or {}), **values}))
    noted = record.read()
    assert noted["state"] == "invalid"
    assert next(iter(values)) in noted["why"]


@pytest.mark.parametrize("content", ["[" * 600000, "x" * 1100000, "[]", "{", b"\xff".decode("latin-1")])
def test_read_damaged_file_is_invalid(host, content):
    host.path.parent.mkdir()
    host.path.write_text(content, encoding="latin-1")
    assert record.read()["state"] == "invalid"
    host.runtime.add()
    assert code_of(lambda: record.restore_set_aside(1, False)) == "record_invalid"
    assert verify("c1").changed


@pytest.mark.parametrize("obstacle", ["fifo", "folder", "link", "immutable", "open to others", "no answer"])
def test_record_that_cannot_be_written_stops_prepare(host, monkeypatch, obstacle):
    assert record.find_obstacle() is None
    assert not host.path.parent.exists(), "the check writes nothing"
    host.path.parent.mkdir()
    if obstacle == "immutable":
        host.path.touch()
        monkeypatch.setattr(record.files, "is_fixed", lambda path: path == record.PATH)
    elif obstacle == "open to others":
        host.path.parent.chmod(0o777)
    elif obstacle == "no answer":
        monkeypatch.setattr(record.os, "statvfs", fail)
    else:
        {"fifo": os.mkfifo, "folder": os.mkdir, "link": lambda path: path.symlink_to("/etc/motd")}[obstacle](host.path)
        assert record.read()["state"] == "invalid"
    assert record.find_obstacle()
    assert code_of(lambda: prepare(host)) == "record_not_writable"


def test_record_that_is_a_mount_point_stops_prepare(host, monkeypatch):
    host.path.parent.mkdir()
    host.path.touch()
    line = f"36 35 98:0 /mnt1 {host.path} rw,noatime master:1 - ext4 /dev/sda1 rw\n"
    monkeypatch.setattr(record, "open", lambda path: io.StringIO(line), raising=False)
    assert code_of(lambda: prepare(host)) == "record_not_writable"


def test_exited_container_with_a_process_is_unknown(host, monkeypatch):
    host.runtime.add(status="exited")
    left = iter([{60, 61}])
    monkeypatch.setattr(runtimes, "find_processes_of", lambda identity: next(left, {61, 70}))
    monkeypatch.setattr(container, "_END_SECONDS", 0)
    seen = container.find_container()
    assert (seen.state, "process 61 " in str(seen.why)) == ("unknown", True)


def hold_lock(path, is_held):
    record.LOCK = path
    with record._locked(5, False):
        is_held.set()
        time.sleep(1.5)


def test_second_process_waits_for_the_lock(host):
    host.runtime.add()
    fork = multiprocessing.get_context("fork")
    is_held = fork.Event()
    other = fork.Process(target=hold_lock, args=(record.LOCK, is_held), daemon=True)
    other.start()
    assert is_held.wait(10)
    assert code_of(lambda: record.prepare(options(host, lock_timeout=0), False)) == "host_busy"
    assert host.runtime.changes == []
    assert record.prepare(options(host, lock_timeout=20), False).changed
    other.join()


def test_lock_can_be_opened_by_root_only(host):
    prepare(host)
    lock = Path(record.LOCK)
    assert (lock.stat().st_mode & 0o777, lock.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_podman_before_5_1(monkeypatch, tmp_path):
    host = Host(monkeypatch, tmp_path, FakeRuntime("podman", "4.3.1"))
    host.runtime.add(policy="always", max=0)
    before = host.state()
    (tmp_path / "wants").mkdir()
    (tmp_path / "wants" / "podman-restart.service").touch()
    assert code_of(lambda: prepare(host)) == "podman_too_old"
    assert host.state() == before
    (tmp_path / "wants" / "podman-restart.service").unlink()
    name = prepare(host)["set_aside_as"]
    assert host.runtime.show() == (name, "exited", "always")
    restore()
    assert host.state() == before
    host.runtime.version, host.runtime.changes = "3.0.1", []
    prepare(host)
    assert host.runtime.changes == ["stop", "rename"], "Podman 3 refuses a container's own name"
    restore()
    host.runtime.version = "2.2.1"
    assert code_of(lambda: prepare(host)) == "podman_too_old"


@pytest.mark.parametrize("status", ["running", "stopped"])
def test_podman_crash_loop_is_stopped_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, status: str) -> None:
    host = Host(monkeypatch, tmp_path, FakeRuntime("podman", "4.3.1"))
    monkeypatch.setattr(container, "_DOWN_SECONDS", 30.0)
    host.runtime.add(status=status, policy="always", max=0)
    attempt, stops = host.runtime.attempt, 3

    def restart(*arguments):
        answer = attempt(*arguments)
        if host.runtime.changes.count("stop") < stops and host.runtime.changes:
            host.runtime.containers["c1"]["State"]["Status"] = "running"
        return answer

    host.runtime.attempt = restart
    if status == "stopped":
        assert code_of(lambda: prepare(host)) == "state_changed"
        return
    prepare(host)
    assert host.runtime.changes == ["rename"] + ["stop"] * stops + ["rename"]


def test_gather_healthy_host_asks_one_command(host, monkeypatch):
    host.runtime.add("c1")
    prepare(host)
    host.runtime.add("c2")
    verify("c2")
    host.runtime.asked = 0
    monkeypatch.setattr(container, "find_manager", lambda *_unused: pytest.fail("a healthy host is searched"))
    facts = gather.gather_facts(["engine_container", "record", "motd"])
    assert host.runtime.asked == 1
    assert (facts["record"]["state"], facts["record"]["verified_container"]) == ("verified", None)
    assert (facts["record"]["set_aside"]["id"], facts["record"]["set_aside"]["exists"]) == ("c1", None)
    assert facts["machine"].split()[1] == clock.boot_id()


def test_gather_shows_what_became_of_the_containers(host):
    host.runtime.add("c1")
    verify("c1")
    name = prepare(host)["set_aside_as"]
    facts = gather.gather_facts(["engine_container", "record"])
    assert (facts["engine_container"]["state"], facts["running_leftovers"]) == ("absent", [])
    seen = facts["record"]
    assert (seen["set_aside"]["name"], seen["set_aside"]["exists"], seen["set_aside"]["now"]) == (name, True, "exited")
    assert (seen["verified_container"], seen["verified_name"]) == ("exited", name)
    host.runtime.containers["c1"]["State"]["Status"] = "running"
    assert gather.gather_facts(["engine_container"])["running_leftovers"] == [name]
    del host.runtime.containers["c1"]
    seen = gather.gather_facts(["record"])["record"]
    assert (seen["set_aside"]["exists"], seen["verified_container"], seen["verified_name"]) == (False, "absent", None)
    host.runtime.add("c2")
    (host.units / "x.service").write_text("[Service]\nExecStart=docker start -a slb\n")
    assert "x.service" in gather.gather_facts(["engine_container"])["engine_container"]["manager"]


UPDATED, RENAMED, STOPPED = ["update", "stop", "rename"], ["rename", "stop", "rename"], ["stop", "rename"]


@pytest.mark.parametrize(
    ("program", "version", "changes"),
    [
        ("docker", "", UPDATED),
        ("podman", "5.10.0", UPDATED),
        ("podman", "5.1.0", UPDATED),
        ("podman", "5.0.9", RENAMED),
        ("podman", "4.9.3", RENAMED),
        ("podman", "4.0.0", RENAMED),
        ("podman", "3.9.9", STOPPED),
        ("podman", "3.0.0", STOPPED),
    ],
)
def test_set_aside_by_the_commands_of_the_version(monkeypatch, tmp_path, program, version, changes):
    host = Host(monkeypatch, tmp_path, FakeRuntime(program, version))
    host.runtime.add(policy="always", max=0)
    before = host.state()
    name = prepare(host)["set_aside_as"]
    assert host.runtime.changes == changes
    assert host.runtime.show() == (name, "exited", "no" if changes == UPDATED else "always")
    assert restore().values["restored"]
    assert host.state() == before
    host.runtime.changes = []
    assert set_aside().changed
    assert host.runtime.changes == changes


@pytest.mark.parametrize(
    ("version", "policy", "is_enabled", "is_refused"),
    [
        ("5.1.0", "always", True, False),
        ("5.0.9", "always", True, True),
        ("4.0.0", "unless-stopped", True, True),
        ("4.0.0", "on-failure", True, False),
        ("4.0.0", "no", True, False),
        ("5.0.9", "always", False, False),
        ("3.0.0", "always", False, False),
        ("2.9.9", "no", False, True),
        ("", "no", False, True),
    ],
)
def test_podman_that_would_start_a_leftover_is_refused(monkeypatch, tmp_path, version, policy, is_enabled, is_refused):
    host = Host(monkeypatch, tmp_path, FakeRuntime("podman", version))
    host.runtime.add(policy=policy, max=0)
    (tmp_path / "wants").mkdir()
    if is_enabled:
        (tmp_path / "wants" / "podman-restart.service").touch()
    if is_refused:
        assert code_of(lambda: prepare(host)) == code_of(set_aside) == "podman_too_old"
        assert (host.runtime.changes, host.file()) == ([], None)
    else:
        assert record.prepare(options(host), True).changed


@pytest.mark.parametrize("policy", ["no", "always"])
def test_stopped_container_of_an_old_podman_is_stopped_again(monkeypatch, tmp_path, policy):
    """With a restart policy that cannot be changed, it may be between two starts of a crash loop."""
    host = Host(monkeypatch, tmp_path, FakeRuntime("podman", "4.3.1"))
    host.runtime.add(status="exited", policy=policy, max=0)
    prepare(host)
    assert host.runtime.changes == (["rename", "rename"] if policy == "no" else RENAMED)


def test_stopped_container_keeps_its_number_of_commands(host):
    host.runtime.add(status="exited")
    prepare(host)
    assert host.runtime.changes == ["update", "rename"]


@pytest.mark.parametrize(
    ("manager", "code"),
    [
        (Manager("systemd unit x.service", "Run `systemctl disable --now x.service`."), "managed_by_systemd"),
        (Manager("compose project y", "Remove it."), "managed_by_other"),
    ],
)
def test_managed_container_is_refused_as_in_its_plan(host, monkeypatch, manager, code):
    monkeypatch.setattr(container, "find_manager", lambda *_unused: manager)
    for status in ("running", None):
        if status:
            host.runtime.add(status=status)
        else:
            host.runtime.containers.clear()
        with pytest.raises(FleetError) as raised:
            prepare(host)
        assert (raised.value.code, raised.value.fix) == (code, manager.fix)
        assert manager.words in raised.value.summary
        assert (host.runtime.changes, host.file()) == ([], None)


@pytest.mark.parametrize("act", [prepare, lambda _host: set_aside()])
@pytest.mark.parametrize("unit", ["x.service", None])
def test_recreated_container_is_reported_with_its_manager(host, unit, act):
    host.runtime.add()
    attempt = host.runtime.attempt

    def recreate(*arguments):
        answer = attempt(*arguments)
        if host.runtime.changes[-1:] == ["rename"] and "c2" not in host.runtime.containers:
            host.runtime.add("c2")
            if unit:
                (host.units / unit).write_text("[Service]\nExecStart=docker start -a slb\n")
        return answer

    host.runtime.attempt = recreate
    with pytest.raises(FleetError) as raised:
        act(host)
    assert (raised.value.code, raised.value.values["restored"]) == ("container_recreated", False)
    assert ("x.service" in raised.value.fix) is bool(unit)
    assert "c2" in raised.value.summary


@pytest.mark.parametrize("status", ["running", "paused", "exited"])
def test_leftover_that_is_started_again_ends_the_step(host, status):
    host.runtime.add()
    attempt = host.runtime.attempt

    def start(*arguments):
        answer = attempt(*arguments)
        if host.runtime.changes[-1:] == ["rename"]:
            host.runtime.containers["c1"]["State"]["Status"] = status
        return answer

    host.runtime.attempt = start
    if status == "exited":
        assert prepare(host)["record"]["state"] == "prepared"
    else:
        assert code_of(lambda: prepare(host)) == "container_recreated"


class Clock:
    """Seconds that pass only when the runtime gets a command."""

    def __init__(self, monkeypatch, host, seconds):
        self.now, self.seconds = 0.0, dict(seconds)
        attempt = host.runtime.attempt

        def timed(argv, timeout):
            answer = attempt(argv, timeout)
            verb = next(word for word in argv[1:] if not word.startswith(("-", "unix:")))
            self.now += self.seconds.pop(verb, 0)
            return answer

        monkeypatch.setattr(waiting.time, "monotonic", lambda: self.now)
        host.runtime.attempt = timed


@pytest.mark.parametrize("step", ["prepare", "set_aside"])
@pytest.mark.parametrize(("limit", "is_done"), [(22, True), (21.9, False)])
def test_step_begins_only_with_time_to_undo_it(host, monkeypatch, step, limit, is_done):
    """Of 1 s each: the question that was asked, 2 x 6 commands. And 2 x 4 s of checks, and 1 s for the stop."""
    host.runtime.add()
    given = options(host, time_limit=limit)
    Clock(monkeypatch, host, {"container": 1})
    before = host.state()

    def act():
        return record.prepare(given, False) if step == "prepare" else set_aside(time_limit=limit)

    if is_done:
        assert act().values["set_aside_as"]
    else:
        assert (code_of(act), host.runtime.changes, host.state()) == ("host_timeout", [], before)


@pytest.mark.parametrize("step", ["prepare", "set_aside"])
@pytest.mark.parametrize("verb", ["update", "stop"])
@pytest.mark.parametrize(("used", "is_done"), [(89, True), (89.1, False)])
def test_step_goes_on_only_with_time_to_undo_it(host, monkeypatch, step, verb, used, is_done):
    """Of 100 s, the question took 1 s; 6 commands and 4 s of checks are left to restore the container."""
    host.runtime.add()
    given = options(host, time_limit=100)
    Clock(monkeypatch, host, {"container": 1, verb: used})
    before = host.state()

    def act():
        return record.prepare(given, False) if step == "prepare" else set_aside(time_limit=100)

    if is_done:
        assert act().values["set_aside_as"]
    else:
        assert code_of(act) == "host_timeout"
        assert host.state() == before
        assert ("stop" in host.runtime.changes) is (verb == "stop")


@pytest.mark.parametrize(("limit", "is_done"), [(2, True), (1.9, False)])
def test_install_is_prepared_only_in_time(host, monkeypatch, limit, is_done):
    given = options(host, time_limit=limit)
    Clock(monkeypatch, host, {"container": 1})
    if is_done:
        assert record.prepare(given, False).values["record"]["state"] == "prepared"
    else:
        assert (code_of(lambda: record.prepare(given, False)), host.file()) == ("host_timeout", None)


def test_continued_step_needs_only_some_time(host, monkeypatch):
    host.runtime.add()
    given = options(host)
    assert host.kill_before(2, lambda: record.prepare(given, False))
    Clock(monkeypatch, host, {})
    assert record.prepare({**given, "time_limit": 0}, False).values["record"]["state"] == "prepared"
    assert mark(time_limit=0).values["record"]["state"] == "requested"


def test_continued_step_without_time_is_restored(host, monkeypatch):
    host.runtime.add()
    before = host.state()
    given = options(host)
    assert host.kill_before(2, lambda: record.prepare(given, False))
    Clock(monkeypatch, host, {"container": 1})
    assert code_of(lambda: record.prepare({**given, "time_limit": 0.5}, False)) == "host_timeout"
    assert host.state() == before


@pytest.mark.parametrize("is_asked", [False, True])
@pytest.mark.parametrize("is_there", [False, True])
def test_restore_in_check_mode_changes_nothing(host, is_asked, is_there):
    host.runtime.add()
    prepare(host)
    if not is_there:
        host.runtime.containers.clear()
    before, host.runtime.changes = host.state(), []
    given = {"request_id": "aa11", "lock_timeout": 1, "open_age": 0, "requested_age": 0}
    result = record.restore_set_aside(1, True) if is_asked else record.restore(given, True)
    assert (result.changed, result.values["restored"], result.values["record"]["state"]) == (True, is_there, "none")
    assert (host.state(), host.runtime.changes) == (before, [])


@pytest.mark.parametrize("is_new", [False, True])
def test_restore_in_check_mode_leaves_a_taken_name(host, is_new):
    host.runtime.add()
    if not is_new:
        host.runtime.add("c2", "other")
    prepare(host)
    if is_new:
        mark()
    host.runtime.add("c2")
    before = host.state()
    given = {"request_id": "aa11", "lock_timeout": 1, "open_age": 0, "requested_age": 0}
    if is_new:
        result = record.restore(given, True)
        assert (result.values["restored"], result.values["record"]["state"]) == (False, "requested")
    else:
        assert code_of(lambda: record.restore(given, True)) == "name_taken"
    assert code_of(lambda: record.restore_set_aside(1, True)) == "name_taken"
    assert host.state() == before


def test_verify_in_check_mode_changes_nothing(host):
    host.runtime.add()
    prepare(host)
    host.runtime.add("c2")
    before, host.runtime.changes = host.state(), []
    given = {**ENGINE, "container_id": "c2", "verified_by": "host", "remove_leftovers": True}
    result = record.verify(given, True)
    shown = result.values["record"]
    assert (result.changed, shown["state"], shown["set_aside"]) == (True, "verified", None)
    assert (host.state(), host.runtime.changes) == (before, [])


def test_set_aside_in_check_mode_shows_the_result(host):
    host.runtime.add(auto_remove=True)
    before = host.state()
    assert code_of(lambda: set_aside(check_mode=True)) == "container_would_be_deleted"
    result = set_aside(check_mode=True, remove=True)
    assert (result.values["set_aside_as"], result.values["after"]["state"]) == (None, "absent")
    host.runtime.containers["c1"]["HostConfig"]["AutoRemove"] = False
    assert set_aside(check_mode=True).values["set_aside_as"].startswith("slb-leftover-")
    host.runtime.containers["c1"]["HostConfig"]["AutoRemove"] = True
    assert host.state() == before


def test_set_aside_of_the_planned_container_only(host):
    host.runtime.add()
    before = host.state()
    for change in ({"container_id": "c2"}, {"container_state": "exited"}):
        assert code_of(lambda change=change: set_aside(**change)) == "state_changed"
    assert host.state() == before
    assert set_aside(container_id="c1", container_state="running", request_id="bb22").changed
    again = set_aside(request_id="bb22")
    assert (again.changed, again.values["set_aside_as"]) == (True, host.runtime.show()[0])
    assert not set_aside(request_id="cc33").changed
    assert not set_aside().changed


def test_record_needs_a_file_system_that_is_writable(host, monkeypatch):
    monkeypatch.setattr(os, "statvfs", lambda _folder: SimpleNamespace(f_flag=os.ST_RDONLY))
    assert code_of(lambda: prepare(host)) == "record_not_writable"


def test_prepare_waits_for_a_container_that_deletes_itself(host):
    host.runtime.add(auto_remove=True)
    item, attempt, reads = host.runtime.containers["c1"], host.runtime.attempt, []

    def remove_late(argv, timeout):
        answer = attempt(argv, timeout)
        if host.runtime.changes[-1:] == ["stop"]:
            reads.append(argv)
            host.runtime.containers = {"c1": item} if len(reads) < 3 else {}
        return answer

    host.runtime.attempt = remove_late
    result = prepare(host, remove=True)
    assert (result["set_aside_as"], host.runtime.changes) == (None, ["update", "stop"])


def test_stop_of_a_crash_loop_is_tried_twice(host):
    host.runtime.add(status="running")
    host.runtime.containers["c1"]["RestartCount"] = 7
    attempt, failures = host.runtime.attempt, []

    def lose_process(argv, timeout):
        if "stop" in argv and not failures:
            failures.append(argv)
            return commands.Completed(argv, 1, "", "task not found")
        return attempt(argv, timeout)

    host.runtime.attempt = lose_process
    assert prepare(host)["record"]["state"] == "prepared"
    assert len(failures) == 1
