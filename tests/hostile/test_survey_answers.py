"""Each job template with answers as AWX sends them: texts that are no templates, and what is left open."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from fleets import Fleet
from launches import ANSWERED, APPROVED, APPROVED_PLAN, SURVEYS, playbook_of, sent, with_variables
from lies import HONEST

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OF_A_CALLBACK = {"ANSIBLE_CALLBACKS_ENABLED": "slb.fleet.report,results", "ANSIBLE_SHOW_CUSTOM_STATS": "1"}


@pytest.fixture
def fleet(tmp_path: Path, start: Callable[..., Any]) -> Fleet:
    return Fleet(tmp_path, start)


def launches() -> list[Any]:
    """Of each template: nothing answered, and every choice of every question chosen once."""
    found = []
    for template, questions in SURVEYS.items():
        if template == "download_license":
            continue
        needed = {question["variable"] for question in questions if question["required"]}
        opened = {name: value for name, value in ANSWERED[template].items() if name in needed}
        found.append(pytest.param(template, opened, id=f"{template}-open"))
        choices = {question["variable"]: question["choices"] for question in questions if "choices" in question}
        for number in range(max(map(len, choices.values()), default=1)):
            chosen = {name: each[number % len(each)] for name, each in choices.items()}
            found.append(pytest.param(template, {**ANSWERED[template], **chosen}, id=f"{template}-{number}"))
    return found


@pytest.mark.parametrize(("template", "answers"), launches())
def test_a_template_runs_with_what_its_survey_sends(fleet: Fleet, template: str, answers: dict[str, Any]) -> None:
    options = with_variables(fleet.folder, sent(template, answers))
    account = fleet.run(playbook_of(template), {}, *options)
    assert account.run.status == 0, account.run.output[-3000:]
    assert set(account.run.report) == ({"edge-1"} if "slb_hosts" in answers else set(HONEST))
    assert "is not known to slb.fleet" not in account.run.output
    installs = sum("add_slb_engine" in request for request in account.requests.elements())
    assert installs == (len(account.run.report) if template.startswith("rollout") else 0)


def published(output: str) -> dict[str, Any]:
    """The artifacts of a job."""
    found = re.search(r"RUN: (\{.*\})", output)
    assert found, output[-3000:]
    return json.loads(found[1])


def approved_variables(artifacts: dict[str, Any]) -> dict[str, Any]:
    return {**artifacts, "slb_approved_plan": APPROVED_PLAN}


def test_what_the_audit_has_shown_is_what_is_done_after_the_approval(fleet: Fleet) -> None:
    audit = fleet.run("audit", {}, "-e", "awx_job_id=7", are_verified=False, **OF_A_CALLBACK)
    assert audit.run.status == 2
    artifacts = published(audit.run.output)
    assert artifacts["slb_fleet_7"]["plan"].startswith("sha256:")

    options = with_variables(fleet.folder, approved_variables(artifacts))
    rollout = fleet.run("rollout", {}, *options, "-e", "awx_job_id=8", goes_on=True, **OF_A_CALLBACK)
    assert rollout.run.status == 0, rollout.run.output[-3000:]
    assert "is not known to slb.fleet" not in rollout.run.output
    assert sum("add_slb_engine" in request for request in rollout.requests.elements()) == 2
    assert APPROVED not in SURVEYS


@pytest.mark.parametrize("trouble", ["another fleet", "no plan", "no artifact"])
def test_where_that_differs_nothing_is_done(fleet: Fleet, trouble: str) -> None:
    artifacts: dict[str, Any] = {
        "another fleet": {"slb_fleet_7": {"playbook": "slb.fleet.audit", "plan": "sha256:" + "0" * 64}},
        "no plan": {"slb_fleet_7": {"playbook": "slb.fleet.audit", "plan": None}},
        "no artifact": {"slb_fleet_7": {}},
    }[trouble]
    options = with_variables(fleet.folder, approved_variables({**artifacts, "slb_hosts": ""}))
    rollout = fleet.run("rollout", {}, *options, "-e", "awx_job_id=8")
    assert rollout.run.status == 2
    assert "not_in_approved_plan" in json.dumps(rollout.run.results)
    assert not any("add_slb_engine" in request or "license" in request for request in rollout.requests.elements())
    assert rollout.license is None
