"""No secret comes out of an excerpt, in whatever way the management node wraps it."""

from __future__ import annotations

import html
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ansible_collections.slb.fleet.plugins.module_utils._console.redaction import Redactor
from ansible_collections.slb.fleet.plugins.module_utils._console.reply import read_reply
from ansible_collections.slb.fleet.plugins.module_utils._console.transport import Answer

WRAPPINGS = [
    str,
    json.dumps,
    lambda secret: json.dumps({"error": {"password": secret}}, ensure_ascii=False),
    lambda secret: json.dumps({"msg": json.dumps({"password": secret})}),
    html.escape,
    lambda secret: f"<html><body><pre>{html.escape(secret)}</pre></body></html>",
    lambda secret: f"<html><body>password={secret}</body></html>",
    quote,
    quote_plus,
    repr,
    lambda secret: quote(secret).lower() if quote(secret).lower() != secret else secret,
]


@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=0x2FFF, exclude_categories=["Cs"]), min_size=6),
    st.sampled_from(WRAPPINGS),
)
def test_excerpts(secret: str, wrap: object) -> None:
    assume(not set(secret) <= set("*x"))
    answer = Answer(400, {"Content-Type": "text/plain"}, wrap(secret).encode())  # type: ignore[operator]
    excerpt = read_reply(answer, Redactor([secret])).excerpt
    assert secret not in excerpt


def test_cookies_that_nobody_told_of() -> None:
    text = "Cookie: sessionid=abc123; csrftoken='def456'; lang=zh"
    redacted = Redactor()(text)
    assert "abc123" not in redacted
    assert "def456" not in redacted
    assert "lang=zh" in redacted


def test_spaces_inside_a_secret() -> None:
    answer = Answer(400, {}, b"<html><body>two  spaces\n and more</body></html>")
    assert "spaces" not in read_reply(answer, Redactor(["two  spaces\n and"])).excerpt


@pytest.mark.parametrize(
    "echoed",
    ["pä%2fss", "p%c3%a4%252fss", "p%C3%A4%252fss", "p\\u00e4%2fss", "p\\u00E4%2fss", "p&auml;%2fss", "p&#228;%2fss"],
)
def test_spellings(echoed: str) -> None:
    assert read_reply(Answer(400, {}, f"said {echoed}".encode()), Redactor(["pä%2fss"])).excerpt == "said ********"


def test_a_secret_at_the_end_of_an_excerpt_is_not_cut_in_two() -> None:
    answer = Answer(400, {}, b"x" * 295 + b"secret-of-many-letters")
    assert read_reply(answer, Redactor(["secret-of-many-letters"])).excerpt == "x" * 295 + "*****…"
