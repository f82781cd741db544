"""What the callback slb.fleet.fleet tells while a run goes on: changes and failures, each once."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from ansible.utils.display import Display

from ansible_collections.slb.fleet.plugins.callback import fleet
from ansible_collections.slb.fleet.plugins.callback.fleet import CallbackModule
from ansible_collections.slb.fleet.plugins.plugin_utils._report.events import _WITHOUT_HOSTS
from ansible_collections.slb.fleet.tests.unit.plugins.plugin_utils._report.told_runs import INSTALL, PLAN, RUNNING


def test_playbooks_that_are_about_no_host_are_known_as_such():
    """By what they say themselves: they work on the controller alone."""
    playbooks = Path(__file__).resolve().parents[4] / "playbooks"
    first = {path.stem: yaml.safe_load(path.read_text())[0] for path in playbooks.glob("*.yml")}
    assert {name for name, play in first.items() if play.get("hosts") == "localhost"} == set(_WITHOUT_HOSTS)


def failed(host: str, module: str, **result: Any) -> SimpleNamespace:
    task = SimpleNamespace(action=module, args={}, delegate_to=None, _uuid="task")
    known = SimpleNamespace(get_name=lambda: host)
    return SimpleNamespace(_host=known, _task=task, _result={"failed": True, **result})


@pytest.fixture
def live(monkeypatch):
    told: list[str] = []
    monkeypatch.setattr(Display(), "display", lambda words, **_how: told.append(words))
    callback = CallbackModule()
    callback._is_quiet = True
    return callback, told


def test_a_shared_cause_is_shown_once_and_only_news_later(live):
    callback, shown = live
    trouble, fix = "Install request rejected: port in use.", "Free the port."
    for host in ("edge-1", "edge-2"):
        answer = {"code": "port_in_use", "msg": trouble, "fix": fix}
        callback.v2_runner_on_failed(failed(host, INSTALL, **answer))
    restored = {"code": "partially_restored", "msg": "Container partially restored.", "fix": "Start it."}
    callback.v2_runner_on_failed(failed("edge-1", "slb.fleet.engine_container", **restored), ignore_errors=True)
    for host in ("edge-1", "edge-2"):
        callback.v2_runner_on_failed(failed(host, "ansible.builtin.fail", msg="Engine not deployed: port_in_use."))
    assert [line.partition("  ")[2] or line.strip() for line in shown] == [
        f"edge-1  FAILED  port_in_use: {trouble}",
        f"        Fix:   {fix}",
        "edge-1  FAILED  partially_restored: Container partially restored.",
        "        Fix:   Start it.",
    ]


@pytest.mark.parametrize("is_quiet", [True, False])
def test_progress_is_shown_unless_the_report_is_quiet(live, monkeypatch, is_quiet):
    callback, shown = live
    callback._next_progress = 0
    recorder = SimpleNamespace(is_quiet=is_quiet, progress=lambda _now: "1/2 healthy")
    monkeypatch.setattr(fleet.recording, "current", recorder)
    callback.v2_playbook_on_task_start(None, False)
    assert [line.partition("  ")[2] for line in shown] == ([] if is_quiet else ["1/2 healthy"])


@pytest.mark.parametrize("has_report", [True, False])
def test_a_failure_in_check_mode_is_shown_if_no_report_shows_it(live, has_report):
    callback, shown = live
    callback._is_plan, callback._has_report = True, has_report
    callback.v2_runner_on_failed(failed("edge-1", INSTALL, code="port_in_use", msg="Port in use.", fix=""))
    assert any("port_in_use" in line for line in shown) == (not has_report)


def test_a_blocked_host_is_shown_with_code_and_observed_state(live):
    callback, shown = live
    plan, name = {**RUNNING, "fix": "Set it.", "seen": ["running for 3 d"]}, "esc\x1bcred\nNext: rm"
    callback.v2_runner_on_failed(failed(name, PLAN, plan=plan, msg=f"{RUNNING['summary']} Set it."))
    callback.v2_runner_on_failed(failed(name, "ansible.builtin.fail", msg=f"{RUNNING['summary']} Set it."))
    assert r"esc\x1bcred Next: rm  FAILED  " in shown[0]
    assert all(line.isprintable() for line in shown)
    assert [line.split()[-1] for line in shown] == [RUNNING["summary"].split()[-1], "d", "it."]
    assert "unverified_container" in shown[0]


@pytest.mark.parametrize(("args", "is_shown"), [({}, False), ({"phase": "check"}, False), ({"phase": "deploy"}, True)])
def test_change_is_shown_except_in_the_check_of_a_fleet(live, args, is_shown):
    callback, shown = live
    result = failed("edge-1", PLAN, plan=RUNNING, has_recorded=True)
    result._task.args, result._result["failed"] = args, False
    callback.v2_runner_on_ok(result)
    assert any("recorded" in line for line in shown) is is_shown


@pytest.mark.parametrize("batch", [0, 1])
def test_failed_deployment_with_work_left_has_a_fix(live, batch):
    callback, shown = live
    callback._batch = batch
    callback.v2_runner_on_failed(failed("edge-1", PLAN, plan={**RUNNING, "action": "replace", "fix": ""}))
    assert any("Fix:" in line for line in shown) == bool(batch)
