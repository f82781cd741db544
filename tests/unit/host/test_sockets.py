"""Sockets and addresses, read from the kernel of the test machine."""

import multiprocessing
import os
import socket
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._system import processes
from ansible_collections.slb.fleet.plugins.module_utils.engine_host import sockets
from ansible_collections.slb.fleet.plugins.module_utils.engine_host.container import Container


def inbound(engine):
    return sockets.find_connections(engine).inbound


@pytest.mark.parametrize(("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_find_listening_returns_the_process(family, address):
    with socket.create_server((address, 0), family=family) as server:
        port = server.getsockname()[1]
        (seen,) = [entry for entry in sockets.find_listening(Container("absent")) if entry["port"] == port]
    assert seen["addresses"] == [address]
    assert seen["pid"] == os.getpid()
    assert seen["process"]
    assert not seen["engine"]


NAMELESS = """
import ctypes, socket, sys
ctypes.CDLL(None).prctl(15, b"x\\xff", 0, 0, 0)
servers = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(servers[0].getsockname()[1], flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("number", [1, 900])
def test_find_listening_odd_names_and_many_ports(number):
    command = [sys.executable, "-c", NAMELESS, str(number)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout
        port = int(other.stdout.readline())
        ports = sockets.find_listening(Container("absent"))
        assert processes.look(other.pid)
        other.communicate()
    assert len(ports) <= 500
    assert "x\\xff" in {seen["process"] for seen in ports}
    assert number > 1 or port in {seen["port"] for seen in ports}


def test_find_connections_tells_inbound_from_outbound():
    engine = Container("running", pid=os.getpid(), network_mode="bridge")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert not [peer for peer in inbound(engine) if peer.endswith(f":{port}")]
        with socket.create_connection(("127.0.0.1", port)) as client:
            connection, _ = server.accept()
            with connection:
                peers = inbound(engine)
                assert "{}:{}".format(*client.getsockname()) in peers
                assert f"127.0.0.1:{port}" not in peers


def test_find_connections_half_closed_counts():
    engine = Container("running", pid=os.getpid(), network_mode="host")
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
        server.accept()[0],
    ):
        client.shutdown(socket.SHUT_WR)
        assert "{}:{}".format(*client.getsockname()) in (inbound(engine) or [])


def test_find_connections_without_listener_counts(monkeypatch, tmp_path):
    (tmp_path / "range").write_text("61000\t61001\n")
    monkeypatch.setattr(sockets, "_LOCAL_PORTS", str(tmp_path / "range"))
    engine = Container("running", pid=os.getpid(), network_mode="host")
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        connection = server.accept()[0]
    with client, connection:
        assert "{}:{}".format(*client.getsockname()) in (inbound(engine) or [])


def connections_of_another_user(engine):
    """Return what a user sees who is neither root nor the owner of the processes."""
    is_root = os.geteuid() == 0
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, fork, os.setuid, (65534 if is_root else os.getuid(),)) as processes:
        return processes.submit(inbound, engine).result()


def test_find_connections_other_user_is_unknown():
    init = Container("running", id="f00d", pid=1, network_mode="host")
    assert connections_of_another_user(init) is None


@pytest.mark.parametrize("network_mode", ["host", "bridge"])
@pytest.mark.parametrize("error", [PermissionError, FileNotFoundError])
def test_find_connections_hidden_process_is_unknown(monkeypatch, network_mode, error):
    """As with hidepid=1 and hidepid=2."""
    stat = os.stat

    def hide(path, **options):
        if str(path).startswith("/proc/1/"):
            raise error(path)
        return stat(path, **options)

    monkeypatch.setattr("os.stat", hide)
    engine = Container("running", id="f00d", pid=1, network_mode=network_mode)
    assert connections_of_another_user(engine) is None


@pytest.mark.parametrize("network_mode", ["host", "bridge"])
def test_find_connections_ended_process_has_none(network_mode):
    ended = os.posix_spawn("/bin/true", ["true"], {})
    os.waitpid(ended, 0)
    assert inbound(Container("running", id="f00d", pid=ended, network_mode=network_mode)) == []


def test_find_connections_exited_container_has_none():
    assert inbound(Container("exited")) == []
    assert inbound(Container("unknown")) is None


def test_find_connections_closed_descriptor_hides_none(monkeypatch):
    readlink = os.readlink
    first = f"/proc/{os.getpid()}/fd/0"

    def close_the_first(path):
        if path == first:
            raise FileNotFoundError(path)
        return readlink(path)

    monkeypatch.setattr("os.readlink", close_the_first)
    engine = Container("running", id="f00d", pid=os.getpid(), network_mode="host")
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
        server.accept()[0],
    ):
        assert "{}:{}".format(*client.getsockname()) in (inbound(engine) or [])


def test_find_addresses_has_no_loopback():
    found = sockets.find_addresses()
    assert found is not None
    assert not {"127.0.0.1", "::1"} & set(found)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        assert probe.getsockname()[0] in found
