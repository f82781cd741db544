"""What a management node may do to its client, and what has to come of it: one line for each behaviour."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from typing import Any

from hostile_server import (
    LICENSE_TEXT,
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

OLD, NEW = b"the old license\n", LICENSE_TEXT
LOGIN_PAGE = (
    "<!DOCTYPE html><html><head><title>Console</title></head><body>"
    '<form action="/account/login/" method="post"><input name="username">'
    '<input type="password" name="password"></form></body></html>'
)
CREDENTIALS_PAGE = (
    "<!DOCTYPE html><html><head><title>Engines</title></head><body>"
    '<form action="/system/credentials/"><input name="user"><input type="password" name="secret"></form></body></html>'
)
SPA_PAGE = '<!doctype html><html><head><title>Console</title></head><body><div id="app"></div></body></html>'
REQUESTED, EXISTS, PORT, REFUSED, UNKNOWN = "requested", "exists", "port_in_use", "rejected", "unknown"
ESCAPED_EXISTS = json.dumps({"code": 1, "msg": "引擎已存在"})
MOVED_TO_LOGIN = answer(302, "", "Location: /account/login/?next=/")


@dataclass(frozen=True)
class Scenario:
    """``behaviours`` of the path that the module uses; ``login`` of the login.

    ``seen``: logins and other requests that the server may see. ``says``: what the message must hold.
    ``disk``: the file at ``dest`` afterwards.
    """

    name: str
    behaviours: list[Any]
    seen: tuple[int, int]
    outcome: str = ""
    disk: bytes = OLD
    says: str = ""
    login: list[Any] = field(default_factory=lambda: [new_session()])
    params: dict[str, Any] = field(default_factory=dict)


def _json(outcome: str, status: int, body: str, says: str = "", **params: Any) -> Scenario:
    return Scenario(f"{status} {body[:60]}", [answer(status, body)], (1, 1), outcome, says=says, params=params)


def _text(outcome: str, status: int, body: str | bytes, kind: str = "text/plain") -> Scenario:
    return Scenario(f"{status} {kind} {str(body)[:60]}", [answer(status, body, kind=kind)], (1, 1), outcome)


INSTALL_ANSWERS = [
    # It went well, in all the ways in which an undocumented interface may say so.
    _json(REQUESTED, 200, '{"code":0,"msg":"installation started"}'),
    _json(REQUESTED, 200, '{"success":true}'),
    _json(REQUESTED, 201, '{"id":7,"name":"edge-1"}'),
    _json(REQUESTED, 202, ""),
    _json(REQUESTED, 200, '{"status":200,"message":"安装已开始"}'),
    _json(REQUESTED, 200, '{"status":1,"msg":"success"}'),
    _json(REQUESTED, 200, '{"code":0,"error":null,"errors":[]}'),
    _text(REQUESTED, 200, "OK"),
    _text(REQUESTED, 200, b'\xef\xbb\xbf{"code":0}', "application/json"),
    _text(REQUESTED, 200, '{"code":0,"msg":"ok"}', "text/html"),
    # Its words must not be mistaken for a status when they are only an echo of the request.
    Scenario(
        "an echo of a name that looks like a status",
        [answer(200, '{"code":0,"data":{"name":"port-8000-in-use already exists"}}')],
        (1, 1),
        REQUESTED,
        params={"name": "port-8000-in-use already exists"},
    ),
    Scenario(
        "an echo of such a name inside of the message",
        [answer(200, '{"code":0,"msg":"port 1 is in use: started"}')],
        (1, 1),
        REQUESTED,
        params={"name": "port 1 is in use"},
    ),
    _json(REQUESTED, 200, '{"code":0,"msg":"started, please log in to the host to see more"}'),
    _json(REQUESTED, 200, '{"code":0,"msg":"started, port 8000 is not occupied"}'),
    _json(REQUESTED, 200, '{"code":0,"msg":"开始安装 端口未被占用"}'),
    # A page of a console whose scripts would go to the login if a later request were turned down.
    _text(
        REQUESTED,
        200,
        "<html><title>Engines</title><script>$(document).ajaxError(function(e,x){if(x.status==401)"
        'location.href="/account/login/";});</script><body>Installation started</body></html>',
        "text/html",
    ),
    # Our own words say nothing; only those that look like a status are left out of what is judged.
    _json(EXISTS, 400, '{"msg":"Engine already exists"}', name="e"),
    _json(PORT, 400, '{"msg":"Port 8000 is in use"}', name="Port"),
    # A host to log in to is no login to the console.
    _text(UNKNOWN, 200, "Installing edge-1. You need to log in to the host to see its log."),
    _json(PORT, 200, '{"code":1002,"msg":"Port 8000 is already in use. Please log in to the host and stop it."}'),
    _json(EXISTS, 200, '{"code":1001,"msg":"引擎已存在,请登录主机停止容器slb"}'),
    # The engine exists already.
    _json(EXISTS, 403, '{"msg":"Engine already exists"}'),
    _json(EXISTS, 200, '{"code":403,"msg":"引擎已存在"}'),
    _json(EXISTS, 200, '{"code":1001,"msg":"Engine already exists"}'),
    _json(EXISTS, 409, '{"detail":"The engine edge-1 already exists."}'),
    _json(EXISTS, 500, '{"message":"engine has already been added"}'),
    _json(EXISTS, 400, '{"errors":{"name":["duplicate name"]}}'),
    _json(EXISTS, 200, '{"code":1,"msg":"引擎已存在"}'),
    _json(EXISTS, 200, ESCAPED_EXISTS),
    _json(EXISTS, 200, json.dumps({"code": 1, "data": json.dumps({"m": "该引擎已经存在"})})),
    _text(EXISTS, 200, "引擎已存在".encode("gb18030"), "text/plain; charset=gbk"),
    _text(EXISTS, 400, "\\u5f15\\u64ce\\u5df2\\u5b58\\u5728"),
    _text(
        EXISTS, 200, "<html><body><p class=err>&#24341;&#25806;&#24050;&#23384;&#22312;</p></body></html>", "text/html"
    ),
    _text(EXISTS, 500, "<html><body><h1>Error</h1>The engine <b>already exists</b></body></html>", "text/html"),
    _text(EXISTS, 200, "ENGINE ALREADY\nEXISTS"),
    # A port is occupied.
    _json(PORT, 200, '{"code":1002,"msg":"Port 8000 is already in use"}'),
    _json(PORT, 400, '{"error":"bind: address already in use"}'),
    _json(PORT, 200, '{"success":false,"message":"端口8000被占用"}'),
    _json(PORT, 500, '{"msg":"端口已被占用"}'),
    _json(PORT, 409, '{"msg":"engine already exists or its port is occupied"}'),
    _text(PORT, 200, "<html><body>The port 8000 of 192.0.2.1 is occupied</body></html>", "text/html"),
    # It refused, in words of its own, and they are passed on.
    _json(REFUSED, 400, '{"detail":"credential 7 does not exist"}', "credential 7 does not exist"),
    _json(REFUSED, 200, '{"code":500,"msg":"no license"}', "no license"),
    _json(REFUSED, 200, '{"success":false,"message":"引擎不存在"}', "引擎不存在"),
    _json(REFUSED, 200, '{"status":"error","reason":"host unreachable"}', "host unreachable"),
    _json(REFUSED, 404, "", "HTTP 404"),
    _json(REFUSED, 405, '{"detail":"Method not allowed"}', "Method not allowed"),
    _json(REFUSED, 429, '{"msg":"slow down"}', "slow down"),
    _text(REFUSED, 200, "Installation failed: no such credential"),
    _json(REFUSED, 200, '["installation failed: host unreachable"]', "host unreachable"),
    _json(REFUSED, 200, '{"data":{"success":false,"error":"no such credential"}}', "no such credential"),
    _json(REFUSED, 200, '{"result":{"code":500,"msg":"no license"}}', "no license"),
    _json(REFUSED, 200, '{"errorCode":1001,"errorMsg":"no license"}', "no license"),
    _json(REFUSED, 200, '{"statusCode":500,"message":"no license"}', "no license"),
    _json(REFUSED, 200, '{"isSuccess":false}'),
    _json(REFUSED, 200, '{"code":"PARAM_ERROR"}'),
    _json(REFUSED, 200, '{"code":10000000001,"msg":"no license"}', "no license"),
    _json(REFUSED, 200, '{"code":-1.0,"msg":"no license"}', "no license"),
    # Nobody can say what became of the request.
    _json(UNKNOWN, 200, "null"),
    _json(UNKNOWN, 200, '{"code":"E1001","msg":"no license"}', "no license"),
    _json(UNKNOWN, 200, '{"code":0,"data":{"success":false,"error":"no such credential"}}'),
    _json(UNKNOWN, 201, '{"id":7,"name":"edge-1","state":1}'),
    # What Python's own parsers choke on.
    _text(UNKNOWN, 200, "<html><![foo[bar]]>42</html>", "text/html"),
    _text(UNKNOWN, 500, "<html><![ >x</html>", "text/html"),
    _json(REQUESTED, 200, '{"code":0,"msg":"&#' + "1" * 5000 + ';"}'),
    # What would take them minutes.
    _text(UNKNOWN, 200, "<html>" + "<a " * 80_000, "text/html"),
    _text(UNKNOWN, 200, "<html><!--" * 25_000, "text/html"),
    _text(UNKNOWN, 200, "<html><script>" + "location" * 30_000, "text/html"),
    _text(UNKNOWN, 200, b"42 " * 300_000, "text/plain; charset=punycode"),
    _json(UNKNOWN, 500, '{"msg":"internal error"}', "internal error"),
    _json(UNKNOWN, 502, ""),
    _json(UNKNOWN, 503, '{"msg":"busy"}'),
    _json(UNKNOWN, 504, ""),
    _json(UNKNOWN, 408, ""),
    _json(UNKNOWN, 200, "false"),
    _text(UNKNOWN, 200, SPA_PAGE, "text/html"),
    _text(UNKNOWN, 200, CREDENTIALS_PAGE, "text/html"),
    _text(UNKNOWN, 200, "42 is the answer"),
    _text(UNKNOWN, 200, b"\x00\x01\x02\x03", "application/octet-stream"),
    Scenario("a redirect elsewhere", [answer(302, "", "Location: /console/")], (1, 1), UNKNOWN),
    Scenario("a redirect to another host", [answer(307, "", "Location: https://evil.example/")], (1, 1), UNKNOWN),
    Scenario("the answer is lost", [cut()], (1, 1), UNKNOWN, says="was sent, but"),
    Scenario("the connection is reset", [reset()], (1, 1), UNKNOWN, says="was sent, but"),
    Scenario("no answer in time", [silence()], (1, 1), UNKNOWN, says="no whole answer came in time"),
    Scenario("the answer ends in its head", [cut(b"HTTP/1.1 200 OK\r\nContent-")], (1, 1), UNKNOWN),
    Scenario("the answer ends in its body", [cut(message(200, b'{"code":', length=99))], (1, 1), UNKNOWN),
    Scenario("no HTTP at all", [raw(b"SSH-2.0-OpenSSH_9.2\r\n")], (1, 1), UNKNOWN),
    Scenario("an endless answer", [flood(message(200, b"", length=-1), b"x" * 65536)], (1, 1), UNKNOWN),
    Scenario(
        "a head that drips",
        [drip(b"HTTP/1.1 200 OK\r\n", 0.1, b"X: y\r\n")],
        (1, 1),
        UNKNOWN,
        says="no whole answer came in time",
    ),
    Scenario("endless interim answers", [flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n")], (1, 1), UNKNOWN),
    Scenario(
        "a bomb of zeros", [answer(200, gzip.compress(b"0" * 9_000_000), "Content-Encoding: gzip")], (1, 1), UNKNOWN
    ),
    Scenario("deeply nested JSON", [answer(200, "[" * 100_000)], (1, 1), UNKNOWN),
    Scenario("a number of a million digits", [answer(200, '{"code":' + "1" * 900_000 + "}")], (1, 1), UNKNOWN),
    Scenario("an encoding that was not asked for", [answer(200, b"\x8b\x02", "Content-Encoding: br")], (1, 1), UNKNOWN),
]

GONE = [
    ("401", answer(401, "")),
    ("403", answer(403, '{"detail":"Forbidden"}')),
    ("a redirect to the login page", MOVED_TO_LOGIN),
    ("a redirect to a login page elsewhere", answer(303, "", "Location: https://sso.example/sign-in?x=1")),
    ("a login page with status 200", answer(200, LOGIN_PAGE, kind="text/html")),
    ("a login page that says it is JSON", answer(200, LOGIN_PAGE, kind="application/json")),
    ("a login page that says it is a file", answer(200, LOGIN_PAGE, kind="application/octet-stream")),
    ("a login page after a comment", answer(200, "<!-- v2 -->\n" + LOGIN_PAGE, kind="text/html")),
    ("a login page by its title", answer(200, "<html><title>用户登录</title><body></body></html>", kind="text/html")),
    ("a page that sends to the login", answer(200, '<script>top.location.href="/login"</script>', kind="text/html")),
    ("a page that refreshes to the login", answer(200, '<meta http-equiv="refresh" content="0;url=/login">')),
    ("JSON with code 401", answer(200, '{"code":401,"msg":"no"}')),
    ("JSON that says so", answer(200, '{"code":-1,"msg":"登录已过期 请重新登录"}')),
    ("JSON that says so in English", answer(200, '{"success":false,"message":"Session has expired"}')),
    ("text that says so", answer(200, "Please log in first", kind="text/plain")),
]

INSTALL_SESSIONS = [
    *(
        Scenario(f"expired: {name}", [expiring(gone), for_session(answer(200, '{"code":0}'))], (2, 2), REQUESTED)
        for name, gone in GONE
    ),
    *(Scenario(f"never accepted: {name}", [gone], (2, 2), REFUSED, says="asks for a login") for name, gone in GONE),
]

LOGINS = [
    Scenario(
        "several cookies", [], (1, 1), REQUESTED, login=[new_session("Set-Cookie: lang=zh", "Set-Cookie: a=b; Path=/x")]
    ),
    Scenario(
        "a redirect after a good login", [], (1, 1), REQUESTED, login=[new_session("Location: /console/", status=302)]
    ),
    Scenario("a good login without a body", [], (1, 1), REQUESTED, login=[new_session(body="")]),
    Scenario(
        "a cookie with an expiry", [], (1, 1), REQUESTED, login=[new_session(extra="; Max-Age=600; SameSite=Lax")]
    ),
    Scenario(
        "an old cookie deleted and a new one set",
        [],
        (1, 1),
        REQUESTED,
        login=[new_session("Set-Cookie: sessionid=; Path=/old; Max-Age=0")],
    ),
    Scenario("no cookie", [], (1, 0), REFUSED, login=[answer(200, '{"code":0}')], says="no usable cookie"),
    Scenario(
        "a cookie that is deleted",
        [],
        (1, 0),
        REFUSED,
        login=[answer(200, "", 'Set-Cookie: sessionid=""; expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/')],
        says="no usable cookie",
    ),
    Scenario("wrong credentials, 401", [], (1, 0), REFUSED, login=[answer(401, '{"msg":"bad password"}')], says="bad"),
    Scenario("wrong credentials, 403", [], (1, 0), REFUSED, login=[answer(403, "")], says="refused the login"),
    Scenario("wrong credentials, 400", [], (1, 0), REFUSED, login=[answer(400, "密码错误")], says="密码错误"),
    Scenario(
        "wrong credentials, 200",
        [],
        (1, 0),
        REFUSED,
        login=[answer(200, '{"code":1,"msg":"密码错误"}')],
        says="密码错误",
    ),
    Scenario(
        "wrong credentials with the cookie of nobody",
        [],
        (1, 0),
        REFUSED,
        login=[new_session(body='{"success":false,"msg":"wrong password"}')],
        says="refused the login",
    ),
    Scenario(
        "wrong credentials, 500",
        [],
        (1, 0),
        REFUSED,
        login=[answer(500, '{"error":"wrong password"}')],
        says="rejected",
    ),
    Scenario("locked, 429", [], (1, 0), REFUSED, login=[answer(429, '{"error":"account locked"}')], says="rejected"),
    Scenario(
        "wrong credentials beside the form's own token",
        [],
        (1, 0),
        REFUSED,
        login=[
            answer(
                403,
                '<form action="/account/login/"><input type=hidden name=csrfmiddlewaretoken value=x>'
                "<p>Wrong user name or password</p></form>",
                kind="text/html",
            )
        ],
        says="Wrong user name",
    ),
    Scenario(
        "locked, 429, a page",
        [],
        (1, 0),
        REFUSED,
        login=[
            answer(429, "<p>Account locked: too many login attempts. Please try again later.</p>", kind="text/html")
        ],
        says="locked",
    ),
    Scenario(
        "locked, 429, JSON", [], (1, 0), REFUSED, login=[answer(429, '{"detail":"Account locked"}')], says="locked"
    ),
    Scenario("wrong credentials, 500, text", [], (1, 0), REFUSED, login=[answer(500, "Wrong password")], says="Wrong"),
    Scenario(
        "a good login that tells of the user",
        [],
        (1, 1),
        REQUESTED,
        login=[new_session(body='{"id":1,"username":"admin","status":1}')],
    ),
    Scenario("the login page again", [], (1, 0), REFUSED, login=[new_session(body=LOGIN_PAGE)], says="rejected"),
    Scenario("a redirect to the login page", [], (1, 0), REFUSED, login=[MOVED_TO_LOGIN], says="rejected"),
    Scenario("no login at this address", [], (1, 0), REFUSED, login=[answer(404, SPA_PAGE)], says="base_url"),
    Scenario("503 and then a login", [], (2, 1), REQUESTED, login=[answer(503), new_session()]),
    Scenario("429 with Retry-After", [], (2, 1), REQUESTED, login=[answer(429, "", "Retry-After: 1"), new_session()]),
    Scenario("a login cut off", [], (2, 1), REQUESTED, login=[cut(), new_session()]),
    Scenario("a login without end of trouble", [], (2, 0), REFUSED, login=[answer(503, "<h1>Down</h1>")], says="later"),
    Scenario(
        "Retry-After of a year", [], (1, 0), REFUSED, login=[answer(503, "", "Retry-After: 31536000")], says="503"
    ),
    Scenario(
        "Retry-After of nonsense", [], (2, 1), REQUESTED, login=[answer(503, "", "Retry-After: soon"), new_session()]
    ),
    Scenario("a login that hangs", [], (2, 0), REFUSED, login=[silence()], says="was sent, but no"),
]


def _license(
    name: str, *behaviours: Any, seen: tuple[int, int] = (1, 1), says: str = "gave no license", **more: Any
) -> Scenario:
    return Scenario(name, list(behaviours), seen, says=says, **more)


def _good(name: str, *behaviours: Any, seen: tuple[int, int] = (1, 1), disk: bytes = NEW) -> Scenario:
    return Scenario(name, list(behaviours), seen, disk=disk)


_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
_ZIPPED = gzip.compress(NEW)
_ONE_TRY = {"timeout": 4, "retries": 0}

LICENSES = [
    _good("whole", answer(200, NEW)),
    _good("labelled as HTML", answer(200, NEW, kind="text/html")),
    _good("in chunks", raw(_CHUNKED + chunked(NEW[:9], NEW[9:]))),
    _good("gzipped", answer(200, _ZIPPED, "Content-Encoding: gzip")),
    _good("a gzip file as it is", answer(200, _ZIPPED), disk=_ZIPPED),
    _good("without a length, ended politely", answer(200, NEW, length=-1)),
    _good("binary", answer(200, bytes(range(256))), disk=bytes(range(256))),
    _good("XML", answer(200, "<?xml version='1.0'?><license/>"), disk=b"<?xml version='1.0'?><license/>"),
    _good(
        "XML labelled as HTML",
        answer(200, "<?xml version='1.0'?><license>abc</license>", kind="text/html"),
        disk=b"<?xml version='1.0'?><license>abc</license>",
    ),
    _good(
        "an address labelled as HTML",
        answer(200, "For Foo <foo@example.com>", kind="text/html"),
        disk=b"For Foo <foo@example.com>",
    ),
    _good("JSON that has a number", answer(200, '{"license":"abc","status":1}'), disk=b'{"license":"abc","status":1}'),
    _good("JSON", answer(200, '{"license":"abc","status":"active"}'), disk=b'{"license":"abc","status":"active"}'),
    _good("a path as the file's name", answer(200, NEW, 'Content-Disposition: attachment; filename="../../evil"')),
    _good("503 and then whole", answer(503), answer(200, NEW), seen=(1, 2)),
    _good("cut off and then whole", cut(message(200, NEW[:5], length=len(NEW))), answer(200, NEW), seen=(1, 2)),
    *(_good(f"expired: {name}", expiring(gone), for_session(answer(200, NEW)), seen=(2, 2)) for name, gone in GONE),
    *(_license(f"never accepted: {name}", gone, seen=(2, 2), says="asks for a login") for name, gone in GONE),
    _license("empty", answer(200, ""), says="an empty body"),
    _license("blank", answer(200, " \r\n\t\n"), says="an empty body"),
    _license("no content", raw(b"HTTP/1.1 204 No Content\r\n\r\n"), says="HTTP 204"),
    _license("partial content", answer(206, NEW[:9]), says="HTTP 206"),
    _license("an error in JSON", answer(200, '{"code":500,"msg":"no license"}'), says="no license"),
    _license("any page", answer(200, SPA_PAGE, kind="text/html"), seen=(2, 2), says="asks for a login"),
    _license("an error page", answer(404, "<h1>Not Found</h1>", kind="text/html"), says="Not Found"),
    _license("a redirect elsewhere", answer(302, "", "Location: https://evil.example/license"), says="HTTP 302"),
    _license("shorter than it says", cut(message(200, NEW[:9], length=len(NEW))), seen=(1, 2), says="broke off"),
    _license(
        "shorter than it says, ended politely", answer(200, NEW[:9], length=len(NEW)), seen=(1, 2), says="broke off"
    ),
    _license("chunks without an end", cut(_CHUNKED + chunked(NEW, end=False)), seen=(1, 2), says="broke off"),
    _license("a broken chunk", raw(_CHUNKED + b"zz\r\nnonsense"), seen=(1, 2), says="broke off"),
    _license("without a length, cut off", cut(message(200, NEW[:9], length=-1)), seen=(1, 2), says="broke off"),
    _license(
        "gzip cut off, with a length that agrees",
        answer(200, _ZIPPED[:-9], "Content-Encoding: gzip"),
        seen=(1, 2),
        says="too early",
    ),
    _license("not gzip at all", answer(200, NEW, "Content-Encoding: gzip"), says="is not valid gzip"),
    _license("larger than allowed", answer(200, b"x" * 5000), params={"max_size": 4999}, says="larger than 4999 bytes"),
    _license("a bomb", answer(200, gzip.compress(b"0" * 50_000_000), "Content-Encoding: gzip"), says="larger than"),
    _license(
        "endless", flood(message(200, b"", length=-1), b"x" * 65536), params={"max_size": 1000000}, says="larger than"
    ),
    # With the time of one attempt, which is that of all: a machine that is busy for two seconds changes nothing.
    _license(
        "dripping",
        drip(message(200, b"", length=9999), 0.01, b"x"),
        params=_ONE_TRY,
        says="with an empty body that did not end within 4 s",
    ),
    _license(
        "a dripping head",
        drip(b"HTTP/1.1 200 OK\r\n", 0.05, b"X: y\r\n"),
        params=_ONE_TRY,
        says="no whole answer came in time",
    ),
    _license("silence", silence(), seen=(1, 2), says="was sent, but no"),
    _license("server trouble without end", answer(500, '{"msg":"out of order"}'), seen=(1, 2), says="out of order"),
]
