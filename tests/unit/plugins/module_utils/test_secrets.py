"""Secrets are found by their names, and masked however a text writes them."""

import html
import json
from base64 import b64encode
from urllib.parse import quote, quote_plus

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._secrets import find_tokens, mask, query_secrets

SECRET = 'pä"ss /w<1'
ENCODED = b64encode(SECRET.encode()).decode()


def test_tokens_stand_below_the_name_of_a_secret():
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
    ]
)  # fmt: skip
def test_short_secret_is_masked_as_a_whole_word(secret, shown):
    assert mask("The engine en is open", (secret,)) == shown


def test_secret_parameters_of_urls_are_masked():
    text = "see /e?user=7&token=t0p and ?sid=t0p;key=t0p </a?api%5Fkey=t0p>"
    assert mask(text, ()) == text.replace("t0p", "********")
    assert query_secrets("/e?a=1&access_token=t%30p&sid=x") == ["t0p", "x"]
