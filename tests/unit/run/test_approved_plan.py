"""An approved plan limits what a run may do: everything but a plan approves nothing."""

import json

import pytest

from ansible_collections.slb.fleet.plugins.module_utils.errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils.approved_plan import check_approved, read_approved_plan
from ansible_collections.slb.fleet.plugins.plugin_utils.decision import Plan
from ansible_collections.slb.fleet.plugins.plugin_utils.report.document import digest_of
from ansible_collections.slb.fleet.tests.unit.run.test_fleet_host import host

WORK = "install: edge-1 192.0.2.1 https://console.example"
PLAN = Plan("install", "not_installed", "No engine on the host.")
HOSTS = {"edge-1": WORK}
DEEP: list = []
for _level in range(5000):
    DEEP = [DEEP]


def check(folder, approved, work=WORK):
    return check_approved(PLAN, host(folder, 1, approved_plan=approved), work)


def test_approved_plan_with_the_same_work_is_the_plan(tmp_path):
    whole = {"hosts": HOSTS, "digest": digest_of(HOSTS)}
    file = tmp_path / "report.json"
    file.write_text(json.dumps({"run": {"playbook": "slb.fleet.rollout"}, "plan": whole}))
    for approved in ("", " ", whole, str(file), f" {file} "):
        assert check(tmp_path, approved) == PLAN
    assert check(tmp_path, whole, "install: another").code == "not_in_approved_plan"
    assert check(tmp_path, whole, "") == PLAN, "a host without work needs no approval"


@pytest.mark.parametrize(
    "approved",
    [None, {}, [], 0, False, {"hosts": HOSTS}, {"hosts": [], "digest": ""}, {"digest": "x"}, "nofile.json", DEEP],
    ids=["null", "empty", "list", "zero", "false", "no digest", "no hosts", "digest alone", "no file", "deep"],
)
def test_approved_plan_that_is_no_plan_approves_nothing(tmp_path, approved):
    with pytest.raises(FleetError) as caught:
        check(tmp_path, approved)
    assert caught.value.code == "approved_plan_invalid"
    assert read_approved_plan(approved) is None, "the report is written"
