"""The wait for the end of an installation, as the engine list shows it."""

import itertools

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import Listing
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import Install
from ansible_collections.slb.fleet.plugins.modules import engine

UNAVAILABLE = FleetError("management_node_unavailable", "x", "y")
ENGINE_LIST = {"path": "/x", "name": "name", "address": "address", "state": "state", "running": ["up"]}
GIVEN = {"name": "edge-1", "manage_ip": "192.0.2.1", "wait": True, "wait_timeout": 60, "engine_list": ENGINE_LIST}


@pytest.fixture
def request_engine(monkeypatch):
    """Return the result, or the error, of a request after which the engine list shows these states in turn."""

    def request(*states, outcome="requested", before=None, **options):
        now, shown = [0.0], itertools.chain([before], states, itertools.repeat(states[-1] if states else None))

        def fetch(_client, _engine_list):
            state = next(shown)
            if isinstance(state, FleetError):
                raise state
            other = {"name": "edge-2", "address": "192.0.2.1", "state": "running"}
            return Listing([other, *([{**other, "name": "edge-1", "state": state}] if state else [])])

        monkeypatch.setattr(engine, "fetch_engines", fetch)
        monkeypatch.setattr(engine, "request_install", lambda *_arguments: Install(outcome, 200, "OK"))
        monkeypatch.setattr(engine.time, "monotonic", lambda: now[0])
        monkeypatch.setattr(engine.time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
        try:
            return engine.operation(None, {**GIVEN, **options}, False).values
        except FleetError as error:
            return {**error.values, "code": error.code, "seconds": now[0]}

    return request


@pytest.mark.parametrize("outcome", ["requested", "exists"])
def test_wait_ends_when_the_engine_runs(request_engine, outcome):
    result = request_engine(None, UNAVAILABLE, "deploying", "running", outcome=outcome)
    assert (result["outcome"], result["state"]) == (outcome, "running")


@pytest.mark.parametrize(
    ("states", "code", "seconds"),
    [
        (["deploying", "failed"], "deployment_failed", 5),
        (["deploying"], "deployment_in_progress", 60),
        ([None], "deployment_in_progress", 60),
        ([FleetError("engine_list_unavailable", "x", "y")], "engine_list_unavailable", 0),
        ([UNAVAILABLE], "management_node_unavailable", 60),
    ],
)
def test_wait_that_fails_keeps_the_outcome(request_engine, states, code, seconds):
    result = request_engine(*states)
    assert (result["code"], result["outcome"], result["seconds"]) == (code, "requested", seconds)
    assert result["changed"]


@pytest.mark.parametrize(
    ("before", "states", "code"),
    [
        ("running", ["running"], "deployment_in_progress"),
        ("running", ["running", "deploying", "running"], None),
        ("failed", ["failed", "deploying", "running"], None),
        ("failed", ["failed", None, "failed"], "deployment_failed"),
    ],
)
def test_entry_that_stays_as_before_the_request_shows_no_end(request_engine, before, states, code):
    assert request_engine(*states, before=before).get("code") == code


def test_list_that_cannot_be_read_sends_no_request(request_engine):
    result = request_engine(before=FleetError("engine_list_unavailable", "x", "y"))
    assert (result["code"], "outcome" in result) == ("engine_list_unavailable", False)


@pytest.mark.parametrize("options", [{"engine_list": None}, {"wait_timeout": 0}])
def test_wait_is_refused_before_the_request(request_engine, options):
    result = request_engine("running", **options)
    assert (result["code"], result.get("outcome")) == ("invalid_option", None)


def test_no_wait_reads_no_list(request_engine):
    result = request_engine(FleetError("engine_list_unavailable", "x", "y"), wait=False)
    assert (result["outcome"], "state" in result) == ("requested", False)
