# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Says in words why a connection failed. Never the text of an exception, which may quote a request or a proxy."""

from __future__ import annotations

import re
import socket
import ssl
from typing import TYPE_CHECKING

from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short

if TYPE_CHECKING:
    from collections.abc import Iterator

TOO_LATE = "it took too long"
_LONGEST_WORDS = 300
_REFUSED_BY_A_PROXY = re.compile(r"Tunnel connection failed: (4[0-9]{2})\b")


def certificate_complaint(error: BaseException) -> str:
    """What is wrong with the certificate; empty when the failure is another one."""
    for cause in _chain(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return in_short(str(cause.verify_message or "it cannot be verified"), _LONGEST_WORDS)
        # urllib3's own error, from before it left this check to OpenSSL.
        if type(cause).__name__ == "CertificateError":
            return "it was issued for another name"
    return ""


def refusal_of_a_proxy(error: BaseException) -> str:
    """The status by which a proxy has said that it leads nowhere, as ``403``; empty when the failure is another one."""
    found = (_REFUSED_BY_A_PROXY.match(str(cause)) for cause in _chain(error) if isinstance(cause, OSError))
    return next((refusal[1] for refusal in found if refusal), "")


def reason(error: BaseException) -> str:
    """Completes the sentence 'the request failed: …'."""
    causes = list(_chain(error))
    for kind, words in (
        (socket.gaierror, "its name cannot be resolved"),
        (ConnectionRefusedError, "the connection was refused"),
        (TimeoutError, TOO_LATE),
        (ConnectionError, "the connection was closed without an answer"),
    ):
        if any(isinstance(cause, kind) for cause in causes):
            return words
    for cause in causes:
        if "Timeout" in type(cause).__name__:
            return TOO_LATE
        if isinstance(cause, ssl.SSLError):
            return f"TLS failed ({in_short(str(cause.reason or 'handshake'), _LONGEST_WORDS)})"
    for cause in causes:
        if isinstance(cause, OSError) and cause.strerror:
            return in_short(cause.strerror[:1].lower() + cause.strerror[1:], _LONGEST_WORDS)
    return f"the connection failed ({type(causes[-1]).__name__})"


def _chain(error: BaseException) -> Iterator[BaseException]:
    pending, seen = [error], set()
    while pending:
        cause = pending.pop(0)
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        wrapped = (cause.__cause__, cause.__context__, getattr(cause, "reason", None), *cause.args)
        pending += [inner for inner in wrapped if isinstance(inner, BaseException)]
