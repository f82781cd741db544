"""The record protects each step on a host: what a kill interrupts, the next run continues or restores."""

import json
import multiprocessing
import os
import time
from pathlib import Path

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import (
    container,
    gather,
    leftovers,
    record,
    runtimes,
    sockets,
    steps,
)
from ansible_collections.slb.fleet.plugins.module_utils._engine_host.managers import Manager
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._system import clock, locks, waiting
from ansible_collections.slb.fleet.plugins.module_utils._system.commands import Completed
from ansible_collections.slb.fleet.tests.unit.plugins.module_utils._engine_host.fake_runtime import FakeRuntime, Host

ENGINE = {"name": "edge-1", "manage_ip": "192.0.2.1", "base_url": "https://console.example"}
SAFETY = {"allow_established": False, "remove": False, "ignored_starters": [], "stop_timeout": 1, "lock_timeout": 1}
RUNNING = ("slb", "running", "on-failure:3")
UNIT = "[Service]\nExecStart=docker start -a slb\n"


@pytest.fixture
def host(monkeypatch, tmp_path, uptime=clock.uptime):
    """A host with a container slb that runs, and that nothing verifies."""
    # Records of the tests are up to an hour old, and this machine may have been started a minute ago.
    monkeypatch.setattr(clock, "uptime", lambda: uptime() + 7200)
    host = Host(monkeypatch, tmp_path, FakeRuntime())
    host.runtime.add()
    return host


@pytest.fixture
def ended_stop(monkeypatch):
    """No stop can be pending any more."""
    monkeypatch.setattr(steps, "_STEP_SECONDS", -9)


def options(_host, **changes):
    """Return the options of ``prepare`` that fit the host as it is now."""
    noted, seen = record.read(), container.find_container()
    expected = {"container_id": seen.id, "container_state": seen.state, "record_state": noted.state}
    expected["record_request_id"] = noted.request_id
    action = "install" if seen.state == "absent" else "replace"
    given = {"request_id": "aa11", "action": action, "expected": expected, "time_limit": None}
    return {**ENGINE, **SAFETY, **given, **changes}


def prepare(host, **changes):
    return steps.prepare(options(host, **changes), False).values


def set_aside(check_mode=False, **changes):
    expected = {key: changes.pop(key) for key in ("container_id", "container_state") if key in changes}
    given = {"request_id": None, "time_limit": None, "expected": expected, **changes}
    return steps.set_aside({**ENGINE, **SAFETY, **given}, check_mode)


def verify(container_id, remove_leftovers=False, check_mode=False, **changes):
    given = {"container_id": container_id, "verified_by": "host", "remove_leftovers": remove_leftovers}
    return steps.verify({**ENGINE, **given, **changes}, check_mode)


def mark(request_id="aa11", time_limit=None):
    return steps.mark({"request_id": request_id, "lock_timeout": 1, "time_limit": time_limit})


def restore(request_id="aa11", open_age=0, requested_age=0, check_mode=False):
    ages = {"open_age": open_age, "requested_age": requested_age}
    return steps.restore({"request_id": request_id, "lock_timeout": 1, **ages}, check_mode)


def restore_by_hand(check_mode=False):
    return steps.restore_set_aside(1, check_mode)


def start(check_mode=False, **changes):
    return steps.start({"lock_timeout": 1, "container_id": None, "ignored_starters": [], **changes}, check_mode)


def error_of(act):
    with pytest.raises(FleetError) as raised:
        act()
    # The folder of the tests is longer than those of a host.
    assert len(raised.value.summary.replace(str(Path(record.PATH).parents[1]), "/etc/systemd")) <= 220
    assert raised.value.fix
    return raised.value


def code_of(act):
    return error_of(act).code


def noted_state():
    return record.read().state


def test_prepare_replace_records_and_sets_aside(host):
    result = steps.prepare(options(host), False)
    name = result.values["set_aside_as"]
    assert host.runtime.show() == (name, "exited", "no")
    assert host.runtime.changes == ["update", "stop", "rename"]
    noted = host.file()
    assert (noted["state"], noted["request_id"], noted["containers_before"]) == ("prepared", "aa11", ["c1"])
    kept = {"id": "c1", "name": name, "runtime": "docker", "restart_policy": "on-failure:3", "state": "running"}
    assert noted["set_aside"] == {**kept, "stop_timeout": 1, "purpose": "replace"}
    assert noted["previous"] is None
    assert [path.stat().st_mode & 0o777 for path in (host.path, host.path.parent)] == [0o644, 0o755]
    assert 0 <= result.values["record"]["age"] < 5
    assert (result.values["before"]["state"], result.values["after"]["state"]) == ("running", "absent")


def test_prepare_install_records_without_container(host):
    host.runtime.containers.clear()
    result = prepare(host)
    assert (result["set_aside_as"], result["record"]["containers_before"], host.runtime.changes) == (None, [], [])
    assert (restore().values["restored"], host.file()) == (False, None)


def test_prepare_check_mode_changes_nothing(host):
    before = host.state()
    result = steps.prepare(options(host), True)
    assert (result.changed, result.values["record"]["state"], host.state()) == (True, "prepared", before)


@pytest.mark.parametrize("status", ["running", "paused", "exited", "created", "restarting"])
def test_restore_returns_to_the_state_before(host, status):
    host.runtime.add(status=status, policy="always", max=0)
    verify("c1")
    before = host.state()
    prepare(host)
    result = restore()
    assert (result.changed, result.values["restored"]) == (True, True)
    if status == "restarting":
        assert (host.runtime.show(), host.state()[1]) == (("slb", "running", "always"), before[1])
    else:
        assert host.state() == before
    assert not restore().changed


def test_prepare_killed_at_each_step_is_finished(host):
    given = options(host)
    for number in host.kills(lambda: steps.prepare(given, False)):
        result = steps.prepare(given, False)
        assert host.runtime.show() == (result.values["set_aside_as"], "exited", "no"), number
        noted = record.read()
        assert (noted.state, noted.set_aside.state) == ("prepared", "running")
        assert noted.set_aside.restart_policy == "on-failure:3"
    assert number == 5, "record, policy, stop, rename, record"


@pytest.mark.usefixtures("ended_stop")
@pytest.mark.parametrize("status", ["running", "exited"])
def test_restore_after_a_kill_at_each_step(host, status):
    """The kill comes in ``prepare`` and once more in ``restore``."""
    host.runtime.add(status=status)
    verify("c1", base_url="https://other.example")
    before = host.state()
    kills = 0
    for _number in host.kills(lambda: prepare(host)):
        for _second in host.kills(restore):
            kills += 1
            restore()
            assert (host.state(), noted_state()) == (before, "verified")
    assert kills >= 15


@pytest.mark.usefixtures("ended_stop")
def test_set_aside_killed_at_each_step_is_finished_or_restored(host):
    host.runtime.add(status="running", policy="always", max=0)
    verify("c1")
    before = host.state()
    for number in host.kills(set_aside):
        if number % 2:
            set_aside(container_id="c1")
            aside = record.read().set_aside
            assert (noted_state(), aside.purpose, aside.state) == ("none", "remediate", "running")
            assert not set_aside().changed, "no container is a good state"
        assert restore_by_hand().changed is (number > 0)
        assert host.state() == before
        assert not restore_by_hand().changed
    assert number == 5


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"container_id": "c2"}, "from c2 to c1"),
        ({"container_id": None}, "from none to c1"),
        ({"container_state": "exited"}, "from exited to running"),
        ({"container_state": "absent", "container_id": None}, "from none to c1"),
        ({"record_state": "verified"}, "from verified to none"),
        ({"record_request_id": "bb22"}, "from bb22 to none"),
    ],
)
def test_prepare_changed_host_is_refused(host, change, words):
    before, given = host.state(), options(host)
    given["expected"].update(change)
    error = error_of(lambda: steps.prepare(given, False))
    assert (error.code, words in error.summary, host.state()) == ("state_changed", True, before)
    assert code_of(lambda: steps.prepare(options(host, action="install"), False)) == "state_changed"


def test_prepare_crash_loop_counts_as_unchanged(host):
    host.runtime.add(status="restarting")
    given = options(host)
    host.runtime.set("running")
    assert steps.prepare(given, False).changed


def test_prepare_interrupted_request_of_another_run_is_refused(host):
    assert host.kill_before(2, lambda: prepare(host))
    assert code_of(lambda: prepare(host, request_id="bb22")) == "state_changed"
    assert record.read().request_id == "aa11"


def test_prepare_restored_request_is_not_sent_again(host):
    before = host.state()
    prepare(host)
    assert host.kill_before(1, restore)
    assert noted_state() == "restoring"
    assert code_of(lambda: prepare(host)) == "state_changed"
    assert (restore().values["restored"], host.state()) == (True, before)


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
    ],
)
def test_safety_check_changes_nothing(host, monkeypatch, case, code):
    labels = {"compose": {"com.docker.compose.config-hash": "y"}, "podman unit": {"PODMAN_SYSTEMD_UNIT": "x.service"}}
    host.runtime.add(labels=labels.get(case), auto_remove=case == "auto_remove")
    given = options(host)
    if case in ("connections", "unseen"):
        inbound = ["192.0.2.9:40000"] * 12 if case == "connections" else None
        monkeypatch.setattr(sockets, "find_connections", lambda seen: sockets.Connections(inbound))
        assert steps.prepare({**given, "allow_established": True}, True).changed
    elif case == "auto_remove":
        assert steps.prepare({**given, "remove": True}, True).changed
    elif case == "unit file":
        (host.units / "engine.service").write_text("[Service]\nExecStart=/usr/bin/docker run \\\n --name %p slb:1\n")
        assert steps.prepare(given, True).changed, "the unit's container has another name"
        (host.units / "engine.service").rename(host.units / "slb.service")
    elif case == "unknown":
        host.runtime.set("removing")
    elif case == "not root":
        monkeypatch.setattr(os, "geteuid", lambda: 1000)
    before = host.state()
    error = error_of(lambda: steps.prepare(given, False))
    assert (error.code, "12 connections (from 192.0.2.9" in error.summary) == (code, case == "connections")
    assert code_of(set_aside) == code
    assert (host.runtime.changes, host.state()) == ([], before)


def test_prepare_auto_remove_container_may_be_lost(host):
    """It deletes itself a moment after its stop."""
    host.runtime.add(auto_remove=True, policy="no", max=0)
    item, reads = host.runtime.containers["c1"], []

    def remove_late(argv, _timeout):
        if "stop" in host.runtime.changes:
            reads.append(argv)
            host.runtime.containers = {"c1": item} if len(reads) < 3 else {}

    host.meanwhile = remove_late
    result = prepare(host, remove=True)
    assert (result["set_aside_as"], result["record"]["set_aside"]) == (None, None)
    assert (host.runtime.containers, host.runtime.changes) == ({}, ["update", "stop"])


def test_prepare_auto_remove_container_that_is_made_again(host):
    host.runtime.add(auto_remove=True, policy="no", max=0)

    def make_again(_argv, _timeout):
        if "stop" in host.runtime.changes and not host.runtime.containers:
            host.runtime.add("c2")

    host.meanwhile = make_again
    assert code_of(lambda: prepare(host, remove=True)) == "container_recreated"
    assert host.runtime.show("c2") == RUNNING


@pytest.mark.parametrize(
    ("answer", "is_unknown"),
    [
        ("tried to kill container, but did not receive an exit event", True),
        ("Error response from daemon: cannot stop container: slb: permission denied", False),
    ],
)
def test_failed_stop_restores_unless_it_may_be_carried_out(host, answer, is_unknown):
    host.runtime.add(policy="always", max=0)
    before = host.state()
    host.runtime.fails["stop"] = answer
    error = error_of(lambda: prepare(host))
    assert (error.code, error.values.get("is_unknown", False)) == ("container_command_failed", is_unknown)
    assert noted_state() == ("preparing" if is_unknown else "none")
    assert is_unknown or host.state() == before


def test_verified_engine_that_is_gone_again_is_noted(host):
    host.runtime.containers.clear()

    def install(identity):
        prepare(host, request_id=identity)
        mark(identity)
        host.runtime.add(identity)
        verify(identity)
        return record.read().replaced_gone

    assert install("c1") is None
    host.runtime.containers.clear()
    assert install("c2") is True
    host.runtime.containers.clear()
    assert record.read().shown()["replaced_gone"]
    assert set_aside().changed, "the operator knows"
    assert record.read().replaced_gone is None
    assert not set_aside().changed


@pytest.mark.parametrize(
    ("program", "version", "verb", "is_stopped"),
    [
        ("docker", "", "update", False),
        ("docker", "", "rename", True),
        # A full disk ends the step before the stop.
        ("podman", "4.3.1", "rename", False),
        ("podman", "5.1.0", "update", False),
    ],
)
def test_prepare_failed_command_restores(monkeypatch, tmp_path, program, version, verb, is_stopped):
    host = Host(monkeypatch, tmp_path, FakeRuntime(program, version))
    host.runtime.add()
    before = host.state()
    host.runtime.fails[verb] = "it is broken"
    error = error_of(lambda: prepare(host))
    assert (error.code, error.values["restored"]) == ("container_command_failed", is_stopped)
    assert ("stop" in host.runtime.changes, "it is broken" in error.summary) == (is_stopped, True)
    assert ("Restored." in error.summary) == is_stopped
    assert host.state() == before


def test_prepare_full_disk_restores(host, monkeypatch):
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
    step = host.runtime.before

    def hang(verb):
        step(verb)
        if verb == "stop":
            host.runtime.before = step
            if not is_late:
                host.runtime.set("exited")
            raise TimeoutError

    host.runtime.before = hang
    if not is_late:
        assert prepare(host)["record"]["state"] == "prepared"
        return
    assert (code_of(lambda: prepare(host)), noted_state()) == (leftovers.TIMEOUT, "preparing")
    host.runtime.set("exited")
    assert (restore().values["restored"], host.runtime.show()) == (True, RUNNING)


@pytest.mark.parametrize("act", [prepare, lambda _host: set_aside()], ids=["prepare", "set_aside"])
@pytest.mark.parametrize(("unit", "is_late"), [("x.service", False), (None, False), (None, True)])
def test_recreated_container_is_reported_with_its_manager(host, unit, is_late, act):
    """Also one that comes when the record of the step is written already."""
    verify("c1")

    def recreate(_argv, _timeout):
        is_time = noted_state() in ("prepared", "none") or not is_late
        if host.runtime.changes[-1:] == ["rename"] and is_time and "c2" not in host.runtime.containers:
            host.runtime.add("c2")
            if unit:
                (host.units / unit).write_text(UNIT)

    host.meanwhile = recreate
    error = error_of(lambda: act(host))
    assert (error.code, error.values["restored"]) == ("container_recreated", False)
    assert ("c2" in error.summary, "x.service" in error.fix) == (True, bool(unit))
    noted = record.read()
    assert (noted.state, noted.last_verified, noted.set_aside.id) == ("restoring", "c1", "c1")
    assert host.runtime.show("c2") == RUNNING


@pytest.mark.parametrize("status", ["running", "paused", "exited"])
def test_leftover_that_is_started_again_ends_the_step(host, status):
    host.meanwhile = lambda *_unused: host.runtime.set(status) if host.runtime.changes[-1:] == ["rename"] else None
    if status == "exited":
        assert prepare(host)["record"]["state"] == "prepared"
    else:
        assert code_of(lambda: prepare(host)) == "container_recreated"


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("need", ["path", "device", "address", "namespace"])
def test_container_that_could_not_start_again_is_not_stopped(host, need, is_there):
    host.runtime.add("c9", "other", "running" if is_there else "exited")
    path = "/dev/null" if is_there else "/dev/gone"
    item, address = host.runtime.containers["c1"], "127.0.0.1" if is_there else "192.0.2.77"
    if need == "path":
        item["Mounts"] = [{"Type": "bind", "Source": path}]
    elif need == "device":
        item["HostConfig"]["Devices"] = [{"PathOnHost": path}, {"PathOnHost": "vendor/gpu=0"}]
    elif need == "address":
        item["NetworkSettings"] = {"Ports": {"443/tcp": [{"HostIp": address, "HostPort": "443"}], "53/udp": None}}
    else:
        item["HostConfig"]["PidMode"] = "container:c9"
    if is_there:
        assert prepare(host)["record"]["state"] == "prepared"
    else:
        assert (code_of(lambda: prepare(host)), host.runtime.changes) == ("container_not_restorable", [])


@pytest.mark.parametrize("how", ["start", "ends"])
def test_restore_container_that_does_not_start(host, how):
    before = host.state()
    name = prepare(host)["set_aside_as"]
    host.runtime.fails = {"start": "driver failed"} if how == "start" else {}
    host.runtime.ends_after_start = "exited" if how == "ends" else ""
    for _attempt in ("of the step", "of the rescue"):
        error = error_of(restore)
        assert (error.code, "engine_container -a state=restored" in error.fix) == ("partially_restored", True)
        assert ("driver failed" if how == "start" else "port 80 is in use") in error.summary
    assert (host.runtime.show(), noted_state()) == ((name, "exited", "no"), "restoring")
    host.runtime.fails, host.runtime.ends_after_start = {}, ""
    assert (restore_by_hand().values["restored"], host.state()) == (True, before)


@pytest.mark.parametrize(("verb", "code"), [("start", "partially_restored"), ("update", None)])
def test_restore_without_an_answer_after_a_change(host, verb, code):
    """The failure says that the container was changed; one that was restored completely is not a failure."""
    prepare(host)
    host.runtime.changes = []
    lost = Completed(1, "", "Cannot connect to the Docker daemon")
    host.meanwhile = lambda *_unused: lost if verb in host.runtime.changes else None
    if code:
        assert code_of(restore) == code
    else:
        assert restore().values["restored"]


@pytest.mark.parametrize("case", ["earlier container", "requested", "not requested"])
def test_restore_with_the_name_taken_restores_nothing(host, case):
    """Only a container that came when a request may have been sent may be its engine."""
    if case == "earlier container":
        host.runtime.add("c2", "other")
    name = prepare(host)["set_aside_as"]
    if case == "requested":
        mark()
    host.runtime.add("c2")
    before = host.state()
    assert not restore("bb22").changed
    for check_mode in (True, False):
        assert code_of(lambda check_mode=check_mode: restore_by_hand(check_mode)) == "name_taken"
        assert host.state() == before
        if case == "requested":
            result = restore(check_mode=check_mode)
            seen = (result.changed, result.values["restored"], result.values["record"]["state"])
            assert seen == (True, False, "requested")
        else:
            error = error_of(lambda check_mode=check_mode: restore(check_mode=check_mode))
            assert (error.code, name in error.summary, "c2" in error.summary) == ("name_taken", True, True)
        assert not check_mode or host.state() == before
    state, is_own = ("requested", False) if case == "requested" else ("restoring", True)
    assert (noted_state(), record.read().request_id == "aa11") == (state, is_own)
    assert host.runtime.show() == (name, "exited", "no")
    del host.runtime.containers["c1"]
    assert case == "requested" or (restore().values["restored"], noted_state()) == (False, "none")


@pytest.mark.parametrize("is_asked", [False, True])
@pytest.mark.parametrize("is_there", [False, True])
def test_restore_in_check_mode_changes_nothing(host, is_asked, is_there):
    prepare(host)
    if not is_there:
        host.runtime.containers.clear()
    before, host.runtime.changes = host.state(), []
    result = restore_by_hand(True) if is_asked else restore(check_mode=True)
    assert (result.changed, result.values["restored"], result.values["record"]["state"]) == (True, is_there, "none")
    assert (host.state(), host.runtime.changes) == (before, [])


def test_prepare_waits_for_a_stop_whose_command_was_killed(host, monkeypatch):
    """Docker carries the stop out after its client is gone: the step must not be reversed before."""
    monkeypatch.setattr(container, "INTERVAL", 0.01)
    inspected = []

    def kill_client(argv, _timeout):
        if "stop" in argv:
            inspected.append("stop")
            return Completed(137, "", "")
        if inspected and "inspect" in argv:
            inspected.append("inspect")
            host.runtime.set("running" if len(inspected) < 4 else "exited")
        return None

    host.meanwhile = kill_client
    assert prepare(host)["record"]["state"] == "prepared"
    assert host.runtime.changes == ["update", "rename"]


@pytest.mark.parametrize("act", [restore, restore_by_hand])
def test_restore_waits_for_a_stop_that_may_be_pending(host, monkeypatch, act):
    """A restored container would be stopped later, and no record would show that it ran."""
    assert host.kill_before(2, lambda: prepare(host)), "the module dies before the stop"
    before, noted, waited = host.state(), host.file(), []
    monkeypatch.setattr(leftovers, "wait_for_stop", lambda _aside, seconds: waited.append(seconds))
    error = error_of(act)
    assert (error.code, error.values) == ("replacement_in_progress", {"is_unknown": True})
    assert (host.state(), noted_state(), waited) == (before, "preparing", [3.0])
    host.path.write_text(json.dumps({**noted, "uptime": noted["uptime"] - 600}))
    assert (act().values["restored"], host.runtime.show()) == (True, RUNNING), "the time of the stop is over"


@pytest.mark.parametrize("changes", [2, 3], ids=["before the stop", "before the rename"])
def test_restore_after_a_stop_that_was_pending(host, monkeypatch, changes):
    assert host.kill_before(changes, lambda: prepare(host))
    host.runtime.set("running")
    monkeypatch.setattr(leftovers, "wait_for_stop", lambda *_unused: host.runtime.set("exited"))
    assert (restore().values["restored"], host.runtime.show()) == (True, RUNNING)


def test_stop_command_has_the_time_of_the_stop(host):
    times = {}
    host.meanwhile = lambda argv, timeout: times.update({verb: timeout for verb in ("stop", "rename") if verb in argv})
    prepare(host, stop_timeout=50)
    assert times["stop"] - times["rename"] == 50


@pytest.mark.parametrize("case", ["killed before the stop", "started by a person", "install"])
def test_restore_awaits_no_stop_that_was_not_begun(host, monkeypatch, case):
    if case != "killed before the stop":
        monkeypatch.setattr(leftovers, "wait_for_stop", lambda _aside, _seconds: pytest.fail("nothing is pending"))
    if case == "install":
        host.runtime.containers.clear()
    if case == "started by a person":
        prepare(host)
        host.runtime.set("running", name="slb")
    else:
        assert host.kill_before(1, lambda: prepare(host)), "the module dies after its first write"
        assert noted_state() == "preparing"
    assert (restore().changed, host.file()) == (True, None)
    assert host.runtime.show() == (None if case == "install" else RUNNING)


def test_restore_by_hand_keeps_a_young_request(host):
    """The deployment may be in progress: no run may send another request meanwhile."""
    prepare(host, wait_timeout=600)
    mark()
    assert restore_by_hand().values["restored"]
    noted = record.read()
    assert (noted.state, noted.request_id, noted.set_aside) == ("requested", "aa11", None)
    assert host.runtime.show() == RUNNING


def test_restore_by_hand_of_nothing_keeps_the_record(host):
    """A person has deleted the leftover of a verified engine: its record still holds."""
    assert "names no set-aside container" in restore_by_hand().values["msg"]
    prepare(host)
    host.runtime.add("c2")
    verify("c2")
    del host.runtime.containers["c1"]
    before = host.state()
    result = restore_by_hand()
    assert (result.changed, "was deleted" in result.values["msg"], host.state()) == (False, True, before)


def test_restore_acts_on_old_records_of_its_request(host):
    prepare(host, wait_timeout=600)
    assert not restore(open_age=100).changed
    mark()
    assert not restore(requested_age=None).changed
    assert not restore(requested_age=0.001).changed, "the run that sent the request may still wait"
    assert restore(requested_age=0).values["restored"], "the run's own request, which was not sent"
    prepare(host)
    mark()
    assert not restore(requested_age=100).changed
    assert restore().values["restored"]


def test_mark_keeps_the_time_of_the_first(host):
    host.runtime.containers.clear()
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
    if action == "install":
        host.runtime.containers.clear()
    prepare(host)
    host.runtime.add("c2")
    assert code_of(mark) == "state_changed"
    assert (noted_state(), record.read().sent) == ("prepared", None)


@pytest.mark.parametrize("change", ["started", "used", "renamed"])
def test_prepare_checks_again_before_the_stop(host, monkeypatch, change):
    host.runtime.add(status="running" if change == "used" else "exited")
    before = host.state()

    def step(verb):
        if verb == "update" and change == "used":
            inbound = sockets.Connections(["192.0.2.9:40000"])
            monkeypatch.setattr(sockets, "find_connections", lambda seen: inbound)
        elif verb == "update" and host.runtime.changes == []:
            host.runtime.set("running" if change == "started" else "exited", name="mine" * (change == "renamed"))

    host.runtime.before = step
    assert code_of(lambda: prepare(host)) == ("container_in_use" if change == "used" else "state_changed")
    assert ("stop" in host.runtime.changes, noted_state()) == (False, "none")
    assert change != "used" or host.state() == before


@pytest.mark.parametrize(("verb", "status"), [("rename", "running"), ("pause", "paused")])
def test_restore_goes_on_after_a_lost_answer(host, verb, status):
    """The command was carried out: the container has the state that the restore wants."""
    host.runtime.add(status=status)
    before = host.state()
    prepare(host)

    def lose(each):
        if each == verb:
            host.runtime.set("exited" if verb == "rename" else "paused", name="slb")
            raise LookupError("context deadline exceeded")

    host.runtime.before = lose
    assert (restore().values["restored"], host.state()) == (True, before)


def test_verify_restores_the_policy_of_the_container(host):
    """A person renames the set-aside container back, and the engine list shows it as running."""
    host.runtime.add(policy="always", max=0)
    prepare(host)
    host.runtime.set("running", name="slb")
    for _number in host.kills(lambda: verify("c1")):
        verify("c1")
        assert host.runtime.show() == ("slb", "running", "always")
        assert not verify("c1").changed


@pytest.mark.parametrize("act", [restore_by_hand, restore, None])
def test_set_aside_container_on_a_missing_disk_is_not_forgotten(host, monkeypatch, act):
    prepare(host)
    del host.runtime.containers["c1"]
    obstacle = runtimes.Obstacle("the containers are below /srv, which is not mounted", "Mount it.")
    monkeypatch.setattr(runtimes, "find_empty_storage", lambda _programs: obstacle)
    before = host.file()["set_aside"]
    if act:
        assert (code_of(act), host.file()["set_aside"]) == ("container_state_unknown", before)
    else:
        host.runtime.add("c2")
        verify("c2", remove_leftovers=True)
        assert record.read().set_aside.id == "c1"


@pytest.mark.parametrize("is_taken", [False, True])
def test_restore_removed_container_restores_the_record(host, is_taken):
    verify("c1")
    before = host.state()[1]
    prepare(host)
    del host.runtime.containers["c1"]
    if is_taken:
        host.runtime.add("c2")
    result = restore_by_hand()
    assert (result.changed, result.values["restored"], host.state()[1]) == (True, False, before)


def test_install_after_remediate_keeps_the_leftover(host):
    verify("c1")
    first = host.state()
    name = set_aside().values["set_aside_as"]
    remediated = host.state()
    prepare(host)
    assert (record.read().set_aside, record.read().previous.set_aside.id) == (None, "c1")
    restore()
    assert host.state() == remediated, "a rejected install does not restore the container of remediate"
    assert host.runtime.show() == (name, "exited", "no")
    assert (restore_by_hand().values["restored"], host.state()) == (True, first)


@pytest.mark.parametrize("auto_remove", [True, False])
def test_set_aside_remove_deletes_the_container(host, auto_remove):
    host.runtime.add(auto_remove=auto_remove)
    verify("c1")
    before = host.state()
    if auto_remove:
        assert code_of(lambda: set_aside(check_mode=True)) == "container_would_be_deleted"
    result = set_aside(check_mode=True, remove=True)
    assert (result.values["set_aside_as"], result.values["after"]["state"], host.state()) == (None, "absent", before)
    assert set_aside(remove=True).values["set_aside_as"] is None
    assert (host.runtime.containers, host.file()) == ({}, None)


def test_set_aside_remove_deletes_what_an_earlier_run_set_aside(host):
    """A run that was killed after its step left it; a leftover of a verified engine is not such a container."""
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
    assert set_aside(container_id="c1", container_state="running", request_id="bb22").changed
    del host.runtime.containers["c1"]
    before = host.state()
    for check_mode in (True, False):
        assert not set_aside(request_id="cc33", remove=True, check_mode=check_mode).changed
    assert host.state() == before


def test_set_aside_of_the_planned_container_only(host):
    before = host.state()
    for change in ({"container_id": "c2"}, {"container_state": "exited"}):
        assert code_of(lambda change=change: set_aside(**change)) == "state_changed"
    assert set_aside(check_mode=True).values["set_aside_as"].startswith("slb-leftover-")
    assert host.state() == before
    assert set_aside(container_id="c1", container_state="running", request_id="bb22").changed
    again = set_aside(request_id="bb22")
    assert (again.changed, again.values["set_aside_as"]) == (True, host.runtime.show()[0])
    assert not set_aside(request_id="cc33").changed
    assert not set_aside().changed


def test_verify_keeps_or_removes_the_leftover(host):
    prepare(host)
    host.runtime.add("c2")
    host.runtime.add("c3", "slb-leftover-of-another-user", "exited")
    assert code_of(lambda: verify("c1")) == "state_changed"
    before, host.runtime.changes = host.state(), []
    planned = verify("c2", remove_leftovers=True, check_mode=True)
    shown = planned.values["record"]
    assert (planned.changed, shown["state"], shown["set_aside"]) == (True, "verified", None)
    assert (host.state(), host.runtime.changes) == (before, [])
    assert verify("c2").changed
    noted = record.read()
    assert (noted.state, noted.last_verified, noted.verified_by) == ("verified", "c2", "host")
    assert (noted.previous, noted.request_id, noted.containers_before) == (None, "aa11", ())
    assert noted.set_aside.id == "c1"
    assert not verify("c2").changed
    removed = verify("c2", remove_leftovers=True)
    assert (removed.changed, removed.values["has_deleted"], record.read().set_aside) == (True, True, None)
    assert set(host.runtime.containers) == {"c2", "c3"}
    again = verify("c2", remove_leftovers=True)
    assert (again.changed, again.values["has_deleted"]) == (False, False)
    verify("c2", base_url="https://other.example")
    assert record.read().request_id is None


@pytest.mark.parametrize(("status", "name"), [("running", ""), ("exited", "mine")])
def test_verify_keeps_a_leftover_in_use(host, status, name):
    prepare(host)
    host.runtime.set(status, name=name)
    host.runtime.add("c2")
    verify("c2", remove_leftovers=True)
    assert ("c1" in host.runtime.containers, record.read().set_aside.id) == (True, "c1")


def test_last_verified_is_kept_for_the_same_engine(host):
    verify("c1")
    prepare(host)
    assert record.read().last_verified == "c1"
    restore()
    prepare(host, request_id="bb22", name="edge-2")
    assert record.read().last_verified is None
    restore("bb22")
    assert record.read().name == "edge-1"


def verified_and(host, status, **values):
    host.runtime.add(**values)
    verify("c1")
    host.runtime.set(status)
    host.runtime.changes.clear()


@pytest.mark.parametrize("status", ["exited", "created"])
def test_start_verified_container_is_started_once(host, status):
    verified_and(host, status)
    checked = start(check_mode=True)
    assert (checked.changed, checked.values["started"], host.runtime.changes) == (True, True, [])
    result = start(container_id="c1")
    assert (result.changed, result.values["started"], result.values["after"]["state"]) == (True, True, "running")
    assert (start().changed, host.runtime.changes, noted_state()) == (False, ["start"], "verified")


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
        ("mounted", ""),
        ("port", "container_not_started"),
        ("manager", "managed_by_systemd"),
    ],
)
def test_start_refused_changes_nothing(host, monkeypatch, case, code):
    verified_and(host, "paused" if case == "paused" else "exited", auto_remove=case == "auto_remove")
    item, given = host.runtime.containers["c1"], {}
    disk, fstab = host.path.parents[1] / "disk", host.path.parents[1] / "fstab"
    monkeypatch.setattr(steps.mounts, "FSTAB", str(fstab))
    if case == "another container":
        given = {"container_id": "c2"}
    elif case == "unverified":
        steps.remove(False)
    elif case == "absent":
        host.runtime.containers.clear()
    elif case == "mount":
        item["Mounts"] = [{"Type": "volume", "Source": "/none"}, {"Type": "bind", "Source": "/srv/not-mounted"}]
    elif case == "unmounted":
        disk.mkdir()
        fstab.write_text(f"# /dev/sdb1 /none\nbroken\n/dev/sdc1 / ext4 defaults 0 1\n/dev/sda1 {disk} ext4 nofail\n")
        item["Mounts"] = [{"Type": "bind", "Source": str(disk / ".")}, {"Type": "bind", "Source": str(disk)}]
    elif case == "mounted":
        fstab.write_text("proc /proc proc defaults 0 0\n")
        item["Mounts"] = [{"Type": "bind", "Source": "/proc/self"}]
    elif case == "port":
        item["HostConfig"]["PortBindings"] = {"443/tcp": [{"HostIp": "", "HostPort": "443"}], "53/udp": None}
        ports = [(443, "nginx", True), (22, "sshd", False)]
        listening = [dict(zip(("port", "process", "engine"), each, strict=True)) for each in ports]
        monkeypatch.setattr(sockets, "find_listening", lambda seen: listening if 443 in seen.published_ports else [])
    elif case == "manager":
        monkeypatch.setattr(container, "find_manager", lambda *_unused: Manager("systemd unit slb.service", "x"))
    if code:
        assert code_of(lambda: start(**given)) == code
    else:
        start()
    assert host.runtime.changes == ([] if code else ["start"])


@pytest.mark.parametrize("how", ["refused", "exited", "restarting", "no answer"])
def test_start_that_fails_is_reported(host, monkeypatch, how):
    def hang(_verb):
        raise TimeoutError

    verified_and(host, "exited")
    if how == "refused":
        host.runtime.fails["start"] = "network 12ab not found"
    elif how == "no answer":
        monkeypatch.setattr(host.runtime, "before", hang)
    else:
        host.runtime.ends_after_start = how
    error, is_unknown = error_of(start), how == "no answer"
    code = leftovers.TIMEOUT if is_unknown else "container_not_started"
    assert (error.code, error.values.get("is_unknown", False), noted_state()) == (code, is_unknown, "verified")
    assert container.find_container().state == "exited", "a crash loop is stopped again"


def test_remove_is_idempotent(host):
    verify("c1")
    assert [steps.remove(check_mode).changed for check_mode in (True, False, False)] == [True, True, False]
    assert host.file() is None


def test_age_after_reboot_and_in_the_future(host):
    prepare(host)
    noted = host.file()

    def read_with(**values):
        host.path.write_text(json.dumps({**noted, **values}))
        return record.read().shown()

    assert 100 <= read_with(uptime=clock.uptime() - 100)["age"] < 130
    rebooted = read_with(boot_id="another", uptime=clock.uptime() + 1e6)
    assert rebooted["state"] == "prepared"
    assert rebooted["age"] == pytest.approx(clock.uptime(), abs=30)
    assert read_with(uptime=clock.uptime() + 0.9)["age"] == 0
    future = read_with(uptime=clock.uptime() + 3600)
    assert (future["state"], "future" in future["why"]) == ("invalid", True)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("state", "confirmed"),
        ("name", None),
        ("name", "\ud800"),
        ("request_id", "--all"),
        *(("uptime", value) for value in (float("nan"), 10**400, -0.5, True)),
        ("boot_id", None),
        ("last_verified", 5),
        ("set_aside", {"id": "c1"}),
        ("previous", {"state": "verified"}),
    ],
)
def test_read_invalid_value_is_invalid(host, key, value):
    prepare(host)
    host.path.write_text(json.dumps({**host.file(), key: value}))
    noted = record.read()
    assert (noted.state, key in noted.why) == ("invalid", True)


@pytest.mark.parametrize("content", ["[" * 600000, "x" * 1100000, "[]", "{", b"\xff".decode("latin-1")])
def test_read_damaged_file_is_invalid(host, content):
    host.path.parent.mkdir()
    host.path.write_text(content, encoding="latin-1")
    assert noted_state() == "invalid"
    assert code_of(restore_by_hand) == "record_invalid"
    assert verify("c1").changed


OBSTACLES = ["fifo", "folder", "link", "immutable", "open to others", "mount", "read-only", "no answer"]


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_record_that_cannot_be_written_stops_each_step(host, monkeypatch, obstacle):
    def fail(*_unused):
        raise OSError(5, "Input/output error")

    assert record.find_obstacle() is None
    assert not host.path.parent.exists(), "the check writes nothing"
    host.path.parent.mkdir()
    if obstacle == "immutable":
        host.path.touch()
        monkeypatch.setattr(record.files, "is_fixed", lambda path: path == record.PATH)
    elif obstacle == "open to others":
        host.path.parent.chmod(0o777)
    elif obstacle == "mount":
        host.path.touch()
        monkeypatch.setattr(record.files.mounts, "mounted", lambda: [str(host.path)])
    elif obstacle == "read-only":
        monkeypatch.setattr(os, "access", lambda _folder, _mode: False)
    elif obstacle == "no answer":
        monkeypatch.setattr(record.files.mounts, "mounted", fail)
    else:
        {"fifo": os.mkfifo, "folder": os.mkdir, "link": lambda path: path.symlink_to("/etc/motd")}[obstacle](host.path)
        assert noted_state() == "invalid"
    assert record.find_obstacle()
    assert code_of(lambda: prepare(host)) == code_of(set_aside) == "record_not_writable"
    assert host.runtime.changes == []


def hold_lock(folder, is_held):
    locks.FOLDER = folder
    with locks.locked("record.lock", 5, False):
        is_held.set()
        time.sleep(1.5)


def test_second_process_waits_for_the_lock(host):
    fork = multiprocessing.get_context("fork")
    is_held = fork.Event()
    other = fork.Process(target=hold_lock, args=(locks.FOLDER, is_held), daemon=True)
    other.start()
    assert is_held.wait(10)
    assert code_of(lambda: steps.prepare(options(host, lock_timeout=0), False)) == "host_busy"
    assert host.runtime.changes == []
    assert steps.prepare(options(host, lock_timeout=20), False).changed
    other.join()
    lock = Path(locks.FOLDER) / "record.lock"
    assert (lock.stat().st_mode & 0o777, lock.parent.stat().st_mode & 0o777) == (0o600, 0o700)


@pytest.mark.parametrize("status", ["running", "stopped"])
def test_podman_crash_loop_is_stopped_again(monkeypatch, tmp_path, status):
    host = Host(monkeypatch, tmp_path, FakeRuntime("podman", "4.3.1"))
    monkeypatch.setattr(leftovers, "_DOWN_SECONDS", 30.0)
    host.runtime.add(status=status, policy="always", max=0)

    def restart(_argv, _timeout):
        if host.runtime.changes and host.runtime.changes.count("stop") < 3:
            host.runtime.set("running")

    host.meanwhile = restart
    if status == "stopped":
        assert code_of(lambda: prepare(host)) == "state_changed"
        return
    prepare(host)
    assert host.runtime.changes == ["rename", "stop", "stop", "stop", "rename"]


def test_gather_healthy_host_asks_one_command(host, monkeypatch):
    prepare(host)
    host.runtime.add("c2")
    verify("c2")
    host.runtime.asked = 0
    monkeypatch.setattr(container, "find_manager", lambda *_unused: pytest.fail("a healthy host is searched"))
    facts = gather.gather_facts()
    assert host.runtime.asked == 1
    assert (facts["record"]["state"], facts["record"]["verified_name"]) == ("verified", None)
    assert (facts["record"]["set_aside"]["id"], facts["record"]["set_aside"]["exists"]) == ("c1", None)
    assert facts["machine"].split()[1] == clock.boot_id()


def test_gather_shows_what_became_of_the_containers(host):
    verify("c1")
    name = prepare(host)["set_aside_as"]
    facts = gather.gather_facts()
    assert (facts["engine_container"]["state"], facts["running_leftovers"]) == ("absent", [])
    seen = facts["record"]
    assert (seen["set_aside"]["name"], seen["set_aside"]["exists"], seen["verified_name"]) == (name, True, name)
    host.runtime.set("running")
    assert gather.gather_facts()["running_leftovers"] == [name]
    del host.runtime.containers["c1"]
    seen = gather.gather_facts()["record"]
    assert (seen["set_aside"]["exists"], seen["verified_name"]) == (False, None)
    host.runtime.add("c2")
    (host.units / "x.service").write_text(UNIT)
    assert "x.service" in gather.gather_facts()["engine_container"]["manager"]


UPDATED, RENAMED, STOPPED = ["update", "stop", "rename"], ["rename", "stop", "rename"], ["stop", "rename"]


@pytest.mark.parametrize(
    ("program", "version", "status", "policy", "changes"),
    [
        ("docker", "", "running", "always", UPDATED),
        ("podman", "5.10.0", "running", "always", UPDATED),
        ("podman", "5.1.0", "running", "always", UPDATED),
        ("podman", "5.0.9", "running", "always", RENAMED),
        ("podman", "4.0.0", "running", "always", RENAMED),
        ("podman", "3.9.9", "running", "always", STOPPED),  # Podman 3 refuses a container's own name
        ("podman", "3.0.0", "running", "always", STOPPED),
        # A stopped container is stopped only if needed.
        ("docker", "", "exited", "always", ["update", "rename"]),
        ("docker", "", "dead", "always", ["rename"]),
        ("podman", "4.3.1", "exited", "no", ["rename", "rename"]),
        # With a restart policy that cannot be changed, it may be between two starts of a crash loop.
        ("podman", "4.3.1", "exited", "always", RENAMED),
    ],
)
def test_set_aside_by_the_commands_of_the_version(monkeypatch, tmp_path, program, version, status, policy, changes):
    host = Host(monkeypatch, tmp_path, FakeRuntime(program, version))
    host.runtime.add(status=status, policy=policy, max=0)
    before = host.state()
    name = prepare(host)["set_aside_as"]
    assert host.runtime.changes == changes
    stopped = "dead" if status == "dead" else "exited"
    assert host.runtime.show() == (name, stopped, "no" if "update" in changes else policy)
    assert (restore().values["restored"], host.state()) == (True, before)
    host.runtime.changes = []
    assert (set_aside().changed, host.runtime.changes) == (True, changes)


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
        assert steps.prepare(options(host), True).changed


def test_managed_container_is_refused_as_in_its_plan(host, monkeypatch):
    manager = Manager("compose project y", "Remove it.")
    monkeypatch.setattr(container, "find_manager", lambda *_unused: manager)
    for containers in (host.runtime.containers, {}):
        host.runtime.containers = containers
        error = error_of(lambda: prepare(host))
        assert (error.code, error.fix, manager.words in error.summary) == ("managed_by_other", manager.fix, True)
        assert (host.runtime.changes, host.file()) == ([], None)


def spend(monkeypatch, host, **seconds):
    """Let seconds pass only for the first command with each of these verbs."""
    now = [0.0]

    def spend_once(argv, _timeout):
        now[0] += sum(seconds.pop(word, 0) for word in argv)

    monkeypatch.setattr(waiting.time, "monotonic", lambda: now[0])
    host.meanwhile = spend_once


@pytest.mark.parametrize("step", ["prepare", "set_aside"])
@pytest.mark.parametrize(
    ("limit", "seconds", "is_done"),
    [
        # Of 1 s each: the question that was asked, 2 x 6 commands. And 2 x 4 s of checks, and 1 s for the stop.
        (22, {}, True),
        (21.9, {}, False),
        # Of 100 s, the question took 1 s; 6 commands and 4 s of checks are left to restore the container.
        *((100, {verb: used}, used == 89) for verb in ("update", "stop") for used in (89, 89.1)),
    ],
)
def test_step_begins_and_goes_on_with_time_to_restore(host, monkeypatch, step, limit, seconds, is_done):
    given = options(host, time_limit=limit)
    spend(monkeypatch, host, container=1, **seconds)
    before = host.state()

    def act():
        return steps.prepare(given, False) if step == "prepare" else set_aside(time_limit=limit)

    if is_done:
        assert act().values["set_aside_as"]
        return
    assert (code_of(act), host.state()) == ("host_timeout", before)
    assert ("stop" in host.runtime.changes, bool(host.runtime.changes)) == ("stop" in seconds, bool(seconds))


@pytest.mark.parametrize(("limit", "is_done"), [(2, True), (1.9, False)])
def test_install_is_prepared_only_in_time(host, monkeypatch, limit, is_done):
    host.runtime.containers.clear()
    given = options(host, time_limit=limit)
    spend(monkeypatch, host, container=1)
    if is_done:
        assert steps.prepare(given, False).values["record"]["state"] == "prepared"
    else:
        assert (code_of(lambda: steps.prepare(given, False)), host.file()) == ("host_timeout", None)


@pytest.mark.parametrize(("limit", "used", "is_done"), [(0, 0, True), (0.5, 1, False)])
def test_continued_step_needs_only_some_time(host, monkeypatch, limit, used, is_done):
    before, given = host.state(), options(host, time_limit=limit)
    assert host.kill_before(2, lambda: prepare(host))
    spend(monkeypatch, host, container=used)
    if is_done:
        assert steps.prepare(given, False).values["record"]["state"] == "prepared"
        assert mark(time_limit=0).values["record"]["state"] == "requested"
    else:
        assert (code_of(lambda: steps.prepare(given, False)), host.state()) == ("host_timeout", before)


def test_stop_of_a_crash_loop_is_tried_twice(host):
    host.runtime.containers["c1"]["RestartCount"] = 7
    failures = []

    def lose_process(argv, _timeout):
        if "stop" in argv and not failures:
            failures.append(argv)
            return Completed(1, "", "task not found")
        return None

    host.meanwhile = lose_process
    assert (prepare(host)["record"]["state"], len(failures)) == ("prepared", 1)
