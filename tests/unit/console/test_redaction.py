"""No secret comes out of an excerpt, in whatever way the management node wraps it."""

from __future__ import annotations

import base64
import html
import json
import quopri
import re
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ansible_collections.slb.fleet.plugins.module_utils._console.redaction import Redactor
from ansible_collections.slb.fleet.plugins.module_utils._console.reply import read_reply
from ansible_collections.slb.fleet.plugins.module_utils._console.transport import Answer

if TYPE_CHECKING:
    from collections.abc import Callable

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


SECRETS = st.text(st.characters(max_codepoint=0x1FFFF, exclude_categories=["Cs"]), min_size=6).filter(
    lambda secret: "*" not in secret
)


def php(text: str) -> str:
    return json.dumps(text).replace("/", "\\/")


ESCAPINGS = [
    lambda text: json.dumps({"note": text, "x": "y"}),
    lambda text: json.dumps({"note": text}, ensure_ascii=False),
    lambda text: repr(f'{{"note": "{text}"}}'),
    lambda text: repr(f'{{"note": "{text}"}}'.encode()),
    php,
    lambda text: html.escape(f"<{text}>"),
    lambda text: quote(f" {text}", safe=""),
    lambda text: quote(f" {text}"),
]


@given(SECRETS, st.sampled_from(ESCAPINGS), st.sampled_from(ESCAPINGS))
def test_what_is_escaped_twice(secret: str, once: Callable[[str], str], twice: Callable[[str], str]) -> None:
    """Nothing of the secret is left, and nothing but the secret is gone."""
    assert Redactor([secret])(twice(once(secret))) == twice(once("PLACE")).replace("PLACE", "********")


@pytest.mark.parametrize(
    "secret", ['Tr0ub"4dor', "Tr0ub4dorü", "Tr0ub\\4dor", "Tr0ub/4dor", "Tr0ub'4\"dor", "Tr0ub 4dor"]
)
@pytest.mark.parametrize("dump", [json.dumps, php, str, repr], ids=["json", "php", "str", "repr"])
@pytest.mark.parametrize("encode", [str.encode, str], ids=["bytes", "str"])
@pytest.mark.parametrize("wrap", [str, html.escape, lambda text: json.dumps({"msg": text})], ids=["", "html", "json"])
@pytest.mark.parametrize("knows", [True, False])
def test_an_echoed_request(secret: str, dump: Any, encode: Any, wrap: Any, knows: bool) -> None:
    request = dump({"username": "admin", "password": secret, "captcha": "x"})
    answer = Answer(400, {}, wrap(f"invalid body: {encode(request)!r}").encode())
    excerpt = read_reply(answer, Redactor([secret] if knows else [])).excerpt
    assert "Tr0ub" not in excerpt
    assert "4" not in excerpt.replace("u0027", "")
    assert "admin" in excerpt
    assert "captcha" in excerpt


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("password=abc&user=admin", "password=********&user=admin"),
        ("Password = abc, user = admin", "Password = ********, user = admin"),
        ("{'new_password1': 'a b, c', 'user': 'admin'}", "{'new_password1': '********', 'user': 'admin'}"),
        ('{"passwd": "a\\"b", "user": "admin"}', '{"passwd": "********", "user": "admin"}'),
        ('"{\\"pwd\\":\\"a\\\\\\"b\\",\\"user\\":1}"', '"{\\"pwd\\":\\"********\\",\\"user\\":1}"'),
        ('{"password": "cut in the mid\nnext line', '{"password": "********\nnext line'),
        ('{"password": "", "user": "admin"}', '{"password": "", "user": "admin"}'),
        ("password: it must be longer", "password: it must be longer"),
        ("wrong username or password", "wrong username or password"),
    ],
)
def test_what_stands_under_the_name_of_a_password(text: str, redacted: str) -> None:
    assert Redactor()(text) == redacted
    assert Redactor()(redacted) == redacted


def test_an_answer_that_can_hold_no_form_of_a_secret_costs_no_pattern() -> None:
    """To compile all of them is most of what an install costs the controller."""
    redact = Redactor(["secret-of-many-letters", "d1s2e3s4s5i6o7n8"])
    redact("x")
    re.purge()
    begin = time.process_time()
    assert redact("installation started") == "installation started"
    plain = time.process_time() - begin
    begin = time.process_time()
    assert redact("c2VjcmV0LW9mLW1hbnktbGV0dGVycw==&%41\\x0123456789abcdef") == "********&%41\\x0123456789abcdef"
    assert plain < (time.process_time() - begin) / 4


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


def as_digits(form: str) -> Callable[[str], str]:
    return lambda text: "".join(form.format(byte) for byte in text.encode())


def mime(width: int) -> Callable[[bytes], str]:
    def lines(raw: bytes) -> str:
        text = base64.b64encode(raw).decode()
        return "\r\n".join(text[begin : begin + width] for begin in range(0, len(text), width))

    return lines


ENCODINGS: dict[str, Callable[[str], str]] = {
    "hex": as_digits("{:02x}"),
    "hex, upper case": as_digits("{:02X}"),
    "hex in groups": as_digits("{:02x} "),
    "hex with colons": as_digits("{:02x}:"),
    "hex of C": as_digits("\\x{:02x}"),
    "hex of JSON": as_digits("\\\\x{:02x}"),
    "numbers of C": as_digits("0x{:02x}, "),
    "octal": as_digits("\\{:03o}"),
    "every character of a URL": as_digits("%{:02X}"),
    "twice": as_digits("%25{:02x}"),
    "HTML": lambda text: "".join(f"&#{ord(each)};" for each in text),
    "HTML, hexadecimal": lambda text: "".join(f"&#x{ord(each):04X};" for each in text),
    "JSON": lambda text: "".join(f"\\u{ord(each):04x}" for each in text),
    "mail": lambda text: quopri.encodestring(text.encode(), quotetabs=True).decode(),
    "mail, in short lines": lambda text: "=\n".join(quopri.encodestring(each.encode()).decode() for each in text),
    "Base64": lambda text: base64.b64encode(text.encode()).decode(),
    "Base64 without its end": lambda text: base64.b64encode(text.encode()).decode().rstrip("="),
    "Base64 of URLs": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "Base64 in lines": lambda text: mime(8)(text.encode()),
    "Base64 of a header": lambda text: base64.b64encode(f"admin:{text}".encode()).decode(),
    "Base64 of JSON": lambda text: base64.b64encode(json.dumps({"a": "b", "password": text}).encode()).decode(),
    "Base64 of JSON, in lines": lambda text: mime(76)(json.dumps({"user": "admin", "password": text}).encode()),
    "Base64 of a form": lambda text: base64.b64encode(urlencode({"u": "a", "password": text}).encode()).decode(),
    "hex of JSON's body": lambda text: json.dumps({"password": text}).encode().hex(),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("secret", ['S3cr3t&P\u00e4"ss<w/0rd>+%x', "SESSabc123def456", "\u5bc6\u7801-9281-abc"])
@pytest.mark.parametrize("pad", range(3))
def test_what_is_encoded(secret: str, encoding: str, pad: int) -> None:
    """Nothing is left from which more than a few signs of it could be had."""
    told = ENCODINGS[encoding]("x" * pad + secret)
    shown = Redactor([secret])(f"said: {told}.")
    assert "********" in shown
    left = shown.partition("said: ")[2].replace("********", "")
    plainest = ENCODINGS[encoding](secret)
    pieces = {plainest[begin : begin + 10] for begin in range(len(plainest) - 9)}
    outside = ENCODINGS[encoding]("x" * pad + "?" * len(secret))
    assert not [piece for piece in pieces if piece in left and piece not in outside], shown


@given(SECRETS, st.sampled_from(sorted(ENCODINGS)), st.text(max_size=4))
@example("\x80\x80\u0800\u0800" + "\U00010000" * 4, "mail", "")
def test_whatever_is_encoded(secret: str, encoding: str, before: str) -> None:
    shown = Redactor([secret])(ENCODINGS[encoding](before + secret))
    assert "********" in shown


@pytest.mark.parametrize("text", ["deadbeef " * 50, "aGVsbG8gd29ybGQ=", "%20%41", "c0ffee:c0ffee", "port 8000 \\x41"])
def test_what_is_encoded_and_no_secret_stays(text: str) -> None:
    assert Redactor(["s3cret-of-many-letters", "SESSabc123def456"])(text) == text


def test_to_look_for_all_of_them_takes_no_time_to_speak_of() -> None:
    redact = Redactor(["aaaaaaaaaaaaaaaaaaaa", "0000000000000000", "%%%%%%%%%%%%"])
    for bomb in ("a", "0", "%", "61", "YWFh", "%25", "\\\\x61 ", "=\n", "30 : ", "\\", "&amp;", "a=\n", "Y\\n\n"):
        before = time.process_time()
        redact(bomb * (100_000 // len(bomb)))
        assert time.process_time() - before < 3, bomb


def test_a_secret_at_the_end_of_an_excerpt_is_not_cut_in_two() -> None:
    answer = Answer(400, {}, b"x" * 295 + b"secret-of-many-letters")
    assert read_reply(answer, Redactor(["secret-of-many-letters"])).excerpt == "x" * 295 + "*****…"
