"""The text of an answer, its JSON, and the text that is shown of it: without secrets, in one line."""

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import (
    Answer,
    find_texts,
    show,
)


def answer(body, kind="", status=200, **more):
    return Answer(status, {"Content-Type": kind}, body if isinstance(body, bytes) else body.encode(), **more)


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        ("引擎".encode(), "text/plain; charset=gbk", "引擎"), (b"\xef\xbb\xbfok", "", "ok"), (b"\0\1\2", "", ""),
        ("引擎".encode("gb18030"), "", "引擎"), ("引擎".encode("big5"), "text/html; charset=Big5", "引擎"),
        ("é".encode("latin-1"), '; Charset="ISO-8859-1"', "é"), ("引擎".encode("utf-16"), "; charset=utf-16", "引擎"),
        ("引擎".encode("gb18030"), "text/plain; charset=punycode", "引擎"), (b"", "", ""),
    ],
)  # fmt: skip
def test_text_is_decoded(body, kind, text):
    assert answer(body, kind).text == text


@pytest.mark.parametrize(
    ("body", "shown", "is_html", "is_login"),
    [
        ("<html><script>x()</script><style>a{}</style><p>a<!-- b\n --> c</html>", "a c", True, False),
        ("<!-- x --><!DOCTYPE html><p>&#24341;&amp;&lt;b&gt;", "引&<b>", True, False),
        ('<?xml version="1.0"?>\n<html><b>a</b>b', "a b", True, False),
        ("<form><input name=a><input class='x' TYPE='password'>", "", True, True),
        ("<license>a &amp; b</license>", "<license>a &amp; b</license>", False, False),
        ("a\n <b>  c", "a <b> c", False, False),
        ('"<html><input type=password>"', '"<html><input type=password>"', False, False),
        (b"\0\1", "binary data", False, False),
    ],
)
def test_page_has_visible_text(body, shown, is_html, is_login):
    page = answer(body)
    assert (page.visible_text, page.is_html, page.has_password_field) == (shown, is_html, is_login)


@pytest.mark.parametrize(
    ("body", "parsed"),
    [
        ('\ufeff {"a": 1} ', ({"a": 1},)), ("null", (None,)), ("", ()), ("{", ()), ("[" * 10**5, ()), ("1" * 5000, ()),
        ("[" + "0," * 999_998 + "0]", ([0] * 999_999,)), ("[" + "0," * 1_000_000 + "0]", ()),
    ],
    ids=lambda value: str(value)[:20],
)  # fmt: skip
def test_json_is_read_up_to_a_million_values(body, parsed):
    assert answer(body).parsed == parsed
    assert answer(body, defect="the body is incomplete").parsed == ()


def test_answer_in_a_traceback_shows_no_secret():
    shown = repr(Answer(200, {"Set-Cookie": "sessionid=s3cret"}, b"token=s3cret"))
    assert ("200" in shown, "s3cret" in shown) == (True, False)


def test_members_have_keys_in_lower_case():
    assert answer('{"Code": 0, "MSG": {"A": 1}}').members == {"code": 0, "msg": {"A": 1}}
    assert [dict(answer(body).members) for body in ("[1]", '"a"', "a")] == [{}] * 3


def test_texts_have_no_values_of_secret_keys():
    value = {"msg": ["a\n b", 1, {"token": "t0p", "text": "c"}], "password": ["bad"], "x": " ", "y": "d"}
    assert list(find_texts(value)) == ["a\n b", "c", "d"]


def test_shown_text_is_printable_and_short():
    assert show("bad\x1b[2J\u202e\n \0" + "x" * 1000) == ("bad [2J " + "x" * 1000)[:300]
    assert show("a" * 9, 4) == "aaaa"
