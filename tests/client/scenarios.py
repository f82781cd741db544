"""What a management node may do to the client, and the expected result: one entry for each behavior."""

from __future__ import annotations

import datetime
import email.utils
import gzip
import json
from dataclasses import dataclass, field
from typing import Any

from fake_node import (
    INSTALL,
    LICENSE,
    LICENSE_TEXT,
    LOGIN,
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
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection, Options
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import EngineList, fetch_engines
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import Engine, request_install
from ansible_collections.slb.fleet.plugins.module_utils._management_node.license import download_license
from ansible_collections.slb.fleet.plugins.module_utils._management_node.transport import boot_time

LIST = "/console/engines"
ENGINE_LIST = {
    "path": LIST, "items": "items", "name": "n", "address": "ip", "state": "st", "running": ["up"],
}  # fmt: skip
ITEM = {"n": "edge-1", "ip": "192.0.2.1", "st": "up"}
LOGIN_PAGE = (
    "<!DOCTYPE html><html><head><title>Console</title></head><body>"
    '<form action="/account/login/" method="post"><input name="username">'
    '<input type="password" name="password"></form></body></html>'
)
START_PAGE = '<!doctype html><html><head><title>Console</title></head><body><div id="app"></div></body></html>'
OK = answer(200, '{"code":0,"msg":"installation started"}')
ENDED = {
    "401": answer(401, ""),
    "redirect to login": answer(302, "", "Location: /account/login/?next=/"),
}
ENDED_FOR_GET = {
    **ENDED,
    "login page": answer(200, LOGIN_PAGE, kind="text/html"),
    "start page": answer(200, START_PAGE, kind="text/html"),
    "JSON code 401": answer(200, '{"code":401,"msg":"no"}'),
    "Chinese message": answer(200, '{"code":-1,"msg":"登录已过期 请重新登录"}'),
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
    ``gap``: kind of the list's gap; None for any.
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
    gap: str | None = None
    connections: int | None = None
    engine_list: dict[str, Any] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    transport: dict[str, Any] = field(default_factory=dict)
    send_within: float | None = None

    @property
    def path(self) -> str:
        return str(self.engine_list.get("path", PATHS[self.call]))


def _date(seconds: float) -> str:
    date = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return email.utils.format_datetime(date, usegmt=True)


def _dated(seconds: float | None) -> list[str]:
    return [] if seconds is None else [f"Date: {_date(seconds)}"]


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
    Scenario("pin with colons", "engine", outcome="requested", options={"tls_fingerprint": "{colons}"}),
    Scenario("wrong pin", "engine", code="tls_pin_mismatch", outcome="rejected", seen=(0, 0), options=WRONG_PIN),
    Scenario(
        "wrong pin, no validation", "engine", code="tls_pin_mismatch", outcome="rejected", seen=(0, 0),
        options={**WRONG_PIN, "validate_certs": False},
    ),
    Scenario(
        "wrong pin behind a proxy", "engine", code="tls_pin_mismatch", outcome="rejected", seen=(0, 0),
        options=WRONG_PIN, proxy={}, environment={"https_proxy": "{proxy}"},
    ),
    Scenario(
        "wrong pin behind a proxy with TLS", "engine", code="tls_pin_mismatch", outcome="rejected", seen=(0, 0),
        options=WRONG_PIN, proxy={"tls": True}, environment={"https_proxy": "{proxy}"},
    ),
    Scenario("CA", "engine", outcome="requested", options=CA),
    Scenario("no validation", "engine", outcome="requested", options={**NO_PIN, "validate_certs": False}),
    Scenario("unknown CA", "engine", code="tls_untrusted", outcome="rejected", seen=(0, 0), options=NO_PIN),
    Scenario("expired", "login", code="tls_untrusted", seen=(0, 0), options=CA, certificate="expired"),
    Scenario("other name", "login", code="tls_untrusted", seen=(0, 0), options=CA, certificate="other name"),
    Scenario("expired and pinned", "login", seen=(1, 0), certificate="expired"),
    Scenario(
        "unknown CA behind a proxy", "login", code="tls_untrusted", seen=(0, 0), options=NO_PIN,
        proxy={}, environment={"https_proxy": "{proxy}"},
    ),
    Scenario(
        "CA bundle of the environment", "login", code="tls_untrusted", seen=(0, 0), options=NO_PIN,
        environment={"REQUESTS_CA_BUNDLE": "{ca}", "CURL_CA_BUNDLE": "{ca}"},
    ),
]  # fmt: skip

CONNECTIONS = [
    Scenario("path prefix", "engine", outcome="requested", node={"prefix": "/console/v2"}),
    Scenario("IPv6", "engine", outcome="requested", node={"host": "::1"}),
    Scenario("plain HTTP", "login", code=UNAVAILABLE, cause="TLS", seen=(0, 0), node={"greetings": [_greet(b"HTTP/1.1 400 B\r\n\r\n")] * 2}),
    Scenario(
        "handshake cut once", "engine", outcome="requested", served=True, seen=(0, 1),
        node={"greetings": [lambda raw_socket: raw_socket.close()]},
    ),
    Scenario(
        "handshake without end", "engine", code=UNAVAILABLE, outcome="rejected", seen=(0, 0), options=NO_ANSWER,
        node={"greetings": [lambda raw_socket: [*iter(lambda: raw_socket.recv(65536), b"")]]},
    ),
    *(
        Scenario(f"TLS alert {number}", "login", code=UNAVAILABLE, cause="TLS", seen=(0, 0), connections=1, node={"greetings": [_alert(number)] * 2})
        for number in (40, 70, 71)
    ),
    Scenario("client certificate", "engine", outcome="requested", options=CLIENT_CERT, node={"client_ca": "{ca}"}),
    Scenario("client certificate missing", "login", code=UNAVAILABLE, cause="TLS", seen=(0, 0), connections=1, node={"client_ca": "{ca}"}),
    Scenario("client certificate of no use", "login", code="invalid_option", seen=(0, 0), options={"client_cert": "{client_key}"}),
    Scenario(
        "headers", "engine", [_header_back("cf-access-client-secret", "t0ken for all")], outcome="requested",
        options={"headers": {"CF-Access-Client-Secret": "t0ken for all"}},
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
    Scenario("no_proxy with a network", "engine", outcome="requested", environment={"https_proxy": "http://127.0.0.1:9", "no_proxy": "127.0.0.0/8"}),
    Scenario("no_proxy with a port", "engine", outcome="requested", environment={"all_proxy": "http://127.0.0.1:9", "no_proxy": "127.0.0.1:{port}"}),
    Scenario("informational answers", "engine", [raw(HINTS + message(200, b'{"code":0}'))], outcome="requested", login=[_hinted(new_session())]),
    Scenario("unknown host", "login", code=UNAVAILABLE, seen=(0, 0), options={"base_url": "https://no-such-host.invalid"}),
    Scenario("proxy", "engine", outcome="requested", proxy={}, environment={"https_proxy": "{proxy}"}),
    Scenario("proxy with TLS", "engine", outcome="requested", proxy={"tls": True}, environment={"HTTPS_PROXY": "{proxy}"}),
    Scenario(
        "proxy without TLS called https", "login", code=UNAVAILABLE, cause="TLS", seen=(0, 0), connections=1,
        node={"greetings": [_greet(b"HTTP/1.1 400 B\r\n\r\n")] * 2}, environment={"https_proxy": "https://127.0.0.1:{port}"},
    ),
    Scenario(
        "no_proxy", "engine", outcome="requested", environment={"https_proxy": "http://127.0.0.1:9", "no_proxy": "127.0.0.1"},
    ),
    Scenario(
        "proxy that answers 407", "engine", code=UNAVAILABLE, outcome="rejected", seen=(0, 0), proxy={"refuses": True},
        environment={"https_proxy": "{proxy}"}, cause="answered HTTP 407",
    ),
    *(
        Scenario(f"proxy {address}", "engine", code=UNAVAILABLE, outcome="rejected", seen=(0, 0), environment={"https_proxy": address})
        for address in ("socks5://user:pr0xy-pass@127.0.0.1:9", "ftp://127.0.0.1:9", "http://[pr0xy-pass", ":::")
    ),
]  # fmt: skip

COOKIES = [
    *(
        Scenario(f"cookie with {attributes}", "engine", outcome="requested", login=[new_session(extra=attributes)])
        for attributes in ("; Path=/account", "; Domain=other.example", "; Max-Age=600; SameSite=Strict", "; Expires=x")
    ),
    Scenario("JSON is sent as JSON", "engine", [_with_kind("application/json", OK)], outcome="requested"),
    Scenario(
        "cookie of a load balancer", "engine", [_cookie_back("node=b7", "lang=zh")], outcome="requested",
        login=[new_session("Set-Cookie: node=b7; Path=/account/login", "Set-Cookie: lang=zh")],
    ),
    Scenario(
        "cookies as a browser", "engine", [_cookie_back("/Common/console--pool=!a+/=", "srv:console=two words", "b=2")], outcome="requested",
        login=[new_session("Set-Cookie: /Common/console--pool=!a+/=; path=/", "Set-Cookie: srv:console=two words; Path=/,b=2")],
    ),
    Scenario(
        "folded cookie", "engine", [_cookie_back("a=1")], outcome="requested", login=[new_session("Set-Cookie: a=1;\r\n Path=/")],
    ),
    Scenario(
        "cookie that is over", "engine", [_cookie_back()], outcome="requested",
        login=[new_session("Set-Cookie: a=1; Expires=Thu, 01-Jan-1970 00:00:00 GMT")],
    ),
    Scenario(
        "cookie removed", "login", code="unexpected_answer", seen=(1, 0),
        login=[answer(200, "", 'Set-Cookie: sessionid=""; expires=Thu, 01 Jan 1970 00:00:00 GMT')],
    ),
    Scenario("CSRF token", "engine", [_with_csrf], outcome="requested", login=[new_session("Set-Cookie: csrftoken=t0ken")]),
    Scenario("CSRF token for the login", "login", seen=(3, 0), login=[_login_with_csrf]),
]  # fmt: skip

LOGINS = [
    Scenario("redirect after login", "login", seen=(1, 0), login=[new_session("Location: /console/", "Content-Encoding: gzip", status=302, body="")]),
    Scenario("words after login", "login", seen=(1, 0), login=[new_session(body='{"code":0,"tip":"Account locked after 5 tries"}')]),
    Scenario("login with a token", "login", code="unexpected_answer", seen=(1, 0), login=[answer(200, '{"msg":"ok","token":"t0ken"}')]),
    *(
        Scenario(f"login: {status} to {target}", "login", code="unexpected_answer", cause="redirect", seen=(1, 0), login=[answer(status, "", f"Location: {target}")])
        for status, target in (
            (301, "https://console.example/account/login/"), (308, "https://console.example:8443/x/account/login/"), (302, "https://sso.example/login?token=t0ken"),
            (307, "/v2/account/login/"), (301, "http://console.example/"),
        )
    ),
    Scenario(
        "login: password is over", "login", code="unexpected_answer", cause="redirect", seen=(1, 0),
        login=[new_session("Location: /account/change_password/", status=302)],
    ),
    Scenario("login with a token as text", "login", code="unexpected_answer", seen=(1, 0), login=[answer(200, "t0ken", kind="text/plain")]),
    Scenario("login with a token in the message", "login", code="login_rejected", seen=(1, 0), login=[answer(401, '{"msg":"old: eyJhbGciOiJIUzI1NiJ9.t0ken"}')]),
    *(
        Scenario(f"login that answers {code} with a token in its message", "login", code=code, seen=(1, 0), login=[answer(status, body, *headers)])
        for code, status, body, headers in (
            ("login_rejected", 401, '{"message":"Welcome, token a-t0ken-1","token":"a-t0ken-1"}', ()),
            ("unexpected_answer", 200, '{"code":0,"msg":"Welcome, a-t0ken%2D1","data":{"accessToken":"a-t0ken-1"}}', ()),
            ("unexpected_answer", 200, '{"code":0,"msg":"your a-t0\\nken-1"}', ("X-Auth-Token: a-t0ken-1",)),
        )
    ),
    Scenario("login without body", "login", seen=(1, 0), login=[new_session(body="")]),
    Scenario("no cookie", "login", code="unexpected_answer", seen=(1, 0), login=[answer(200, '{"code":0}')]),
    Scenario("too many sessions", "login", code="unexpected_answer", cause="sessions", seen=(1, 0), login=[answer(409, '{"msg":"too many sessions"}')]),
    Scenario("no login page", "login", code="unexpected_answer", seen=(1, 0), login=[answer(404, START_PAGE)]),
    *(
        Scenario(f"wrong password, {name}", "engine", code="login_rejected", outcome="rejected", seen=(1, 0), login=[reply])
        for name, reply in {
            "401": answer(401, '{"msg":"bad password"}'),
            "403": answer(403, ""),
            "400 in Chinese": answer(400, "密码错误".encode("gb18030"), kind="text/plain"),
            "200": new_session(body='{"code":1,"msg":"密码错误"}'),
            "500": answer(500, '{"error":"wrong password"}'),
            "locked, 429": answer(429, '{"error":"account locked"}'),
            "login page": new_session(body=LOGIN_PAGE),
            "redirect": answer(302, "", "Location: /login"),
        }.items()
    ),
    *(
        Scenario(
            f"wrong password, {name}, then {ended}", "list", [reply], login=[new_session(body=body)],
            **({"code": "engine_list_unavailable"} if ended == "start page" else {"code": "login_rejected", "seen": (logins, logins)}),
        )
        for name, body, logins in (
            ("200 and a start page", START_PAGE, 1),
            ("200 and no body", "", 1),
            ("200 and JSON", '{"code": 0, "data": {}}', 3),
        )
        for ended, reply in ENDED_FOR_GET.items()
    ),
    Scenario(
        "wrong password, 200 and a start page, install", "engine", [answer(401)], code="login_rejected",
        outcome="rejected", login=[new_session(body=START_PAGE)],
    ),
    *(
        Scenario(f"login refused: {name}", "engine", code="unexpected_answer", outcome="rejected", seen=(1, 0), login=[reply], cause=cause)
        for name, cause, reply in (
            ("page with 400", "Bad Request", answer(400, "<html><h1>Bad Request (400)</h1></html>", kind="text/html")),
            ("no client certificate", "certificate", answer(400, "<html>No required SSL certificate was sent</html>", kind="text/html")),
            ("firewall", "blocked", answer(403, "<html>Request blocked by WAF</html>", kind="text/html")),
            ("proxy", "HTTP 401", answer(401, "", 'WWW-Authenticate: Basic realm="proxy"')),
            ("code 500", "database", answer(200, '{"code":500,"msg":"database unavailable"}')),
            ("busy", "系统繁忙", answer(200, '{"code":1,"msg":"系统繁忙 请稍后再试"}')),
            ("standby", "standby", answer(200, '{"code":1,"msg":"this node is standby"}')),
            ("one-time code", "OTP", answer(200, '{"code":0,"msg":"OTP required"}')),
            ("new password", "must change", answer(200, '{"code":0,"msg":"must change password"}')),
        )
    ),
    Scenario("busy login", "engine", outcome="requested", seen=(2, 1), login=[answer(503), new_session()]),
    Scenario("busy login without end", "engine", code=UNAVAILABLE, outcome="rejected", seen=(2, 0), login=[answer(503)]),
    Scenario("login cut", "engine", code=UNAVAILABLE, outcome="rejected", seen=(1, 0), login=[cut()]),
    Scenario(
        "given session", "engine", code="session_rejected", outcome="rejected", seen=(0, 1),
        options={"sessionid": "ended", "username": None, "password": None},
    ),
]  # fmt: skip

RETRIES = [
    Scenario(
        "Retry-After as a date", "list", [answer(429, "", f"Retry-After: {_date(-5)}"), answer(200, '{"items":[]}')], seen=(1, 2),
    ),
    *(
        Scenario(f"Retry-After: {value[:20]}", "list", [answer(503, "", f"Retry-After: {value}")], code="engine_list_unavailable")
        for value in ("31536000", "9" * 400, _date(86400))
    ),
    *(
        Scenario(f"Retry-After: {value[:30]}", "list", [answer(503, "", f"Retry-After: {value}")], code="engine_list_unavailable", seen=(1, 2))
        for value in ("soon", "-1", "1e3", "Mon, 01 Jan 99999 00:00:00 GMT")
    ),
    Scenario("list cut", "list", [cut(message(200, b'{"items"', length=99)), answer(200, '{"items":[]}')], seen=(1, 2)),
    Scenario("list without answer", "list", [reset(), answer(200, '{"items":[]}')], seen=(1, 2)),
    Scenario("no HTTP", "list", [raw(b"SSH-2.0-OpenSSH_9.2\r\n")], code=UNAVAILABLE, seen=(1, 2)),
    Scenario("list with 500", "list", [answer(500, "{}")], code="engine_list_unavailable"),
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
    *(_install(f"never accepted, {name}", "rejected", reply, code="session_replaced", seen=(5, 6)) for name, reply in ENDED.items()),
    _install("account locked meanwhile", "rejected", answer(401), code="session_replaced", seen=(1, 1), login=[answer(401, '{"msg":"account locked"}')]),
    _install("session ended twice", "requested", answer(401), answer(401), for_session(OK), seen=(2, 3)),
    _install("401 about the host", "rejected", answer(401, '{"msg":"SSH authentication to 192.0.2.1 failed"}'), cause="SSH authentication", seen=(1, 2)),
    _install("403", "rejected", answer(403, '{"detail":"no permission"}')),
    *(_install(f"busy, {status}", "unknown", answer(status)) for status in (502, 503, 504)),
    _install("port in use", "port_in_use", answer(409, '{"msg":"port 8000 is in use"}')),
    _install("too many requests", "rejected", answer(429)),
    _install("no answer", "unknown", cut(), cause="unavailable"),
    _install("connection reset", "unknown", reset(), cause="unavailable"),
    _install("cut in the headers", "unknown", cut(b"HTTP/1.1 200 OK\r\nContent-")),
    _install("cut in the body", "unknown", cut(message(200, b'{"code":', length=99))),
    _install("200 without length and body", "unknown", cut(message(200, b"", length=-1))),
    _install("redirect elsewhere", "unknown", answer(307, "", "Location: https://other.example/"), cause="redirect to https://other.example/"),
    _install("308 to the console", "unknown", answer(308, "", "Location: https://console.example/x/system/add_slb_engine/"), cause="redirect to"),
    _install("303 to a page", "unknown", answer(303, "", "Location: /console/engines/")),
    _install("303 to an engine named login-1", "unknown", answer(303, "", "Location: /console/engines/login-1/"), cause="redirect to"),
    _install("302 to single sign-on", "unknown", answer(302, "", "Location: https://sso.example/login"), cause="redirect to"),
    _install("GB 18030 without a charset", "exists", answer(200, "引擎已存在".encode("gb18030"), kind="text/html")),
    _install("gzip", "exists", answer(200, gzip.compress(b'{"code":1,"msg":"already exists"}'), "Content-Encoding: gzip")),
    _install("gzip without a body", "requested", answer(201, "", "Content-Encoding: gzip")),
    _install("two content codings", "unknown", answer(200, gzip.compress(gzip.compress(b'{"code":0}')), "Content-Encoding: gzip, gzip")),
    _install("two headers of codings", "unknown", answer(200, b"", "Content-Encoding: gzip", "Content-Encoding: gzip")),
    _install("endless body", "unknown", flood(message(200, b"", length=-1), b"x" * 65536)),
    _install("gzip bomb", "unknown", answer(200, gzip.compress(b"0" * 50_000_000), "Content-Encoding: gzip")),
    _install("number of a million digits", "unknown", answer(200, '{"code":' + "1" * 900_000 + "}")),
    _install("cookie of the language", "rejected", answer(400, '{"msg":"The engine is open"}'), cookies={"django_language": "en"}, cause="engine"),
    *(
        _install(f"password in the answer, {name}", "rejected", answer(400, json.dumps({"msg": f"got {text}, sorry"})), cause="got ********, sorry")
        for name, text in (
            ("split", 'pa"ss<w>\nörd &1'), ("split and encoded", "pa&quot;ss\n&lt;w>%C3%B6rd%20&amp;1"), ("twice", "pa%2522ss%253Cw%253E%25C3%25B6rd%2520%25261"),
        )
    ),
    _install("password in the answer", "rejected", answer(400, json.dumps({"msg": 'got pa"ss<w>örd &1, sorry'}))),
]  # fmt: skip


def _license(
    name: str, *replies: Any, code: str = "license_unusable", seen: tuple[int, int] = (1, 1), **more: Any
) -> Scenario:
    return Scenario(f"license: {name}", "license", list(replies), code, "", seen, **more)


_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LICENSES = [
    _license("complete", answer(200, LICENSE_TEXT), code=""),
    _license("asked without a body", _with_kind(None, answer(200, LICENSE_TEXT)), code=""),
    _license("called HTML", answer(200, LICENSE_TEXT, kind="text/html"), code=""),
    _license("in chunks", raw(_CHUNKED + chunked(LICENSE_TEXT[:9], LICENSE_TEXT[9:])), code=""),
    _license("without length", answer(200, LICENSE_TEXT, length=-1), code=""),
    _license("binary", answer(200, bytes(range(256))), code=""),
    _license("JSON", answer(200, '{"license":"abc","status":1}'), code=""),
    _license("JSON with words", answer(200, '{"license":"abc","terms":"Not valid for resale. Please log in."}'), code=""),
    _license("text with words", answer(200, "Not valid for resale.\nPlease log in first.\n"), code=""),
    _license("notice instead", answer(200, "Please log in first"), code="login_rejected", seen=(3, 3)),
    _license("busy, then complete", answer(503), answer(200, LICENSE_TEXT), code="", seen=(1, 2)),
    *(
        _license(f"session ended, {name}", expiring(reply), for_session(answer(200, LICENSE_TEXT)), code="", seen=(1, 2), served=True)
        for name, reply in ENDED_FOR_GET.items()
    ),
    _license("empty", answer(200, "")),
    _license("blank", answer(200, " \r\n")),
    _license("204", raw(b"HTTP/1.1 204 No Content\r\n\r\n")),
    _license("206", answer(206, LICENSE_TEXT[:9])),
    _license("error in JSON", answer(200, '{"code":500,"msg":"no license"}')),
    *(
        _license(f"message {body[:30]}", answer(200, body))
        for body in ("Error: license not available", "Forbidden", '{"detail":"Not found."}', '{"code":0,"msg":"ok","data":""}', "{}", "null", '"none"')
    ),
    *(
        _license(f"license {body[:30]}", answer(200, body), code="")
        for body in ("Valid until 2027\nNot valid for resale", '{"code":0,"msg":"ok","data":"TElDRU5TRQ=="}', '{"license":"x","status":"valid"}', "1234567")
    ),
    _license("404 page", answer(404, "<h1>Not Found</h1>", kind="text/html")),
    _license("redirect elsewhere", answer(302, "", "Location: https://other.example/license")),
    _license("shorter than its length", answer(200, LICENSE_TEXT[:9], length=len(LICENSE_TEXT)), seen=(1, 2)),
    _license("chunks without end", cut(_CHUNKED + chunked(LICENSE_TEXT, end=False)), seen=(1, 2)),
    _license("broken chunk", raw(_CHUNKED + b"zz\r\nnonsense"), seen=(1, 2)),
    _license("gzip", answer(200, gzip.compress(LICENSE_TEXT), "Content-Encoding: gzip"), code=""),
    *(
        _license(f"gzip {name}", answer(200, content, "Content-Encoding: gzip"), seen=(1, 2))
        for name, content in (("without its end", gzip.compress(LICENSE_TEXT)[:-10]), ("twice", 2 * gzip.compress(LICENSE_TEXT)))
    ),
    _license("unknown coding", answer(200, LICENSE_TEXT, "Content-Encoding: br"), seen=(1, 2)),
    _license("two content codings", answer(200, gzip.compress(LICENSE_TEXT), "Content-Encoding: gzip, gzip"), seen=(1, 2)),
    _license("larger than max_size", answer(200, b"x" * 5000), options={"max_size": 4999}),
    _license("endless", flood(message(200, b"", length=-1), b"x" * 65536), options={"max_size": 1_000_000}),
]  # fmt: skip

LISTS = [
    Scenario("list", "list", [answer(200, '{"items":[{"n":"edge-1","ip":"192.0.2.1","st":"up"}]}')]),
    Scenario("list in GBK", "list", [answer(200, '{"items":[{"n":"边缘","ip":"192.0.2.1","st":"up"}]}'.encode("gbk"))]),
    Scenario("list: session ended", "list", [expiring(answer(401)), for_session(answer(200, '{"items":[]}'))], served=True, seen=(1, 2)),
    *(
        Scenario(f"list: engine with {key} {text!r}", "list", [answer(200, json.dumps({"items": [{**ITEM, key: text}]}))])
        for key, text in (("error", "SSH login failed"), ("reason", "session timed out"), ("message", "please log in"))
    ),
    Scenario("list: with a message", "list", [answer(200, json.dumps({"items": [ITEM], "message": "Please log in"}))]),
    Scenario("list: failure with an empty list", "list", [answer(200, '{"items":[],"code":500}')], code="engine_list_unavailable"),
    *(
        Scenario(f"list: start page at a wrong path, {name}", "list", [answer(200, START_PAGE, kind="text/html")],
            code="engine_list_unavailable", cause=f"{LIST} answered HTTP 200 with a web page", served=seen == (1, 2), seen=seen)
        for name, seen in (("first call", (1, 1)), ("after others", (1, 2)))
    ),
    Scenario("list: 404", "list", [answer(404, "none")], code="engine_list_unavailable"),
    Scenario("list: 403", "list", [answer(403, '{"detail":"no permission"}')], code="engine_list_unavailable"),
    Scenario("list: error in JSON", "list", [answer(200, '{"code":500,"msg":"out of order"}')], code="engine_list_unavailable"),
    Scenario("list: text", "list", [answer(200, "up and running", kind="text/plain")], code="engine_list_unavailable"),
    Scenario("list: other JSON", "list", [answer(200, '{"data":[]}')], code="engine_list_not_as_configured"),
    *(
        Scenario(f"list: {gap}, {cause}", "list", [answer(status, json.dumps({"items": [ITEM], **members}), *headers)], gap=gap)
        for gap, cause, status, members, headers in (
            ("", "total", 200, {"total": 1}, ()),
            ("", "X-Total-Count", 200, {}, ("X-Total-Count: 1",)),
            ("", "Content-Range", 206, {"total": 1}, ("Content-Range: items 0-0/1",)),
            ("part", "one page of several", 200, {"total": 7}, ()),
            ("part", "X-Total-Count 7", 200, {"total": 1}, ("X-Total-Count: 7",)),
            ("part", "Link", 200, {}, ('Link: <https://x/?page=2>; rel="next"',)),
            ("part", "206", 206, {}, ()),
            ("part", "202", 202, {"total": 1}, ()),
            ("part", "loading", 200, {"total": 1, "status": "loading"}, ()),
            ("part", "nextLink", 200, {"@odata.nextLink": "x"}, ()),
            ("stale", "Age", 200, {"total": 1}, ("Age: 30",)),
            ("stale", "X-Cache", 200, {"total": 1}, ("X-Cache: HIT from proxy",)),
            ("unproven", "nothing", 200, {}, ()),
        )
    ),
    *(
        Scenario(f"list: {gap or 'fresh'} by Date, {cause}", "list", [answer(200, json.dumps({"items": [ITEM], "total": 1}), *_dated(later))], gap=gap,
            login=[new_session(*_dated(first))])
        for gap, cause, first, later in (
            ("", "node whose clock is wrong", -10**8, -10**8),
            ("", "time of the request", 0, 0),
            ("", "later", 0, 3600),
            ("", "no date of the login", None, -3600),
            ("stale", "before the login", 0, -60),
            ("stale", "before the login, clock ahead", 10**8, 10**8 - 60),
        )
    ),
    *(
        Scenario(f"list: token in the path, {code}", "list", [reply], code=code, seen=seen, engine_list={"path": f"{LIST}?token=t0ken&size=9"}, cause="?token=********", served=True)
        for code, reply, seen in (
            ("engine_list_unavailable", answer(404, "no /x?token=t0ken here, t0ken"), (0, 1)), ("engine_list_not_as_configured", answer(200, "{}"), (0, 1)),
            (UNAVAILABLE, raw(b"x"), (0, 2)), ("session_replaced", answer(401, "token t0ken"), (5, 6)),
        )
    ),
    Scenario("list: pages with fewer engines than their total", "list", [answer(200, '{"items":[],"total":7}')], code="engine_list_unreliable",
        seen=(1, 2), engine_list={"path": f"{LIST}?page=1", "page_parameter": "page"}),
    Scenario("list: 17 MiB", "list", [answer(200, json.dumps({"items": ["x" * 2**20] * 17}))], code="engine_list_unavailable"),
    Scenario("list: a million values", "list", [answer(200, b"[" + b"0," * 2**20 + b"0]")], code="engine_list_unavailable"),
]  # fmt: skip

BEFORE = [
    Scenario("packages missing", "login", code="requests_missing", seen=(0, 0), transport={"_IMPORT_ERROR": "No module named 'requests'"}),
    Scenario("option missing", "login", code="missing_option", seen=(0, 0), options={"password": None}),
    Scenario("variable missing", "login", code="missing_variable", seen=(0, 0), options={"password": None}, names={"password": "slb_password"}),
    Scenario("variable invalid", "login", code="invalid_variable", seen=(0, 0), options={"timeout": 0}, names={"timeout": "slb_timeout"}, cause="slb_timeout"),
    Scenario("request too late", "engine", code="request_too_late", outcome="rejected", seen=(1, 0), send_within=-1),
    Scenario("request in time", "engine", outcome="requested", send_within=60),
]  # fmt: skip

SCENARIOS = [*BEFORE, *TLS, *CONNECTIONS, *COOKIES, *LOGINS, *RETRIES, *STALLS, *INSTALLS, *LICENSES, *LISTS]
# What the fix of a failure names, and what it does not: for all failures with a code, and for those of single scenarios.
ADVICE: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "engine_list_not_as_configured": (("slb_engine_list",), ("password",)),
    "engine_list_unreliable": (("page_parameter",), ("password",)),
    "engine_list_unavailable": (("slb_engine_list",), ("password",)),
    "install_not_confirmed": (("web console",), ("password",)),
    "install_rejected": ((), ("password",)),
    "invalid_option": (("PEM",), ()),
    "invalid_variable": (("Correct",), ()),
    "license_unusable": (("web console",), ("password",)),
    "login_rejected": (("password",), ()),
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
    "login refused: no client certificate": (("client_cert",), ("password",)),
    "login refused: one-time code": (("fill in the page",), ("base_url",)),
    "login refused: new password": (("fill in the page",), ("base_url",)),
    "install: account locked meanwhile": (("locked",), ("password",)),
    "install: redirect elsewhere": (("Set base_url", "before you repeat it"), ()),
    "install: 302 to single sign-on": (("single sign-on", "before you repeat it"), ()),
    "install: 308 to the console": (("Set base_url to https://console.example/x.", "before you repeat it"), ()),
    "install: 303 to a page": (("before you repeat it",), ("base_url",)),
    "expired": (("clock",), ("ca_path",)),
    "handshake without end": (("base_url",), ("proxy", "timeout")),
    "install: no answer": (("before you repeat it",), ("base_url", "proxy", "timeout")),
    "login: 301 to https://console.example/account/login/": (("base_url to https://console.example.",), ()),
    "login: 302 to https://sso.example/login?token=t0ken": (("single sign-on",), ()),
    "login: 307 to /v2/account/login/": (("/v2.",), ()),
    "login: 308 to https://console.example:8443/x/account/login/": (
        ("base_url to https://console.example:8443/x.",),
        (),
    ),
    "login: password is over": (("web console",), ("base_url",)),
    "other name": (("tls_fingerprint",), ("ca_path", "clock")),
    "plain HTTP": (("base_url", "port"), ("proxy",)),
    "proxy socks5://user:pr0xy-pass@127.0.0.1:9": (("HTTP proxy", "no_proxy"), ("base_url",)),
    "proxy without TLS called https": (("https_proxy", "http://"), ()),
    "proxy that answers 407": (("https_proxy", "no_proxy"), ()),
    "too many sessions": (("correct what it reports",), ("base_url",)),
    "TLS alert 40": (("OPENSSL_CONF",), ("proxy",)),
    "TLS alert 70": (("TLS 1.2",), ("proxy",)),
    "unknown CA": (("ca_path", "tls_fingerprint"), ("clock",)),
    "unknown host": (("base_url",), ("proxy", "timeout")),
}
PATHS = {"engine": INSTALL, "license": LICENSE, "list": LIST, "login": LOGIN}


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
            engines, gap = fetch_engines(client, EngineList.from_option({**ENGINE_LIST, **given.engine_list}))
            return {"engines": engines, "gap": gap.kind}
        else:
            send_by = None if given.send_within is None else boot_time() + given.send_within
            engine = Engine.from_options({"name": "edge-1", "manage_ip": "192.0.2.1"})
            install = request_install(client, engine, {}, send_by)
            return {"outcome": install.outcome, "answer": install.answer}
    except FleetError as error:
        return error.as_result()
    return {}
