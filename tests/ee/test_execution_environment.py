"""Each job template, with what its survey sends, on real hosts, in an execution environment of ansible-builder's."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from jobs import Jobs
from launches import ANSWERED, APPROVED, APPROVED_PLAN, SURVEYS, sent
from runs import run, wait_until
from slb_lab.lab import Lab
from slb_lab.topology import Topology

ROOT = Path(__file__).resolve().parents[2]
IMAGE = "slb-lab-ee:test"
# What pip installs; what Debian installs lies elsewhere.
PACKAGES = "/usr/local/lib/python3.11/dist-packages"
TOPOLOGY = {
    "management_node": {"deploy_seconds": 2},
    "hosts": {"h1": {"nics": {"ens9": {"kind": "no_address"}}}, "h2": {}, "h3": {}, "h4": {}},
}
HOSTS = list(TOPOLOGY["hosts"])


@pytest.fixture(scope="module")
def lab():
    with Lab.new("ee", Topology.model_validate(TOPOLOGY)) as lab:
        yield lab


@pytest.fixture(scope="module")
def jobs(lab, tmp_path_factory):
    run([ROOT / "tests" / "tools" / "execution-environment", IMAGE], 900).assert_ok()
    return Jobs(tmp_path_factory.mktemp("jobs"), lab, IMAGE)


def engines(lab):
    return {each["name"] for each in lab.management_node.state()["engines"]}


def well(jobs, ended):
    assert ended.status == 0, ended.output[-6000:]
    assert "is not known to slb.fleet" not in ended.output
    assert jobs.lab.management_node.password not in ended.output
    return ended


def answers(template, is_answered, **more):
    given = {**ANSWERED[template], "slb_hosts": "h1", **more}
    needed = {question["variable"] for question in SURVEYS[template] if question["required"]}
    return sent(template, {name: value for name, value in given.items() if is_answered or name in needed})


def test_what_pip_has_installed_has_checksums(jobs):
    pins = (ROOT / "requirements" / "ee.txt").read_text().lower()
    listed = subprocess.run(
        ["docker", "run", "--rm", IMAGE, "pip3", "list", "--format", "freeze", "--path", PACKAGES],
        capture_output=True, text=True, check=True,
    ).stdout.lower().split()  # fmt: skip
    assert listed
    assert [each for each in listed if f"{each} " not in pins] == []


# In the order of a team's first day: what one test leaves is what the next finds.


def test_the_workflow_does_what_its_audit_has_shown(lab, jobs):
    (audit,) = jobs.launch("audit", answers("audit", False), ["h4"])
    assert audit.status != 0, "there is work"
    assert audit.summary["plan"] in audit.output
    # Another user's host, between audit and approval.
    (other,) = jobs.launch(APPROVED, {**audit.artifacts, "slb_approved_plan": APPROVED_PLAN}, ["h3", "h4"])
    assert other.status != 0
    assert "not_in_approved_plan" in other.output
    assert engines(lab) == set()
    (rollout,) = jobs.launch(APPROVED, {**audit.artifacts, "slb_approved_plan": APPROVED_PLAN}, ["h4"])
    assert well(jobs, rollout).summary["counts"]["healthy"] == 1
    assert engines(lab) == {"h4"}
    (again,) = jobs.launch("audit", {**answers("audit", False), **rollout.artifacts}, ["h4"])
    assert "changed=0" in well(jobs, again).output


def test_a_job_after_a_canceled_one_waits_for_its_deployment(lab, jobs):
    installed = lab.management_node.state()["counters"]["install"]
    lab.management_node.set_faults({"slow_start_seconds": 40})
    with ThreadPoolExecutor(1) as background:
        launched = background.submit(jobs.launch, "rollout", answers("rollout", False), ["h3"])
        wait_until(lambda: engines(lab) == {"h3", "h4"}, "h3 is being deployed", 300)
        jobs.cancel(jobs.last)
        (canceled,) = launched.result()
    assert (canceled.artifacts, canceled.status != 0) == ({}, True)
    (following,) = jobs.launch("rollout", answers("rollout", False), ["h3"])
    assert well(jobs, following).summary["counts"]["healthy"] == 1
    assert "RETRYING: [h3]: Verify the engine" in following.output
    assert "1 engine recorded" in following.output
    assert lab.management_node.state()["counters"]["install"] == installed + 1
    lab.management_node.set_faults({})


def test_a_canary_and_then_the_slices(lab, jobs):
    (canary,) = jobs.launch("rollout canary", answers("rollout canary", True), HOSTS)
    assert well(jobs, canary).summary["counts"]["healthy"] == 1
    assert engines(lab) == {"h1", "h3", "h4"}
    slices = jobs.launch("rollout sliced", answers("rollout sliced", False), HOSTS, slices=2)
    assert [well(jobs, each).summary["counts"]["healthy"] for each in slices] == [2, 2]
    assert engines(lab) == set(HOSTS)
    reports = [str(jobs.reports / str(each.number)) for each in slices]
    merge = ["ansible-playbook", "slb.fleet.merge_reports", "-e", json.dumps({"slb_reports": reports})]
    run([*merge, "-e", f"slb_merged_dir={jobs.reports / 'whole'}"]).assert_ok()
    whole = json.loads((jobs.reports / "whole" / "report.json").read_text())
    assert {host["name"] for host in whole["hosts"] if host["status"] == "healthy"} == set(HOSTS)


@pytest.mark.parametrize("is_answered", [True, False], ids=["answered", "open"])
@pytest.mark.parametrize("template", [each for each in SURVEYS if each != "download_license"])
def test_each_template_with_what_its_survey_sends(lab, jobs, template, is_answered):
    # In the lab, this is an interface of h1.
    more = {"slb_interfaces": "ens9*"} if template == "adopt_interfaces" else {}
    is_sliced = template == "rollout sliced" and not is_answered
    if template in ("remediate", "retire") and "h1" in engines(lab):
        lab.management_node.forget("h1")  # as a person removes the engine in the web console
    for ended in jobs.launch(template, answers(template, is_answered, **more), HOSTS, slices=2 if is_sliced else 1):
        well(jobs, ended)
    assert engines(lab) | {"h1"} == set(HOSTS)


def test_license_in_the_container_of_a_job_has_a_warning(lab, jobs):
    (lost,) = jobs.launch("rollout", {"slb_license_dest": "/tmp/license"}, ["h1"])
    assert "License /tmp/license temporary" in " ".join(lost.output.split())


@pytest.mark.parametrize("backup", ["", "false", "true"])
def test_a_license_is_kept_on_a_host(lab, jobs, backup):
    of_template = {"slb_license_dest": "/root/license", "slb_license_host": "h1"}
    answered = sent("download_license", {"slb_license_backup": backup} if backup else {})
    (kept,) = jobs.launch("download_license", {**of_template, **answered}, HOSTS)
    well(jobs, kept)
    assert lab.hosts["h1"].exec(["stat", "-c", "%a %U", "/root/license"]).stdout.split() == ["600", "root"]
    assert kept.output.count("changed=1") == (0 if backup else 1), "the same license is left"
