"""What notifications say, rendered as AWX renders it: its sandbox, and the fields that it shows of a job."""

from __future__ import annotations

import itertools
import json
from datetime import datetime, timezone
from typing import Any

import pytest
from jinja2 import ChainableUndefined, StrictUndefined, TemplateSyntaxError, Undefined, UndefinedError, sandbox
from jinja2.exceptions import SecurityError

from ansible_collections.slb.fleet.plugins.plugin_utils._awx import messages

CAUGHT = (TemplateSyntaxError, UndefinedError, SecurityError)
"""Of these AWX makes a text. Every other one ends its task manager's round, and with it all workflows."""
OF_A_JOB = (messages.MAIL_SUBJECT, messages.MAIL_BODY, messages.WEBHOOK_BODY)
OF_AN_APPROVAL = (messages.APPROVAL_SUBJECT, messages.APPROVAL_MAIL, messages.APPROVAL_BODY)
HOSTILE = "ed\"ge'{{ 7*7 }}{% x %}\\</script>\r\nBcc: x@example.com\u202e已存在"
GROUP = {
    "code": "unrecorded",
    "status": "failed",
    "count": 12,
    "hosts": ["edge-1", HOSTILE],
    "summary": HOSTILE,
    "fix": "Set it.",
}
TOLD = {"counts": {"healthy": 3, "failed": 12, "unreachable": 0}, "groups": [GROUP], "groups_left_out": 2}
ODD: list[Any] = [None, 7, 1.5, True, "", "text", HOSTILE, [], [None, 7, [], {}], {}, {"a": 1}, {1: []}]
"""What no run of ours publishes, and somebody else's may."""


def paragraphs(hosts: int) -> dict[str, Any]:
    """What AWX writes of each host into ``job_metadata``."""
    return {
        f"edge-{number}": dict.fromkeys(("ok", "changed", "dark", "failures", "skipped"), 0) for number in range(hosts)
    }


def context(hosts: int = 3, without: tuple[str, ...] = (), **fields: Any) -> dict[str, Any]:
    job = {
        "id": 7,
        "type": "job",
        "name": "slb.fleet audit",
        "status": "failed",
        "created": datetime.now(timezone.utc),
        "started": "2027-01-01T03:00:00Z",
        "finished": None,
        "job_explanation": "",
        "artifacts": {"slb_fleet_7": TOLD},
        **fields,
    }
    return {
        "job": {name: value for name, value in job.items() if name not in without},
        "job_friendly_name": "Job",
        "url": "https://awx.example/#/jobs/playbook/7",
        "job_metadata": json.dumps({"id": 7, "name": job["name"], "hosts": paragraphs(hosts)}, indent=4),
    }


def rendered(template: str, known: dict[str, Any], undefined: type[Undefined] = Undefined) -> str:
    return sandbox.ImmutableSandboxedEnvironment(undefined=undefined).from_string(template).render(**known)


@pytest.mark.parametrize("status", ["running", "successful", "failed", "error", "canceled"])
@pytest.mark.parametrize("without", [(), ("artifacts",), ("artifacts", "job_explanation", "started", "finished")])
@pytest.mark.parametrize("explanation", ["", None, HOSTILE, "x" * 1_000_000])
def test_of_every_job_there_is_a_message(status: str, without: tuple[str, ...], explanation: str | None) -> None:
    known = context(status=status, without=without, job_explanation=explanation)
    subject, body, posted = (rendered(template, known) for template in OF_A_JOB)
    assert subject == f"Job #7 slb.fleet audit: {status}"
    assert body.startswith(f"{subject}\n{known['url']}")
    assert json.loads(posted)["job"]["status"] == status
    assert len(body) < 3000
    assert len(posted) < 5000


def test_hosts_and_reasons_are_named() -> None:
    body, posted = (rendered(template, context()) for template in OF_A_JOB[1:])
    assert "3 healthy\n12 failed\n" in body
    assert f"12 failed (unrecorded): {HOSTILE} Set it.\n  edge-1, {HOSTILE}, ...\n" in body
    assert "And 2 more reasons." in body
    assert "unreachable" not in body
    assert json.loads(posted)["outcome"]["slb_fleet_7"] == TOLD


def test_the_size_of_the_fleet_is_not_the_size_of_the_message() -> None:
    for template in OF_A_JOB:
        assert rendered(template, context(hosts=5000)) == rendered(template, context(hosts=1))


def odd_artifacts() -> list[Any]:
    in_group = [{**GROUP, name: odd} for name, odd in itertools.product(GROUP, ODD)]
    in_told = [{**TOLD, name: odd} for name, odd in itertools.product(TOLD, ODD)]
    of_us = [*in_told, *({**TOLD, "groups": [group]} for group in (*in_group, *ODD)), *ODD]
    return [*ODD, "$hidden due to Ansible no_log flag$", *({"slb_fleet_7": told} for told in of_us)]


@pytest.mark.parametrize("undefined", [Undefined, ChainableUndefined, StrictUndefined])
def test_nothing_that_is_published_stalls_awx(undefined: type[Undefined]) -> None:
    for artifacts in odd_artifacts():
        for template in OF_A_JOB:
            try:
                text = rendered(template, context(artifacts=artifacts), undefined)
            except CAUGHT:
                continue
            if template == messages.WEBHOOK_BODY:
                json.loads(text)


def test_awx_takes_them_when_they_are_made() -> None:
    """It renders each with a job of its own making, and refuses what is undefined, or is no mapping where it posts."""
    for template in OF_A_JOB:
        rendered(template, context(artifacts={}, finished=False), StrictUndefined)
    approval = {"approval_status": "requested", "approval_node_name": "n", "workflow_url": "u", "job_metadata": "{}"}
    for template in OF_AN_APPROVAL:
        rendered(template, approval, StrictUndefined)
    assert isinstance(json.loads(rendered(messages.APPROVAL_BODY, approval)), dict)
    assert not any("\n" in template for template in (messages.MAIL_SUBJECT, messages.APPROVAL_SUBJECT))
