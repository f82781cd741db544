"""A host can lie about types and sizes: no value of it ends in an error of Python."""

import copy

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils import _facts as facts
from ansible_collections.slb.fleet.plugins.plugin_utils._decision import decide
from ansible_collections.slb.fleet.plugins.plugin_utils._facts import state_from_facts
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import Listed
from ansible_collections.slb.fleet.plugins.plugin_utils._state import Engine, Policy, SetAside
from ansible_collections.slb.fleet.tests.unit.errors import error_of

ASIDE = {"id": "c0", "name": "slb-leftover-1", "purpose": "replace", "exists": True, "stop_timeout": 10}
FACTS = {
    "root": True,
    "machine": "m1 b1 4026531840",
    "addresses": ["192.0.2.1"],
    "engine_container": {
        **{"state": "running", "id": "c1", "name": "slb", "runtime": "docker", "image": "slb:1", "uptime": 100.5},
        **{"exit_code": -1, "restart_count": 0, "auto_remove": False, "manager": None, "connections": 2},
        **{"peers": ["192.0.2.9:4"], "outbound": 1, "why": None, "fix": None, "health": "healthy", "health_output": ""},
    },
    "record": {
        **{"state": "requested", "request_id": "a1", "name": "edge-1", "manage_ip": "192.0.2.1", "age": 5.5},
        **{"wait_timeout": 180, "sent": True, "containers_before": ["c0"], "set_aside": ASIDE, "earlier": None},
        **{"last_verified": "c0", "verified_name": "old"},
    },
    "running_leftovers": [],
    "stopped_leftovers": ["slb-leftover-1"],
    "ports": [{"port": 22, "process": "sshd"}],
    "motd": {"path": "/etc/motd", "bytes": 7, "sources": [{"source": "/etc/motd", "bytes": 7}]},
}
LIES = [[], {}, [1], "x" * 9000, 7, -7, 10**400, float("inf"), float("nan"), True, "a b; c", {"a": [1]}, [[1]]]


def paths(value, path=()):
    """Return the paths of all values."""
    yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from paths(value[key], (*path, key))


@pytest.mark.parametrize("path", list(paths(FACTS))[1:], ids=lambda path: ".".join(map(str, path)))
def test_lie_about_a_fact_is_refused_or_harmless(path):
    for lie in LIES:
        told = copy.deepcopy(FACTS)
        inner = told
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = lie
        try:
            state = state_from_facts(told, Engine("edge-1", "192.0.2.1"), Listed("not_configured"))
        except FleetError as error:
            assert error.code == "host_answer_invalid"
            continue
        assert decide(state, Policy()).summary
        assert state.in_words()


@pytest.mark.parametrize(
    ("path", "lie"),
    [
        (("record",), []),
        (("engine_container", "manager"), 7),
        (("engine_container", "uptime"), float("inf")),
        (("record", "age"), 10**400),
        (("record", "verified_name"), "x slb; reboot"),
        (("engine_container", "id"), "$(reboot)"),
        (("ports",), {"port": 1}),
        (("motd", "sources"), [7]),
        (("engine_container",), None),
    ],
)
def test_lie_is_an_invalid_answer(path, lie):
    told = copy.deepcopy(FACTS)
    inner = told if len(path) == 1 else told[path[0]]
    inner[path[-1]] = lie
    error = error_of(state_from_facts, told, Engine(), Listed("not_configured"))
    assert (error.code, ".".join(path) in error.summary) == ("host_answer_invalid", True)


def test_true_facts_are_accepted():
    state = state_from_facts(FACTS, Engine(), Listed("not_configured"))
    assert (state.container.id, state.container.peers, state.container.manager) == ("c1", ("192.0.2.9:4",), "")
    assert (state.record.set_aside, state.record.earlier) == (SetAside(**ASIDE), None)
    assert (state.record.engine, state.record.verified_name) == (Engine("edge-1", "192.0.2.1"), "old")
    unknown = copy.deepcopy(FACTS)
    unknown["engine_container"]["connections"] = unknown["record"]["set_aside"]["exists"] = None
    state = state_from_facts(unknown, Engine(), Listed("not_configured"))
    assert (state.container.connections, state.record.set_aside.exists) == (None, None)


@pytest.mark.parametrize("module", facts.RETURNED)
def test_lie_about_a_result_is_refused(module):
    schema = {**facts.ALWAYS, **facts.RETURNED[module]}
    for key, kind in schema.items():
        facts.checked(kind, None, key)
        assert error_of(facts.checked, kind, 10**400, key)
