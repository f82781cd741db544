"""The text of an answer, its JSON, and the text that is shown of it: without secrets, in one line."""

import html
import json
import time
from base64 import b64encode
from urllib.parse import quote, quote_plus

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import (
    Answer,
    find_texts,
    find_tokens,
    mask,
    query_secrets,
    show,
    show_answer,
)

HOSTILE = [
    "<script>", "<!--", "<a ", "<style></styl", "<input type=", "&", "&#1", "<?x ", "[", '{"a":', "]]>", "\0", " ",
]  # fmt: skip
SECRET = 'pä"ss /w<1'
ENCODED = b64encode(SECRET.encode()).decode()


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


@pytest.mark.parametrize("part", HOSTILE)
@pytest.mark.parametrize("start", ["<html>", ""])
def test_hostile_page_is_read_in_time(start, part):
    page, begin = answer(start + part * (2**20 // len(part))), time.process_time()
    assert len(show_answer(page, page.visible_text, (SECRET, "en"))) < 120
    assert (page.parsed, page.has_password_field) == ((), False)
    assert time.process_time() - begin < 3


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


def test_members_have_keys_in_lower_case():
    assert answer('{"Code": 0, "MSG": {"A": 1}}').members == {"code": 0, "msg": {"A": 1}}
    assert [dict(answer(body).members) for body in ("[1]", '"a"', "a")] == [{}] * 3


def test_texts_have_no_values_of_secret_keys():
    value = {"msg": ["a\n b", 1, {"token": "t0p", "text": "c"}], "password": ["bad"], "x": " ", "y": "d"}
    assert list(find_texts(value)) == ["a\n b", "c", "d"]
    tokens = {"data": {"accessToken": ["Bearer t0ken-123"], "auth": "ab-cd-ef"}, "csrf": "sh0rt", "id": "n0-t0ken-1"}
    assert find_tokens(tokens) == {"t0ken-123", "ab-cd-ef"}
    assert find_tokens({"password": "required in this field"}) == set()


PLAIN, HTML = json.dumps(SECRET)[1:-1], html.escape(SECRET)
FORMS = (
    *(SECRET, PLAIN, json.dumps(SECRET, ensure_ascii=False)[1:-1], HTML, ENCODED, ENCODED.rstrip("=")),
    *(quote(SECRET), quote(SECRET, safe=""), quote_plus(SECRET), "p%c3%a4%22ss%20%2fw%3c1", "p%c3%a4%22ss+%2fw%3c1"),
)
SPELT = (
    *(quote(quote(SECRET)), quote(HTML), html.escape(PLAIN), json.dumps(PLAIN)[1:-1], "p ä s s w 1", "pä*ss*w*1"),
    *("p%C3%A4&quot;ss /w\\u003c1", "p&auml;&#34;ss&#x20;/w&lt;1"),
    "".join(f"%{each:02x}" for each in SECRET.encode()),
    *(SECRET[:index] + gap + SECRET[index:] for index in (1, 4, 9) for gap in ("\n", " \t ", "\u200b", "\r\n  ")),
)
CODED = ("%41%2x1y9", "\\\\new\\u00", "a+b+c+d+e+", "&lt;&lt;&gt;", "C:\\new1234", "100%abcdef12")


@pytest.mark.parametrize("form", FORMS)
def test_secret_is_replaced_in_each_form(form):
    assert mask(f"got {form}, sorry", (SECRET, "")) == "got ********, sorry"


@pytest.mark.parametrize("form", SPELT)
def test_text_that_spells_a_secret_is_not_shown(form):
    assert mask(f"got {form}, sorry", (SECRET,)) == "(not shown: it spells a secret)"


@pytest.mark.parametrize("secret", CODED)
def test_secret_that_looks_encoded_is_masked(secret):
    for form in (secret, quote(secret, safe=""), html.escape(secret), json.dumps(secret)[1:-1], f"%{secret}"):
        assert secret not in mask(f"got {form}, sorry", (secret,))
        assert mask(f"got {form}, sorry", (secret,)) != f"got {form}, sorry"


@pytest.mark.parametrize(
    ("secret", "shown"),
    [
        ("en", "The engine ******** is open"), ("engine en", "The ******** is open"), (" ", "The engine en is open"),
        ("The", "******** engine en is open"), ("ope", "The engine en is open"), ("is", "The engine en ******** open"),
        ("isopen", "(not shown: it spells a secret)"),
    ],
)  # fmt: skip
def test_short_secret_is_masked_as_a_whole_word(secret, shown):
    assert mask("The engine en is open", (secret,)) == shown


def test_secret_parameters_of_urls_are_masked():
    text = "see /e?user=7&token=t0p and ?sid=t0p;key=t0p </a?api%5Fkey=t0p>"
    assert mask(text, ()) == text.replace("t0p", "********")
    assert query_secrets("/e?a=1&access_token=t%30p&sid=x") == ["t0p", "x"]


def test_shown_text_is_printable_and_short():
    assert show("bad\x1b[2J\u202e\n \0" + "x" * 1000) == ("bad [2J " + "x" * 1000)[:300]
    assert show("a" * 9, 4) == "aaaa"


@pytest.mark.parametrize(
    ("status", "headers", "message", "defect", "shown"),
    [
        (503, {}, "Maintenance.", "", "HTTP 503: Maintenance"),
        (503, {"Retry-After": "37"}, "", "", "HTTP 503 (retry after 37)"),
        (500, {"Retry-After": "37"}, "no", "", "HTTP 500: no"),
        (200, {}, "half", "the body is incomplete", "HTTP 200: the body is incomplete: half"),
        (302, {"Location": "https://u:pw@x.example/a?token=t0p#x"}, "", "", "HTTP 302: redirect to https://x.example/a"),
        (400, {}, "got s3cret&1, sorry", "", "HTTP 400: got ********, sorry"),
    ],
)  # fmt: skip
def test_answer_is_shown_with_status_and_cause(status, headers, message, defect, shown):
    assert show_answer(Answer(status, headers, b"", defect), message, ("s3cret&1",)) == shown
