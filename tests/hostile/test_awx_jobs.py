"""Summaries of jobs of AWX, by its API, become one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hostile_server import answer

from ansible_collections.slb.fleet.plugins.plugin_utils._report.files import as_text
from ansible_collections.slb.fleet.tests.unit.report.told_runs import PROVEN, Happenings

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostile_server import Exchange
    from runs import Run

    from playbooks import Controller

TOKEN = "t0ken-of-the-bench"
OF_A_JOB = "/api/v2/workflow_jobs/{}/workflow_nodes/?page_size=200&page="


def job(
    number: int, failed: list[str], status: str = "failed", is_named: bool = True, says: int | None = None
) -> Callable[[Exchange], None]:
    counts = {
        "hosts": 10, "changed": 0, "proven": 10 - len(failed), "done": 0, "planned": 0, "needs_you": 0,
        "failed": len(failed), "unreachable": 0, "unfinished": 0, "not_attempted": 0,
    }  # fmt: skip
    group = {"code": "unrecorded", "verdict": "failed", "count": len(failed), "hosts": failed, "sentence": "Live."}
    summary = {
        "format": "slb.fleet.report", "version": 1, "playbook": "slb.fleet.rollout", "check": False,
        "began": "2026-11-20T12:00:00Z", "updated": "2026-11-20T12:10:00Z", "awx_job_id": says or number,
        "counts": counts,
        "groups": [group], "again": ",".join(failed) if is_named else None,
    }  # fmt: skip
    return for_the_token(json.dumps({"id": number, "status": status, "artifacts": {f"slb_fleet_{number}": summary}}))


def for_the_token(text: str) -> Callable[[Exchange], None]:
    def behave(exchange: Exchange) -> None:
        known = exchange.request.headers.get("authorization") == f"Bearer {TOKEN}"
        (answer(200, text) if known else answer(401, "{}"))(exchange)

    return behave


def merged(
    start: Callable[..., Any], controller: Controller, jobs: list[int], token: str = TOKEN, into: str = "whole"
) -> Run:
    first = {"results": [{"summary_fields": {"job": {"id": 8}}}], "next": "/api/v2/the/next/page/"}
    last = {"results": [{"summary_fields": {"job": {"id": 9}}}], "next": None}
    ended_early = {"results": [*first["results"], {"summary_fields": {}}]}
    awx = start(
        {
            "/api/v2/jobs/8/": [job(8, ["edge-1"])],
            "/api/v2/jobs/9/": [job(9, ["edge-4", "edge-5"])],
            "/api/v2/jobs/10/": [for_the_token('{"id": 10, "artifacts": {}}')],
            "/api/v2/jobs/12/": [job(12, ["edge-7"], status="running")],
            "/api/v2/jobs/13/": [job(13, ["edge-8"], is_named=False)],
            "/api/v2/jobs/14/": [job(14, ["edge-1"])],
            "/api/v2/jobs/15/": [job(15, ["edge-9"], says=8)],
            f"{OF_A_JOB.format(7)}1": [for_the_token(json.dumps(first))],
            f"{OF_A_JOB.format(7)}2": [for_the_token(json.dumps(last))],
            f"{OF_A_JOB.format(6)}1": [for_the_token(json.dumps(ended_early))],
        }
    )
    plays = [{"ansible.builtin.import_playbook": "slb.fleet.merge_reports"}]
    settings = ["-e", json.dumps({"slb_awx_jobs": jobs, "slb_merged_dir": str(controller.folder / into)})]
    of_awx = {"CONTROLLER_HOST": awx.base_url, "CONTROLLER_OAUTH_TOKEN": token, "CONTROLLER_VERIFY_SSL": "false"}
    return controller.run(plays, {"all": {"hosts": {"localhost": {}}}}, *settings, **of_awx)


def test_a_sliced_job_stands_for_its_slices(start: Callable[..., Any], controller: Controller) -> None:
    run = merged(start, controller, [7])
    run.assert_ok()
    whole = json.loads((controller.folder / "whole" / "summary.json").read_text())
    assert (whole["jobs"], whole["counts"]["hosts"], whole["counts"]["failed"]) == ([8, 9], 20, 3)
    assert (controller.folder / "whole" / "retry").read_text() == "edge-1\nedge-4\nedge-5\n"
    assert TOKEN not in run.output


@pytest.mark.parametrize(
    ("jobs", "words"),
    [
        ([6], "A slice of the job 6 of"),
        ([8, 12], "has not ended: its status is running"),
        ([8, 14], "The host edge-1 is in the jobs 8 and 14"),
        ([8, 15], "What job 15 of"),
    ],
)
def test_what_would_be_missing_or_counted_twice_is_said(
    start: Callable[..., Any], controller: Controller, jobs: list[int], words: str
) -> None:
    run = merged(start, controller, jobs)
    assert words in " ".join(run.output.split())
    assert (run.status != 0, (controller.folder / "whole").exists()) == (True, False)


def test_a_list_that_cannot_be_made_leaves_none_of_another_report(
    start: Callable[..., Any], controller: Controller
) -> None:
    merged(start, controller, [8, 8]).assert_ok()
    assert (controller.folder / "whole" / "retry").read_text() == "edge-1\n", "a number that is given twice is one"
    run = merged(start, controller, [13])
    run.assert_ok()
    assert not (controller.folder / "whole" / "retry").exists()
    assert "There is no file retry" in " ".join(run.output.split())


def test_a_folder_that_is_empty_is_none(start: Callable[..., Any], controller: Controller) -> None:
    plays = [{"ansible.builtin.import_playbook": "slb.fleet.merge_reports"}]
    settings = json.dumps({"slb_reports": ["."], "slb_merged_dir": ""})
    run = controller.run(plays, {"all": {"hosts": {"localhost": {}}}}, "-e", settings)
    assert (run.status != 0, "slb_merged_dir" in run.output) == (True, True)
    assert not (controller.folder / "retry").exists()


def test_nobody_else_may_write_in_the_folders_that_it_makes(start: Callable[..., Any], controller: Controller) -> None:
    before = os.umask(0)
    try:
        merged(start, controller, [8], into="by/month/whole").assert_ok()
    finally:
        os.umask(before)
    folders = ("by", "by/month", "by/month/whole")
    assert [(controller.folder / name).stat().st_mode & 0o777 for name in folders] == [0o750] * 3


def test_what_is_no_job_or_has_no_report_is_said(start: Callable[..., Any], controller: Controller) -> None:
    assert "has no job 11" in merged(start, controller, [11]).output
    assert "Job 10 of" in merged(start, controller, [8, 10]).output
    refused = merged(start, controller, [8], token="another")
    assert "answers HTTP 401" in refused.output
    assert not (controller.folder / "whole").exists()


def test_the_examples_of_the_module_run(start: Callable[..., Any], controller: Controller) -> None:
    awx = start({"/api/v2/jobs/4711/": [job(4711, ["edge-1"])]})
    for slice_ in ("slice-1", "slice-2"):
        told = Happenings()
        told.play("Look at all engine hosts, changing nothing", slice_)
        told.look(slice_, PROVEN)
        folder = controller.folder / "reports" / slice_
        folder.mkdir(parents=True)
        (folder / "report.json").write_text(as_text(told.ended()))
    source = Path(__file__).resolve().parents[2] / "plugins" / "modules" / "merge_reports.py"
    examples = source.read_text().partition('EXAMPLES = r"""')[2].partition('"""')[0]
    tasks = examples.replace("https://awx.example", awx.base_url).replace("reports/", f"{controller.folder}/reports/")
    plays = [{"hosts": "localhost", "gather_facts": False, "tasks": yaml.safe_load(tasks)}]
    of_awx = {"CONTROLLER_VERIFY_SSL": "false"}
    run = controller.run(plays, {"all": {"hosts": {"localhost": {}}}}, "-e", f"vault_awx_token={TOKEN}", **of_awx)
    run.assert_ok()
    assert TOKEN not in run.output
