"""Sockets and addresses, read from the kernel of the test machine."""

import contextlib
import multiprocessing
import os
import socket
import time
from concurrent.futures import ProcessPoolExecutor

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import sockets
from ansible_collections.slb.fleet.plugins.module_utils._engine_host.container import Container

ABSENT = Container("absent")


def inbound(engine):
    return sockets.find_connections(engine).inbound


def running(pid=None):
    return Container("running", id="f00d" * 16, pid=pid or os.getpid())


def serve():
    """Listen on a free port of a service, below those of clients."""
    for port in range(20000, 32768):
        with contextlib.suppress(OSError):
            return socket.create_server(("127.0.0.1", port))
    raise AssertionError("no port is free")


@contextlib.contextmanager
def connected():
    """Connect this process with itself; yield the server, the client and both ends as they are reported."""
    with serve() as server, socket.create_connection(server.getsockname()) as client, server.accept()[0]:
        yield server, client, *("{}:{}".format(*each.getsockname()) for each in (server, client))


@pytest.mark.parametrize(("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_find_listening_returns_the_process(family, address):
    with socket.create_server((address, 0), family=family) as server:
        port = server.getsockname()[1]
        (seen,) = [entry for entry in sockets.find_listening(ABSENT) if entry["port"] == port]
    assert (seen["pid"], seen["engine"]) == (os.getpid(), False)
    assert seen["process"]


def test_find_connections_tells_inbound_from_outbound():
    with connected() as (_server, _client, server_end, client_end):
        peers = inbound(running())
        port = server_end.rpartition(":")[2]
        assert f"{client_end} to port {port}" in peers
        assert not [each for each in peers if each.startswith(server_end)]


@pytest.mark.parametrize("case", ["half closed", "without listener", "closed descriptor"])
def test_find_connections_counts_each_connection(monkeypatch, tmp_path, case):
    (tmp_path / "range").write_text("61000\t61001\n")
    monkeypatch.setattr(sockets, "_RANGE_FILE", str(tmp_path / "range"))
    readlink, first = os.readlink, f"/proc/{os.getpid()}/fd/0"

    def close_the_first(path):
        if path == first:
            raise FileNotFoundError(path)
        return readlink(path)

    with connected() as (server, client, server_end, client_end):
        if case == "half closed":
            client.shutdown(socket.SHUT_WR)
        elif case == "without listener":
            server.close()
        else:
            monkeypatch.setattr("os.readlink", close_the_first)
        assert f"{client_end} to port {server_end.rpartition(':')[2]}" in inbound(running())


def keep_connected(is_connected):
    with connected():
        is_connected.set()
        time.sleep(60)


def test_find_connections_of_each_process_of_the_container(monkeypatch):
    """Its main process starts others, which have the connections. Without control groups, parents show that."""
    fork, read = multiprocessing.get_context("fork"), sockets.processes.read
    is_connected = fork.Event()
    child = fork.Process(target=keep_connected, args=(is_connected,), daemon=True)
    child.start()
    try:
        assert is_connected.wait(60)
        seen = inbound(running())
        monkeypatch.setattr(sockets.processes, "ancestors", lambda _pid: [])
        assert len(inbound(running())) == len(seen) - 1
        own = {(pid, "cgroup"): "f00d" * 16 for pid in (os.getpid(), child.pid)}
        monkeypatch.setattr(sockets.processes, "read", lambda *file: own.get(file) or read(*file))
        assert len(inbound(running())) == len(seen)
    finally:
        child.kill()
        child.join()


def test_connections_without_a_main_thread_are_unknown(monkeypatch):
    """Its other threads have the sockets."""
    main = sockets.processes.Process(os.getpid(), "Z", 1, 1)
    monkeypatch.setattr(sockets.processes, "find", lambda _pid: main)
    monkeypatch.setattr(sockets.processes, "has_ended", lambda _process: False)
    assert inbound(running()) is None


def connections_of_another_user(engine):
    """Return what a user sees who is neither root nor the owner of the processes."""
    user = 65534 if os.geteuid() == 0 else os.getuid()
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork"), os.setuid, (user,)) as processes:
        return processes.submit(inbound, engine).result()


@pytest.mark.parametrize("error", [PermissionError, FileNotFoundError, None], ids=["hidepid=1", "hidepid=2", "shown"])
def test_find_connections_of_another_user_is_unknown(monkeypatch, error):
    stat = os.stat

    def hide(path, **options):
        if error and str(path).startswith("/proc/1/"):
            raise error(path)
        return stat(path, **options)

    monkeypatch.setattr("os.stat", hide)
    assert connections_of_another_user(running(1)) is None


def test_find_connections_of_a_container_that_does_not_run():
    ended = os.posix_spawn("/bin/true", ["true"], {})
    os.waitpid(ended, 0)
    assert inbound(running(ended)) == inbound(Container("exited")) == []
    assert inbound(Container("unknown")) is None


def test_find_addresses_has_no_loopback():
    found = sockets.find_addresses()
    assert not {"127.0.0.1", "::1"} & set(found)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        assert probe.getsockname()[0] in found


def test_find_addresses_of_both_families(monkeypatch):
    tables = {
        "/proc/net/fib_trie": "  |-- 192.0.2.7\n     /32 host LOCAL\n  |-- 127.0.0.1\n     /32 host LOCAL\n",
        "/proc/net/if_inet6": "20010db8000000000000000000000007 02 40 00 80 eth0\n"
        "fe800000000000000000000000000007 02 40 20 80 eth0\n",
    }
    monkeypatch.setattr(sockets.processes, "read_file", lambda path: tables.get(path, ""))
    assert sockets.find_addresses() == ["192.0.2.7", "2001:db8::7"]
    tables.clear()
    assert sockets.find_addresses() is None


def entry(port, state, inode, remote_port=40000):
    local, remote = f"0100007F:{port:04X}", f"070200C0:{remote_port:04X}"
    return f"   0: {local} {remote} {state} 00000000:00000000 00:00000000 00000000     0        0 {inode} 1 0 20\n"


LISTEN, ESTABLISHED, TIME_WAIT, CLOSE_WAIT, SYN_RECV = "0A", "01", "06", "08", "03"


@pytest.fixture
def table(monkeypatch):
    """Replace the kernel's table of TCP sockets."""

    def replace(*entries):
        found = sockets.parse_table("  sl  local_address ...\n" + "".join(entries))
        monkeypatch.setattr(sockets, "_read_tables", lambda _pid: found)
        monkeypatch.setattr(sockets, "_is_of_host", lambda _pid: False)
        monkeypatch.setattr(sockets.processes, "is_tcp", lambda _file: False)

    return replace


USUAL, WIDE = (32768, 60999), (1024, 65000)


@pytest.mark.parametrize(
    ("local_ports", "others", "inbound_ports", "outbound"),
    [
        (
            USUAL,
            [entry(8000, ESTABLISHED, 2, 41), entry(8000, CLOSE_WAIT, 3, 42), entry(8000, SYN_RECV, 0, 43)],
            [41, 42, 43],
            0,
        ),
        (USUAL, [entry(8000, TIME_WAIT, 0, 41), entry(8000, LISTEN, 2, 42)], [], 0),
        # The ends of the kernel's range for outbound connections belong to it.
        (USUAL, [entry(32767, ESTABLISHED, 2, 41), entry(61000, ESTABLISHED, 3, 42)], [41, 42], 0),
        (USUAL, [entry(32768, ESTABLISHED, 2, 41), entry(60999, ESTABLISHED, 3, 42)], [], 2),
        # Both ends are in the range: a client of a listener that was closed, or of a transparent proxy
        (USUAL, [entry(45000, ESTABLISHED, 2, 50000), entry(45001, ESTABLISHED, 3, 443)], [50000], 1),
        # A load balancer may have the wide range. Services have ports below 32768.
        (WIDE, [entry(5000, ESTABLISHED, 2, 50000), entry(5000, ESTABLISHED, 3, 443)], [50000], 1),
        (WIDE, [entry(5000, ESTABLISHED, 2, 33000), entry(5000, ESTABLISHED, 3, 20000)], [33000], 1),
        (WIDE, [entry(65001, ESTABLISHED, 2, 443)], [443], 0),
    ],
)
def test_find_connections_by_state_and_port(table, monkeypatch, local_ports, others, inbound_ports, outbound):
    monkeypatch.setattr(sockets, "_local_ports", lambda _pid: local_ports)
    table(entry(8000, LISTEN, 1), *others)
    found = sockets.find_connections(running())
    assert [each.partition(" ")[0] for each in found.inbound] == [f"192.0.2.7:{port}" for port in inbound_ports]
    assert found.outbound == outbound


def test_range_of_local_ports_is_that_of_the_kernel(monkeypatch, tmp_path):
    (tmp_path / "range").write_text("1024\t65000\n")
    monkeypatch.setattr(sockets, "_RANGE_FILE", str(tmp_path / "range"))
    assert sockets._local_ports(os.getpid()) == (1024, 65000)
    (tmp_path / "range").unlink()
    assert sockets._local_ports(os.getpid()) == (32768, 60999)


def test_socket_in_no_table_makes_the_number_unknown(monkeypatch):
    """It may belong to a network namespace whose table was not read."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM):
        assert inbound(running()) is None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM):
        assert inbound(running()) is not None


def test_find_listening_has_500_ports_with_those_of_engine(table):
    table(*(entry(port, LISTEN, 1) for port in range(1000, 1600)), entry(999, ESTABLISHED, 1))
    engine = running()._replace(published_ports=[1599])
    found = sockets.find_listening(engine)
    assert [each["port"] for each in found] == [*range(1000, 1499), 1599]
    assert [each["port"] for each in found if each["engine"]] == [1599]


@pytest.mark.parametrize("host", ["", f"/docker/{'b2' * 32}"])
def test_find_listening_names_the_container_of_a_process(table, monkeypatch, host):
    """The host may be a container itself."""
    table(entry(8000, LISTEN, 1), entry(8001, LISTEN, 2))
    names = {1: "init.scope", 7: f"docker-{'a1' * 32}.scope", 8: "sshd.service"}
    groups = {pid: f"0::{host}/system.slice/{name}" for pid, name in names.items()}
    monkeypatch.setattr(sockets, "_owners", lambda: {1: 7, 2: 8})
    monkeypatch.setattr(sockets.processes, "read", lambda pid, name: groups[pid] if name == "cgroup" else "httpd")
    found = sockets.find_listening(sockets.Container("absent"))
    assert [each["container"] for each in found] == ["a1" * 6, None]
