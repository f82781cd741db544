"""What the callback slb.fleet.fleet tells while a run goes on: changes and failures, each once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from ansible.utils.display import Display

from ansible_collections.slb.fleet.plugins.callback.fleet import CallbackModule
from ansible_collections.slb.fleet.plugins.plugin_utils._report.told import _OF_NO_HOST
from ansible_collections.slb.fleet.tests.unit.report.canned import Canned
from ansible_collections.slb.fleet.tests.unit.report.told_runs import INSTALL, LIVE, LOOK


class Host(NamedTuple):
    name: str

    def get_name(self) -> str:
        return self.name


class Task(NamedTuple):
    action: str
    args: dict[str, Any] = {}
    delegate_to: str | None = None
    _uuid = "task"


class Result(NamedTuple):
    host: Host
    task: Task
    result: dict[str, Any]
    warnings: tuple[Any, ...] = ()


def test_playbooks_that_are_about_no_host_are_known_as_such() -> None:
    """By what they say themselves: they work on the controller alone."""
    playbooks = Path(__file__).resolve().parents[3] / "playbooks"
    first = {path.stem: yaml.safe_load(path.read_text())[0] for path in playbooks.glob("*.yml")}
    assert {name for name, play in first.items() if play.get("hosts") == "localhost"} == _OF_NO_HOST


def failed(host: str, module: str, **result: Any) -> Result:
    return Result(Host(host), Task(module), {"failed": True, **result})


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[CallbackModule, list[str]]]:
    told: list[str] = []
    monkeypatch.setattr(Display(), "display", lambda words, **_how: told.append(words))
    callback = CallbackModule()
    callback._is_quiet = True
    return callback, told


def test_a_failure_after_which_something_is_put_right_is_told_once(live: tuple[CallbackModule, list[str]]) -> None:
    callback, told = live
    trouble = "The management node refused the install:  a port is occupied."
    back = "The container that was taken out of the way was put back as it was."
    for host in ("edge-1", "edge-2"):
        callback.v2_runner_on_failed(failed(host, INSTALL, msg=trouble))
    callback.v2_runner_on_failed(failed("edge-1", "ansible.builtin.fail", msg=f"{trouble} {back}"))
    callback.v2_runner_on_failed(failed("edge-2", "ansible.builtin.fail", msg=f"{trouble} "))
    assert told == [
        "[edge-1]: failed: The management node refused the install: a port is occupied.",
        "[edge-2]: failed: The management node refused the install: a port is occupied.",
        f"[edge-1]: failed: {back}",
    ]


def test_a_decision_to_fail_is_told_in_its_sentence_alone(live: tuple[CallbackModule, list[str]]) -> None:
    callback, told = live
    callback.v2_runner_on_failed(failed("edge-1", LOOK, plan=LIVE, msg=f"{LIVE['summary']} Seen: much."))
    assert told == [f"[edge-1]: failed: {LIVE['summary']}"]


def test_what_is_only_decided_is_no_change_and_the_plan_names_the_hosts(tmp_path: Path) -> None:
    fleet = Canned(tmp_path, edge_1="work", edge_2="work")
    _status, quiet = fleet.run("slb.fleet.diagnose")
    told = quiet.partition("FLEET REPORT")[0].splitlines()
    assert all("]: record: " in line for line in told if "]: " in line), quiet
    action = next(iter(fleet.hosts.values()))["action"]
    assert f"{action}: edge-1, edge-2" in quiet.partition("FLEET REPORT")[2], quiet
