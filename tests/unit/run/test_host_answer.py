"""The gate for what comes from an engine host: whatever it says, only what is declared gets in, and clean."""

from __future__ import annotations

import importlib
import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.plugin_utils._host_answer import shape_of, taken
from ansible_collections.slb.fleet.plugins.plugin_utils._on_host import OnHostAction

MODULES = ("host_info", "engine_container", "engine_record", "motd", "interface")
LOOK = {"engine_container": {"state": "running", "uptime": 5.5}, "record": {"state": "none"}, "root": True}

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def test_what_is_declared_comes_in_as_it_is() -> None:
    assert taken("host_info", {"slb_host": LOOK, "changed": False}) == {"slb_host": LOOK, "changed": False}


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
        ({"engine_container": {"why": "x" * 100_000}}, "slb_host.engine_container.why"),
        ({"engine_container": "running"}, "slb_host.engine_container is not a mapping"),
        ({"root": "yes"}, "slb_host.root is not true or false"),
        ({"ports": [{}] * 10_000}, "slb_host.ports is not a list of at most"),
        ({"ports": {"22": {}}}, "slb_host.ports is not a list"),
    ],
)
def test_what_does_not_fit_is_that_hosts_failure_in_words(lie: dict[str, Any], where: str) -> None:
    with pytest.raises(FleetError) as raised:
        taken("host_info", {"slb_host": lie})
    assert where in str(raised.value)
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize(
    "text", ["a\nok: [edge-2] => verified by console", "a\r\x1b[1A", "\u202egnp.exe", "\u2028x", "\x9b"]
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


def test_other_languages_stay_readable() -> None:
    assert visible("端口被占用 — déjà vu") == "端口被占用 — déjà vu"


@pytest.mark.parametrize("module", MODULES)
@settings(max_examples=50, deadline=None)
@given(
    answer=st.dictionaries(st.text() | st.sampled_from(["slb_host", "before", "record", "adopted", "msg"]), anything)
)
def test_whatever_a_host_says_the_gate_gives_its_shape_or_refuses(module: str, answer: dict[str, Any]) -> None:
    try:
        accepted = taken(module, answer)
    except FleetError as error:
        assert str(error).isprintable()
        return
    assert set(accepted) <= {*shape_of(module), "diff", "module_stderr", "module_stdout"}
    json.dumps(accepted, allow_nan=False)
