"""Texts for users have plain words: no word of the list, short task names, short descriptions of modules."""

import ast
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORDS = re.compile(
    r"\b(anew|mend(?:s|ed)?|heed(?:s|ed)?|shall|whoever|somebody|nobody|misspelt|foretold|deeds?|fates?|half gone"
    r"|out of the way|put back|way back|way out|take the word back|the operator's word|console's list|quarantined?"
    r"|prov(?:en|e|es)|proofs?|heal(?:s|ed|ing)?|told|is said|all the same|at last|by itself"
    r"|under way|asked for|turned down|so many"
    r"|what there is|not attempted|message of the day|word that is not described)\b",
    re.IGNORECASE,
)
CODE = re.compile(r"```.*?```|``[^`]*``|`[^`]*`|\b[CVO]\([^)]*\)", re.DOTALL)
# The content for AWX, and the inside of the report.
MOST_OF_A_NAME = 50
MOST_OF_A_DESCRIPTION = 60


def files(*patterns):
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


PAGES = files("*.md", "docs/**/*.md", "examples/**/*.md", "roles/*/README.md")
DATA = files("roles/**/*.yml", "playbooks/**/*.yml", "plugins/**/*.yml", "examples/**/*.yml", "galaxy.yml")
PROGRAMS = files("plugins/**/*.py")
TASKS = files("roles/*/tasks/*.yml", "playbooks/**/*.yml")


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


def names(node):
    if isinstance(node, list):
        for each in node:
            yield from names(each)
    elif isinstance(node, dict):
        if isinstance(node.get("name"), str) and (len(node) > 1):
            yield node["name"]
        for key in ("block", "rescue", "always", "tasks", "pre_tasks", "post_tasks", "handlers"):
            yield from names(node.get(key, []))


@pytest.mark.parametrize("path", TASKS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_task_name_is_a_short_command(path):
    for name in names(yaml.safe_load(path.read_text())):
        assert len(name) <= MOST_OF_A_NAME, name
        assert "," not in name, name


@pytest.mark.parametrize("path", files("plugins/modules/*.py"), ids=lambda path: path.stem)
def test_short_description_is_short(path):
    (description,) = re.findall(r"^short_description: (.*)$", path.read_text(), re.MULTILINE)
    assert len(description) <= MOST_OF_A_DESCRIPTION
    assert not description.endswith(".")
