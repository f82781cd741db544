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


class PinMismatchError(Exception):
    """The certificate is not the pinned one. Not an OSError, so that no library retries or rewords it."""


class HandshakeDoneError(Exception):
    """Ends a connection that was made only to look at the certificate."""


class Wire:
    """What happens on the connections of one transport.

    ``pin``: the fingerprint that the certificate must have; empty for any.
    ``handshake_only``: end each connection after its TLS handshake.
    ``sent``: whether any byte of the current request may have left.
    ``fingerprint``: of the last certificate seen, empty before.
    """

    def __init__(self, pin: str, handshake_only: bool) -> None:
        self.sent = False
        self.fingerprint = ""
        self._pin = pin
        self._handshake_only = handshake_only
        self._connection: Any = None

    def connecting(self, connection: HTTPSConnection) -> None:
        self._connection = connection

    def connected(self, certificate: bytes) -> None:
        self.fingerprint = hashlib.sha256(certificate).hexdigest()
        if self._handshake_only:
            raise HandshakeDoneError
        if self._pin and self._pin != self.fingerprint:
            raise PinMismatchError

    @property
    def is_pinned(self) -> bool:
        return bool(self._pin)

    def cut(self) -> None:
        """Ends the connection from another thread: whoever reads from it gets an error at once."""
        connection_socket = getattr(self._connection, "sock", None)
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


class _WatchedConnection(HTTPSConnection):
    wire: Wire

    def connect(self) -> None:
        self.wire.connecting(self)
        super().connect()
        tls: Any = self.sock
        self.wire.connected(tls.getpeercert(binary_form=True))
        # An answer that has no length ends with the connection: without this, a cut one looks whole.
        tls.suppress_ragged_eofs = False
        self.is_verified = self.is_verified or self.wire.is_pinned

    def request(self, *args: Any, **kwargs: Any) -> None:
        self.wire.sent = True
        super().request(*args, **kwargs)


class CutAt:
    """Cuts the wire after ``seconds``, unless the block has ended before. ``happened`` says whether it was cut.

    The time-outs of a socket are for each wait, so that an answer which drips would never end without this.
    """

    def __init__(self, wire: Wire, seconds: float) -> None:
        self.happened = False
        self._wire = wire
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def _cut(self) -> None:
        self.happened = True
        self._wire.cut()

    def __enter__(self) -> CutAt:
        self._timer.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._timer.cancel()
