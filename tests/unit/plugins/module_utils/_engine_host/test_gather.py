"""The facts of a host: unknown instead of zero."""

import os

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import container, gather, record, runtimes, sockets
from ansible_collections.slb.fleet.plugins.module_utils._engine_host.container import Container
from ansible_collections.slb.fleet.plugins.module_utils._engine_host.record import Record, SetAside
from ansible_collections.slb.fleet.plugins.module_utils._engine_host.runtimes import Monitor
from ansible_collections.slb.fleet.plugins.module_utils._engine_host.sockets import Connections

PEERS = [f"192.0.2.{number}:4" for number in range(7)]


@pytest.fixture
def facts(tmp_path, monkeypatch):
    """Return the facts of a host with this container and these connections."""

    def read(*, engine=None, connections=None):
        monkeypatch.setattr(record, "PATH", str(tmp_path / "facts.d" / "slb_engine.fact"))
        monkeypatch.setattr(container, "find_container", lambda *_unused: engine or Container("absent"))
        monkeypatch.setattr(
            container, "find_leftovers", lambda *_unused: {"slb-leftover-1": True, "slb-leftover-2": False}
        )
        monkeypatch.setattr(container, "find_manager", lambda *_unused: None)
        monkeypatch.setattr(sockets, "find_connections", lambda _engine: connections or Connections([]))
        return gather.gather_facts()

    return read


@pytest.mark.parametrize(("user", "is_root"), [(0, True), (1000, False)])
def test_facts_tell_root(facts, monkeypatch, user, is_root):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert facts()["root"] is is_root


@pytest.mark.parametrize(
    ("connections", "count", "peers"),
    [(Connections(None), None, []), (Connections([]), 0, []), (Connections(PEERS, 2), 7, PEERS[:5])],
)
def test_facts_count_connections(facts, connections, count, peers):
    seen = facts(connections=connections)["engine_container"]
    assert (seen["connections"], seen["peers"], seen["outbound"]) == (count, peers, connections.outbound)


@pytest.mark.parametrize(
    ("engine", "aside", "leftovers"),
    [
        (Container("absent"), None, ["slb-leftover-1"]),
        (Container("exited", id="f00d"), None, ["slb-leftover-1"]),
        (Container("running", id="f00d", restart_count=1), None, ["slb-leftover-1"]),
        (Container("running", id="f00d"), None, []),
        (Container("running", id="f00d"), "beef", ["slb-leftover-9"]),
        (Container("running", id="f00d"), "cafe", []),
        (Container("running", id="f00d"), "f00d", []),  # not set aside yet, or restored
        (Container("unknown"), "beef", []),
    ],
)
def test_facts_of_a_running_engine_have_its_running_leftover(facts, monkeypatch, engine, aside, leftovers):
    monitors = [Monitor(7, 1, "containerd-shim", each, 0) for each in ("f00d", "beef")]
    monkeypatch.setattr(runtimes, "find_monitors", lambda: monitors)
    leftover = SetAside(aside, "slb-leftover-9", "docker", "no", "running", 10, "replace") if aside else None
    monkeypatch.setattr(record, "read", lambda: Record(set_aside=leftover))
    found = facts(engine=engine)
    assert found["running_leftovers"] == leftovers
    assert found["stopped_leftovers"] == (["slb-leftover-2"] if "slb-leftover-1" in leftovers else [])
