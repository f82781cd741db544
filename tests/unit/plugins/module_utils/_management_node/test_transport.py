"""Failures of TLS and of the network, and bodies with a content coding."""

import errno
import functools
import gzip
import io
import zlib

import pytest
from urllib3.response import HTTPResponse

from ansible_collections.slb.fleet.plugins.module_utils._management_node import transport
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection
from ansible_collections.slb.fleet.tests.unit.errors import error_of

GET = transport.Request("list", "GET", "/")
zipped = functools.partial(gzip.compress, mtime=0)  # without the time, which would be part of a name
TEXT = b'{"code":0,"msg":"' + bytes(range(32, 127)) * 50 + b'"}'
RAW = zlib.compress(TEXT)[2:-4]
HALF = zipped(TEXT[:99]) + zipped(TEXT[99:])


def way():
    return transport.Transport(Connection("https://console.example", "admin", "x"))


def test_failure_of_the_network_shows_the_cause():
    error = OSError(errno.ENETUNREACH, "Network is unreachable")
    assert ": network is unreachable" in way()._failure(error, GET, transport._Line(""), 1).summary


def test_context_of_a_folder_trusts_no_other_authority(tmp_path):
    assert transport._context(True, str(tmp_path), "", "").get_ca_certs() == []


def test_context_is_made_before_the_workers_fork(monkeypatch):
    monkeypatch.setattr(transport.socket, "getaddrinfo", lambda *_words, **_named: [])
    made = transport._context.cache_info().misses
    assert error_of(way().exchange, GET, {}, 5)
    assert transport._context.cache_info().misses == made


INCOMPLETE = [
    *(b"no compression", zipped(TEXT) + b"more", zipped(TEXT)[:-8] + bytes(8), zipped(TEXT)[:-1], HALF[:-1]),
    *(zlib.compress(TEXT)[:-1], RAW[:-1], zipped(TEXT[:99]) + b"\x1f"),
]


@pytest.mark.parametrize(
    ("body", "coding", "limit", "size", "defect"),
    [
        *((body, "gzip", 9999, len(TEXT), "") for body in (zipped(TEXT), HALF, HALF + bytes(9))),
        (zipped(TEXT[:99]) + bytes(3) + zipped(TEXT[99:]), "gzip", 9999, len(TEXT), ""),
        *((body, "DEFLATE", 9999, len(TEXT), "") for body in (RAW, zlib.compress(TEXT))),
        *((body, "gzip", 9999, 0, "") for body in (b"", zipped(b""))),
        *((TEXT, coding, 9999, len(TEXT), "") for coding in ("", "identity")),
        (TEXT, "", 9, 9, "the body is larger than 9 bytes"),
        (zipped(bytes(10**8)), "x-gzip", 9, 9, "the body is larger than 9 bytes"),
        *((body, "gzip", 9999, 0, f"the body is incomplete after {len(body)} bytes") for body in INCOMPLETE),
        (TEXT, "br", 9999, 0, "the body has the unknown content coding 'br'"),
        (TEXT, "gzip, deflate", 9999, 0, "the body has more than one content coding"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_body_is_read_or_has_a_defect(body, coding, limit, size, defect):
    raw = HTTPResponse(io.BytesIO(body), {"Content-Encoding": coding} if coding else {}, preload_content=False)
    content, seen = transport._read(raw, limit)
    assert (content, seen) == (TEXT[:size] if body != zipped(bytes(10**8)) else bytes(9), defect)
