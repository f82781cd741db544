# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One exchange with the management node: addresses, TLS, proxies, deadlines and the answer."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import math
import os
import re
import socket
import ssl
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from http.client import HTTPException, parse_headers
from http.client import HTTPResponse as PlainResponse
from pathlib import Path
from typing import Any, TypeVar

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import Answer, show
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection, show_fingerprint
from ansible_collections.slb.fleet.plugins.module_utils._management_node.contract import Call
from ansible_collections.slb.fleet.plugins.module_utils._management_node.cookies import update_cookies
from ansible_collections.slb.fleet.plugins.module_utils._management_node.proxies import ProxyError, find_proxy
from ansible_collections.slb.fleet.plugins.module_utils._secrets import mask_query
from ansible_collections.slb.fleet.plugins.module_utils._values import invalid


@contextlib.contextmanager
def _without_key_log() -> Iterator[None]:
    """Ignore SSLKEYLOGFILE: its keys reveal the password, and a file that cannot be written would end the run."""
    key_log = os.environ.pop("SSLKEYLOGFILE", None)
    try:
        yield
    finally:
        if key_log is not None:
            os.environ["SSLKEYLOGFILE"] = key_log


try:
    with _without_key_log():  # requests makes an SSL context
        import requests
        from requests.adapters import HTTPAdapter
        from urllib3.connection import HTTPSConnection
        from urllib3.exceptions import HTTPError
        from urllib3.response import HTTPResponse
        from urllib3.util import Retry
        from urllib3.util import connection as urllib3_connection
        from urllib3.util.ssl_ import create_urllib3_context
except ImportError as error:
    _IMPORT_ERROR = str(error)
    HTTPAdapter = HTTPSConnection = object  # type: ignore[assignment, misc]
else:
    # Older ones would take CA files from elsewhere, and cannot read what has arrived.
    is_new = hasattr(HTTPAdapter, "build_connection_pool_key_attributes") and hasattr(HTTPResponse, "read1")
    _IMPORT_ERROR = "" if is_new else "requests 2.32.3 and urllib3 2.2.2 are needed"

ANSWER_LIMIT = 1024 * 1024  # bytes

_BLOCK = 16 * 1024  # bytes; compressed ones become up to a thousand times as many before they are counted
_MAX_CUTS, _CUT_SECONDS = 10, 0.1
_MAX_WAIT = 30.0  # seconds
_FIRST_SHARE = 2.0  # seconds
_Result = TypeVar("_Result")
_HEADERS = {
    "Accept": "application/json, */*;q=0.8",
    "Accept-Encoding": "identity",
    "Cache-Control": "no-cache",
    "Connection": "close",
    "User-Agent": "slb.fleet",
}


@dataclass(frozen=True)
class Request:
    """One request. ``call``: as in the contract. ``path`` follows base_url; ``body`` is sent as JSON.

    ``limit``: bytes of the answer's body. ``send_by``: the ``boot_time`` after which it is not sent any more.
    """

    call: Call
    method: str
    path: str
    body: Mapping[str, Any] | None = field(default=None, repr=False)
    limit: int = ANSWER_LIMIT
    send_by: float = math.inf

    @property
    def own(self) -> tuple[str, ...]:
        """The name and the address in an install request."""
        return tuple(str(value) for key, value in (self.body or {}).items() if key in ("name", "manage_ip"))

    @property
    def shown_path(self) -> str:
        return mask_query(self.path)[:60]


class NoAnswerError(FleetError):
    """No usable answer to ``request`` came. ``is_sent``: whether the request may have arrived.

    ``is_permanent``: whether a retry would fail in the same way.
    """

    def __init__(self, request: Request, is_sent: bool, cause: str, fix: str, *, is_permanent: bool = False) -> None:
        super().__init__("management_node_unavailable", f"Management node unavailable: {cause}.", fix)
        self.request, self.is_sent, self.is_permanent = request, is_sent, is_permanent


class Transport:
    """The way to one management node. ``tls_fingerprint``: of the certificate that it presented last."""

    def __init__(self, connection: Connection) -> None:
        if _IMPORT_ERROR:
            raise FleetError(
                "requests_missing",
                f"Python package requests missing or too old in {sys.executable}: {show(_IMPORT_ERROR, 80)}.",
                f"Run {sys.executable} -m pip install --upgrade 'requests>=2.32.3' 'urllib3>=2.2.2', or let the tool "
                "do so that made this environment.",
            )
        self.connection = connection
        self.tls_fingerprint = ""

    def exchange(self, request: Request, cookies: dict[str, str], seconds: float) -> Answer:
        """Return the answer of one attempt, and update ``cookies``.

        Raises FleetError: NoAnswerError, or one that no retry would change.
        """
        if seconds <= 0:
            cause = f"{self.connection.base_url}: no time left in this task"
            fix = "Check that the management node answers at once, or raise slb_host_timeout."
            raise NoAnswerError(request, False, cause, fix)
        line = _Line(self.connection.tls_fingerprint, request.send_by)
        try:
            answer, lines = _bounded(line, seconds, lambda: self._transfer(request, cookies, line, seconds))
        except _PinMismatchError:
            raise self._pin_mismatch(line.fingerprint) from None
        except _TooLateError:
            raise FleetError(
                "request_too_late",
                "Install request not sent: the management node or this controller was too slow.",
                "Check both, then run again.",
            ) from None
        except (requests.RequestException, HTTPError, HTTPException, OSError, ValueError, RecursionError) as error:
            raise self._failure(error, request, line, seconds) from None
        self.tls_fingerprint = line.fingerprint
        update_cookies(cookies, lines, answer.headers.get("Date", "")[:64])
        return answer

    def _transfer(
        self, request: Request, cookies: Mapping[str, str], line: _Line, seconds: float
    ) -> tuple[Answer, list[str]]:
        connection = self.connection
        proxies = {"https": find_proxy(connection.base_url, os.environ)}
        is_verified = connection.validate_certs and not connection.tls_fingerprint
        ca_path = connection.ca_path if is_verified else ""
        context = _context(is_verified, ca_path, connection.client_cert, connection.client_key)
        url = connection.base_url + request.path
        headers = {**_HEADERS, **connection.headers}
        if cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
        if "csrftoken" in cookies:
            headers.update({"X-CSRFToken": cookies["csrftoken"], "Referer": f"{connection.base_url}/"})
        body = None if request.body is None else json.dumps(request.body).encode()
        if body is not None:
            headers["Content-Type"] = "application/json"
        prepared = requests.Request(request.method, url, headers=headers, data=body).prepare()
        # Not a requests.Session: it reads the body of a redirect without a limit.
        with (
            contextlib.closing(_Adapter(line, context)) as adapter,
            adapter.send(prepared, stream=True, timeout=max(0.001, seconds), proxies=proxies) as response,
        ):
            content, defect = _read(response.raw, request.limit)
            answer = Answer(response.status_code, response.headers, content, defect)
            if answer.is_success and not (content or defect or answer.has_length or answer.status == 204):
                answer = replace(answer, defect="the body is missing")
            return answer, response.raw.headers.getlist("Set-Cookie")

    def _failure(self, error: Exception, request: Request, line: _Line, seconds: float) -> FleetError:
        """Return the error for an attempt without an answer."""
        complaint = "" if line.is_sent else _certificate_complaint(error)
        if complaint:
            return self._untrusted(complaint)
        place, cause = self.connection.base_url, f"no answer within {seconds:.0f} s" if line.is_over else _cause(error)
        called, is_permanent = self.connection.called, isinstance(error, ProxyError)
        fix = f"Check {called('base_url')}, the network, and that the management node is up."
        if line.is_sent:
            place += request.shown_path
            fix = f"Check the management node and the network. Raise {called('timeout')} if it is only slow."
        elif not is_permanent and find_proxy(place, os.environ):
            place += " (through the proxy of the environment)"
            fix = f"Check {called('base_url')} and https_proxy, or add the management node to no_proxy."
        if cause.startswith("TLS failed"):
            fix += f" The port has to answer with TLS 1.2 or later; set {called('client_cert')} if it asks for one."
        if is_permanent:
            cause, fix = str(error), "Set https_proxy to an HTTP proxy, or add the management node to no_proxy."
        return NoAnswerError(request, line.is_sent, f"{place}: {cause}", fix, is_permanent=is_permanent)

    def _untrusted(self, complaint: str) -> FleetError:
        """Return the error for a certificate that no CA vouches for, with its fingerprint."""
        line = _Line(pin="none")  # no certificate has this pin, so the connection ends before anything is sent
        way, seconds = Transport(replace(self.connection, validate_certs=False)), self.connection.timeout
        with contextlib.suppress(_PinMismatchError, requests.RequestException, HTTPError, OSError, ValueError):
            _bounded(line, seconds, lambda: way._transfer(Request("list", "GET", "/"), {}, line, seconds))
        fingerprint, called = line.fingerprint or "(unknown)", self.connection.called
        compare = "Compare" if self.connection.ca_path else f"Set {called('ca_path')}. Or compare"
        if "expired" in complaint or "not yet valid" in complaint:
            compare = "Check this machine's clock. Or compare"
        return FleetError(
            "tls_untrusted",
            f"Certificate of {self.connection.base_url} untrusted: {complaint}.",
            f"{compare} the fingerprint with the one on the management node. If they are equal, set "
            f"{called('tls_fingerprint')}: {fingerprint}",
            tls_fingerprint=line.fingerprint,
        )

    def _pin_mismatch(self, fingerprint: str) -> FleetError:
        pin = self.connection.called("tls_fingerprint")
        return FleetError(
            "tls_pin_mismatch",
            f"Certificate of {self.connection.base_url} changed: it does not match {pin}.",
            f"If you know of the change, set {pin}: {fingerprint}",
            tls_fingerprint=fingerprint,
        )


class _PinMismatchError(Exception):
    """The certificate is not the pinned one. Not an OSError, so that no library rewords it."""


class _TooLateError(Exception):
    """The time in which the request may be sent is over."""


def boot_time() -> float:
    """Return the seconds since the boot of this machine, those in which it stood still or slept included."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))  # macOS counts its sleep


class _Line:
    """The connection of one attempt. ``pin``: required fingerprint of the certificate, empty for any.
    ``send_by``: as in Request.

    ``is_sent``: whether a byte of the request may have left. ``is_over``: whether the time of the attempt is over.
    ``fingerprint``: of the certificate that was presented.
    """

    def __init__(self, pin: str, send_by: float = math.inf) -> None:
        self.pin, self.send_by = pin, send_by
        self.is_sent = self.is_over = False
        self.fingerprint = ""
        self.connection: Any = None

    def check(self, tls: Any) -> None:
        """Compare the certificate with the pin, and the time with the deadline, before the first byte is sent."""
        self.fingerprint = show_fingerprint(hashlib.sha256(tls.getpeercert(binary_form=True)).digest())
        if self.pin and self.pin != self.fingerprint:
            raise _PinMismatchError
        self.is_sent = True  # before the comparison: a wrong "sent" is safe, a wrong "not sent" is not
        if self.is_over or boot_time() > self.send_by:
            self.is_sent = False
            raise TimeoutError if self.is_over else _TooLateError

    def end(self) -> None:
        """Shut the socket down, so that the thread that reads from it gets an error."""
        self.is_over = True
        # Behind a proxy with TLS, the TLS object wraps the socket. SSLSocket.shutdown would drop the TLS state.
        tls = getattr(self.connection, "sock", None)
        with contextlib.suppress(OSError, TypeError):
            shut_down: Any = socket.socket.shutdown
            shut_down(getattr(tls, "socket", tls), socket.SHUT_RDWR)


class _Response(PlainResponse):
    """Skips informational answers: http.client takes 102 and 103 for the answer."""

    def _read_status(self) -> tuple[str, int, str]:
        while True:
            version, status, reason = super()._read_status()  # type: ignore[misc]
            if not 102 <= status < 200:
                return version, status, reason
            parse_headers(self.fp)


class _Connection(HTTPSConnection):
    response_class = _Response

    def __init__(self, *args: Any, line: _Line, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._line = line
        line.connection = self

    def _new_conn(self) -> socket.socket:
        """Connect to the first address that answers; each gets its share of the time, and at first a short one."""
        end = time.monotonic() + (self.timeout if isinstance(self.timeout, (int, float)) else _MAX_WAIT)
        answers = socket.getaddrinfo(self._dns_host, self.port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(address[0]) for *_kind, address in answers))
        failure: OSError = TimeoutError()
        for longest in (_FIRST_SHARE, math.inf):
            for index, address in enumerate(addresses):
                share = max(0.001, min(longest, (end - time.monotonic()) / (len(addresses) - index)))
                options: Any = {"source_address": self.source_address, "socket_options": self.socket_options}
                try:
                    connected = urllib3_connection.create_connection((address, self.port), share, **options)
                except OSError as error:
                    failure = error
                    continue
                connected.settimeout(self.timeout)
                return connected
            if not isinstance(failure, TimeoutError) or len(addresses) == 1:
                break
        raise failure

    def connect(self) -> None:
        super().connect()
        self._line.check(self.sock)
        self.is_verified = True  # as the options ask for: urllib3 does not warn


class _Adapter(HTTPAdapter):
    """Makes connections that report to ``line``, with the SSL context, directly and through proxies."""

    def __init__(self, line: _Line, context: ssl.SSLContext) -> None:
        super().__init__(max_retries=0)
        self._line, self._context = line, context

    def get_connection_with_tls_context(self, *args: Any, **kwargs: Any) -> Any:
        pool: Any = super().get_connection_with_tls_context(*args, **kwargs)
        pool.ConnectionCls = functools.partial(_Connection, line=self._line)
        return pool

    def build_connection_pool_key_attributes(self, request: Any, verify: Any, cert: Any = None) -> Any:
        # Without CA files in the key: the SSL context has them, and loading them costs more than the request.
        return super().build_connection_pool_key_attributes(request, verify, cert)[0], {"ssl_context": self._context}

    def cert_verify(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: the SSL context is complete, and REQUESTS_CA_BUNDLE is ignored."""


@functools.lru_cache(maxsize=8)
def _context(is_verified: bool, ca_path: str, client_cert: str, client_key: str) -> ssl.SSLContext:
    """Return the SSL context for one way of verification, made once per process."""
    with _without_key_log():
        context = create_urllib3_context(cert_reqs=ssl.CERT_REQUIRED if is_verified else ssl.CERT_NONE)
    option, problem = "ca_path", f"{ca_path[:80]} has no CA certificate"
    fix = "Set a PEM file, or a folder prepared by 'openssl rehash'."
    try:
        if is_verified and ca_path:
            is_folder = Path(ca_path).is_dir()
            context.load_verify_locations(cafile=None if is_folder else ca_path, capath=ca_path if is_folder else None)
        elif is_verified:
            context.load_default_certs()
        option, problem = "client_cert", f"{client_cert[:80]} cannot be used"
        fix = "Set PEM files of a certificate and its key without a password."
        if client_cert:
            # Without a password here, OpenSSL would prompt for that of the key.
            context.load_cert_chain(client_cert, client_key or None, password="")
    except (OSError, ValueError) as error:
        cause = getattr(error, "reason", None) or getattr(error, "strerror", None) or "no certificate in PEM format"
        raise invalid(option, f"{problem}: {show(str(cause), 40)}", fix) from None
    return context


if not _IMPORT_ERROR:  # in the process that forks the workers
    _context(False, "", "", "")
    _context(True, "", "", "")


def _bounded(line: _Line, seconds: float, exchange: Callable[[], _Result]) -> _Result:
    """Return the result of ``exchange``. Raises TimeoutError after ``seconds``, whatever the other side sends.

    The time-out of a socket is for each wait, and a name lookup has none: only a second thread bounds all of it.
    """
    outcome: list[_Result | BaseException] = []

    def run() -> None:
        try:
            outcome.append(exchange())
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=run, name="slb.fleet", daemon=True)
    thread.start()
    try:
        thread.join(max(0.0, seconds))
    finally:
        # Also after a signal: a thread that is still connecting sends nothing once the line has ended.
        for _attempt in range(_MAX_CUTS if thread.is_alive() else 0):
            line.end()
            thread.join(_CUT_SECONDS)
    if line.is_over:
        # An answer that is cut within its headers looks like a complete one without a body.
        raise TimeoutError
    result = outcome[0]
    if isinstance(result, BaseException):
        raise result
    return result


def _read(raw: Any, limit: int) -> tuple[bytes, str]:
    """Return the body, at most ``limit`` bytes, and why it is incomplete."""
    codings = [each.strip().lower() for each in ",".join(raw.headers.getlist("Content-Encoding")).split(",")]
    codings = [each for each in codings if each not in ("", "identity")]
    if len(codings) > 1:
        return b"", "the body has more than one content coding"
    if codings and codings[0] not in ("gzip", "x-gzip", "deflate"):
        return b"", f"the body has the unknown content coding {show(codings[0], 20)!r}"
    body = bytearray()
    try:
        while block := raw.read1(_BLOCK, decode_content=False):
            body += block
            if len(body) > limit:
                break
        content = _decompress(bytes(body), limit) if codings else bytes(body)
    except (HTTPError, HTTPException, OSError, ValueError, zlib.error):
        return b"" if codings else bytes(body), f"the body is incomplete after {len(body)} bytes"
    return content[:limit], f"the body is larger than {limit} bytes" if len(content) > limit else ""


def _decompress(body: bytes, limit: int) -> bytes:
    """Return the content of gzip of any number of members, or of deflate with or without the header of zlib.

    It has not much more than ``limit`` bytes. Raises ValueError or zlib.error for a body that ends too early, which the
    decoders of urllib3 do not report.
    """
    content = b""
    while body and len(content) <= limit:
        member = zlib.decompressobj(zlib.MAX_WBITS | 32)
        try:
            part = member.decompress(body, limit + 1)
        except zlib.error:
            if content:
                raise
            member = zlib.decompressobj(-zlib.MAX_WBITS)
            part = member.decompress(body, limit + 1)
        content += part
        if not member.eof and len(content) <= limit:
            raise ValueError
        body = member.unused_data.lstrip(b"\0")  # padding between and behind members
    return content


def retry_after(answer: Answer) -> float:
    """Return the delay of Retry-After in seconds; 0 if the header is missing or invalid."""
    try:
        return float(Retry().parse_retry_after(answer.headers.get("Retry-After", "")[:64]))
    except (HTTPError, TypeError, ValueError, OverflowError, IndexError):
        return 0.0


def _certificate_complaint(error: BaseException) -> str:
    """Return what is wrong with the certificate, empty if the failure is another one."""
    for cause in _chain(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return show(str(cause.verify_message or "it cannot be verified"), 80).rstrip(".")
    return ""


def _cause(error: BaseException) -> str:
    """Return why an attempt failed, not in the words of the exception: they may quote a proxy's password."""
    causes = list(_chain(error))
    texts = "\n".join(map(str, causes))
    refusal = re.search(r"^Tunnel connection failed: ([0-9]{3})\b", texts, re.MULTILINE)
    if refusal:
        return f"the proxy answered HTTP {refusal[1]}"
    if "more than 100 headers" in texts:
        return "the answer has more than 100 headers"
    for kind, text in (
        (socket.gaierror, "the host name cannot be resolved"),
        (ConnectionRefusedError, "connection refused"),
        (TimeoutError, "no answer in time"),
        (ConnectionError, "the connection was closed without an answer"),
    ):
        if any(isinstance(cause, kind) for cause in causes):
            return text
    for cause in causes:
        if isinstance(cause, ssl.SSLError):
            return f"TLS failed ({show(str(cause.reason or 'handshake'), 60)})"
        if isinstance(cause, OSError) and cause.strerror:
            return show(cause.strerror[:1].lower() + cause.strerror[1:], 60)
    return f"the connection failed ({type(causes[-1]).__name__})"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield ``error`` and the exceptions behind it, which the libraries keep in several places."""
    pending, known = [error], set[int]()
    while pending:
        cause = pending.pop(0)
        if id(cause) not in known:
            known.add(id(cause))
            yield cause
            behind = (cause.__cause__, cause.__context__, getattr(cause, "reason", None), *cause.args)
            pending += [each for each in behind if isinstance(each, BaseException)]
