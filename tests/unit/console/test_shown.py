"""What is shown of the management node cannot move a cursor, turn a line around or begin a new one."""

from __future__ import annotations

import json
import ssl
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.slb.fleet.plugins.module_utils._console.failure import certificate_complaint, reason
from ansible_collections.slb.fleet.plugins.module_utils._console.listing import Listing
from ansible_collections.slb.fleet.plugins.module_utils._console.redaction import Redactor
from ansible_collections.slb.fleet.plugins.module_utils._console.reply import read_reply
from ansible_collections.slb.fleet.plugins.module_utils._console.transport import Answer
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short, visible

EVIL = "\x1b[2J\x1b]0;x\x07\u202eok\u2066\u200b\u2028\u2029\x85\r\nfatal: [edge-1]\x9b1A\ud800\U000e0041"
LISTING = Listing("/engines/", "items", "name", "ip", "state", {"up": "running", "\u200bup": "failed"})


def is_clean(text: str) -> bool:
    hidden = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    return not any(unicodedata.category(character) in hidden for character in text)


@given(st.text() | st.just(EVIL))
def test_visible(text: str) -> None:
    assert is_clean(visible(text))
    assert visible(visible(text)) == visible(text)
    assert is_clean(in_short(text, 10))
    assert len(in_short(text, 10)) <= 11


@pytest.mark.parametrize("mark", ["\u0335", "\u20dd", "\u0670"])
def test_no_heap_of_marks_covers_the_lines_around(mark: str) -> None:
    shown = visible(f"e{mark * 1000}dge\u0301 tiế\u0323ng")
    assert f"{mark * 4}\\u" in shown
    assert mark * 5 not in shown
    assert shown.endswith("dge\u0301 tiế\u0323ng")
    assert len(in_short(f"e{mark * 1000}", 60)) <= 61


@pytest.mark.parametrize("kind", ["application/json", "text/html", "text/plain"])
@given(evil=st.text() | st.just(EVIL))
def test_an_excerpt(kind: str, evil: str) -> None:
    for words in (json.dumps({"msg": evil}), f"<html><body>{evil}</body></html>", json.dumps(evil)[1:-1], evil):
        answer = Answer(400, {"Content-Type": kind}, words.encode("utf-8", "replace"))
        reply = read_reply(answer, Redactor())
        assert is_clean(reply.excerpt)
        assert is_clean(reply.described())
    references = "".join(f"&#{ord(character)};" for character in EVIL)
    assert is_clean(read_reply(Answer(400, {}, f"<html>{references}".encode()), Redactor()).excerpt)


def test_words_are_still_words() -> None:
    answer = Answer(400, {}, "端口 8000 已被占用".encode())
    assert read_reply(answer, Redactor()).excerpt == "端口 8000 已被占用"


def test_the_list() -> None:
    item = {"name": f"edge{EVIL}", "ip": EVIL * 1000, "state": f"up{EVIL}"}
    (engine,) = LISTING.read({"items": [item]})
    assert all(is_clean(text) and len(text) < 600 for text in engine.values())
    assert engine["state"] == "unknown"


def test_the_list_is_understood_before_it_is_made_visible() -> None:
    (engine,) = LISTING.read({"items": [{"name": "a", "ip": "b", "state": "\u200bup"}]})
    assert engine == {"name": "a", "address": "b", "state": "failed", "console_state": "\\u200bup"}


@pytest.mark.parametrize(
    "answer",
    [
        {EVIL: 1, **{f"{EVIL}{number}": 1 for number in range(1000)}},
        {"items": [{EVIL * 1000: 1}]},
        {"items": [], f"total{'_' * 100_000}": 5},
        {"items": [], "next": EVIL},
        {"items": EVIL},
    ],
)
def test_a_list_that_is_not_as_described(answer: Any) -> None:
    with pytest.raises(FleetError) as caught:
        LISTING.read(answer)
    assert is_clean(str(caught.value))
    assert len(str(caught.value)) < 6000


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(EVIL),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["name", "ip", "state"]) | st.text(), inner),
    max_leaves=15,
)
_items = st.fixed_dictionaries({"name": _values, "ip": _values, "state": _values}) | _values
_beside = st.dictionaries(st.sampled_from(["total", "count", "next", "page", "hasMore"]) | st.text(), _values)


@given(st.lists(_items) | _values, _beside)
def test_whatever_the_list_is_its_engines_are_clean_texts_or_it_is_refused(items: Any, beside: dict[str, Any]) -> None:
    try:
        engines = LISTING.read({**beside, "items": items})
    except FleetError as error:
        assert is_clean(str(error))
        return
    for engine in engines:
        assert set(engine) == {"name", "address", "state", "console_state"}
        assert all(isinstance(text, str) and is_clean(text) and len(text) < 600 for text in engine.values())
        assert engine["state"] in ("running", "failed", "unknown")


def test_the_words_of_a_certificate() -> None:
    error = ssl.SSLCertVerificationError()
    error.verify_message = f"not valid for {EVIL}"
    assert is_clean(certificate_complaint(error))
    assert is_clean(reason(OSError(5, EVIL)))
