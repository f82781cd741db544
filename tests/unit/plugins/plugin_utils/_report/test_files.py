"""Files of a report: whole, private, and a list of hosts to retry."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import PLAN_FORMAT, Plan, Run
from ansible_collections.slb.fleet.plugins.plugin_utils._report.files import (
    AT_THE_END,
    folder_for,
    plan,
    retry,
    write_all,
)
from ansible_collections.slb.fleet.tests.unit.plugins.plugin_utils._report.told_runs import healthy, troubled


def test_retry_has_failed_unreachable_and_not_started_hosts():
    assert retry(troubled()).splitlines() == ["edge-2", "edge-3", "edge-4", "edge-5"]


@pytest.mark.parametrize(
    ("run", "work", "is_approvable"),
    [
        ({}, "install: edge-1", True),
        ({"check": False}, "install: edge-1", False),
        ({"playbook": "slb.fleet.audit"}, "install: edge-1", False),
        ({"status": "interrupted"}, "install: edge-1", False),
        ({}, "blocked: login_rejected", False),
    ],
)
def test_whole_check_of_a_rollout_is_a_plan_to_approve(run, work, is_approvable):
    of = {"playbook": "slb.fleet.rollout", "check": True, "status": "finished", "began": "2026-11-20T12:00:00Z", **run}
    document = replace(healthy(1), run=Run(**of), plan=Plan.of({"edge-1": work}))
    assert document.is_approvable is is_approvable
    written = json.loads(plan(document))
    assert (written["format"], written["began"]) == (PLAN_FORMAT, of["began"])
    assert {"hosts": written["hosts"], "digest": written["digest"]} == vars(document.plan)


def test_files_are_replaced_as_a_whole(tmp_path):
    folder = tmp_path / "reports"
    write_all(folder, healthy(2), AT_THE_END)
    before = {path.name: path.stat().st_ino for path in folder.iterdir()}
    (tmp_path / "victim").write_text("mine")
    (folder / "retry").unlink()
    (folder / "retry").symlink_to(tmp_path / "victim")
    with (folder / "report.json").open() as opened:
        write_all(folder, troubled(), AT_THE_END)
        old = json.load(opened)
    assert set(before) == {"report.json", "report.html", "slb_fleet.prom", "retry"}
    assert old["counts"]["hosts"] == 2
    assert json.loads((folder / "report.json").read_text())["counts"]["hosts"] == 5
    assert {path.name for path in folder.iterdir()} == set(before)
    assert ((tmp_path / "victim").read_text(), (folder / "retry").is_symlink()) == ("mine", False)


def test_report_folder_is_private_with_any_umask(tmp_path):
    folder = tmp_path / "of" / "the" / "night"
    before = os.umask(0)
    try:
        write_all(folder, healthy(1), AT_THE_END)
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "of").rglob("*")}
    assert {modes.pop("the"), modes.pop("night"), (tmp_path / "of").stat().st_mode & 0o777} == {0o750}
    assert modes.pop("slb_fleet.prom") == 0o644
    assert set(modes.values()) == {0o640}


def test_report_folder_that_all_may_write_is_rejected(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o1777)
    with pytest.raises(PermissionError):
        write_all(tmp_path / "open", healthy(1), AT_THE_END)
    assert list((tmp_path / "open").iterdir()) == []


@pytest.mark.parametrize(
    ("playbooks", "folders"),
    [
        ("rollout audit audit", ["r", "r/audit", "r/audit-2"]),
        ("diagnose rollout diagnose rollout", ["r", "r", "r/diagnose", "r/rollout"]),
        ("audit diagnose rollout", ["r", "r/diagnose", "r"]),
        ("rollout rollout rollout", ["r", "r/rollout", "r/rollout-2"]),
    ],
)
def test_files_of_changes_are_kept_in_one_command(playbooks, folders):
    written: dict[Path, bool] = {}
    runs = [Run(f"slb.fleet.{name}", check=False) for name in playbooks.split()]
    assert [str(folder_for(run, Path("r"), written)) for run in runs] == folders
