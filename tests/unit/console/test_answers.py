"""What answers mean, whatever they hold."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.slb.fleet.plugins.module_utils._console import answers
from ansible_collections.slb.fleet.plugins.module_utils._console.content import Kind, read_content
from ansible_collections.slb.fleet.plugins.module_utils._console.engine import EXISTS_PATTERNS, PORT_OCCUPIED_PATTERNS
from ansible_collections.slb.fleet.plugins.module_utils._console.transport import Answer

EXISTS = [re.compile(pattern, re.IGNORECASE) for pattern in EXISTS_PATTERNS]
PORT = [re.compile(pattern, re.IGNORECASE) for pattern in PORT_OCCUPIED_PATTERNS]
OUTCOMES = {answers.REQUESTED, answers.EXISTS, answers.PORT_OCCUPIED, answers.REFUSED, answers.UNKNOWN}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda children: (
        st.lists(children) | st.dictionaries(st.sampled_from(["code", "msg", "data", "error"]) | st.text(), children)
    ),
    max_leaves=12,
)
bodies = st.binary() | st.text().map(str.encode) | json_values.map(lambda value: json.dumps(value).encode())
statuses = st.integers(100, 599)
kinds = st.sampled_from(
    ["", "application/json", "text/html; charset=gbk", 'text/plain; charset="none"', "a/b; charset=hex"]
)


def outcome(status: int, body: bytes, kind: str = "", name: str = "edge-1", defect: str = "") -> str:
    answer = Answer(status, {"Content-Type": kind}, body, defect=defect)
    return answers.install_outcome(answer, read_content(body, kind), EXISTS, PORT, (name, "192.0.2.1"))


@given(statuses, bodies, kinds)
def test_every_answer_has_one_outcome(status: int, body: bytes, kind: str) -> None:
    assert outcome(status, body, kind) in OUTCOMES
    answer, content = Answer(status, {"Content-Type": kind}, body), read_content(body, kind)
    assert answers.asks_for_login(answer, content) in (True, False)
    assert answers.gives_no_data(answer, content) in (True, False)
    assert answers.says_error(content) in (True, False)


@given(statuses.filter(lambda status: not 200 <= status < 300), bodies)
def test_only_a_success_is_requested(status: int, body: bytes) -> None:
    assert outcome(status, body) != answers.REQUESTED


@given(bodies)
def test_what_is_not_whole_is_never_requested(body: bytes) -> None:
    assert outcome(200, body, defect="broke off") != answers.REQUESTED


@given(st.sampled_from([500, 502, 503, 504, 408, 301, 302, 307]), bodies)
def test_what_may_have_been_carried_out_is_not_refused(status: int, body: bytes) -> None:
    """For ``refused`` a role withdraws its note of the request; it must be certain that nothing was begun."""
    assert outcome(status, body) != answers.REFUSED


@given(
    st.sampled_from([200, 201, 202]),
    st.text(),
    st.sampled_from(["Please log in first", "session expired", "未登录", ""]),
)
def test_a_success_is_never_taken_for_a_session_that_is_gone(status: int, text: str, words: str) -> None:
    """The request would be sent again."""
    body = json.dumps({"code": 0, "msg": f"{text} {words}", "data": {"text": words}}).encode()
    assert not answers.asks_for_login(Answer(status, {}, body), read_content(body))


@pytest.mark.parametrize(
    ("location", "is_login"),
    [
        ("/account/login/?next=/", True),
        ("/?from=x#/login", True),
        ("https://login.example/", True),
        ("/console/?last_login=3", False),
        ("/console/engines/", False),
        ("", False),
    ],
)
def test_redirects(location: str, is_login: bool) -> None:
    answer = Answer(302, {"Location": location}, b"")
    assert answers.asks_for_login(answer, read_content(b"")) == is_login


SENTENCES = [
    ("The engine already exists", answers.EXISTS),
    ("引擎已存在", answers.EXISTS),
    ("该引擎名称重复", answers.EXISTS),
    ("port 8000 is occupied", answers.PORT_OCCUPIED),
    ("端口8000已被占用", answers.PORT_OCCUPIED),
    ("端口 冲突", answers.PORT_OCCUPIED),
]


@pytest.mark.parametrize(("sentence", "expected"), SENTENCES)
@given(
    status=st.sampled_from([200, 201, 400, 409, 422, 500, 503]),
    key=st.sampled_from(["msg", "message", "detail", "error"]),
)
def test_a_sentence_is_found_in_every_form(sentence: str, expected: str, status: int, key: str) -> None:
    escaped = json.dumps(sentence)[1:-1]
    forms: list[tuple[bytes, str]] = [
        (json.dumps({"code": 1, key: sentence}).encode(), "application/json"),
        (json.dumps({"code": 1, key: sentence}, ensure_ascii=False).encode(), "text/html"),
        (json.dumps({"data": {"inner": [{key: [sentence]}]}}).encode(), ""),
        (json.dumps({key: json.dumps({"inner": sentence})}).encode(), ""),
        (f"<html><body><p>{html.escape(sentence)}</p></body></html>".encode(), "text/html"),
        (f"<html><body><p>{''.join(f'&#{ord(letter)};' for letter in sentence)}</p></body></html>".encode(), ""),
        (sentence.encode(), "text/plain"),
        (sentence.encode("gb18030"), "text/plain"),
        (sentence.encode("utf-16"), "text/plain"),
        (escaped.encode(), "text/plain"),
        (sentence.replace(" ", "\r\n  ").encode(), "text/plain"),
    ]
    for body, kind in forms:
        assert outcome(status, body, kind) == expected, (body, kind)


@pytest.mark.parametrize(("sentence", "_"), SENTENCES)
@given(key=st.sampled_from(["name", "id", "comment", "data"]))
def test_a_success_that_echoes_a_sentence_is_no_verdict(sentence: str, _: str, key: str) -> None:
    assert outcome(200, json.dumps({"code": 0, key: {key: sentence}}).encode()) == answers.REQUESTED
    assert (
        outcome(200, json.dumps({"code": 0, "msg": f"{sentence} started"}).encode(), name=sentence) == answers.REQUESTED
    )


@pytest.mark.parametrize(
    "sentence",
    [
        "the credential does not exist",
        "引擎不存在",
        "the port is not in use",
        "端口未被占用",
        "端口未占用",
        "端口没有被占用",
        "report in progress",
        "transport in use",
    ],
)
def test_a_negation_is_no_match(sentence: str) -> None:
    assert outcome(400, json.dumps({"msg": sentence}).encode()) == answers.REFUSED


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", Kind.EMPTY),
        (b" \n", Kind.EMPTY),
        (b"{}", Kind.JSON),
        (b"\xef\xbb\xbf [1]", Kind.JSON),
        (b"<!DOCTYPE html><p>", Kind.HTML),
        (b"<!-- a --><!-- b -->\n<HTML>", Kind.HTML),
        (b"<?xml version='1.0'?><!DOCTYPE html PUBLIC ''><html/>", Kind.HTML),
        (b"<?xml version='1.0'?><license/>", Kind.TEXT),
        (b"{not json", Kind.TEXT),
        (b"\x00\x01", Kind.BINARY),
        ("许可证".encode("gbk"), Kind.TEXT),
    ],
)
def test_kinds(body: bytes, kind: Kind) -> None:
    assert read_content(body).kind is kind


def test_comments_without_end_take_no_time() -> None:
    read_content(b"<!--" * 50_000 + b"<!-- a -->" * 20_000)


@pytest.mark.parametrize(
    "value", [{"code": 0}, {"code": "0"}, {"status": "ok"}, {"success": True}, {"data": {"code": 5}}, [], None]
)
def test_no_error(value: Any) -> None:
    assert not answers.says_error(read_content(json.dumps(value).encode()))


@pytest.mark.parametrize(
    "value",
    [
        {"code": 1},
        {"code": "E"} | {"error": "x"},
        {"status": "failed"},
        {"success": False},
        {"errors": ["x"]},
        {"msg": "操作失败"},
    ],
)
def test_errors(value: Any) -> None:
    assert answers.says_error(read_content(json.dumps(value).encode()))
