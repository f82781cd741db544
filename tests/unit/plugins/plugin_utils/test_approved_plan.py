"""A host is changed only as the approved plan states. Everything that is not a plan approves nothing."""

import json
import os
from dataclasses import fields

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import Engine as InstallRequest
from ansible_collections.slb.fleet.plugins.plugin_utils._approved_plan import find_difference, work_of
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import digest_of
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import SPECS
from ansible_collections.slb.fleet.tests.unit.errors import code_of, error_of
from ansible_collections.slb.fleet.tests.unit.plugins.plugin_utils.test_fleet_host import CONTAINER, facts, host

DEEP: list = []
for _level in range(5000):
    DEEP = [DEEP]
ABSENT = facts(1, engine_container={**CONTAINER, "state": "absent", "id": None})


def planned(folder, **variables):
    """Return the plan of a host without an engine, the host, and the work that an approval is about."""
    made = host(folder, 1, **variables)
    plan = made.plan(ABSENT)
    assert plan.action == "install"
    return plan, made, work_of(plan, made, ABSENT)


def checked(folder, approved, **variables):
    _plan, made, work = planned(folder, approved_plan=approved, **variables)
    made.reservations.note("work", f"edge-1\t{work}")
    return made.plan_again(difference=find_difference(made, work)).code


def plan_of(hosts):
    return {"hosts": hosts, "digest": digest_of(hosts)}


@pytest.mark.parametrize("is_file", [True, False])
def test_approved_work_is_done_and_other_work_is_not(tmp_path, is_file):
    def approve(hosts):
        file = tmp_path / "plan.json"
        file.write_text(json.dumps({"format": "slb.fleet.plan", "version": 1, **plan_of(hosts)}))
        return str(file) if is_file else plan_of(hosts)

    work = planned(tmp_path)[2]
    assert checked(tmp_path, approve({"edge-1": work})) == "not_installed"
    # A host of the plan that cannot be reached has no line in this run.
    for hosts in ({"edge-1": f"{work} motd"}, {"edge-2": work}, {"edge-1": work, "edge-2": "healthy: edge-2"}, {}):
        assert checked(tmp_path, approve(hosts)) == "not_in_approved_plan"


E2 = "edge-2 192.0.2.2 https://console.example credential 1"
BEGUN = [
    ("install", "record"),
    ("replace", "wait"),
    ("replace", "restore"),
    ("restore", "none"),
    ("start", "wait"),
    ("wait", "record"),
]


@pytest.mark.parametrize(
    ("then", "now", "is_allowed"),
    [
        ("healthy: edge-2", "healthy: edge-2", True),
        ("blocked: engine_stopped", "blocked: engine_stopped", True),
        ("install: edge-2", "healthy: edge-2", True),  # done since
        ("healthy: edge-2", "blocked: engine_stopped", False),
        ("healthy: edge-2", "install: edge-2", False),
        ("blocked: engine_stopped", "healthy: edge-2", False),
        *((f"{action}: {E2}", f"{now}: {E2}", True) for action, now in BEGUN),
        (f"install: {E2}", f"wait: {E2.replace(' credential', ' ' + 64 * 'a' + ' credential')}", True),
        (f"install: {E2}", f"wait: {E2} remove_leftovers", False),
        (f"wait: {E2}", f"install: {E2}", False),
        (f"healthy: {E2}", f"wait: {E2}", False),
    ],
)
def test_each_host_of_the_approved_plan_counts(tmp_path, then, now, is_allowed):
    _plan, made, work = planned(tmp_path)
    made.reservations.note("work", f"edge-2\t{now}")
    code = checked(tmp_path, plan_of({"edge-1": work, "edge-2": then}))
    assert code == ("not_installed" if is_allowed else "not_in_approved_plan")


def test_digest_is_of_the_work_of_all_hosts(tmp_path):
    _plan, made, work = planned(tmp_path)
    approved = digest_of({"edge-1": work, "edge-2": "other"})
    made.reservations.note("work", f"edge-1\t{work}")
    assert checked(tmp_path, approved) == "not_in_approved_plan"
    made.reservations.note("work", "edge-2\tother")
    assert checked(tmp_path, approved) == "not_installed"
    assert checked(tmp_path, approved, user_credential_id=2) == "not_in_approved_plan"


@pytest.mark.parametrize("approved", ["", " "])
def test_run_without_approved_plan_is_not_limited(tmp_path, approved):
    assert checked(tmp_path, approved) == "not_installed"


def test_host_without_work_needs_no_approval(tmp_path):
    plan, made, _work = planned(tmp_path, approved_plan=plan_of({}))
    assert made.plan_again(difference=find_difference(made, "")) == plan


NO_PLAN, AUDIT = "it contains no plan", {"playbook": "slb.fleet.audit", "began": "2026-11-20T17:55:00Z"}
PLAN = {"format": "slb.fleet.plan", "version": 1, **plan_of({})}


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        ("{", "it is not JSON"),
        (b"\xff", "it is not JSON"),
        pytest.param("[" * 100_000, "it is not JSON", id="deep"),
        ("[]", NO_PLAN),
        ("7", NO_PLAN),
        (json.dumps(plan_of({})), NO_PLAN),
        (json.dumps({"format": "slb.fleet.report"}), NO_PLAN),
        (
            json.dumps({"format": "slb.fleet.report", "run": AUDIT, "plan": plan_of({})}),
            "it is the report of slb.fleet.audit of 2026-11-20T17:55:00Z",
        ),
        (json.dumps({**PLAN, "version": 2}), NO_PLAN),
        (json.dumps({**PLAN, "hosts": {"edge-1": "more"}}), "its digest does not match"),
        (json.dumps({**PLAN, "hosts": []}), "plan.hosts missing, or of a wrong type or size"),
        ("missing", "not found"),
        ("~no-such-user/x", "Could not determine home directory"),
        ("pipe", "it is not a regular file"),
        ("large", "it is not a regular file"),
        ("", "it is not a regular file"),
    ],
)
def test_invalid_approved_plan_is_named_by_what_it_is(tmp_path, content, cause):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", 2**26 + 1)
    path = tmp_path / content if content in ("missing", "pipe", "large", "") else tmp_path / "file"
    if path.name == "file":
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    error = error_of(checked, tmp_path, content if content[:1] == "~" else str(path))
    assert (error.code, cause in error.summary) == ("approved_plan_invalid", True)


OTHER = {"int": 2, "bool": True, "str": "west-1"}
OF_REQUEST = [each.name for each in fields(InstallRequest) if each.name in SPECS and each.name != "manage_ip"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, OTHER[SPECS[name]["type"]]) for name in OF_REQUEST),
        ("engine_name", "west-1"), ("motd", "keep"), ("motd_max_bytes", 7), ("base_url", "https://other.example"),
        ("adopt_interfaces", True), ("remove_leftovers", True), ("allow_established", True),
        ("ignored_starters", ["/opt/a"]),
    ]
)  # fmt: skip
def test_each_option_that_changes_work_needs_approval(tmp_path, name, value):
    assert checked(tmp_path, plan_of({"edge-1": planned(tmp_path)[2]}), **{name: value}) == "not_in_approved_plan"
    assert planned(tmp_path, **{name: value})[2] != planned(tmp_path)[2]


def test_order_of_interfaces_is_no_change(tmp_path):
    works = {planned(tmp_path, adopt_interfaces=True, interfaces=names)[2] for names in (["a", "b"], ["b", "a"])}
    assert len(works) == 1
    assert planned(tmp_path, interfaces=["a"])[2] == planned(tmp_path)[2]


def test_work_has_the_options_that_are_not_the_default(tmp_path):
    words = ["remove_leftovers", "motd_max_bytes 7"]
    for values in ({}, {"remove_leftovers": True, "motd_max_bytes": 7}):
        work = planned(tmp_path, **values)[2]
        assert [word in work for word in words] == [bool(values)] * 2


def test_line_of_a_host_that_is_not_changed_has_the_code(tmp_path):
    made = host(tmp_path, 1)
    failed = made.plan(facts(1, root=False))
    assert (failed.action, work_of(failed, made, ABSENT)) == ("fail", f"blocked: {failed.code}")


NO_DIGEST, NO_HOSTS = {"hosts": {"edge-1": "x"}}, {"hosts": [], "digest": ""}
NO_PLANS = [None, {}, [], 0, False, NO_DIGEST, NO_HOSTS, {"digest": "x"}, "no.json", "deep", "sha256:0000"]


@pytest.mark.parametrize("approved", [*NO_PLANS, f"sha256:{'A' * 64}"])
def test_approved_plan_that_is_no_plan_approves_nothing(tmp_path, approved):
    assert code_of(checked, tmp_path, DEEP if approved == "deep" else approved) == "approved_plan_invalid"
