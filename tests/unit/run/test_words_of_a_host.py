"""What a module on a host says names its options; where a role of the collection asked, it names the variables."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.action import engine_container as container_action
from ansible_collections.slb.fleet.plugins.action import interface
from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._host import engine_container, sockets
from ansible_collections.slb.fleet.plugins.plugin_utils._on_host import OnHostAction

ROOT = Path(__file__).resolve().parents[3]
ROLE = ROOT / "roles" / "host_preparation" / "tasks" / "leftover.yml"
_DOCUMENTS = ("DOCUMENTATION", "EXAMPLES", "RETURN")
# Results, files, hosts and calls that have such a name; no variables.
_NO_VARIABLES = {"slb_host", "slb_plan", "slb_fleet", "slb_fleet_answer", "slb_engine"}


def texts_of(path: Path) -> set[str]:
    """Without the documentation, whose examples set variables."""
    tree = ast.parse(path.read_text())
    documented = {
        id(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in _DOCUMENTS
    }
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented
    }


def test_module_code_names_no_variable_of_the_roles() -> None:
    utils = [*(ROOT / "plugins" / "module_utils").glob("_*/*.py"), *(ROOT / "plugins" / "module_utils").glob("*.py")]
    files = [*(ROOT / "plugins" / "modules").glob("*.py"), *utils]
    named = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in files
        for text in texts_of(path)
        for name in re.findall(r"(?<![\w/.])slb_[a-z_]+", text)
        if name not in _NO_VARIABLES
    }
    assert not named


class Answering(OnHostAction):
    """Its host refuses to stop what carries connections, and prints a mark that is none."""

    _connection = SimpleNamespace(_load_name="ssh")

    def __init__(self, path: Path | str) -> None:
        self._discovered_interpreter_key = None
        self._task = SimpleNamespace(delegate_to=None, get_path=lambda: f"{path}:2")
        self._templar = None

    def _execute_module(self, **given: Any) -> dict[str, Any]:
        said = HostError("O(evil) carries connections.", "Allow it: O(allow_established): true, or O(remove) it.")
        return {"failed": True, **said.as_result(known=())}


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/home/me/play.yml", "Allow it: allow_established: true, or 'remove' it."),
        (ROLE, "Allow it: slb_allow_established: true, or slb_remove_leftovers it."),
    ],
)
def test_it_is_said_in_the_words_of_whoever_asked(path: Path | str, words: str) -> None:
    answer = Answering(path).on_host("slb.fleet.engine_container", {}, 60, {})
    assert answer["msg"] == f"O(evil) carries connections. {words}"


class TakingAside(container_action.ActionModule):
    """Its host took a container out of the way that the next boot starts."""

    _connection = SimpleNamespace(_load_name="ssh")

    def __init__(self, **answer: Any) -> None:
        self._discovered_interpreter_key = None
        self._task = SimpleNamespace(delegate_to=None, args={"state": "set_aside"}, get_path=lambda: f"{ROLE}:2")
        self._templar = None
        self._answer = answer

    def _execute_module(self, **given: Any) -> dict[str, Any]:
        return {"changed": True, "before": {"runtime": "podman"}, **self._answer}


def test_who_takes_away_what_the_next_boot_starts_is_warned() -> None:
    name = "slb-leftover-20261120T131400Z"
    (warning,) = TakingAside(set_aside_as=name, starts_at_boot=True).run()["warnings"]
    assert "the next boot starts it, and it may take the engine's port." in warning
    assert warning.endswith(f"run `podman rm {name}` on the host.")
    for quiet in ({"set_aside_as": name}, {"set_aside_as": "x; rm -rf /", "starts_at_boot": True}):
        assert "warnings" not in TakingAside(**quiet).run()


class Adopting(interface.ActionModule):
    """Its host leaves one interface alone, and has a note on another."""

    _connection = SimpleNamespace(_load_name="ssh")

    def __init__(self, path: Path | str) -> None:
        self._discovered_interpreter_key = None
        self._task = SimpleNamespace(delegate_to=None, get_path=lambda: f"{path}:2")
        self._templar = None

    def _execute_module(self, **given: Any) -> dict[str, Any]:
        notes = ["after a reboot, it is left alone; O(lift_unmanaged): true changes that"]
        adopted = {"name": "ens1", "mac": "52:54:00:00:00:01", "profile": "ens1", "notes": notes}
        alone = {"name": "ens2", "reason": "O(interfaces) does not name it, nor does O(nobody)"}
        plan = {"ens1": {"profile": "ens1", "notes": notes}}
        values = {"adopted": [adopted], "left_alone": [alone], "requested": [], "diff": {"before": {}, "after": plan}}
        return {"changed": True, **values}


@pytest.mark.parametrize(
    ("path", "option", "interfaces"),
    [
        ("/home/me/play.yml", "lift_unmanaged", "'interfaces'"),
        (ROOT / "roles" / "interface_adoption" / "tasks" / "main.yml", "slb_lift_unmanaged", "slb_interfaces"),
    ],
)
def test_so_are_the_reasons_and_notes_of_interfaces(path: Path | str, option: str, interfaces: str) -> None:
    result = Adopting(path)._module({}, {})
    (adopted,), (alone,) = result["adopted"], result["left_alone"]
    assert adopted["notes"] == [f"after a reboot, it is left alone; {option}: true changes that"]
    assert alone["reason"] == f"{interfaces} does not name it, nor does O(nobody)"
    assert result["diff"]["after"]["ens1"]["notes"] == adopted["notes"]


def test_a_refusal_marks_the_options_that_allow_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "served", lambda container: ["192.0.2.9"])
    with pytest.raises(HostError) as refused:
        engine_container._refuse_traffic(None, allow_established=False)
    assert "O(allow_established): true" in refused.value.remedy
