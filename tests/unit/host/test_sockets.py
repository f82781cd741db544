"""The kernel's tables of sockets, read on the machine at hand."""

from __future__ import annotations

import multiprocessing
import os
import socket
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._host import sockets
from ansible_collections.slb.fleet.plugins.module_utils._host.containers import Container
from ansible_collections.slb.fleet.plugins.module_utils._system import processes


@pytest.mark.parametrize(("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_a_listener_is_seen_with_its_process(family: socket.AddressFamily, address: str) -> None:
    with socket.create_server((address, 0), family=family) as server:
        port = server.getsockname()[1]
        (seen,) = [entry for entry in sockets.listening(Container("absent")) if entry["port"] == port]
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
def test_what_any_user_of_the_host_can_do_hides_nothing(number: int) -> None:
    """A process may have a name that is no text, and listen on many ports."""
    command = [sys.executable, "-c", NAMELESS, str(number)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout
        port = int(other.stdout.readline())
        ports = sockets.listening(Container("absent"))
        assert processes.look(other.pid)
        other.communicate()
    assert len(ports) <= 500
    assert "x\\xff" in {seen["process"] for seen in ports}
    assert number > 1 or port in {seen["port"] for seen in ports}


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


def test_served_half_closed_by_the_client_is_in_use() -> None:
    engine = Container("running", pid=os.getpid(), network_mode="host")
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
        server.accept()[0],
    ):
        client.shutdown(socket.SHUT_WR)
        assert "{}:{}".format(*client.getsockname()) in (sockets.served(engine) or [])


def test_served_without_its_listener_is_in_use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "range").write_text("61000\t61001\n")
    monkeypatch.setattr(sockets, "_LOCAL_PORTS", str(tmp_path / "range"))
    engine = Container("running", pid=os.getpid(), network_mode="host")
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        connection = server.accept()[0]
    with client, connection:
        assert "{}:{}".format(*client.getsockname()) in (sockets.served(engine) or [])


def served_as_another_user(engine: Container) -> list[str] | None:
    """What somebody who is neither root nor the owner of the container's processes can tell."""
    is_root = os.geteuid() == 0
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, fork, os.setuid, (65534 if is_root else os.getuid(),)) as processes:
        return processes.submit(sockets.served, engine).result()


def test_what_cannot_be_seen_is_not_taken_for_no_connection() -> None:
    init = Container("running", id="f00d", pid=1, network_mode="host")
    assert served_as_another_user(init) is None


@pytest.mark.parametrize("network_mode", ["host", "bridge"])
@pytest.mark.parametrize("error", [PermissionError, FileNotFoundError])
def test_a_hidden_process_is_not_taken_for_an_ended_one(
    monkeypatch: pytest.MonkeyPatch, network_mode: str, error: type[OSError]
) -> None:
    """As with hidepid=1 and hidepid=2."""
    stat = os.stat

    def hide(path: str, **options: object) -> os.stat_result:
        if str(path).startswith("/proc/1/"):
            raise error(path)
        return stat(path, **options)

    monkeypatch.setattr("os.stat", hide)
    engine = Container("running", id="f00d", pid=1, network_mode=network_mode)
    assert served_as_another_user(engine) is None


@pytest.mark.parametrize("network_mode", ["host", "bridge"])
def test_a_process_that_has_just_ended_serves_nobody(network_mode: str) -> None:
    ended = os.posix_spawn("/bin/true", ["true"], {})
    os.waitpid(ended, 0)
    assert sockets.served(Container("running", id="f00d", pid=ended, network_mode=network_mode)) == []


def test_an_engine_that_does_not_run_serves_nobody() -> None:
    assert sockets.served(Container("exited")) == []


def test_a_descriptor_that_is_closed_meanwhile_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy engine opens and closes descriptors all the time."""
    readlink = os.readlink
    first = f"/proc/{os.getpid()}/fd/0"

    def close_the_first(path: str) -> str:
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
        assert "{}:{}".format(*client.getsockname()) in (sockets.served(engine) or [])
