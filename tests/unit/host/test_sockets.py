"""The kernel's tables of sockets, read on the machine at hand."""

from __future__ import annotations

import os
import socket

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._host import sockets
from ansible_collections.slb.fleet.plugins.module_utils._host.containers import Container


@pytest.mark.parametrize(("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_a_listener_is_seen_with_its_process(family: socket.AddressFamily, address: str) -> None:
    with socket.create_server((address, 0), family=family) as server:
        port = server.getsockname()[1]
        (seen,) = [entry for entry in sockets.listening(Container("absent")) if entry["port"] == port]
    assert seen["addresses"] == [address]
    assert seen["pid"] == os.getpid()
    assert seen["process"]
    assert not seen["engine"]


def test_a_connection_in_is_served_and_a_connection_out_is_not() -> None:
    engine = Container("running", pid=os.getpid(), network_mode="bridge")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not [peer for peer in sockets.served(engine) if peer.endswith(f":{port}")]
        with socket.create_connection(("127.0.0.1", port)) as client:
            connection, _ = server.accept()
            with connection:
                peers = sockets.served(engine)
                assert "{}:{}".format(*client.getsockname()) in peers
                assert f"127.0.0.1:{port}" not in peers


def test_an_engine_that_does_not_run_serves_nobody() -> None:
    assert sockets.served(Container("exited")) == []
