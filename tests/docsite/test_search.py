"""The search of the docsite that `tests/tools/docsite` has built leads from words that people type to their section."""

import json
import posixpath
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INDEX = ROOT / ".cache/docsite/build/html/searchindex.js"
# Of each row of the index in docs/README.md: its words, and the first section that it links.
ROWS = re.findall(r"^\| ([^|]+) \| \[[^]]*\]\(([^)]+)\)", (ROOT / "docs" / "README.md").read_text(), re.MULTILINE)
LINKED = {word.strip("`"): posixpath.normpath(f"docs/{link}") for words, link in ROWS for word in words.split(", ")}
# As people type them, without articles; each is a word of the index.
WITHOUT_ARTICLES = {re.sub(r"\b(a|an|the) ", "", word): link for word, link in LINKED.items()}
TYPED = """
abort, account locked, add host, after reboot, alerts, bastion, canary, change IP address, cron, Ctrl+C, decommission,
downgrade, dry run, exit status, fingerprint, forks, host key, idempotent, license, log file, login banner, monitoring,
motd, orphan, parallel, port in use, power failure, progress bar stuck, quiet, remove host, rename host, return code,
rollback, rotate password, self-signed, session expired, slow, stale, sudo, timeout, uninstall, upgrade engine
"""


@pytest.fixture(scope="module")
def index():
    return json.loads(INDEX.read_text().removeprefix("Search.setIndex(").removesuffix(")"))


def test_index_has_the_words_that_people_type():
    assert {"undo", *" ".join(TYPED.split()).split(", ")} <= set(WITHOUT_ARTICLES)


@pytest.mark.parametrize(("typed", "link"), (LINKED | WITHOUT_ARTICLES).items())
def test_word_of_the_index_leads_to_its_section(index, typed, link):
    """By the scores of searchtools.js: index entries 50 to 100, titles up to 16, objects up to 26, words up to 15."""
    page, _hash, section = link.replace(".md", "").partition("#")
    found = [
        (most * len(typed) / len(text), index["docnames"][number], name)
        for kind, most in (("indexentries", 100), ("alltitles", 15))
        for text, places in index[kind].items()
        if typed.lower() in text.lower() and len(typed) >= len(text) / 2
        for number, name, *_is_main in places
    ]
    score, *place = max(found)
    assert (score > 26, place[: 2 if section else 1]) == (True, [page, section][: 2 if section else 1]), sorted(found)
