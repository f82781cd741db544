"""What is read of a HAR file, and which answers cannot be used."""

import gzip
import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils import _recording
from ansible_collections.slb.fleet.plugins.plugin_utils._proposal import propose
from ansible_collections.slb.fleet.plugins.plugin_utils._proposal_report import (
    read_answers,
    show_answers,
    show_proposal,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._recording import load_har, read_recording
from ansible_collections.slb.fleet.tests.unit.plugins.plugin_utils.hars import BASE, as_base64, entry, har, hosts, rows
from ansible_collections.slb.fleet.tests.unit.plugins.plugin_utils.test_proposal import PATTERNS

LIST = json.dumps({"data": rows(1, 2)})
ADDRESSES = {"192.0.2.1", "192.0.2.2"}


def read(*entries, base_urls=(BASE,)):
    return read_recording(har(*entries), base_urls, ADDRESSES, "console.har")


@pytest.mark.parametrize(
    "content",
    [
        {"text": LIST},
        {"text": f"\ufeff{LIST}"},
        as_base64(LIST.encode()),
        as_base64(gzip.compress(LIST.encode())),
        {**as_base64(LIST.encode("gbk")), "mimeType": "application/json; charset=gbk"},
        {"text": LIST, "mimeType": 7, "size": "?"},
    ],
    ids=["text", "byte order mark", "base64", "gzip", "gbk", "unusual members"],
)
def test_answer_is_read_in_each_encoding(content):
    (exchange,) = read(entry("/engines?a=1", None, **content)).exchanges
    assert exchange.answer.parsed == (json.loads(LIST),)
    assert (exchange.method, exchange.path, exchange.query) == ("GET", "/engines", (("a", "1"),))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"text": None, "size": 500}, "without content"),
        ({"text": "not base64!", "encoding": "base64", "size": 500}, "without content"),
        ({**as_base64(b"\x1f\x8bno gzip"), "size": 500}, "without content"),
        ({"text": LIST[:40] + "\0" * 40}, "cut by the browser"),
        ({"text": LIST[:40]}, "with broken JSON"),
        ({"text": "[" * 100_000}, "with broken JSON"),
        ({"text": "<table><td>192.0.2.1</td></table>"}, "with addresses of the inventory, but no JSON"),
        ({"text": "data: 192.0.2.2\n\n"}, "with addresses of the inventory, but no JSON"),
        ({"text": "[" + " " * _recording.LIST_LIMIT + "]"}, "larger than 16 MiB"),
    ],
)
def test_unusable_answer_is_counted_with_its_reason(content, reason):
    assert read(entry("/engines", "", **content)).unusable == {reason: 1}


@pytest.mark.parametrize("content", [{"text": ""}, {"text": None, "size": 0}, {"text": "<p>192.0.2.77</p>"}])
def test_other_answer_is_no_problem(content):
    assert not read(entry("/style", "", **content)).unusable


def test_answer_of_the_cache_counts():
    (exchange,) = read(entry("/engines", {"data": rows(1)}, status=304)).exchanges
    assert exchange.answer.is_success


def test_only_requests_below_a_base_url_are_read():
    recording = read(
        entry("https://CONSOLE.example:443/a/engines", []),
        entry("https://console.example/ab/engines", []),
        entry("http://console.example/a/engines", []),
        entry("https://other.example/a/engines", []),
        entry("https://[broken/a", []),
        base_urls=["https://console.example/a"],
    )
    assert [exchange.path for exchange in recording.exchanges] == ["/engines"]


def test_values_of_a_large_gzip_are_limited():
    bomb = gzip.compress(b"[" + b" " * (64 * 1024 * 1024) + b"]")
    assert read(entry("/engines", "", **as_base64(bomb))).unusable == {"larger than 16 MiB": 1}


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"", "it is no complete JSON"),
        (b'{"log": {"entries": [', "it is no complete JSON"),
        (b"[" * 100_000, "it is no complete JSON"),
        (b"\xff\xfe{}", "it is no complete JSON"),
        (b'{"log": []}', "it is no HAR file"),
        (b"[]", "it is no HAR file"),
        (b'{"log": {"entries": {}}}', "it is no HAR file"),
        (b'{"log": {"entries": [null, 1, {}, {"request": 1, "response": []}]}}', f"it has no request to {BASE}"),
    ],
)
def test_file_of_another_kind_is_an_error(tmp_path, content, cause):
    path = tmp_path / "console.har"
    path.write_bytes(content)
    with pytest.raises(FleetError, match=cause) as error:
        read_recording(load_har(str(path)), [BASE], ADDRESSES, str(path))
    assert error.value.code == "recording_unusable"


def test_file_with_requests_to_another_console_names_it():
    with pytest.raises(FleetError, match=r"requests to https://other\.example\)"):
        read(entry("https://other.example/engines", []))


def test_file_that_cannot_be_read_is_an_error(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "fifo")
    large = tmp_path / "large"
    large.write_text("[]" * 10)
    monkeypatch.setattr(_recording, "MAX_FILE_SIZE", 10)
    monkeypatch.setattr(_recording, "MAX_ENTRIES", 1)
    for path in (tmp_path, tmp_path / "fifo", tmp_path / "missing", "\0", "~no-such-user/har", large):
        with pytest.raises(FleetError):
            load_har(str(path))
    with pytest.raises(FleetError, match="more than 1 requests"):
        read(entry("/a", []), entry("/b", []))


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**400), 10**400),
    st.floats(),
    st.text(st.characters(), max_size=8),
    st.sampled_from(["edge-1", "edge-2", "192.0.2.1", "192.0.2.2/24", "[::1]:80", "running", "\ud800", "", "token"]),
)
KEYS = st.sampled_from(["data", "items", "name", "ip", "status", "total", "a.b", "*", "", "0", "\ud800", "token"])
VALUES = st.recursive(
    SCALARS, lambda part: st.lists(part, max_size=4) | st.dictionaries(KEYS, part, max_size=4), max_leaves=20
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["edge-1", "edge-2"]) | VALUES, "ip": st.sampled_from(["192.0.2.1"]) | VALUES},
        optional={"status": st.sampled_from(["running", "up", "7"]) | VALUES, "more": VALUES},
    ),
    max_size=4,
)
DOCUMENTS = (
    VALUES | ROWS | st.fixed_dictionaries({"data": ROWS, "total": SCALARS}) | st.dictionaries(KEYS, ROWS, max_size=3)
)
URLS = st.sampled_from(["/engines", "/a/b;c", "//", "", "/system/add_slb_engine/", "/account/login/"]) | st.text(
    max_size=9
)
QUERIES = st.sampled_from(["", "?page=1&size=2", "?page=2&size=2", "?%ff=%00&page=x", "?offset=0", "?[]=1", "?token=a"])
TEXTS = DOCUMENTS.map(json.dumps) | st.text(max_size=20)


@st.composite
def exchanges(draw):
    made = entry(BASE + draw(URLS) + draw(QUERIES), draw(TEXTS), method=draw(st.sampled_from(["GET", "POST"])))
    made["response"]["status"] = draw(st.sampled_from([200, 200, 200, 304, 401, 500, 0, "200", None]))
    for part, member in draw(st.lists(st.sampled_from([("request", "url"), ("response", "content")]), max_size=1)):
        made[part][member] = draw(VALUES)
    made["request"]["postData"] = draw(VALUES | st.fixed_dictionaries({"text": TEXTS}))
    return made


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(VALUES | st.lists(exchanges() | VALUES, max_size=5).map(lambda each: har(*each)))
def test_any_file_is_a_result_or_a_fleet_error(document):
    known = hosts(1, 2)
    try:
        recording = read_recording(document, [BASE], ADDRESSES)
        candidates = propose(recording.exchanges, known)
    except FleetError:
        return
    lines = [
        *show_proposal(recording, candidates, len(known)),
        *show_answers(read_answers(recording.exchanges, PATTERNS, known)),
    ]
    assert all(isinstance(line, str) for line in lines)
    assert all(each.explained for each in candidates)
