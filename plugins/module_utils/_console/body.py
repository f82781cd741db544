# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the body of an answer: bounded, decoded, and known to be whole or not."""

from __future__ import annotations

import re
import zlib
from http.client import HTTPException
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

try:
    from urllib3.exceptions import HTTPError
except ImportError:
    HTTPError = OSError  # type: ignore[assignment, misc]

_CHUNK = 64 * 1024
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_GZIP = 16 + zlib.MAX_WBITS
_DIGITS = re.compile(r"[0-9]{1,18}")
_COMPRESSED = ("gzip", "x-gzip", "deflate")


class Stream(Protocol):
    """The part of urllib3's response that is used here."""

    def read(self, amt: int, decode_content: bool) -> bytes:
        """At most ``amt`` bytes as they came; none at the end."""


class Body(NamedTuple):
    """``defect`` says in words why ``content`` is not the whole body; empty when it is.

    ``is_cut``: the connection ended before the body did, so that asking again may help. ``is_too_large``: there is more
    than was to be read.
    """

    content: bytes
    defect: str = ""
    is_cut: bool = False
    is_too_large: bool = False


class _TooLargeError(Exception):
    pass


class _Collector:
    def __init__(self, encoding: str, limit: int) -> None:
        self.content = bytearray()
        self._limit = limit
        self._decoder = zlib.decompressobj(_GZIP_OR_ZLIB) if encoding in _COMPRESSED else None

    def add(self, chunk: bytes) -> None:
        while chunk:
            if self._decoder and self._decoder.eof:
                # Gzip may have several members, and nothing else may follow what is compressed.
                self._decoder = zlib.decompressobj(_GZIP)
            # The limit keeps a small body from unpacking into all of the memory.
            self._keep(self._decoder.decompress(chunk, self._room()) if self._decoder else chunk[: self._room()])
            chunk = self._decoder.unused_data if self._decoder else b""

    def _room(self) -> int:
        return self._limit - len(self.content) + 1

    def _keep(self, content: bytes) -> None:
        self.content += content
        if len(self.content) > self._limit:
            del self.content[self._limit :]
            raise _TooLargeError

    def is_whole(self) -> bool:
        return self._decoder is None or self._decoder.eof


def read_body(stream: Stream, headers: Mapping[str, str], limit: int) -> Body:
    """Reads at most ``limit`` bytes, counted after decoding. The stream's own time-outs end a wait."""
    encoding = headers.get("Content-Encoding", "").strip().lower()
    if encoding not in (*_COMPRESSED, "", "identity"):
        return Body(b"", f"is encoded as {encoding[:20]!r}, which was not asked for")
    collector = _Collector(encoding, limit)
    received = 0
    try:
        while chunk := stream.read(_CHUNK, decode_content=False):
            received += len(chunk)
            if received > limit + _CHUNK:
                # Compressed, nothing can go on without end.
                raise _TooLargeError
            collector.add(chunk)
    except _TooLargeError:
        return Body(bytes(collector.content), f"is larger than {limit} bytes", is_too_large=True)
    except zlib.error:
        return Body(bytes(collector.content), f"is not valid {encoding}")
    except (HTTPError, HTTPException, OSError, ValueError):
        return Body(bytes(collector.content), f"broke off after {received} bytes", is_cut=True)
    length = headers.get("Content-Length", "").strip()
    is_framed_by_length = "Transfer-Encoding" not in headers and _DIGITS.fullmatch(length) is not None
    if is_framed_by_length and received != int(length):
        return Body(bytes(collector.content), f"broke off after {received} of {length} bytes", is_cut=True)
    if received and not collector.is_whole():
        return Body(bytes(collector.content), f"is {encoding} that ends too early", is_cut=True)
    return Body(bytes(collector.content))
