"""Failures of TLS and of the network, and bodies with a content coding."""

import errno
import functools
import gzip
import io
import ssl
import threading
import zlib

import pytest
from urllib3.response import HTTPResponse

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node import transport
from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import Answer
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection

GET = transport.Request("list", "GET", "/")
zipped = functools.partial(gzip.compress, mtime=0)  # without the time, which would be part of a name
TEXT = b'{"code":0,"msg":"' + bytes(range(32, 127)) * 50 + b'"}'
RAW = zlib.compress(TEXT)[2:-4]
HALF = zipped(TEXT[:99]) + zipped(TEXT[99:])


def way():
    return transport.Transport(Connection("https://console.example", "admin", "x"))


@pytest.mark.parametrize(
    ("reason", "is_sent", "is_permanent"),
    [
        *((reason, False, True) for reason in (
            "UNSUPPORTED_PROTOCOL", "TLSV1_ALERT_PROTOCOL_VERSION", "WRONG_VERSION_NUMBER", "DH_KEY_TOO_SMALL",
            "SSLV3_ALERT_HANDSHAKE_FAILURE", "SSLV3_ALERT_BAD_CERTIFICATE",
        )),
        ("TLSV13_ALERT_CERTIFICATE_REQUIRED", True, True), ("TLSV1_ALERT_UNKNOWN_CA", True, True),
        ("UNEXPECTED_EOF_WHILE_READING", False, False), ("DECRYPTION_FAILED_OR_BAD_RECORD_MAC", True, False),
        ("SSLV3_ALERT_BAD_RECORD_MAC", True, False),
    ],
)  # fmt: skip
def test_failure_of_tls_is_not_repeated(reason, is_sent, is_permanent):
    error = ssl.SSLError(1, f"[SSL: {reason}] (_ssl.c:1)")
    error.reason = reason
    line = transport._Line("")
    line.is_sent = is_sent
    failure = way()._failure(error, GET, line, 1)
    assert (failure.code, failure.is_sent, failure.is_permanent) == (
        "management_node_unavailable", is_sent, is_permanent,
    )  # fmt: skip
    assert ("client_cert" in failure.fix, "TLS 1.2" in failure.fix) == (is_permanent, is_permanent)


def test_failure_of_the_network_shows_the_cause():
    error = OSError(errno.ENETUNREACH, "Network is unreachable")
    assert ": network is unreachable" in way()._failure(error, GET, transport._Line(""), 1).summary


def test_name_lookup_that_hangs_does_not_keep_the_process(monkeypatch):
    over = threading.Event()
    monkeypatch.setattr(transport.socket, "getaddrinfo", lambda *_words, **_named: over.wait(60))
    with pytest.raises(FleetError):
        way().exchange(GET, {}, 0.1)
    left = [thread for thread in threading.enumerate() if thread.name == "slb.fleet"]
    over.set()
    assert [thread.daemon for thread in left] == [True]


@pytest.mark.parametrize("size", [1, 7, 100_000])
@pytest.mark.parametrize(
    ("coded", "content", "is_within"),
    [
        (zipped(TEXT), TEXT, False), (HALF, TEXT, False), (HALF + bytes(9), TEXT, False), (RAW, TEXT, False),
        (zipped(TEXT[:99]) + bytes(3) + zipped(TEXT[99:]), TEXT, False), (b"", b"", False),
        (zlib.compress(TEXT), TEXT, False), (zipped(b""), b"", False), (zipped(TEXT)[:-1], TEXT, True),
        (HALF[:-1], TEXT, True), (zlib.compress(TEXT)[:-1], TEXT, True), (RAW[:-1], None, True),
        (zipped(TEXT[:99]) + b"\x1f", TEXT[:99], True),
    ],
    ids=lambda value: str(value)[:20],
)  # fmt: skip
def test_decoder_reads_each_form(size, coded, content, is_within):
    decoder = transport._Decoder(2**20)
    decoded = b"".join(decoder.decode(coded[index : index + size]) for index in range(0, len(coded), size))
    assert (content is None or decoded == content, decoder.is_within) == (True, is_within)


@pytest.mark.parametrize("coded", [b"no compression", zipped(TEXT) + b"more", zipped(TEXT)[:-8] + bytes(8)])
def test_decoder_of_another_coding_fails(coded):
    with pytest.raises(zlib.error):
        transport._Decoder(2**20).decode(coded)


@pytest.mark.parametrize(
    ("body", "coding", "limit", "size", "defect"),
    [
        (zipped(TEXT), "gzip", 9999, len(TEXT), ""),
        (TEXT, "", 9999, len(TEXT), ""),
        (TEXT, "identity", 9999, len(TEXT), ""),
        (RAW, "DEFLATE", 9999, len(TEXT), ""),
        (TEXT, "", 9, 9, "the body is larger than 9 bytes"),
        (zipped(bytes(10**8)), "x-gzip", 9, 9, "the body is larger than 9 bytes"),
        (zipped(TEXT)[:-1], "gzip", 9999, len(TEXT), f"the body is incomplete after {len(TEXT)} bytes"),
        (b"no compression", "gzip", 9999, 0, "the body is incomplete after 0 bytes"),
        (TEXT, "br", 9999, 0, "the body has the unknown content coding 'br'"),
        (TEXT, "gzip, deflate", 9999, 0, "the body has more than one content coding"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_body_is_read_or_has_a_defect(body, coding, limit, size, defect):
    raw = HTTPResponse(io.BytesIO(body), {"Content-Encoding": coding} if coding else {}, preload_content=False)
    content, seen = transport._read(raw, limit)
    assert (len(content), seen) == (size, defect)


@pytest.mark.parametrize(("value", "seconds"), [("7", 7), ("", 0), ("soon", 0), ("-1", 0), ("1e3", 0)])
def test_retry_after_is_read(value, seconds):
    assert transport.retry_after(Answer(503, {"Retry-After": value}, b"")) == seconds
