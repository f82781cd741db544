"""Texts that a person reads have plain words: no word of the list. Names in code are exempt: they are one word."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORDS = re.compile(
    r"\b(anew|mend(?:s|ed)?|heed(?:s|ed)?|shall|whoever|somebody|nobody|misspelt|foretold|deeds?|fates?|half gone"
    r"|out of the way|put back|way back|way out|take the word back|the operator's word|console's list|quarantined?"
    r"|prov(?:en|e|es)|proofs?|heal(?:s|ed|ing)?|told|is said|all the same|at last|by itself"
    r"|under way|asked for|turned down|so many|beside|undo(?:es|ne|ing)?|undid|left alone"
    r"|look(?:s|ed|ing)?\b(?! up\b| it up\b| like\b)"  # "look up" is a term: what to do in the web console
    r"|what there is|not attempted|message of the day|word that is not described)\b",
    re.IGNORECASE,
)
CODE = re.compile(r"```.*?```|``[^`]*``|`[^`]*`|\b[CVO]\([^)]*\)", re.DOTALL)


def files(*patterns):
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


PAGES = files("*.md", "docs/**/*.md", "examples/**/*.md", "roles/*/README.md")
DATA = files("roles/**/*.yml", "playbooks/**/*.yml", "plugins/**/*.yml", "examples/**/*.yml", "galaxy.yml")
DATA += files("extensions/**/*.yml", "tests/**/*.yml")
PROGRAMS = [path for path in files("plugins/**/*.py", "tests/**/*.py") if path != Path(__file__).resolve()]


def texts(path):
    text = path.read_text()
    if path.suffix != ".py":
        yield text
        return
    yield from re.findall(r"(?:^|  )#[ !].*$", text, re.MULTILINE)
    yield from (
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


@pytest.mark.parametrize("path", [*PAGES, *DATA, *PROGRAMS], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_text_has_no_replaced_word(path):
    # An identifier is one word: a field of the report keeps its name.
    prose = [CODE.sub(" ", text) for text in texts(path) if not re.fullmatch(r"\w+", text)]
    found = {" ".join(word.lower().split()) for text in prose for word in WORDS.findall(text)}
    assert not found, f"use the terms of the other pages instead of {sorted(found)}"


def test_name_of_each_test_has_at_most_60_characters():
    names = {
        name for path in files("tests/**/*.py") for name in re.findall(r"^ *def (test_\w+)", path.read_text(), re.M)
    }
    assert not [name for name in names if len(name) > 60]
