# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The TLS connection: its certificate is looked at before the first byte of a request leaves."""

from __future__ import annotations

import hashlib
import socket
import threading
from typing import Any

try:
    from urllib3.connection import HTTPSConnection
    from urllib3.connectionpool import HTTPSConnectionPool
except ImportError:  # comes with requests, whose absence the transport tells
    HTTPSConnection = HTTPSConnectionPool = object  # type: ignore[assignment, misc]


_CUT_AGAIN_SECONDS = 0.1


class PinMismatchError(Exception):
    """The certificate is not the pinned one. Not an OSError, so that no library retries or rewords it."""


class HandshakeDoneError(Exception):
    """Ends a connection that was made only to look at the certificate."""


class Wire:
    """What happens on the connections of one transport.

    ``pin``: the fingerprint that the certificate must have; empty for any.
    ``handshake_only``: end each connection after its TLS handshake.
    ``sent``: whether any byte of the current request may have left.
    ``is_cut``: whether the deadline of the current request has passed: nothing is begun any more.
    ``fingerprint``: of the last certificate seen, empty before.
    """

    def __init__(self, pin: str, handshake_only: bool) -> None:
        self.sent = False
        self.is_cut = False
        self.fingerprint = ""
        self._pin = pin
        self._handshake_only = handshake_only
        self._connection: Any = None
        self._socket: Any = None

    def begin(self) -> None:
        """Before each request."""
        self.sent = self.is_cut = False
        self._connection = self._socket = None

    def connecting(self, connection: HTTPSConnection) -> None:
        self._refuse_if_cut()
        self._connection = connection

    def connected(self, tls: Any) -> None:
        # An answer that ends with its connection has the socket for itself: the connection has forgotten it by then.
        self._socket = tls
        self._refuse_if_cut()
        certificate = tls.getpeercert(binary_form=True)
        self.fingerprint = hashlib.sha256(certificate).hexdigest()
        if self._handshake_only:
            raise HandshakeDoneError
        if self._pin and self._pin != self.fingerprint:
            raise PinMismatchError

    def sending(self) -> None:
        self._refuse_if_cut()
        self.sent = True

    @property
    def is_pinned(self) -> bool:
        return bool(self._pin)

    def cut(self) -> None:
        """Ends the connection from another thread: whoever reads from it gets an error at once."""
        self.is_cut = True
        connection_socket = self._socket or getattr(self._connection, "sock", None)
        # TLS through a proxy that speaks TLS itself is an object around the socket.
        connection_socket = getattr(connection_socket, "socket", connection_socket)
        if isinstance(connection_socket, socket.socket):
            try:
                # SSLSocket.shutdown would pull the TLS state from under the reading thread.
                socket.socket.shutdown(connection_socket, socket.SHUT_RDWR)
            except OSError:
                return

    def pool_class(self) -> type:
        """A urllib3 pool whose connections report to this wire."""
        connection_class = type("WatchedConnection", (_WatchedConnection,), {"wire": self})
        return type("WatchedPool", (HTTPSConnectionPool,), {"ConnectionCls": connection_class})

    def _refuse_if_cut(self) -> None:
        if self.is_cut:
            raise TimeoutError


class _WatchedConnection(HTTPSConnection):
    wire: Wire

    def connect(self) -> None:
        self.wire.connecting(self)
        super().connect()
        tls: Any = self.sock
        self.wire.connected(tls)
        # An answer that has no length ends with the connection: without this, a cut one looks whole.
        tls.suppress_ragged_eofs = False
        self.is_verified = self.is_verified or self.wire.is_pinned

    def request(self, *args: Any, **kwargs: Any) -> None:
        self.wire.sending()
        super().request(*args, **kwargs)


class CutAt:
    """Cuts the wire after ``seconds``, unless the block has ended before.

    The time-outs of a socket are for each wait, so that an answer which drips would never end without this.
    """

    def __init__(self, wire: Wire, seconds: float) -> None:
        self._wire = wire
        self._seconds = seconds
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        wait = self._seconds
        while not self._ended.wait(wait):
            # Again and again: while a name is looked up or addresses are tried, there is nothing to cut yet.
            self._wire.cut()
            wait = _CUT_AGAIN_SECONDS

    def __enter__(self) -> CutAt:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._ended.set()
        # So that it cannot cut the next request.
        self._thread.join()
