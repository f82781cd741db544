"""One host in the light of the others: conflicts, the limit of replacements, and the login banner."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import Gap, Listing
from ansible_collections.slb.fleet.plugins.plugin_utils import _fleet_host as fleet_host
from ansible_collections.slb.fleet.plugins.plugin_utils._decision import Plan
from ansible_collections.slb.fleet.plugins.plugin_utils._fleet_host import FleetHost
from ansible_collections.slb.fleet.plugins.plugin_utils._reservations import Reservations
from ansible_collections.slb.fleet.plugins.plugin_utils._state import Record, SetAside, State
from ansible_collections.slb.fleet.tests.unit.errors import code_of, error_of

CONTAINER = {
    **dict.fromkeys(("exit_code", "manager", "why", "fix", "health", "health_output", "image"), None),
    **{"state": "running", "id": "c1", "runtime": "docker", "uptime": 100.0, "restart_count": 0, "auto_remove": False},
    **{"connections": 0, "peers": [], "outbound": 0},
}


def facts(number, **more):
    rest = {"root": True, "running_leftovers": [], "machine": f"m{number}", "addresses": [f"192.0.2.{number}"]}
    return {"engine_container": CONTAINER, "record": {"state": "none"}, **rest, **more}


def host(folder, number, size=4, **variables):
    known = {
        "inventory_hostname": f"edge-{number}",
        "ansible_host": f"192.0.2.{number}",
        "ansible_play_hosts_all": ["x"] * size,
        **{"slb_base_url": "https://console.example", "slb_username": "u", "slb_password": "p"},
        **{name if name.startswith("ansible_") else f"slb_{name}": value for name, value in variables.items()},
    }
    made = FleetHost.from_variables(known, Templar(loader=DataLoader(), variables=known))
    made.reservations = Reservations(folder)
    return made


OTHER_ENGINE = {"name": "other", "address": "192.0.2.250", "state": "running"}
LIST = {"path": "/engines", "name": "n", "address": "a", "state": "s", "running": ["up"]}


def test_two_hosts_with_one_name_address_or_machine_are_blocked(tmp_path):
    first, second = host(tmp_path, 1), host(tmp_path, 2, engine_name="edge-1")
    for each in (first, second):
        each.reserve()
    second.reserve()
    first.reserve()
    assert first.plan(facts(1)).code == second.plan(facts(2)).code == "duplicate_engine"
    third, fourth = host(tmp_path, 3), host(tmp_path, 4)
    third.plan(facts(3, machine="same"))
    assert fourth.plan(facts(4, machine="same")).code == "duplicate_engine"


def test_wait_shorter_than_a_call_and_a_minute_is_refused(tmp_path):
    times = {"timeout": 10, "retries": 1}
    options = {"unverified_engine": "adopt", "settle": 9, "allow_established": True, "remove_leftovers": True}
    policy = host(tmp_path, 1, wait_timeout=80, **times, **options).policy
    assert {name: getattr(policy, name) for name in options} == options
    assert (policy.wait_timeout, policy.remediates) == (80, False)
    error = error_of(host, tmp_path, 1, wait_timeout=79.9, **times)
    assert (error.code, "80 " in error.fix) == ("invalid_variable", True), "the least value"
    assert not [each for each in ("slb_wait_timeout", "slb_timeout", "slb_retries") if each not in str(error)]


TIMES = {"timeout": 30, "retries": 1, "host_timeout": 30, "stop_timeout": 10, "settle": 5, "wait_timeout": 180}


@pytest.mark.parametrize(
    ("given", "polls", "step", "install"),
    [
        ({}, 46, 40, 200),
        ({"wait_timeout": 90, "timeout": 10}, 28, 40, 120),
        ({"wait_timeout": 121, "settle": 0}, 28, 40, 200),
        ({"wait_timeout": 300, "settle": 10}, 77, 40, 200),
        ({"stop_timeout": 25}, 46, 55, 230),
        ({"host_timeout": 20, "retries": 2}, 46, 30, 240),
    ],
)
def test_settings_give_each_step_its_time(tmp_path, given, polls, step, install):
    settings = host(tmp_path, 1, **{**TIMES, **given}).settings
    assert (settings["polls"], settings["step_timeout"], settings["install_timeout"]) == (polls, step, install)
    assert settings["open_age"] == 120
    for name in ("stop_timeout", "wait_timeout"):
        assert settings[name] == {**TIMES, **given}[name]
    names = ("adopt_interfaces", "allow_established", "remove_leftovers")
    for name in names:
        assert [host(tmp_path, 1, **{name: True}).settings[each] for each in names] == [each == name for each in names]


@pytest.mark.parametrize(
    ("record", "polls"),
    [
        ({"state": "verified", "wait_timeout": 600.0}, 28),
        ({"state": "requested", "wait_timeout": 600.0}, 130),
        ({"state": "preparing", "set_aside": SetAside(stop_timeout=30)}, 40),
    ],
)
def test_polls_last_as_long_as_the_record_says(tmp_path, record, polls):
    """A verified record's wait is over; one of another run's request or step is not."""
    seen = host(tmp_path, 1, **{**TIMES, "wait_timeout": 90, "timeout": 10})
    seen.last_state = State(record=Record(**record))
    assert seen.settings["polls"] == polls


@pytest.mark.parametrize(
    ("variables", "code"),
    [
        ({"base_url": ""}, "missing_variable"),
        ({"exists_patterns": ["("]}, "invalid_variable"),
        ({"port_in_use_patterns": ["x*"]}, "invalid_variable"),
        ({"engine_list": {**LIST, "path": ""}}, "missing_variable"),
        ({"manage_ip": "no address"}, "invalid_variable"),
        ({"license_host": "attacker.example"}, "invalid_variable"),
    ],
)
def test_variables_of_a_host_are_checked(tmp_path, variables, code):
    assert code_of(host, tmp_path, 1, **variables) == code


@pytest.mark.parametrize(
    ("own", "other", "moves"),
    [
        (100, 0, False),
        (101, 0, True),
        (100, 1, True),
        (1, 100, True),
        (1, 101, False),
        (0, 101, False),
        (101, 101, True),
        (0, None, False),
        (101, None, True),
    ],
)
def test_banner_is_moved_only_if_that_helps(tmp_path, own, other, moves):
    """Scripts that print a part of the banner have no known size."""
    named = [{"source": "/etc/motd (/run/motd)", "bytes": own}, {"source": "/etc/motd.d/x", "bytes": other}]
    motd = {"path": "/etc/motd", "target": "/run/motd", "sources": named, "bytes": own + (other or 0)}
    made = host(tmp_path, 1, motd_max_bytes=100)
    assert made.moves_banner({"motd": motd}) is moves
    assert made.moves_banner({"motd": {**motd, "target": "/run/other"}}) is False
    assert not host(tmp_path, 1, motd_max_bytes=100, motd="keep").moves_banner({"motd": motd})
    assert not made.moves_banner({})


LONG = {"path": "/etc/motd", "target": None, "sources": [{"source": "/etc/motd", "bytes": 900}], "bytes": 900}


@pytest.mark.parametrize(
    ("action", "number", "while_remediating"),
    [("install", 3, 2), ("replace", 4, 3), ("restore", 2, 2), ("record", 1, 1), ("wait", 1, 1), ("none", 0, 0)],
)
def test_steps_are_those_of_the_action(tmp_path, action, number, while_remediating):
    made, plan = host(tmp_path, 1, adopt_interfaces=True), Plan(action, "x", "x")
    steps = made.steps(plan, {"motd": LONG})
    assert len(steps) == number
    assert ("adopt interfaces" in steps) is (action in ("install", "replace", "restore"))
    assert ("install" in steps) is (action in ("install", "replace"))
    made.policy = replace(made.policy, remediates=True)
    assert len(made.steps(plan, {"motd": LONG})) == while_remediating
    assert "install" not in made.steps(plan, {"motd": LONG})
    others = host(tmp_path, 1, motd="keep").steps(plan, {"motd": LONG})
    assert len(others) == number - {"install": 2, "replace": 2, "restore": 1}.get(action, 0)


@pytest.mark.parametrize(
    ("size", "limit", "allowed"),
    [
        (4, "1%", 1),
        (4, "0%", 0),
        (20, "10%", 2),
        (29, "10%", 2),
        (30, "10%", 3),
        (99, "4%", 3),
        (4, "100%", 4),
        (4, 2, 2),
    ],
)
def test_replacements_are_limited_over_the_whole_run(tmp_path, monkeypatch, size, limit, allowed):
    """All hosts are blocked, with one wording; a container that the list does not show counts, and no other one."""
    monkeypatch.setattr(fleet_host.RunCache, "engines", lambda *_arguments: Listing([OTHER_ENGINE]))
    for number in (allowed, allowed + 1):
        folder = tmp_path / str(number)
        folder.mkdir()
        hosts = [host(folder, each, size=size, engine_list=LIST, max_replaced=limit) for each in range(1, number + 1)]
        for each in hosts:
            each.fetch_list()
        assert {each.plan(facts(at)).code for at, each in enumerate(hosts, 1)} <= {"leftover"}
        plans = [each.plan(facts(at), is_compared=True) for at, each in enumerate(hosts, 1)]
        code = "leftover" if number == allowed else "replace_limit_exceeded"
        assert [plan.code for plan in plans] == [code] * number
    assert len({(plan.summary, plan.fix) for plan in plans}) == 1
    other = host(tmp_path, 1, unverified_engine="replace", max_replaced=0)
    assert other.plan(facts(1), is_compared=True).action == "replace"


@pytest.fixture
def plan_after(tmp_path, monkeypatch):
    """Return the plan of a host with this container, after a fetch with this result."""

    def make(fetch, container, **variables):
        monkeypatch.setattr(fleet_host.RunCache, "engines", fetch)
        made = host(tmp_path, 1, size=1, engine_list=LIST, **variables)
        made.fetch_list()
        return made.plan(facts(1, engine_container={**CONTAINER, "state": container}), is_compared=True)

    return make


def failed_fetch(*_arguments):
    raise FleetError("engine_list_unavailable", "Engine list unavailable: HTTP 503.", "Run again.")


@pytest.mark.parametrize("may_be_empty", [True, False])
@pytest.mark.parametrize("container", ["running", "exited", "absent"])
@pytest.mark.parametrize("code", ["login_rejected", "engine_list_unavailable", "engine_list_not_as_configured"])
def test_failed_fetch_keeps_its_code_and_fix(plan_after, code, container, may_be_empty):
    def fetch(*_arguments):
        raise FleetError(code, "Cause.", "Own advice.")

    made = plan_after(fetch, container, engine_list_may_be_empty=may_be_empty)
    assert (made.action, made.code, made.summary, made.fix) == ("fail", code, "Cause.", "Own advice.")


@pytest.mark.parametrize(
    ("may_be_empty", "gap", "expected"),
    [
        (False, Gap(), ("fail", "engine_list_empty")),
        (True, Gap(), ("replace", "leftover")),
        (True, Gap("unproven", "it reports no total", "Set total."), ("fail", "engine_list_incomplete")),
    ],
)
def test_empty_list_is_accepted_if_the_user_says_so(plan_after, may_be_empty, gap, expected):
    made = plan_after(lambda *_arguments: Listing([], gap), "running", engine_list_may_be_empty=may_be_empty)
    assert (made.action, made.code) == expected


def listing(*numbers):
    return Listing([{"name": f"edge-{each}", "address": f"192.0.2.{each}", "state": "running"} for each in numbers])


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        # A person is retiring one engine.
        ((2, 3, 4), ["missing_from_engine_list", "healthy", "healthy", "healthy"]),
        # More than slb_max_replaced (one of four), or none: the list may be that of another account.
        ((3, 4), ["engine_list_unreliable"] * 2 + ["healthy"] * 2),
        ((9,), ["engine_list_unreliable"] * 4),
    ],
)
def test_list_that_lacks_verified_engines_decides_nothing(tmp_path, monkeypatch, listed, expected):
    monkeypatch.setattr(fleet_host.RunCache, "engines", lambda *_arguments: listing(*listed))
    hosts = {number: host(tmp_path, number, engine_list=LIST) for number in (1, 2, 3, 4, 5)}
    for each in hosts.values():
        each.fetch_list()

    def verified(number):
        engine = {"name": f"edge-{number}", "manage_ip": f"192.0.2.{number}", "base_url": "https://console.example"}
        return facts(number, record={"state": "verified", "last_verified": "c1", **engine})

    for is_compared in (False, True):
        codes = [hosts[number].plan(verified(number), is_compared=is_compared).code for number in (1, 2, 3, 4)]
        leftover = hosts[5].plan(facts(5), is_compared=is_compared)
    assert codes == expected
    # Nothing verifies the fifth: it is replaced only if the list shows verified engines, and few are missing.
    assert leftover.code == "engine_list_unreliable"


def test_container_that_runs_needs_a_second_reading(tmp_path, monkeypatch):
    """Five seconds after the first one of this run, directly before it is set aside."""
    clock, readings = SimpleNamespace(now=100.0), []

    def fetch(_connection, _list, not_before):
        readings.append((clock.now, not_before))
        return listing(9)._replace(at=clock.now)

    def sleep(seconds):
        clock.now += seconds

    monkeypatch.setattr(fleet_host, "time", SimpleNamespace(monotonic=lambda: clock.now, sleep=sleep))
    monkeypatch.setattr(fleet_host.RunCache, "engines", fetch)
    made = host(tmp_path, 1, engine_list=LIST)
    made.fetch_list()
    assert made.plan(facts(1), is_compared=True).code == "leftover"
    clock.now += 2
    made.fetch_list(is_deploying=True)
    assert readings == [(100.0, 0.0), (105.0, 105.0)]
    assert made.plan(facts(1), is_compared=True).code == "leftover"
    clock.now += 60
    made.fetch_list(is_deploying=True)
    assert readings[-1] == (165.0, 160.0)


ENGINES = [{"name": f"edge-{number}", "address": f"192.0.2.{number}"} for number in (4, 3, 2, 1)]


@pytest.fixture
def unknown(tmp_path, monkeypatch):
    """Return the engines that a run with edge-1 reports as unknown."""

    def report(engines=ENGINES, limit="all", **variables):
        def fetch(*_arguments):
            return Listing(engines if isinstance(engines, list) else engines())

        monkeypatch.setattr(fleet_host.RunCache, "engines", fetch)
        made = host(tmp_path, 1, ansible_limit=limit, **{"engine_list": LIST, **variables})
        made.reserve()
        return made.unknown_engines()

    return report


def test_engines_that_no_host_wants_are_reported_once(unknown):
    assert unknown() == ["edge-2 (192.0.2.2)", "edge-3 (192.0.2.3)", "edge-4 (192.0.2.4)"]
    assert unknown() == []


@pytest.mark.parametrize(
    "case",
    [{"engine_list": None}, {"limit": "edge-1"}, {"hosts": "edge-1"}, {"engines": failed_fetch}],
    ids=["no list", "limit", "slb_hosts", "failed fetch"],
)
def test_engines_are_unknown_only_to_a_whole_run(unknown, case):
    assert unknown(**case) == []


def test_engine_with_a_name_or_address_of_the_run_is_known(unknown):
    moved = [dict(ENGINES[3], address="192.0.2.77"), dict(ENGINES[3], name="west-1")]
    assert unknown(moved) == []
