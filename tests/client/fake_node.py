"""A fake management node over real TLS that can misbehave in any way: sockets, no HTTP library."""

import contextlib
import functools
import itertools
import socket
import ssl
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from certificates import Certificate

Reply = Callable[["Exchange"], None]
LOGIN, LICENSE, INSTALL = "/account/login/", "/system/license/apply/", "/system/add_slb_engine/"
PASSWORD = 'pa"ss<w>örd &1'
WITHOUT_END = 150
"""Seconds for which an endless answer lasts; a call must end within a fifth of them."""
LICENSE_TEXT = b"-----BEGIN LICENSE-----\nc2xiLmZsZWV0\n-----END LICENSE-----\n"


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Exchange:
    """One request and the connection on which it came. ``number`` counts the requests to its path, from 1."""

    server: "FakeNode"
    connection: ssl.SSLSocket
    request: Request
    number: int

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def cookie(self, name: str) -> str:
        pairs = (pair.strip().partition("=") for pair in self.request.headers.get("cookie", "").split(";"))
        return {key: value for key, _, value in pairs}.get(name, "")


@dataclass
class FakeNode:
    """Serves until it is closed. ``routes``: for each path the replies to its requests in order; the last is repeated.

    ``client_ca``: file of the CA whose client certificates are required.
    ``greetings``: used up by the first connections, each instead of TLS. ``prefix``: path prefix of the web console.
    """

    certificate: Certificate
    routes: dict[str, Sequence[Reply]]
    host: str = "127.0.0.1"
    wanted_port: int = 0
    prefix: str = ""
    client_ca: str = ""
    greetings: list[Callable[[socket.socket], None]] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    sessions: set[str] = field(default_factory=set)
    connections: int = 0

    def __enter__(self) -> "FakeNode":
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._serving: list[threading.Thread] = []
        self._session_numbers = itertools.count(1)
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(self.certificate.chain, self.certificate.key)
        if self.client_ca:
            self._tls.load_verify_locations(self.client_ca)
            self._tls.verify_mode = ssl.CERT_REQUIRED
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        self._listener = socket.create_server((self.host, self.wanted_port), family=family, backlog=256)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._closing.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in list(self._open):
            # Not close: its descriptor would be reused while a thread still writes to it.
            with contextlib.suppress(OSError):
                socket.socket.shutdown(connection, socket.SHUT_RDWR)
        deadline = time.monotonic() + 10
        for thread in list(self._serving):
            thread.join(max(0.0, deadline - time.monotonic()))
            assert not thread.is_alive(), "a thread of the fake node still runs"

    @property
    def base_url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"https://{host}:{self.port}{self.prefix}"

    @property
    def seen(self) -> Counter[str]:
        """Number of requests to each path."""
        with self._lock:
            return Counter(request.path.removeprefix(self.prefix) for request in self.requests)

    def to(self, path: str) -> list[Request]:
        with self._lock:
            return [request for request in self.requests if request.path == self.prefix + path]

    def new_session(self) -> str:
        session = f"session{next(self._session_numbers)}of{self.port}"
        self.sessions.add(session)
        return session

    def wait_for_the_end(self, seconds: float) -> None:
        """Wait for the end of the test, at most ``seconds``."""
        self._closing.wait(seconds)

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self.connections += 1
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._serving.append(thread)
            thread.start()

    def _serve(self, raw: socket.socket) -> None:
        self._open.add(raw)
        with raw, contextlib.suppress(OSError, ValueError):
            if self.greetings:
                self.greetings.pop(0)(raw)
                return
            raw.settimeout(30)
            with self._tls.wrap_socket(raw, server_side=True, do_handshake_on_connect=False) as connection:
                self._open.add(connection)
                connection.do_handshake()
                request = _read_request(connection)
                with self._lock:
                    self.requests.append(request)
                    number = sum(1 for each in self.requests if each.path == request.path)
                path = request.path.removeprefix(self.prefix)
                replies = self.routes.get(path, [answer(404, "no such page")])
                replies[min(number, len(replies)) - 1](Exchange(self, connection, request, number))


def _read_request(connection: ssl.SSLSocket) -> Request:
    data = b""
    while b"\r\n\r\n" not in data:
        data += _received(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += _received(connection)
    return Request(method, path, headers, body)


def _received(connection: ssl.SSLSocket) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise ValueError("the client closed the connection")
    return data


def message(
    status: int, body: bytes, headers: Sequence[str] = (), kind: str = "application/json", length: int | None = None
) -> bytes:
    """Return an HTTP answer; ``length`` may differ from that of the body, -1 leaves it out."""
    lines = [f"HTTP/1.1 {status} Fake", f"Content-Type: {kind}", *headers]
    if length != -1:
        lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def reply(send: Callable[..., None]) -> Callable[..., Reply]:
    """Turn a function that sends a reply into one that returns it, to be sent later."""

    @functools.wraps(send)
    def make(*arguments: Any, **options: Any) -> Reply:
        return lambda exchange: send(exchange, *arguments, **options)

    return make


@reply
def answer(
    exchange: Exchange,
    status: int,
    body: str | bytes = b"",
    *headers: str,
    kind: str = "application/json",
    length: int | None = None,
) -> None:
    content = body.encode() if isinstance(body, str) else body
    exchange.send(message(status, content, headers, kind, length))
    _end_politely(exchange.connection)


@reply
def raw(exchange: Exchange, data: bytes) -> None:
    exchange.send(data)
    _end_politely(exchange.connection)


@reply
def cut(exchange: Exchange, data: bytes = b"") -> None:
    """Send ``data`` and cut the connection without the end of TLS."""
    if data:
        exchange.send(data)
    exchange.connection.shutdown(socket.SHUT_RDWR)


@reply
def reset(exchange: Exchange) -> None:
    exchange.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    exchange.connection.close()


@reply
def silence(exchange: Exchange) -> None:
    exchange.server.wait_for_the_end(WITHOUT_END)


@reply
def drip(exchange: Exchange, data: bytes, pause: float = 0.1, endless: bytes = b"", head: bytes = b"") -> None:
    """Send ``head`` at once, ``data`` byte by byte, then ``endless`` repeatedly."""
    exchange.send(head)
    end = time.monotonic() + WITHOUT_END
    for byte in itertools.chain(data, itertools.cycle(endless)):
        if time.monotonic() > end:
            return
        exchange.send(bytes([byte]))
        exchange.server.wait_for_the_end(pause)


@reply
def flood(exchange: Exchange, head: bytes, block: bytes) -> None:
    """Send ``head``, then ``block`` until the client ends."""
    exchange.send(head)
    end = time.monotonic() + WITHOUT_END
    while time.monotonic() < end:
        exchange.send(block)


@reply
def new_session(
    exchange: Exchange, *headers: str, status: int = 200, body: str = '{"code":0,"msg":"ok"}', extra: str = ""
) -> None:
    cookie = f"Set-Cookie: sessionid={exchange.server.new_session()}; Path=/; HttpOnly; Secure{extra}"
    answer(status, body, cookie, *headers)(exchange)


@reply
def for_session(exchange: Exchange, then: Reply) -> None:
    """Use ``then`` for a request with a valid session, else answer 401."""
    is_alive = exchange.cookie("sessionid") in exchange.server.sessions
    (then if is_alive else answer(401, '{"msg":"log in"}'))(exchange)


@reply
def expiring(exchange: Exchange, then: Reply) -> None:
    """End all sessions with this request, and use ``then``."""
    exchange.server.sessions.clear()
    then(exchange)


def chunked(*chunks: bytes, end: bool = True) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + (b"0\r\n\r\n" if end else b"")


def _end_politely(connection: ssl.SSLSocket) -> None:
    with contextlib.suppress(OSError, ValueError):
        connection.settimeout(2)
        connection.unwrap()
