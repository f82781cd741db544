"""Whatever a small answer holds, reading it takes no time to speak of: a deadline ends a wait, not a computation."""

from __future__ import annotations

import gzip
import json
import re
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.slb.fleet.plugins.module_utils._console import answers
from ansible_collections.slb.fleet.plugins.module_utils._console.body import read_body
from ansible_collections.slb.fleet.plugins.module_utils._console.content import Kind, plain, read_content
from ansible_collections.slb.fleet.plugins.module_utils._console.engine import EXISTS_PATTERNS, PORT_OCCUPIED_PATTERNS
from ansible_collections.slb.fleet.plugins.module_utils._console.extent import Extent
from ansible_collections.slb.fleet.plugins.module_utils._console.redaction import Redactor
from ansible_collections.slb.fleet.plugins.module_utils._console.reply import read_reply
from ansible_collections.slb.fleet.plugins.module_utils._console.transport import Answer, _cookies

EXISTS = [re.compile(pattern, re.IGNORECASE) for pattern in EXISTS_PATTERNS]
PORT = [re.compile(pattern, re.IGNORECASE) for pattern in PORT_OCCUPIED_PATTERNS]
SIZE = 200_000  # bytes
TIMES = 3
"""What no answer may cost more than, counted in honest pages of the same size: in seconds each machine has its own."""
MARKS = "a" + "\u0301\u0323" * (SIZE // 4)

BOMBS = {
    "marks": MARKS,
    "marks in JSON": json.dumps({"msg": MARKS}, ensure_ascii=False),
    "marks in JSON, escaped": json.dumps({"code": 1, "msg": MARKS}),
    "marks in HTML": f"<html><body>{MARKS}</body></html>",
    "marks in a title": f"<html><title>{MARKS}",
    "marks as references": f"<html><body>a{'&#769;&#803;' * (SIZE // 12)}",
    "marks of half width": "\u304b" + "\uff9e\u0323" * (SIZE // 5),
    "marks that are starters": "\u0f73\u0f71" * (SIZE // 6),
    "characters that become eighteen": "\ufdfa" * (SIZE // 3),
    "lists without end": "[" * SIZE,
    "lists in lists": "[" * (SIZE // 2) + "]" * (SIZE // 2),
    "lists in lists, as deep as can be parsed": f'{{"error": {"[" * 900}{"]" * 900}}}',
    "objects without end": '{"a":' * (SIZE // 5),
    "digits": "1" * SIZE,
    "digits of a code": f'{{"code": {"9" * SIZE}}}',
    "digits of a negative code": f'{{"code": -{"9" * SIZE}}}',
    "digits of an exponent": f'{{"code": 1e{"9" * SIZE}}}',
    "digits after the point": f'{{"code": 1.{"9" * SIZE}}}',
    "digits in text": json.dumps({"code": "9" * SIZE}),
    "digits of a reference": f"<html>&#{'9' * SIZE};",
    "digits of a hexadecimal reference": f"<html>&#x{'f' * SIZE};",
    "ampersands": "<html>" + "&" * SIZE,
    "names of references": "<html>" + f"&{'a' * 32}" * (SIZE // 33),
    "openings": "<html>" + "<" * SIZE,
    "tags without end": "<html>" + "<a " * (SIZE // 3),
    "quotes without end": "<html>" + "<a b='" * (SIZE // 6),
    "attributes": "<html><a " + "b " * (SIZE // 2) + ">",
    "comments": "<html>" + "<!---->" * (SIZE // 7),
    "comments without end": "<html>" + "<!--" * (SIZE // 4),
    "declarations": "<html>" + "<!a>" * (SIZE // 4),
    "instructions": "<html>" + "<?>" * (SIZE // 3),
    "character data without end": "<html>" + "<![CDATA[>" * (SIZE // 10),
    "conditions without end": "<html>" + "<![if>" * (SIZE // 6),
    "scripts without end": "<html><script>" + "</script " * (SIZE // 9),
    "a script that goes to the login, and on": f"<html><script>location='{'login ' * (SIZE // 6)}</script>",
    "passwords without end": "pwd='" * (SIZE // 5),
    "backslashes": "pwd=" + "\\" * (SIZE // 2) + "'" + "\\" * (SIZE // 2),
    "words of the login": "please log in to " * (SIZE // 17),
    "ports": "port " * (SIZE // 5),
    "spaces": "port" + " " * SIZE,
}


_ROW = "<tr><td>edge-1</td><td class='address'>192.0.2.1</td><td>The engine is running &amp; all is well.</td></tr>"
PART = 4  # which is enough to measure what an honest page costs
HONEST = "<html><body><table>" + _ROW * (SIZE // PART // len(_ROW))


@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize("kind", ["application/json", "text/html"])
def test_a_bomb(bomb: str, kind: str) -> None:
    # Other work on the processor may come in between, but not each time.
    tries = (seconds_to_read(BOMBS[bomb], kind) / (PART * seconds_to_read(HONEST, "text/html")) for _ in range(3))
    assert any(times < TIMES for times in tries)


def seconds_to_read(body: str, kind: str) -> float:
    """Of the processor."""
    answer = Answer(200, {"Content-Type": kind}, body.encode())
    before = time.process_time()
    reply = read_reply(answer, Redactor(["secret-password", "d1s2e3s4s5i6o7n8"]))
    assert len(reply.excerpt) <= 301
    answers.refuses_login(answer, reply.content)
    answers.gives_no_data(answer, reply.content)
    answers.blames_credentials(reply.content)
    answers.is_about_csrf(reply.content)
    answers.install_outcome(answer, reply.content, EXISTS, PORT, ("edge-1", "192.0.2.1"))
    return time.process_time() - before


@given(st.text(), st.integers(0, 3))
def test_pieces_have_the_same_normal_form(text: str, repeated: int) -> None:
    whole = " ".join(unicodedata.normalize("NFKC", text * repeated).split())
    assert "&" in text or "\\" in text or len(text) > 30 or plain(text * repeated) == whole


@pytest.mark.parametrize("body", ["[" * 150 + "]" * 150, json.dumps(["x" * 2**20]), '{"total": ' + "9" * 5000 + "}"])
def test_json_beyond_any_answer_is_text(body: str) -> None:
    assert read_content(body.encode()).kind is Kind.TEXT


def test_a_count_in_words_that_is_too_long_is_a_number() -> None:
    assert Extent({"total": "9" * 5000, "items": []}, "items", 0).more(0, 1) is not None


def test_an_answer_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Answer(200, {}, b"{}")
    assert read_reply(answer, Redactor()).content is answer.content is answer.content


def test_words_beyond_a_number_that_is_too_long_are_read() -> None:
    assert plain(f"&#{'9' * 5000}; port is occupied").endswith("port is occupied")


def test_cookies_are_those_that_can_be_sent_back() -> None:
    given_cookies = {"a": "x" * 4000, "b": "y" * 4000, "c": "\x1b[2J", "d": "", "csrftoken": "t", "sessionid": "s" * 40}
    assert _cookies(given_cookies) == {"csrftoken": "t", "sessionid": "s" * 40, "a": "x" * 4000}


class EndlessGzip:
    """Members that hold nothing, without end."""

    def __init__(self) -> None:
        self.read_bytes = 0

    def read(self, amt: int, decode_content: bool) -> bytes:
        member = gzip.compress(b"")
        self.read_bytes += amt // len(member) * len(member)
        return member * (amt // len(member))


def test_what_is_compressed_ends_as_well() -> None:
    stream = EndlessGzip()
    assert "larger than" in read_body(stream, {"Content-Encoding": "gzip"}, 1000).defect
    assert stream.read_bytes < 200_000


def test_a_length_that_is_no_number() -> None:
    class Empty:
        def read(self, amt: int, decode_content: bool) -> bytes:
            return b""

    for length in ("9" * 5000, "\u00b2", "-1"):
        assert not read_body(Empty(), {"Content-Length": length}, 10).defect
