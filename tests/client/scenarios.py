"""What a management node may do to the client, and the expected result: one entry for each behavior."""

import datetime
import email.utils
import gzip
import json
import math
from dataclasses import dataclass, field
from typing import Any

from fake_node import (
    INSTALL,
    LICENSE,
    LICENSE_TEXT,
    LOGIN,
    PASSWORD,
    answer,
    chunked,
    cut,
    drip,
    expiring,
    flood,
    for_session,
    message,
    new_session,
    raw,
    reset,
    silence,
)

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import EngineList, fetch_engines
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import Engine, request_install
from ansible_collections.slb.fleet.plugins.module_utils._management_node.license import download_license
from ansible_collections.slb.fleet.plugins.module_utils._management_node.transport import boot_time
from ansible_collections.slb.fleet.plugins.module_utils._values import Options

LIST = "/console/engines"
ENGINE_LIST = {
    "path": LIST, "items": "items", "name": "n", "address": "ip", "state": "st", "running": ["up"]
}  # fmt: skip
LOGIN_PAGE = (
    "<!DOCTYPE html><html><head><title>Console</title></head><body>"
    '<form action="/account/login/" method="post"><input name="username">'
    '<input type="password" name="password"></form></body></html>'
)
START_PAGE = '<!doctype html><html><head><title>Console</title></head><body><div id="app"></div></body></html>'
OK = answer(200, '{"code":0,"msg":"installation started"}')
ENDED = {"401": answer(401, ""), "redirect to login": answer(302, "", "Location: /account/login/?next=/")}
ENDED_FOR_GET = {
    **ENDED,
    "login page": answer(200, LOGIN_PAGE, kind="text/html"),
    "JSON code 401": answer(200, '{"code":401,"msg":"no"}'),
}
NO_ANSWER = {"timeout": 1, "retries": 0}
UNAVAILABLE = "management_node_unavailable"


@dataclass(frozen=True)
class Scenario:
    """``call``: login, engine, license or list. ``replies``: to the path of the call; ``login``: to the login.

    ``code``: of the expected error, empty if the call succeeds. ``outcome``: of an install. ``seen``: number of logins
    and of calls that the node sees. ``served``: start with a session that has served. ``node``: options of the fake
    node; ``certificate``: its name. ``proxy``: options of a proxy. ``environment``: variables, with {ca} and {proxy}.
    ``cause``: part of the message. ``cookies``: of the session that has served.
    ``connections``: number of connections; None for any. ``engine_list``: keys that differ.
    ``names``: of the variables of options. ``transport``: values in the module transport. ``send_within``: seconds in
    which an install request is sent.
    """

    name: str
    call: str
    replies: list[Any] = field(default_factory=list)
    code: str = ""
    outcome: str = ""
    seen: tuple[int, int] = (1, 1)
    login: list[Any] = field(default_factory=lambda: [new_session()])
    options: dict[str, Any] = field(default_factory=dict)
    served: bool = False
    node: dict[str, Any] = field(default_factory=dict)
    certificate: str = "valid"
    proxy: dict[str, Any] | None = None
    environment: dict[str, str] = field(default_factory=dict)
    cause: str = ""
    cookies: dict[str, str] = field(default_factory=dict)
    connections: int | None = None
    engine_list: dict[str, Any] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    transport: dict[str, Any] = field(default_factory=dict)
    send_within: float = math.inf

    @property
    def path(self) -> str:
        return str(self.engine_list.get("path", PATHS[self.call]))


def _date(seconds: float) -> str:
    date = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return email.utils.format_datetime(date, usegmt=True)


def _cookie_back(*pairs: str) -> Any:
    """Accept a request that has the session and these cookies, and no other."""

    def reply(exchange: Any) -> None:
        sent = exchange.request.headers.get("cookie", "").split("; ")
        is_right = {each for each in sent if not each.startswith("sessionid=")} == set(pairs)
        (OK if is_right else answer(400, f"cookies: {len(sent)}"))(exchange)

    return reply


def _with_kind(kind: str | None, then: Any) -> Any:
    """Accept a request whose body has this kind; None for a request without a body."""
    return lambda exchange: (then if exchange.request.headers.get("content-type") == kind else answer(415))(exchange)


def _with_csrf(exchange: Any) -> None:
    headers = exchange.request.headers
    is_right = headers.get("x-csrftoken") == exchange.cookie("csrftoken") == "t0ken"
    (OK if is_right and headers.get("referer") == f"{exchange.server.base_url}/" else answer(400))(exchange)


def _login_with_csrf(exchange: Any) -> None:
    if exchange.request.method == "GET":
        answer(200, LOGIN_PAGE, "Set-Cookie: csrftoken=t0ken; Path=/account")(exchange)
    else:
        is_right = exchange.request.headers.get("x-csrftoken") == "t0ken"
        (new_session() if is_right else answer(403, "CSRF verification failed."))(exchange)


def _greet(data: bytes) -> Any:
    return lambda raw_socket: raw_socket.sendall(data)


def _alert(number: int) -> Any:
    """Answer the first message of TLS with a fatal alert."""

    def reply(raw_socket: Any) -> None:
        raw_socket.recv(65536)
        raw_socket.sendall(b"\x15\x03\x01\x00\x02\x02" + bytes([number]))
        raw_socket.recv(65536)

    return reply


def _header_back(name: str, value: str) -> Any:
    return lambda exchange: (OK if exchange.request.headers.get(name) == value else answer(400))(exchange)


HINTS = b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"


def _hinted(then: Any) -> Any:
    return lambda exchange: (exchange.send(HINTS), then(exchange))


CLIENT_CERT = {"client_cert": "{client_chain}", "client_key": "{client_key}"}
WRONG_PIN = {"tls_fingerprint": "0" * 64}
NO_PIN = {"tls_fingerprint": None}
CA = {"tls_fingerprint": None, "ca_path": "{ca}"}
TLS = [
    Scenario("pin", "engine", outcome="requested"),
    Scenario("pin of openssl", "engine", outcome="requested", options={"tls_fingerprint": "{openssl}"}),
    Scenario("wrong pin", "engine", code="tls_pin_mismatch", outcome="rejected", seen=(0, 0), options=WRONG_PIN),
    Scenario(
        "wrong pin, no validation", "engine", code="tls_pin_mismatch", outcome="rejected", seen=(0, 0),
        options={**WRONG_PIN, "validate_certs": False}
    ),
    Scenario(
        "wrong pin behind a proxy", "engine", code="tls_pin_mismatch", outcome="rejected", seen=(0, 0),
        options=WRONG_PIN, proxy={}, environment={"https_proxy": "{proxy}"}
    ),
    Scenario(
        "wrong pin behind a proxy with TLS", "engine", code="tls_pin_mismatch", outcome="rejected", seen=(0, 0),
        options=WRONG_PIN, proxy={"tls": True}, environment={"https_proxy": "{proxy}"}
    ),
    Scenario("CA", "engine", outcome="requested", options=CA),
    Scenario("no validation", "engine", outcome="requested", options={**NO_PIN, "validate_certs": False}),
    Scenario("unknown CA", "engine", code="tls_untrusted", outcome="rejected", seen=(0, 0), options=NO_PIN),
    Scenario("expired", "login", code="tls_untrusted", seen=(0, 0), options=CA, certificate="expired"),
    Scenario("other name", "login", code="tls_untrusted", seen=(0, 0), options=CA, certificate="other name"),
    Scenario("expired and pinned", "login", seen=(1, 0), certificate="expired"),
    Scenario(
        "unknown CA behind a proxy", "login", code="tls_untrusted", seen=(0, 0), options=NO_PIN,
        proxy={}, environment={"https_proxy": "{proxy}"}
    ),
    Scenario(
        "CA bundle of the environment", "login", code="tls_untrusted", seen=(0, 0), options=NO_PIN,
        environment={"REQUESTS_CA_BUNDLE": "{ca}", "CURL_CA_BUNDLE": "{ca}"}
    ),
]  # fmt: skip

CONNECTIONS = [
    Scenario("path prefix", "engine", outcome="requested", node={"prefix": "/console/v2"}),
    Scenario("IPv6", "engine", outcome="requested", node={"host": "::1"}),
    Scenario("plain HTTP", "login", code=UNAVAILABLE, cause="TLS", seen=(0, 0), node={"greetings": [_greet(b"HTTP/1.1 400 B\r\n\r\n")] * 2}),
    Scenario(
        "handshake cut once", "engine", outcome="requested", served=True, seen=(0, 1),
        node={"greetings": [lambda raw_socket: raw_socket.close()]}
    ),
    Scenario(
        "handshake without end", "engine", code=UNAVAILABLE, outcome="rejected", seen=(0, 0), options=NO_ANSWER,
        node={"greetings": [lambda raw_socket: [*iter(lambda: raw_socket.recv(65536), b"")]]}
    ),
    *(
        Scenario(f"TLS alert {number}", "login", code=UNAVAILABLE, cause="TLS", seen=(0, 0), node={"greetings": [_alert(number)] * 2})
        for number in (40, 70, 71)
    ),
    Scenario("client certificate", "engine", outcome="requested", options=CLIENT_CERT, node={"client_ca": "{ca}"}),
    Scenario("client certificate missing", "login", code=UNAVAILABLE, cause="TLS", seen=(0, 0), connections=1, node={"client_ca": "{ca}"}),
    Scenario("client certificate of no use", "login", code="invalid_option", seen=(0, 0), options={"client_cert": "{client_key}"}),
    Scenario(
        "headers", "engine", [_header_back("cf-access-client-secret", "t0ken for all")], outcome="requested",
        options={"headers": {"CF-Access-Client-Secret": "t0ken for all"}}
    ),
    Scenario("header in the answer", "engine", [answer(400, "bad t0ken for all")], code="install_rejected", outcome="rejected",
        options={"headers": {"X-Key": "t0ken for all"}}),
    *(
        Scenario(f"token of a header in the answer, {kind}", "engine", [answer(400, f"invalid token {kind}-of-t0ken1")], code="install_rejected",
            outcome="rejected", options={"headers": {"Authorization": f"{kind} {kind}-of-t0ken1", "X-Key": f'k="{kind}-of-t0ken1"; a=b'}})
        for kind in ("Bearer", "Basic")
    ),
    Scenario("password of a header in the answer", "engine", [answer(400, "got bob:t0ken1 and t0ken1")], code="install_rejected",
        outcome="rejected", options={"headers": {"Authorization": "Basic Ym9iOnQwa2VuMQ=="}}),
    Scenario("informational answers", "engine", [raw(HINTS + message(200, b'{"code":0}'))], outcome="requested", login=[_hinted(new_session())]),
    Scenario("unknown host", "login", code=UNAVAILABLE, seen=(0, 0), options={"base_url": "https://no-such-host.invalid"}),
    Scenario("proxy", "engine", outcome="requested", proxy={}, environment={"https_proxy": "{proxy}"}),
    Scenario("proxy with TLS", "engine", outcome="requested", proxy={"tls": True}, environment={"HTTPS_PROXY": "{proxy}"}),
    Scenario(
        "proxy without TLS called https", "login", code=UNAVAILABLE, cause="TLS", seen=(0, 0),
        node={"greetings": [_greet(b"HTTP/1.1 400 B\r\n\r\n")] * 2}, environment={"https_proxy": "https://127.0.0.1:{port}"}
    ),
    Scenario(
        "no_proxy", "engine", outcome="requested", environment={"https_proxy": "http://127.0.0.1:9", "no_proxy": "127.0.0.1"}
    ),
    Scenario(
        "proxy that answers 407", "engine", code=UNAVAILABLE, outcome="rejected", seen=(0, 0), proxy={"refuses": True},
        environment={"https_proxy": "{proxy}"}, cause="answered HTTP 407"
    ),
    *(
        Scenario(f"proxy {address}", "engine", code=UNAVAILABLE, outcome="rejected", seen=(0, 0), environment={"https_proxy": address})
        for address in ("socks5://user:pr0xy-pass@127.0.0.1:9", "http://[pr0xy-pass")
    ),
]  # fmt: skip

COOKIES = [
    *(
        Scenario(f"cookie with {attributes}", "engine", outcome="requested", login=[new_session(extra=attributes)])
        for attributes in ("; Path=/account", "; Domain=other.example")
    ),
    Scenario("JSON is sent as JSON", "engine", [_with_kind("application/json", OK)], outcome="requested"),
    Scenario(
        "cookie of a load balancer", "engine", [_cookie_back("node=b7", "lang=zh")], outcome="requested",
        login=[new_session("Set-Cookie: node=b7; Path=/account/login", "Set-Cookie: lang=zh")]
    ),
    Scenario(
        "cookies as a browser", "engine", [_cookie_back("/Common/console--pool=!a+/=", "srv:console=two words", "b=2")], outcome="requested",
        login=[new_session("Set-Cookie: /Common/console--pool=!a+/=; path=/", "Set-Cookie: srv:console=two words; Path=/,b=2")]
    ),
    Scenario("CSRF token", "engine", [_with_csrf], outcome="requested", login=[new_session("Set-Cookie: csrftoken=t0ken")]),
    Scenario("CSRF token for the login", "login", seen=(3, 0), login=[_login_with_csrf]),
]  # fmt: skip

LOGINS = [
    Scenario("redirect after login", "login", seen=(1, 0), login=[new_session("Location: /console/", "Content-Encoding: gzip", status=302, body="")]),
    Scenario("login: redirect", "login", code="unexpected_answer", cause="redirect", seen=(1, 0), login=[answer(302, "", "Location: https://sso.example/login?token=t0ken")]),
    *(
        Scenario(f"login rejected, {name}", "engine", code="login_rejected", outcome="rejected", seen=(1, 0), login=[reply], cause=cause)
        for name, cause, reply in (
            ("401", "bad password", answer(401, '{"msg":"bad password"}')),
            ("200 with a cookie and a failure", "密码错误", new_session(body='{"success":false,"msg":"密码错误"}')),
            ("no cookie", "HTTP 200", answer(200, '{"code":0}')),
            ("cookie removed", "HTTP 200", answer(200, "", 'Set-Cookie: sessionid=""; expires=Thu, 01 Jan 1970 00:00:00 GMT')),
            ("a token in place of a cookie", "ok", answer(200, '{"msg":"ok","token":"a-t0ken-1"}')),
            ("a token as text", "HTTP 200", answer(200, "t0ken", kind="text/plain")),
            ("a token in the message", "Welcome", answer(401, '{"message":"Welcome, a-t0ken-1","data":{"accessToken":"a-t0ken-1"}}')),
            ("404", "HTTP 404", answer(404, START_PAGE)),
        )
    ),
    Scenario("login that is busy", "engine", outcome="requested", seen=(2, 1), login=[answer(503), new_session()]),
    Scenario("login during a maintenance", "engine", outcome="requested", seen=(2, 1), login=[answer(200, START_PAGE, kind="text/html"), new_session()]),
    *(
        Scenario(f"login unavailable, {name}", "engine", code=UNAVAILABLE, outcome="rejected", seen=(logins, 0), login=[reply], cause=cause)
        for name, logins, cause, reply in (
            ("503", 2, "HTTP 503", answer(503)), ("429", 1, "locked", answer(429, '{"error":"account locked"}')),
            ("500", 1, "HTTP 500", answer(500, '{"error":"wrong password"}')), ("JSON 500", 1, "database", answer(200, '{"code":500,"msg":"database"}')),
            ("cut", 1, "", cut()),
        )
    ),
    # The cookie of a login may be of no use: its first call shows it. Whether the login states success decides the code.
    *(
        Scenario(f"session of no use, {name}, then {ended}", "list", [reply], login=[new_session(body=body)], code=code, seen=(3, 3))
        for name, body, code in (
            ("200 and a start page", START_PAGE, "login_rejected"), ("200 and no body", "", "login_rejected"), ("200 and JSON", '{"code": 0, "data": {}}', "session_replaced"),
        )
        for ended, reply in ENDED_FOR_GET.items()
    ),
    Scenario("session of no use, install", "engine", [answer(401)], code="session_replaced", outcome="rejected", login=[new_session(body=START_PAGE)], seen=(2, 2)),
    Scenario("given session", "engine", code="session_rejected", outcome="rejected", seen=(0, 1),
        options={"sessionid": "ended", "username": None, "password": None}),
]  # fmt: skip


def _rotating(then: Any) -> Any:
    """Change the session id with each answer."""

    def reply(exchange: Any) -> None:
        server = exchange.server
        if exchange.cookie("sessionid") not in server.sessions:
            answer(401)(exchange)
            return
        server.sessions = {server.new_session()}
        then(f"Set-Cookie: sessionid={next(iter(server.sessions))}; Path=/")(exchange)

    return reply


def _csrf_always(exchange: Any) -> None:
    last = int(exchange.request.headers.get("x-csrftoken", "0").rpartition("-")[2])
    answer(403, "CSRF token missing", f"Set-Cookie: csrftoken=t0ken-{last + 1:04}")(exchange)


def _csrf_once(exchange: Any) -> None:
    """Refuse the first token, and give another one with the refusal."""
    is_first = exchange.request.headers.get("x-csrftoken") == "t0ken-0001"
    (answer(403, "CSRF token missing", "Set-Cookie: csrftoken=t0ken-0002") if is_first else OK)(exchange)


_ANSWER = {"list": '{"items":[],"total":0}', "engine": '{"code":0}'}
SESSIONS = [
    *(
        Scenario(f"session id that changes with the answer, {call}", call, [_rotating(lambda cookie, call=call: answer(200, _ANSWER[call], cookie))],
            outcome="requested" if call == "engine" else "", seen=(1, 1))
        for call in _ANSWER
    ),
    *(
        Scenario(f"answer about the session, and {name}", "engine", [answer(status, body, *headers)], code="install_not_confirmed", outcome="unknown",
            served=True, seen=(0, 1), cookies={"csrftoken": "t0ken-0001"})
        for name, status, body, headers in (
            ("success", 401, '{"success":true}', ()), ("a deployment", 401, '{"msg":"deployment in progress"}', ()), ("202", 202, '{"code":401,"msg":"queued"}', ()),
            ("a timeout", 403, '{"msg":"upstream timed out"}', ("Set-Cookie: csrftoken=t0ken-0002",)),
        )
    ),
    *(
        Scenario(f"session id in a redirect, {call}", call, [answer(302, "", "Location: /console/page;jsessionid=t0ken-0003?sid=t0ken-0003")],
            code=code, outcome=outcome, served=True, seen=(0, 1), cookies={"other": "t0ken-0003"})
        for call, code, outcome in (("engine", "install_not_confirmed", "unknown"), ("list", "unexpected_answer", ""), ("license", "unexpected_answer", ""))
    ),
    Scenario("CSRF token that has changed", "engine", [_csrf_once], outcome="requested", seen=(1, 2), login=[new_session("Set-Cookie: csrftoken=t0ken-0001")]),
    Scenario("CSRF token that changes each time", "engine", [_csrf_always], code="install_rejected", outcome="rejected", seen=(1, 2),
        login=[new_session("Set-Cookie: csrftoken=t0ken-0001")]),
    Scenario("403 with the newest token", "engine", [answer(403, '{"detail":"no permission"}')], code="install_rejected", outcome="rejected",
        login=[new_session("Set-Cookie: csrftoken=t0ken-0001")]),
    *(
        Scenario(f"session that ended, {name}", "list", [answer(status, body, kind=kind)], code=code, cause=cause, served=True, seen=(1, 2) if name == "page" else (0, calls))
        for name, status, body, kind, code, cause, calls in (
            ("500", 500, '{"msg":"token is expired"}', "application/json", "engine_list_unavailable", "token is expired", 1),
            ("419", 419, '{"msg":"Page Expired"}', "application/json", "engine_list_unavailable", "Page Expired", 1),
            ("440", 440, "", "text/plain", "engine_list_unavailable", "HTTP 440", 1),
        )
    ),
    Scenario("session that ended, page", "list", [answer(200, START_PAGE, kind="text/html"), answer(200, '{"items":[]}')], served=True, seen=(1, 2)),
]  # fmt: skip

RETRIES = [
    Scenario(
        "Retry-After as a date", "list", [answer(429, "", f"Retry-After: {_date(-5)}"), answer(200, '{"items":[]}')], seen=(1, 2)
    ),
    *(
        Scenario(f"Retry-After: {value[:20]}", "list", [answer(503, "", f"Retry-After: {value}")], code=UNAVAILABLE)
        for value in ("31536000", "9" * 400, _date(86400))
    ),
    *(
        Scenario(f"Retry-After: {value[:30]}", "list", [answer(503, "", f"Retry-After: {value}")], code=UNAVAILABLE, seen=(1, 2))
        for value in ("soon", "-1", "1e3", "Mon, 01 Jan 99999 00:00:00 GMT")
    ),
    *(
        Scenario(f"{call}: {status} without end", call, [answer(status, "<html>Maintenance</html>", kind="text/html")], code=UNAVAILABLE, cause="Maintenance", seen=(1, 2))
        for call in ("list", "license") for status in (200, 429, 502, 503, 504)
    ),
    Scenario("list cut", "list", [cut(message(200, b'{"items"', length=99)), answer(200, '{"items":[]}')], seen=(1, 2)),
    Scenario("list without answer", "list", [reset(), answer(200, '{"items":[]}')], seen=(1, 2)),
    Scenario("no HTTP", "list", [raw(b"SSH-2.0-OpenSSH_9.2\r\n")], code=UNAVAILABLE, seen=(1, 2)),
    Scenario("130 headers", "list", [answer(200, "{}", *(f"X-{number}: 1" for number in range(130)))], code=UNAVAILABLE, cause="100 headers", seen=(1, 2)),
]  # fmt: skip

_STALLS = {
    "silence": silence(),
    "headers that drip": drip(b"HTTP/1.1 200 OK\r\n", 0.1, b"X: y\r\n"),
    "body that drips": drip(b"", 0.1, b"x", message(200, b"", length=9999)),
    "body without length that drips": drip(b"", 0.1, b"x", message(200, b"", length=-1)),
    "chunk that drips": drip(b"", 0.1, b"x", message(200, b"9999\r\n", ["Transfer-Encoding: chunked"], length=-1)),
}
STALLS = [
    *(
        Scenario(f"install: {name}", "engine", [reply], code="install_not_confirmed", outcome="unknown", served=True, seen=(0, 1), options=NO_ANSWER)
        for name, reply in _STALLS.items()
    ),
    Scenario("login: silence", "login", code=UNAVAILABLE, seen=(1, 0), login=[silence()], options={"timeout": 1, "retries": 2}),
    Scenario("list: body that drips", "list", [_STALLS["body that drips"]], code=UNAVAILABLE, served=True, seen=(0, 1), options=NO_ANSWER),
]  # fmt: skip


def _install(
    name: str, outcome: str, *replies: Any, code: str = "", seen: tuple[int, int] = (0, 1), **more: Any
) -> Scenario:
    codes = {"rejected": "install_rejected", "unknown": "install_not_confirmed", "port_in_use": "port_in_use"}
    code = code or codes.get(outcome, "")
    return Scenario(f"install: {name}", "engine", list(replies), code, outcome, seen, served=True, **more)


INSTALLS = [
    *(_install(f"session ended, {name}", "requested", expiring(reply), for_session(OK), seen=(1, 2)) for name, reply in ENDED.items()),
    *(_install(f"never accepted, {name}", "rejected", reply, code="session_replaced", seen=(1, 2)) for name, reply in ENDED.items()),
    _install("account locked meanwhile", "rejected", answer(401), code="session_replaced", seen=(1, 1), login=[answer(401, '{"msg":"account locked"}')]),
    _install("401 about the host", "rejected", answer(401, '{"msg":"SSH authentication to 192.0.2.1 failed"}'), code="session_replaced",
        cause="SSH authentication", seen=(1, 2)),
    _install("port in use", "port_in_use", answer(409, '{"msg":"port 8000 is in use"}')),
    _install("no answer", "unknown", cut(), cause="unavailable"),
    _install("connection reset", "unknown", reset(), cause="unavailable"),
    _install("cut in the headers", "unknown", cut(b"HTTP/1.1 200 OK\r\nContent-")),
    _install("cut in the body", "unknown", cut(message(200, b'{"code":', length=99)), cause="incomplete after 8 bytes"),
    _install("200 without length and body", "unknown", cut(message(200, b"", length=-1))),
    _install("redirect elsewhere", "unknown", answer(307, "", "Location: https://other.example/"), cause="redirect to https://other.example/"),
    _install("308 to the console", "unknown", answer(308, "", "Location: https://console.example/x/system/add_slb_engine/"), cause="redirect to"),
    _install("gzip", "exists", answer(200, gzip.compress(b'{"code":1,"msg":"already exists"}'), "Content-Encoding: gzip")),
    _install("content coding br", "unknown", answer(200, gzip.compress(b'{"code":0}'), "Content-Encoding: br"), cause="content coding"),
    _install("endless body", "unknown", flood(message(200, b"", length=-1), b"x" * 65536)),
    _install("gzip bomb", "unknown", answer(200, gzip.compress(b"0" * 50_000_000), "Content-Encoding: gzip")),
    _install("cookie of the language", "rejected", answer(400, '{"msg":"The engine is open"}'), cookies={"django_language": "en"}, cause="engine"),
    _install("password in the answer, split", "rejected", answer(400, json.dumps({"msg": 'got pa"ss<w>\nörd &1, sorry'})), cause="not shown"),
    _install("password in the answer", "rejected", answer(400, json.dumps({"msg": 'got pa"ss<w>örd &1, sorry'})), cause="got ********, sorry"),
]  # fmt: skip


def _license(
    name: str, *replies: Any, code: str = "license_unusable", seen: tuple[int, int] = (1, 1), **more: Any
) -> Scenario:
    return Scenario(f"license: {name}", "license", list(replies), code, "", seen, **more)


_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LICENSES = [
    _license("complete", answer(200, LICENSE_TEXT), code=""),
    _license("asked without a body", _with_kind(None, answer(200, LICENSE_TEXT)), code=""),
    _license("in chunks", raw(_CHUNKED + chunked(LICENSE_TEXT[:9], LICENSE_TEXT[9:])), code=""),
    _license("without length", answer(200, LICENSE_TEXT, length=-1), code=""),
    _license("busy, then complete", answer(503), answer(200, LICENSE_TEXT), code="", seen=(1, 2)),
    *(
        _license(f"session ended, {name}", expiring(reply), for_session(answer(200, LICENSE_TEXT)), code="", seen=(1, 2), served=True)
        for name, reply in ENDED_FOR_GET.items()
    ),
    *(_license(f"message {body!r}", answer(200, body)) for body in ("", "Please log in first", '{"code":500,"msg":"no license"}')),
    _license("page to change the password", answer(200, "<title>Change password</title>", kind="text/html"), code=UNAVAILABLE, cause="Change password", seen=(1, 2)),
    _license("shorter than its length", answer(200, LICENSE_TEXT[:9], length=len(LICENSE_TEXT)), cause="incomplete after 9 bytes", seen=(1, 2)),
    _license("chunks without end", cut(_CHUNKED + chunked(LICENSE_TEXT, end=False)), cause="incomplete", seen=(1, 2)),
    _license("broken chunk", raw(_CHUNKED + b"zz\r\nnonsense"), cause="incomplete", seen=(1, 2)),
    _license("too large", answer(200, LICENSE_TEXT), options={"max_size": 9}, cause="larger than 9 bytes"),
]  # fmt: skip

LISTS = [
    Scenario("list", "list", [for_session(answer(200, '{"items":[{"n":"edge-1","ip":"192.0.2.1","st":"up"}]}'))]),
    Scenario("list: session ended", "list", [expiring(answer(401)), for_session(answer(200, '{"items":[]}'))], served=True, seen=(1, 2)),
    *(
        Scenario(f"list: token in the path, {code}", "list", [reply], code=code, seen=seen, engine_list={"path": f"{LIST}?token=t0ken&size=9"}, cause="?token=********", served=True)
        for code, reply, seen in (
            ("engine_list_not_as_configured", answer(404, "no /x?token=t0ken here, t0ken"), (0, 1)), ("engine_list_unavailable", answer(400, "{}"), (0, 1)),
            (UNAVAILABLE, raw(b"x"), (0, 2)), ("session_replaced", answer(401, "token t0ken"), (3, 4)),
        )
    ),
    Scenario("list: 17 MiB", "list", [answer(200, json.dumps({"items": ["x" * 2**20] * 17}))], code="engine_list_unavailable"),
    Scenario("list: a million values", "list", [answer(200, b"[" + b"0," * 2**20 + b"0]")], code="engine_list_unavailable"),
]  # fmt: skip

BEFORE = [
    Scenario("packages missing", "login", code="requests_missing", seen=(0, 0), transport={"_IMPORT_ERROR": "No module named 'requests'"}),
    Scenario("option missing", "login", code="missing_option", seen=(0, 0), options={"password": None}),
    Scenario("variable missing", "login", code="missing_variable", seen=(0, 0), options={"password": None}, names={"password": "slb_password"}),
    Scenario("request too late", "engine", code="request_too_late", outcome="rejected", seen=(1, 0), send_within=-1),
    Scenario("request in time", "engine", outcome="requested", send_within=60),
]  # fmt: skip

SCENARIOS = [*BEFORE, *TLS, *CONNECTIONS, *COOKIES, *LOGINS, *SESSIONS, *RETRIES, *STALLS, *INSTALLS, *LICENSES, *LISTS]
# What the fix of a failure names, and what it does not: for all failures with a code, and for those of single scenarios.
ADVICE: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "engine_list_not_as_configured": (("slb_engine_list",), ("password",)),
    "engine_list_unavailable": ((), ("password",)),
    "install_not_confirmed": (("web console", "slb_success_codes"), ("password",)),
    "install_rejected": ((), ("password",)),
    "invalid_option": (("PEM",), ()),
    "license_unusable": (("web console",), ("password",)),
    "login_rejected": (("password", "locked"), ("base_url",)),
    "management_node_unavailable": ((), ("password", "ca_path", "tls_fingerprint")),
    "missing_option": (("slb_password", "SLB_PASSWORD_FILE"), ()),
    "missing_variable": (("slb_password", "SLB_PASSWORD_FILE"), ()),
    "port_in_use": (("on the host",), ("password",)),
    "request_too_late": (("run again",), ("password", "base_url")),
    "requests_missing": (("requests>=", "urllib3>="), ("password", "base_url")),
    "session_rejected": (("sessionid",), ()),
    "session_replaced": (("user",), ("password",)),
    "tls_pin_mismatch": (("tls_fingerprint",), ("ca_path", "password")),
    "tls_untrusted": (("tls_fingerprint",), ("password",)),
    "unexpected_answer": (("base_url",), ("password",)),
}
ADVICE_OF_SCENARIO: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "CA bundle of the environment": (("ca_path", "tls_fingerprint"), ("clock",)),
    "expired": (("clock",), ("ca_path",)),
    "handshake without end": (("base_url",), ("proxy", "timeout")),
    "install: account locked meanwhile": (("locked",), ("password",)),
    "install: no answer": (("before you repeat it",), ("base_url", "proxy", "timeout")),
    "install: redirect elsewhere": (("set base_url", "before you repeat it"), ()),
    "install: 308 to the console": (("Set base_url to https://console.example/x.", "before you repeat it"), ()),
    "list: 200 without end": (("Run again later", "path"), ()),
    "login rejected, 404": (("base_url",), ("password",)),
    "login rejected, no cookie": (("base_url",), ("password",)),
    "session of no use, install": (("user", "password"), ()),
    "other name": (("tls_fingerprint",), ("ca_path", "clock")),
    "plain HTTP": (("base_url", "port"), ("proxy",)),
    "proxy socks5://user:pr0xy-pass@127.0.0.1:9": (("HTTP proxy", "no_proxy"), ("base_url",)),
    "proxy without TLS called https": (("https_proxy",), ()),
    "proxy that answers 407": (("https_proxy", "no_proxy"), ()),
    "session that ended, 500": ((), ("path", "slb_engine_list")),
    "TLS alert 40": (("client_cert",), ("proxy",)),
    "unknown CA": (("ca_path", "tls_fingerprint"), ("clock",)),
    "unknown host": (("base_url",), ("proxy", "timeout")),
}
PATHS = {"engine": INSTALL, "license": LICENSE, "list": LIST, "login": LOGIN}


def options_of(node: Any, **more: Any) -> dict[str, Any]:
    """Return the options that lead to the node."""
    pin = node.certificate.fingerprint
    return {"base_url": node.base_url, "username": "admin", "password": PASSWORD, "tls_fingerprint": pin, **more}


def run(call: str, options: dict[str, Any], store: Any = None, scenario: Scenario | None = None) -> dict[str, Any]:
    """Return the values of the call, or of its error."""
    given = scenario or Scenario("", call)
    try:
        client = Client(Connection.from_options(Options({**options, "max_size": None}, given.names)), store)
        if call == "login":
            client.log_in()
        elif call == "license":
            return {"license": download_license(client, options.get("max_size", 10**7))}
        elif call == "list":
            return {
                "engines": fetch_engines(client, EngineList.from_option({**ENGINE_LIST, **given.engine_list})).engines
            }
        else:
            send_by = boot_time() + given.send_within
            engine = Engine("edge-1", False, "192.0.2.1", 1)
            install = request_install(client, engine, {}, send_by)
            return {"outcome": install.outcome, "answer": install.answer}
    except FleetError as error:
        return error.as_result()
    return {}
