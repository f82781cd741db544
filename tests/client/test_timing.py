"""Deadlines, pauses and connections that fail: what needs more than a reply of the fake management node."""

import socket
import threading
import time
from dataclasses import replace
from typing import Any

import pytest
from fake_node import INSTALL, LICENSE, answer
from scenarios import options_of, run

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node import client as client_module
from ansible_collections.slb.fleet.plugins.module_utils._management_node import transport
from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import Answer
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.module_utils._management_node.contract import Case, judge
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import Engine, request_install
from ansible_collections.slb.fleet.plugins.module_utils._secrets import mask


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.fixture
def pauses(monkeypatch):
    """The pauses that the client makes; they take no time."""
    made = []
    monkeypatch.setattr(client_module.time, "sleep", made.append)
    return made


@pytest.mark.parametrize("seconds", [[], [1, 2, 4]])
def test_refused_connection_is_retried_with_growing_pauses(start, pauses, seconds):
    url = f"https://127.0.0.1:{free_port()}"
    result = run("engine", options_of(start(), base_url=url, timeout=30, retries=len(seconds)))
    assert result["code"] == "management_node_unavailable"
    assert len(pauses) == len(seconds)
    assert all(0.5 * second <= pause <= 1.5 * second for pause, second in zip(pauses, seconds, strict=True))


@pytest.mark.parametrize("seconds", [1, 0], ids=["some time is left", "none is left"])
def test_call_ends_with_the_task(start, seconds):
    with socket.create_server(("127.0.0.1", 0)) as silent:  # it accepts connections and does not answer
        url = f"https://127.0.0.1:{silent.getsockname()[1]}"
        connection = Connection.from_options(options_of(start(), base_url=url, timeout=600, retries=3))
        began = time.monotonic()
        with pytest.raises(FleetError) as caught:
            client_module.Client(replace(connection, end=began + seconds)).log_in()
        assert (caught.value.code, time.monotonic() - began < 300) == ("management_node_unavailable", True)


def test_retry_after_is_waited_for(start, pauses):
    node = start({LICENSE: [answer(503, "", "Retry-After: 17"), answer(200, "license")]})
    assert "license" in run("license", options_of(node, timeout=30, retries=1))
    assert pauses == [17]


def test_late_repeat_shows_the_answer_before(start, monkeypatch):
    """The pauses between the logins take more time than the request has."""
    node = start({INSTALL: [answer(401, '{"msg":"no permission to install engines"}')]})
    client, waited = client_module.Client(Connection.from_options(options_of(node))), list[float]()
    original = transport.boot_time
    monkeypatch.setattr(client_module.time, "sleep", waited.append)
    monkeypatch.setattr(transport, "boot_time", lambda: original() + 100 * sum(waited))
    with pytest.raises(FleetError) as caught:
        request_install(client, Engine("edge-1", False, "192.0.2.1", 1), {}, original() + 30)
    assert (caught.value.code, caught.value.values["outcome"]) == ("session_replaced", "rejected")
    assert "no permission to install engines" in caught.value.summary
    assert node.seen[INSTALL] == 1


@pytest.mark.parametrize("name", ["getaddrinfo", "create_connection"])
def test_slow_connection_sends_nothing_after_the_deadline(start, monkeypatch, name):
    import urllib3.util.connection

    module = socket if name == "getaddrinfo" else urllib3.util.connection
    original, is_over, has_tried = getattr(module, name), threading.Event(), threading.Event()

    def slow(*args, **kwargs):
        is_over.wait(60)
        try:
            return original(*args, **kwargs)
        finally:
            has_tried.set()

    monkeypatch.setattr(module, name, slow)
    node = start()
    begin = time.monotonic()
    result = run("engine", options_of(node, sessionid="given", timeout=1, retries=0))
    assert time.monotonic() - begin < 30
    left = [thread for thread in threading.enumerate() if thread.name == "slb.fleet"]
    assert [thread.daemon for thread in left] == [True], "it does not keep the process"
    is_over.set()
    assert has_tried.wait(30)
    left[0].join(30)
    assert (result["code"], result["outcome"]) == ("management_node_unavailable", "rejected")
    assert node.requests == []


def test_install_waits_for_a_node_that_starts(start, monkeypatch):
    """A refused connection is retried, also for a request that is never sent twice."""
    port, nodes = free_port(), list[Any]()

    def start_node(seconds):
        nodes.append(start(wanted_port=port, sessions={"given"}))

    monkeypatch.setattr(client_module.time, "sleep", start_node)
    other = start()
    result = run("engine", options_of(other, base_url=f"https://127.0.0.1:{port}", sessionid="given", retries=1))
    assert result["outcome"] == "requested", result
    assert nodes[0].seen == {INSTALL: 1}


@pytest.mark.parametrize("dead", [["127.0.0.2"], ["127.0.0.2", "127.0.0.3"]])
def test_each_address_gets_its_share_of_the_time(start, monkeypatch, dead):
    """The first addresses of the name drop every packet."""
    node, original = start(), socket.getaddrinfo
    monkeypatch.setattr(transport, "_FIRST_SHARE", 0.3)

    def several(host, port, *args, **kwargs):
        found = original("127.0.0.1" if host == "console.test" else host, port, *args, **kwargs)
        return [(*found[0][:4], (each, port)) for each in dead] + found if host == "console.test" else found

    monkeypatch.setattr(socket, "getaddrinfo", several)
    fillers = []
    for address in dead:
        listener = socket.create_server((address, node.port), backlog=0)
        fillers.append(listener)
        for _number in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex((address, node.port))
            fillers.append(filler)
    begin = time.monotonic()
    result = run("engine", options_of(node, base_url=f"https://console.test:{node.port}", timeout=10, retries=0))
    assert result["outcome"] == "requested", result
    assert time.monotonic() - begin < 2 * (len(dead) * 0.3 + 2)
    for each in fillers:
        each.close()


PIECES = (
    *("<input ", "<input type=", "<script>", "<style", "&#", "port ", "in use ", "already ", "\\u", "<", "<!--", "%25"),
    *("<a ", "<style></styl", "&", "&#1", "<?x ", '{"a":', "]]>", "\0"),
    *("{", "[", " ", '"', "1", "端口", "占用", "engine", "(", "aB", "_", "?token=", "timed ", "been "),
)
HEADS = ("", "<html>", "<html><input ", "port ", '{"code":1,"msg":"')


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("head", HEADS)
def test_any_text_is_judged_in_linear_time(head, piece):
    end = '"}' if head.startswith("{") else ">"
    body = (head + piece * (30 * 1024 // len(piece.encode())) + end).encode()
    answer_of_node = Answer(200, {"Content-Type": "text/html", "Location": body.decode()[:9999]}, body)
    begin = time.process_time()
    for call in ("login", "install", "license", "list"):
        case = Case(call, answer_of_node, "https://console.example/x/", ("edge-1", "192.0.2.1"))
        judge(case)
        mask(case.message, ["secret of the run"])
    assert time.process_time() - begin < 0.7
