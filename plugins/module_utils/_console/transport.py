# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sends requests to the management node: TLS, deadlines, retries. Knows nothing of sessions."""

from __future__ import annotations

import contextlib
import json
import random
import ssl
import sys
import time
import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

try:
    # Here, and not where a request is sent, so that it is paid for once, before the workers of a run are forked.
    import requests
    from requests.utils import get_environ_proxies, prepend_scheme_if_needed, select_proxy
    from urllib3.exceptions import HTTPError, InsecureRequestWarning
    from urllib3.util.retry import Retry
    from urllib3.util.ssl_ import create_urllib3_context
except ImportError as error:
    _WHY_NO_REQUESTS = str(error)
else:
    _WHY_NO_REQUESTS = ""
    # Made once, in the process from which the workers of a run are forked. With one of its own, urllib3 would load
    # all CA certificates of the system for each connection, which costs more than the request.
    _UNVERIFYING = create_urllib3_context(cert_reqs=ssl.CERT_NONE)

from ansible_collections.slb.fleet.plugins.module_utils._console.body import read_body
from ansible_collections.slb.fleet.plugins.module_utils._console.calls import LOGIN
from ansible_collections.slb.fleet.plugins.module_utils._console.content import Content, read_content
from ansible_collections.slb.fleet.plugins.module_utils._console.deadline import Deadline
from ansible_collections.slb.fleet.plugins.module_utils._console.failure import (
    TOO_LATE,
    certificate_complaint,
    reason,
    refusal_of_a_proxy,
)
from ansible_collections.slb.fleet.plugins.module_utils._console.gate import Gate, OpenGate, Sign
from ansible_collections.slb.fleet.plugins.module_utils._console.wire import (
    CutAt,
    HandshakeDoneError,
    PinMismatchError,
    Wire,
)
from ansible_collections.slb.fleet.plugins.module_utils._errors import ConsoleError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ansible_collections.slb.fleet.plugins.module_utils._console.options import Connection

_ANSWER_LIMIT = 1024 * 1024
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0
_LONGEST_WAIT = 24 * 3600  # longer than any deadline
_TOO_MANY_REQUESTS = 429
_NOBODY_BEHIND = (502, 503, 504)
_MOST_OUTAGES = 3  # that one call outlives
_PROBE_PATH = LOGIN.path  # that of the interface which needs no session
_LONGEST_HEADER = 1024  # characters, of those headers that are read
_LONGEST_COOKIES = 4096  # characters of all together: each is looked for in what is shown, in every spelling
_NEEDED_COOKIES = ("sessionid", "csrftoken")
_HEADERS = {
    "Accept": "application/json, */*;q=0.8",
    "Accept-Encoding": "identity",
    "Connection": "close",
    "User-Agent": "slb.fleet",
}


class UnreachableError(ConsoleError):
    """No connection came about: no byte of the request has left."""


class UnansweredError(ConsoleError):
    """``request`` may have arrived, and no answer came."""

    def __init__(self, request: Request, what: str, remedy: str) -> None:
        super().__init__(what, remedy)
        self.request = request


class UntrustedError(ConsoleError):
    """The certificate is not to be trusted: no byte of the request has left."""


class ProxyRefusedError(ConsoleError):
    """A proxy in between leads nowhere: no byte of the request has left, and none will."""


class OverdueError(ConsoleError):
    """The request was held up until it was not wanted any more: no byte of it has left."""


@dataclass(frozen=True)
class Request:
    """One request. ``path`` begins with a slash and is relative to ``base_url``; ``body`` is sent as JSON.

    ``is_repeatable``: may be sent again although an earlier sending may have arrived.
    ``limit``: bytes that the body of the answer may have. ``is_wanted``: asked each time before it leaves, as it may be
    held up for minutes.
    """

    method: str
    path: str
    is_repeatable: bool = True
    body: Mapping[str, Any] | None = field(default=None, repr=False)
    limit: int = _ANSWER_LIMIT
    is_wanted: Callable[[], bool] = field(default=lambda: True, repr=False)


@dataclass(frozen=True)
class Answer:
    """What came back. ``defect`` says why ``body`` is not whole; ``is_cut``: because the connection ended;
    ``is_too_large``: because it has more than ``limit`` bytes.

    ``cookies``: those that the answer set and did not delete, as far as they can be sent back.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    cookies: Mapping[str, str] = field(default_factory=dict, repr=False)
    defect: str = ""
    is_cut: bool = False
    is_too_large: bool = False
    limit: int = _ANSWER_LIMIT

    @cached_property
    def content(self) -> Content:
        """What the body says; read once, however many look at it."""
        kind = self.headers.get("Content-Type", "")[:_LONGEST_HEADER]
        return read_content(self.body, kind, max(self.limit, _ANSWER_LIMIT))

    def is_server_trouble(self) -> bool:
        return self.status == _TOO_MANY_REQUESTS or self.status >= 500


def _is_worth_repeating(answer: Answer) -> bool:
    return answer.is_server_trouble() or answer.is_cut


class Transport:
    """Sends requests over connections of its own, one for each request."""

    def __init__(self, connection: Connection, gate: Gate | None = None, *, handshake_only: bool = False) -> None:
        if _WHY_NO_REQUESTS:
            raise ConsoleError(
                f"The Python that runs this task, {sys.executable}, has no usable package requests "
                f"({_WHY_NO_REQUESTS}). Nothing was sent.",
                f"Install it there: {sys.executable} -m pip install requests",
            )
        self._connection = connection
        self._gate = gate or OpenGate()
        self._wire = Wire(connection.tls_fingerprint, handshake_only)
        # Not a requests.Session: that one reads the body of a redirect without a limit, takes CA bundles and the
        # passwords of a .netrc from the environment, and sends its cookies unasked.
        self._adapter = requests.adapters.HTTPAdapter()
        self._proxies = get_environ_proxies(connection.base_url)
        self._proxy = select_proxy(connection.base_url, self._proxies)
        for manager in self._pool_managers():
            manager.pool_classes_by_scheme = dict(manager.pool_classes_by_scheme, https=self._wire.pool_class())
            if self._verify() is False:
                manager.connection_pool_kw["ssl_context"] = _UNVERIFYING

    @property
    def tls_fingerprint(self) -> str:
        """Of the certificate that was seen last; empty before the first connection."""
        return self._wire.fingerprint

    def send(
        self,
        request: Request,
        headers: Mapping[str, str] | None = None,
        is_worth_repeating: Callable[[Answer], bool] = _is_worth_repeating,
    ) -> Answer:
        """Returns the last answer, whatever its status; redirects are not followed.

        Raises UntrustedError, ProxyRefusedError, UnreachableError, UnansweredError or OverdueError when none came. A
        request that is not repeatable is sent again only while nothing of it has left.
        """
        deadline = Deadline(self._connection.total_timeout)
        pauses, outages = self._pauses(), 0
        self.await_turn(deadline)
        while True:
            result = self._attempt(request, headers or {}, deadline)
            if isinstance(result, (UntrustedError, ProxyRefusedError, OverdueError)):
                raise result
            self._gate.note(self._sign(result))
            if isinstance(result, Answer):
                wants_repeat = request.is_repeatable and is_worth_repeating(result)
            else:
                wants_repeat = request.is_repeatable or isinstance(result, UnreachableError)
            if not wants_repeat:
                break
            pause = next(pauses, None)
            if pause is not None:
                wait = max(pause, 0.0 if self._is_shared() else retry_after(result))
                if wait >= deadline.remaining():
                    break
                time.sleep(wait)
            was_down = self.await_turn(deadline)
            if pause is None:
                # What was asked of a node that was down counts as not asked.
                outages += 1
                if not was_down or outages > _MOST_OUTAGES:
                    break
        if isinstance(result, ConsoleError):
            raise result
        return result

    def await_turn(self, deadline: Deadline | None = None) -> bool:
        """Waits until a request may leave; says whether the management node was down meanwhile."""
        passage = self._gate.enter(self._probe)
        if deadline:
            deadline.postpone(passage.waited)
        return passage.was_down

    def _is_shared(self) -> bool:
        return not isinstance(self._gate, OpenGate)

    def _probe(self) -> Sign:
        return self._sign(self._attempt(Request("GET", _PROBE_PATH), {}, Deadline(self._connection.timeout)))

    def _sign(self, result: Answer | ConsoleError) -> Sign:
        if isinstance(result, UntrustedError):
            # Somebody answers. Who asks for more than a probe is told of it.
            return Sign("answers")
        if isinstance(result, ConsoleError):
            return Sign("absent", result.what)
        asked = retry_after(result)
        if result.status == _TOO_MANY_REQUESTS or (result.status in _NOBODY_BEHIND and asked):
            how_long = f" for {asked:.0f} s" if asked else ""
            words = f"{self._connection.base_url} answers HTTP {result.status}: it wants to be left alone{how_long}."
            return Sign("busy", words, asked)
        if result.status in _NOBODY_BEHIND:
            return Sign("absent", f"{self._connection.base_url} answers HTTP {result.status}.")
        return Sign("answers")

    def _pool_managers(self) -> Iterator[Any]:
        yield self._adapter.poolmanager
        if self._proxy:
            yield self._proxy_manager(self._proxy)

    def _proxy_manager(self, proxy: str) -> Any:
        try:
            proxy = prepend_scheme_if_needed(proxy, "http")  # type: ignore[no-untyped-call]
            if urlsplit(proxy).scheme.lower() in ("http", "https"):
                return self._adapter.proxy_manager_for(proxy)
        except (requests.RequestException, HTTPError, ValueError):
            pass
        # Not with its value, which may hold a password.
        raise UnreachableError(
            f"{self._connection.base_url} was not asked: the proxy that the environment names cannot be used.",
            "Set https_proxy to an address such as http://proxy.example:3128, or name the management node in no_proxy.",
        )

    def _pauses(self) -> Iterator[float]:
        for attempt in range(self._connection.retries):
            yield min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt) * random.uniform(0.5, 1.0)  # noqa: S311

    def _attempt(self, request: Request, headers: Mapping[str, str], deadline: Deadline) -> Answer | ConsoleError:
        if not request.is_wanted():
            return OverdueError(
                f"The request was held up before it could leave for {self._connection.base_url}, until it was not "
                "wanted any more. Nothing was sent.",
                "Run again to look anew.",
            )
        self._wire.begin()
        with CutAt(self._wire, deadline.remaining()), warnings.catch_warnings():
            # Without validate_certs this was asked for.
            warnings.simplefilter("ignore", InsecureRequestWarning)
            try:
                with self._adapter.send(
                    self._prepared(request, headers),
                    stream=True,
                    timeout=max(0.001, min(self._connection.timeout, deadline.remaining())),
                    verify=self._verify(),
                    proxies=self._proxies,
                ) as response:
                    return self._answer(response, request.limit, deadline)
            except PinMismatchError:
                return self._changed_certificate()
            except (requests.RequestException, HTTPError, OSError, ValueError) as error:
                return self._no_answer(error, request)
            finally:
                # A kept connection could die just as the next request is written to it; then nobody could
                # tell whether that request arrived.
                self._adapter.close()

    def _prepared(self, request: Request, headers: Mapping[str, str]) -> requests.PreparedRequest:
        body = None if request.body is None else json.dumps(request.body).encode()
        kind = {} if body is None else {"Content-Type": "application/json"}
        url = self._connection.base_url + request.path
        return requests.Request(request.method, url, headers={**_HEADERS, **kind, **headers}, data=body).prepare()

    def _verify(self) -> bool | str:
        if self._connection.tls_fingerprint or not self._connection.validate_certs:
            return False
        return self._connection.ca_path or True

    def _answer(self, response: requests.Response, limit: int, deadline: Deadline) -> Answer:
        body = read_body(response.raw, response.headers, limit)
        # It is chance whether the socket's own time is over first, or that of all attempts.
        is_late = self._wire.is_cut or (body.is_cut and deadline.is_over())
        defect = f"did not end within {deadline.seconds:.0f} s" if is_late else body.defect
        return Answer(
            status=response.status_code,
            headers=response.headers,
            body=body.content,
            cookies=_cookies({cookie.name: (cookie.value or "").strip('"') for cookie in response.cookies}),
            defect=defect,
            is_cut=body.is_cut,
            is_too_large=body.is_too_large,
            limit=limit,
        )

    def _changed_certificate(self) -> UntrustedError:
        seen, pinned = self._wire.fingerprint, self._connection.tls_fingerprint
        return UntrustedError(
            f"{self._connection.base_url} presented a certificate with the fingerprint {seen}, but O(tls_fingerprint) "
            f"is {pinned}: the certificate was changed, or somebody stands in between. Nothing was sent.",
            f"If you know of the change, set O(tls_fingerprint): {seen}",
            tls_fingerprint=seen,
        )

    def _untrusted_certificate(self, complaint: str) -> UntrustedError:
        probe = Transport(replace(self._connection, validate_certs=False, tls_fingerprint=""), handshake_only=True)
        with contextlib.suppress(HandshakeDoneError):
            probe._attempt(Request("GET", "/"), {}, Deadline(self._connection.timeout))
        seen = probe.tls_fingerprint or "unknown"
        is_of_another_time = "expired" in complaint or "not yet valid" in complaint
        clock = "See first whether this machine's clock is right (`date`). " if is_of_another_time else ""
        return UntrustedError(
            f"The certificate of {self._connection.base_url} is not trusted: {complaint}. Nothing was sent. "
            f"Its SHA-256 fingerprint is {seen}.",
            f"{clock}If that is the management node's, set O(tls_fingerprint): {seen} ; or name its CA in O(ca_path).",
            tls_fingerprint=seen,
        )

    def _no_answer(self, error: Exception, request: Request) -> ConsoleError:
        complaint = certificate_complaint(error)
        if complaint and not self._wire.sent:
            return self._untrusted_certificate(complaint)
        refusal = refusal_of_a_proxy(error)
        if refusal:
            return ProxyRefusedError(
                f"{self._connection.base_url} was not asked: the proxy that the environment names answers HTTP "
                f"{refusal} and does not lead there.",
                "Have the proxy allow it, put the name and password that it wants into https_proxy, or, where the node "
                "is reached without one, name it in no_proxy.",
            )
        why = reason(error)
        if self._wire.is_cut or why == TOO_LATE:
            why = f"no {'whole answer came' if self._wire.sent else 'connection came about'} in time"
        if self._wire.sent:
            return UnansweredError(
                request,
                f"{request.method} {self._connection.base_url}{request.path} was sent, but {why}.",
                "Look at the management node and at what lies between; raise O(timeout) if it is only slow.",
            )
        via = " through the proxy that the environment names" if self._proxy else ""
        return UnreachableError(
            f"{self._connection.base_url} cannot be reached{via}: {why}.",
            "Check O(base_url), the network and the proxy settings, and that the management node is up.",
        )


def _cookies(given: Mapping[str, str]) -> dict[str, str]:
    """Without what is no cookie's value or is longer than browsers take; those that are needed come first."""
    kept: dict[str, str] = {}
    room = _LONGEST_COOKIES
    for name in sorted(given, key=lambda name: name not in _NEEDED_COOKIES):
        value = given[name]
        if value and value.isascii() and value.isprintable() and len(value) <= room:
            kept[name] = value
            room -= len(value)
    return kept


def retry_after(result: Answer | ConsoleError) -> float:
    """Seconds that the answer asks to wait; none where it says so in a way that cannot be read."""
    value = result.headers.get("Retry-After") if isinstance(result, Answer) else None
    if not value or len(value) > _LONGEST_HEADER:
        return 0.0
    reader = Retry()
    # Newer ones have a bound of their own, of six hours.
    reader.retry_after_max = _LONGEST_WAIT
    try:
        return float(min(reader.parse_retry_after(value), _LONGEST_WAIT))
    except (HTTPError, ValueError, OverflowError):
        return 0.0
