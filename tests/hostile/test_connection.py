"""Addresses, TLS, proxies, retries: what happens before and around an answer."""

from __future__ import annotations

import json
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
import urllib3.util.connection
from hostile_server import (
    INSTALL,
    LICENSE,
    LICENSE_TEXT,
    LOGIN,
    answer,
    cut,
    drip,
    expiring,
    for_session,
    message,
    new_session,
    silence,
)
from operations import PASSWORD, run
from proxy import Proxy
from scenarios import LOGIN_PAGE

from ansible_collections.slb.fleet.plugins.module_utils._console.engine_info import answer_at
from ansible_collections.slb.fleet.plugins.module_utils._console.options import CONNECTION_ARGUMENTS, Connection
from ansible_collections.slb.fleet.plugins.module_utils._console.session import Console
from ansible_collections.slb.fleet.plugins.module_utils._console.transport import Request
from ansible_collections.slb.fleet.plugins.module_utils._console.wire import Wire
from ansible_collections.slb.fleet.plugins.module_utils._errors import ConsoleError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from certificates import Authority


def test_login_returns_the_session_and_the_certificate(start: Callable[..., Any]) -> None:
    server = start()
    result = run("login", server)
    assert result["sessionid"] in server.sessions
    assert result["tls_fingerprint"] == server.certificate.fingerprint
    assert not result["changed"]


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
@pytest.mark.parametrize("prefix", ["", "/console/v2"])
def test_addresses(start: Callable[..., Any], host: str, prefix: str) -> None:
    server = start(host=host, prefix=prefix)
    assert run("engine", server, base_url=server.base_url + "/")["outcome"] == "requested"
    assert server.seen == {LOGIN: 1, INSTALL: 1}


def test_the_request_is_the_documented_one(start: Callable[..., Any]) -> None:
    server = start()
    run("engine", server, manage_ip="2001:DB8:0::7", user_credential_id=4, is_change_hostname=True)
    login, install = server.requests
    assert login.headers["content-type"] == install.headers["content-type"] == "application/json"
    assert "cookie" not in login.headers
    assert install.headers["cookie"] in {f"sessionid={session}" for session in server.sessions}
    assert install.body == (
        b'{"name": "edge-1", "is_change_hostname": true, "manage_ip": "2001:db8::7", "user_credential_id": 4}'
    )


def test_check_mode_logs_in_and_asks_for_nothing(start: Callable[..., Any], tmp_path: Path) -> None:
    server = start()
    result = run("engine", server, check_mode=True)
    assert result["changed"]
    assert "outcome" not in result
    license_result = run("license", server, check_mode=True, dest=str(tmp_path / "license"))
    assert license_result["changed"]
    assert list(tmp_path.iterdir()) == []
    assert server.seen == {LOGIN: 2, LICENSE: 1}


def test_a_given_session_is_used_and_not_renewed(start: Callable[..., Any]) -> None:
    server = start()
    session = server.new_session()
    assert run("engine", server, sessionid=session, username=None, password=None)["outcome"] == "requested"
    server.sessions.clear()
    result = run("engine", server, sessionid=session, username=None, password=None)
    assert result["outcome"] == "rejected"
    assert "slb.fleet.login" in result["msg"]
    assert session not in str(result)
    assert server.seen == {INSTALL: 2}


def test_csrf_token_and_referer_are_sent_back(start: Callable[..., Any]) -> None:
    server = start({LOGIN: [new_session("Set-Cookie: csrftoken=tok3n; Path=/")]}, prefix="/p")
    assert run("engine", server)["outcome"] == "requested"
    headers = server.to(INSTALL)[0].headers
    assert headers["x-csrftoken"] == "tok3n"
    assert headers["referer"] == f"{server.base_url}/"
    assert "csrftoken=tok3n" in headers["cookie"]


@pytest.mark.parametrize("cookie_comes_with", ["the refusal", "the login page"])
def test_a_login_that_wants_a_csrf_token(start: Callable[..., Any], cookie_comes_with: str) -> None:
    cookie = "Set-Cookie: csrftoken=tok3n; Path=/"
    refusal = answer(403, "CSRF verification failed.", *([cookie] if cookie_comes_with == "the refusal" else []))

    def login(exchange: Any) -> None:
        if exchange.request.method == "GET":
            answer(200, LOGIN_PAGE, cookie)(exchange)
        elif exchange.request.headers.get("x-csrftoken") == exchange.cookie("csrftoken") == "tok3n":
            new_session()(exchange)
        else:
            refusal(exchange)

    server = start({LOGIN: [login]})
    assert run("engine", server)["outcome"] == "requested"
    assert [request.method for request in server.to(LOGIN)].count("POST") == 2


def test_a_ca_is_trusted(start: Callable[..., Any], authority: Authority) -> None:
    server = start()
    assert run("login", server, tls_fingerprint=None, ca_path=str(authority.path))["sessionid"]


def test_without_validation_any_certificate_will_do(start: Callable[..., Any]) -> None:
    server = start()
    assert run("login", server, tls_fingerprint=None, validate_certs=False)["sessionid"]


@pytest.mark.parametrize("flaw", ["untrusted", "expired", "another name"])
def test_a_bad_certificate(start: Callable[..., Any], authority: Authority, flaw: str) -> None:
    certificate = {
        "untrusted": authority.certificate("fine"),
        "expired": authority.certificate("expired", expired=True),
        "another name": authority.certificate("other", names="other.example"),
    }[flaw]
    server = start(certificate=certificate)
    ca_path = None if flaw == "untrusted" else str(authority.path)
    result = run("engine", server, tls_fingerprint=None, ca_path=ca_path)
    assert result["failed"]
    assert result["outcome"] == "rejected"
    assert f"tls_fingerprint: {certificate.fingerprint}" in result["msg"]
    assert ("clock is right" in result["msg"]) == (flaw == "expired")
    assert server.seen == {}
    assert run("engine", server, tls_fingerprint=certificate.fingerprint.upper())["outcome"] == "requested"


@pytest.mark.parametrize("validate_certs", [True, False])
def test_a_changed_certificate(start: Callable[..., Any], authority: Authority, validate_certs: bool) -> None:
    server = start()
    pinned = authority.certificate("former").fingerprint
    result = run("engine", server, tls_fingerprint=pinned, validate_certs=validate_certs)
    assert "the certificate was changed" in result["msg"]
    assert f"tls_fingerprint: {server.certificate.fingerprint}" in result["msg"]
    assert server.seen == {}
    assert server.connections == 1


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_bundles_of_the_environment_change_nothing(
    start: Callable[..., Any], authority: Authority, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    server = start()
    monkeypatch.setenv(variable, "/nonexistent/bundle.pem")
    assert run("login", server, tls_fingerprint=None, validate_certs=False)["sessionid"]
    assert run("login", server, tls_fingerprint=None, ca_path=str(authority.path))["sessionid"]
    assert run("login", server)["sessionid"]
    monkeypatch.setenv(variable, str(authority.path))
    assert "not trusted" in run("login", server, tls_fingerprint=None)["msg"]


def test_passwords_of_a_netrc_are_not_sent(
    start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    server = start()
    run("engine", server)
    assert all("authorization" not in request.headers for request in server.requests)


@pytest.mark.parametrize("variable", ["https_proxy", "HTTPS_PROXY", "all_proxy"])
def test_a_proxy_of_the_environment(start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    server = start()
    with Proxy() as proxy:
        monkeypatch.setenv(variable, f"http://127.0.0.1:{proxy.port}")
        assert run("engine", server)["outcome"] == "requested"
        assert len(proxy.heads) == 2
        pinned = run("engine", server, tls_fingerprint="0" * 64)
        assert "the certificate was changed" in pinned["msg"]
        untrusted = run("engine", server, tls_fingerprint=None)
        assert f"tls_fingerprint: {server.certificate.fingerprint}" in untrusted["msg"]
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        before = len(proxy.heads)
        assert run("engine", server)["outcome"] == "requested"
        assert len(proxy.heads) == before


def test_a_proxy_that_speaks_tls_itself(
    start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, authority: Authority
) -> None:
    server = start()
    with Proxy(certificate=authority.certificate("proxy")) as proxy:
        monkeypatch.setenv("https_proxy", f"https://127.0.0.1:{proxy.port}")
        assert run("engine", server)["outcome"] == "requested"
        assert run("engine", server, tls_fingerprint=None, ca_path=str(authority.path))["outcome"] == "requested"
        assert "the certificate was changed" in run("engine", server, tls_fingerprint="0" * 64)["msg"]
        untrusted = run("engine", server, tls_fingerprint=None)
        assert f"tls_fingerprint: {server.certificate.fingerprint}" in untrusted["msg"]
    assert len(proxy.heads) >= 5


@pytest.mark.parametrize(
    "address", ["socks5://user:pr0xy-pass@127.0.0.1:9", "ftp://127.0.0.1:9", "http://[pr0xy-pass", ":::"]
)
def test_a_proxy_that_cannot_be_used(start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    server = start()
    monkeypatch.setenv("https_proxy", address)
    result = run("engine", server)
    assert result["outcome"] == "rejected"
    assert "no_proxy" in result["msg"]
    assert "pr0xy-pass" not in str(result)
    assert server.connections == 0


def test_a_proxy_that_refuses(start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    server = start()
    with Proxy(refuses=True) as proxy:
        monkeypatch.setenv("https_proxy", f"http://user:pr0xy-pass@127.0.0.1:{proxy.port}")
        result = run("engine", server)
    assert result["outcome"] == "rejected"
    assert "the proxy that the environment names answers HTTP 407" in result["msg"]
    assert "no_proxy" in result["msg"]
    assert len(proxy.heads) == 1, "it is no outage, which would be over after a while"
    assert "pr0xy-pass" not in str(result)
    assert server.connections == 0


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def test_nobody_listens(start: Callable[..., Any]) -> None:
    result = run("engine", start(), base_url=f"https://127.0.0.1:{_free_port()}")
    assert result["outcome"] == "rejected"
    assert "cannot be reached: the connection was refused" in result["msg"]


def test_a_proxy_for_http_alone_is_not_blamed(start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{_free_port()}")
    result = run("engine", start(), base_url=f"https://127.0.0.1:{_free_port()}", retries=0)
    assert "cannot be reached: the connection was refused" in result["msg"]


def test_a_name_that_does_not_exist(start: Callable[..., Any]) -> None:
    result = run("engine", start(), base_url="https://no-such-host.invalid", retries=0)
    assert "its name cannot be resolved" in result["msg"]


def _slowly(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, seconds: float) -> None:
    original = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *args, **kwargs: time.sleep(seconds) or original(*args, **kwargs))


@pytest.mark.parametrize(
    ("module", "name"), [(socket, "getaddrinfo"), (urllib3.util.connection, "create_connection")], ids=["name", "dial"]
)
@pytest.mark.parametrize("drips", [False, True])
def test_what_is_connected_after_the_deadline_is_sent_nothing(
    start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, module: Any, name: str, drips: bool
) -> None:
    def drip(raw: socket.socket) -> None:
        for _ in range(300):
            raw.sendall(b"\x16")
            time.sleep(0.1)

    server = start(greeting=drip if drips else None, sessions={"given"})
    _slowly(monkeypatch, module, name, 1.5)
    begin = time.monotonic()
    result = run("engine", server, sessionid="given", timeout=1, retries=0)
    assert time.monotonic() - begin < 3, "the peer goes on for 30 s"
    assert result["outcome"] == "rejected"
    assert "cannot be reached: no connection came about in time" in result["msg"]
    assert server.requests == []


@pytest.mark.parametrize(
    "greeting",
    [
        pytest.param(lambda raw: raw.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"), id="plain HTTP"),
        pytest.param(lambda raw: raw.close(), id="closes at once"),
        pytest.param(lambda raw: [*iter(lambda: raw.recv(65536), b"")], id="never shakes hands"),
        pytest.param(
            lambda raw: [raw.sendall(b"\x16") or time.sleep(0.2) for _ in range(150)], id="drips its handshake"
        ),
    ],
)
def test_no_tls(start: Callable[..., Any], greeting: Any) -> None:
    server = start(greeting=greeting)
    begin = time.monotonic()
    result = run("engine", server, timeout=1)
    assert result["outcome"] == "rejected"
    assert "cannot be reached" in result["msg"]
    assert time.monotonic() - begin < 6, "a peer that does not end goes on for 30 s, each of two times"


FRAMES = {
    "a length": message(200, b"", length=9999),
    "a length, and the end of the connection": message(200, b"", ["Connection: close"], length=9999),
    "the end of the connection": message(200, b"", length=-1),
    "HTTP/1.0": b"HTTP/1.0 200 OK\r\n\r\n",
    "chunks": message(200, b"9999\r\n", ["Transfer-Encoding: chunked"], length=-1),
}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(("module", "path"), [("login", LOGIN), ("license", LICENSE), ("engine", INSTALL)])
def test_a_body_that_drips_ends_with_the_time(
    start: Callable[..., Any], tmp_path: Path, frame: str, module: str, path: str
) -> None:
    """However its end is told: Python gives the connection away where that is the end of the body."""
    server = start({path: [drip(b"", 0.1, b"x", FRAMES[frame])]}, sessions={"given"})
    session = {} if module == "login" else {"sessionid": "given"}
    more = {"dest": str(tmp_path / "license")} if module == "license" else {}
    begin = time.monotonic()
    result = run(module, server, timeout=2, retries=0, **session, **more)
    assert result["failed"]
    assert "did not end within 2 s" in result["msg"], result
    assert time.monotonic() - begin < 15


def test_a_body_that_never_comes_ends_with_the_time_whichever_clock_is_first(
    start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine the thread that ends what is late may come after the socket's own time."""
    monkeypatch.setattr(Wire, "cut", lambda wire: None)
    server = start({LOGIN: [drip(b"", 10, b"x", FRAMES["a length"])]})
    result = run("login", server, timeout=1, retries=0)
    assert "did not end within 1 s" in result["msg"], result


def test_an_install_waits_for_a_server_that_is_not_up_yet(start: Callable[..., Any]) -> None:
    """A refused connection is tried again, even for the request that is never sent twice."""
    other, port = start(), _free_port()
    servers: list[Any] = []
    later = threading.Timer(0.6, lambda: servers.append(start(wanted_port=port, sessions={"given"})))
    later.start()
    result = run("engine", other, base_url=f"https://127.0.0.1:{port}", sessionid="given", retries=4)
    later.join(10)
    assert result["outcome"] == "requested", result
    assert servers[0].seen == {INSTALL: 1}


def test_retry_after_is_waited_for(start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    server = start({LICENSE: [answer(503, "", "Retry-After: 2"), for_session(answer(200, LICENSE_TEXT))]})
    pauses: list[float] = []
    sleep = time.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: pauses.append(seconds) or sleep(seconds))
    console = Console(_connection(server, timeout=30))
    begin = time.monotonic()
    assert console.call(Request("GET", LICENSE)).answer.body == LICENSE_TEXT
    assert time.monotonic() - begin >= 2
    assert 2 <= sum(pauses) < 3.5


@pytest.mark.parametrize("seconds", [120, 25_000])
def test_a_wait_that_is_too_long_is_told(start: Callable[..., Any], seconds: int) -> None:
    server = start({LOGIN: [answer(503, "busy", f"Retry-After: {seconds}")]})
    said = run("login", server)["msg"]
    assert "could not serve the login: it answered HTTP 503" in said
    assert f"and asks to be left alone for {seconds} s." in said
    assert server.seen == {LOGIN: 1}


STRANGE_WAITS = ["Mon, 01 Jan 99999 00:00:00 GMT", "9" * 5000, "9" * 400, "-1", "soon", "1e3"]


@pytest.mark.parametrize("value", STRANGE_WAITS, ids=lambda value: value[:30])
def test_a_wait_that_cannot_be_read_changes_nothing(start: Callable[..., Any], value: str) -> None:
    header = f"Retry-After: {value}"
    server = start({INSTALL: [for_session(answer(200, '{"code":0}', header))], LICENSE: [answer(503, "", header)]})
    assert run("engine", server)["outcome"] == "requested"
    with pytest.raises(ConsoleError, match="503"):
        answer_at(Console(_connection(server)), LICENSE)


@pytest.mark.parametrize(
    "behaviour",
    [
        pytest.param(answer(503, "busy"), id="busy"),
        pytest.param(answer(401, "no"), id="rejected"),
        pytest.param(cut(), id="cut"),
        pytest.param(silence(), id="silent"),
    ],
)
def test_the_same_trouble_has_the_same_words(start: Callable[..., Any], behaviour: Any) -> None:
    """So that a run can say once what all its hosts meet."""
    server = start({LOGIN: [behaviour]})
    assert len({run("login", server, timeout=1)["msg"] for _ in range(3)}) == 1
    assert len({run("login", server, base_url="https://127.0.0.1:9", retries=0)["msg"] for _ in range(2)}) == 1


def test_a_list_is_read_in_a_session_that_is_made_anew(start: Callable[..., Any]) -> None:
    path = "/console/engines"
    good = for_session(answer(200, '{"items":[{"name":"edge-1"}]}'))
    server = start({path: [expiring(answer(200, LOGIN_PAGE, kind="text/html")), good]})
    assert answer_at(Console(_connection(server)), path) == {"items": [{"name": "edge-1"}]}
    assert server.seen == {LOGIN: 2, path: 2}
    with pytest.raises(ConsoleError, match=r"gave no JSON.*HTTP 404"):
        answer_at(Console(_connection(server)), "/elsewhere")


def _connection(server: Any, timeout: int = 2) -> Connection:
    given = {option: rules.get("default") for option, rules in CONNECTION_ARGUMENTS.items()}
    given.update(base_url=server.base_url, username="admin", password=PASSWORD, timeout=timeout, retries=1)
    return Connection.from_params({**given, "tls_fingerprint": server.certificate.fingerprint})


def test_a_long_list_is_read_and_one_that_is_too_long_is_told_as_such(start: Callable[..., Any]) -> None:
    """Ten thousand engines, of a kilobyte each."""
    engines = [{"name": f"edge-{n}", "ip": "192.0.2.1", "st": "up", "more": "x" * 1000} for n in range(10_000)]
    behaviours = {
        "/long": json.dumps({"items": engines}).encode(),
        "/too-large": json.dumps({"items": ["x" * 2**20] * 16}).encode(),
        "/too-many": b"[" + b"0," * 2**20 + b"0]",
    }
    server = start({path: [for_session(answer(200, body))] for path, body in behaviours.items()})
    console = Console(_connection(server))
    assert len(answer_at(console, "/long")["items"]) == 10_000
    for path in ("/too-large", "/too-many"):
        with pytest.raises(ConsoleError, match="gave more in one answer than is read: 16 MiB") as error:
            answer_at(console, path)
        assert "page_parameter" in error.value.remedy
        assert "JSON" not in str(error.value)


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        pytest.param(
            answer(429, "busy", "Retry-After: 99"),
            "HTTP 429 with text: busy, and asks to be left alone for 99 s.",
            id="busy",
        ),
        pytest.param(
            answer(503, "{}", "Retry-After: 90"),
            "HTTP 503 with JSON: {}, and asks to be left alone for 90 s.",
            id="down",
        ),
        pytest.param(answer(500, "{}"), "HTTP 500 with JSON: {}.", id="in trouble"),
        pytest.param(answer(408, ""), "HTTP 408 with an empty body.", id="late"),
        pytest.param(cut(message(200, b'{"items": [', length=99)), "broke off after", id="cut off"),
        pytest.param(drip(message(200, b"", length=9999), 0.01, b" "), "did not end within 2 s", id="too slow"),
    ],
)
def test_a_list_that_the_console_could_not_serve(start: Callable[..., Any], behaviour: Any, words: str) -> None:
    server = start({"/console/engines": [for_session(behaviour)]})
    with pytest.raises(ConsoleError) as error:
        answer_at(Console(_connection(server, timeout=1)), "/console/engines")
    assert "/console/engines could not serve the list: it answered " in str(error.value)
    assert words in str(error.value)
    assert error.value.remedy == "Look at the management node, or try again later."
