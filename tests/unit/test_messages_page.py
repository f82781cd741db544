"""The page of messages has each of them, in the words of the code."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.slb.fleet.tests.tools.messages import PLUGINS, document, messages_of, shapes_of_errors

PAGE = Path(__file__).resolve().parents[2] / "docs" / "messages.md"
REMEDY = ".venv/bin/python tests/tools/messages.py > docs/messages.md"


def test_the_page_is_made_from_the_code() -> None:
    assert PAGE.read_text() == document(), f"make it anew: {REMEDY}"


@pytest.mark.parametrize(
    "words",
    [
        "presented a certificate with the fingerprint",
        "carries … established connections",
        "it could be live",
        "The option `user_credential_id` has the value …: it is not a positive number.",
        "Several management nodes have the same slb_license_dest",
        "no engine came up; the container is",
        "But it carries … established connections",
        "The record /etc/ansible/facts.d/slb_engine.fact cannot be written",
        "slb_max_replaced allows … of … hosts",
        "was put back as it was, and is … now. | Mend what it complains about",
        "was put back as it was, and is … now. | Its list, or who called it a leftover, was wrong.",
        "Stop that, then run again",
        "The container … is … now, with the restart policy …",
        "Run again in … seconds",
        "See that it answers, so that it can be told",
        "make profiles of it and its ports by hand",
        "name it exactly, by name or MAC address",
        "`lift_unmanaged`: true lifts that",
        "stop that one first",
        "The variable slb_base_url is not set. | Set it",
        "There is no file retry",
        "No folder is named for the one report. | Set",
    ],
)
def test_a_message_is_found_by_its_words_with_what_to_do(words: str) -> None:
    rows = [line.split(" | ") for line in PAGE.read_text().splitlines() if words in line]
    assert rows
    assert all(len(row[1].strip(" |")) > 10 for row in rows)


def test_each_phrase_of_the_readme_is_found() -> None:
    readme = (PAGE.parents[1] / "README.md").read_text()
    table = readme.split("## What went wrong, and what to do")[1].split("\n## ")[0]
    seen = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| ")]
    quoted = [re.sub(r"\bN\b", "…", phrase) for cell in seen for phrase in re.findall(r'"([^"]+)"', cell)]
    assert len(quoted) > 9
    assert not [phrase for phrase in quoted if phrase not in PAGE.read_text()]


def test_no_row_has_a_gap_for_what_to_do() -> None:
    assert not re.findall(r"^.*\| …[. ]*\|$", PAGE.read_text(), re.MULTILINE)


def test_no_message_takes_for_granted_which_runtime_a_host_has() -> None:
    assert not re.findall(r".*`(?:docker|podman) .*", PAGE.read_text())


# Caught where they are raised, and told in the words of another.
INNER = {"NoteError", "_GroupRefusedError"}


def raised() -> Iterator[str]:
    """The words of each error of ours or of Ansible whose first sentence stands where it is made, in pieces."""
    for path in sorted(PLUGINS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not node.args or not isinstance(node.func, ast.Name):
                continue
            kind = node.func.id
            if not re.fullmatch(r"\w+(Error|Failure)|NoAnswer", kind) or hasattr(builtins, kind) or kind in INNER:
                continue
            texts = [
                [each.value for each in ast.walk(argument) if isinstance(each, ast.Constant)] for argument in node.args
            ]
            if re.search("[a-z]{3}", str(texts[0])):
                for text in (each for part in texts for each in part if isinstance(each, str)):
                    yield from re.findall(r"\w[\w',-]*(?: [\w',-]+){2,}(?!\()", text)


def test_each_raise_whose_words_stand_there_is_found() -> None:
    page = " ".join(PAGE.read_text().split())
    words = set(raised())
    assert len(words) > 300
    assert not {each for each in words if each not in page}


@pytest.mark.parametrize(
    ("code", "row"),
    [
        ("class One(FleetError): pass\nclass Two(One): pass\nraise Two(f'The {x} broke.', 'Mend it.')", "The … broke."),
        (
            "class One(FleetError):\n def __init__(self, name, why):\n"
            "  super().__init__(f'The {name} broke: {why}.', 'Mend it.')\n"
            "class Two(One): pass\nraise Two(x, 'it is old')",
            "The … broke: it is old.",
        ),
        ("raise AnsibleParserError(f'The {x} broke. Mend it.')", "The … broke."),
        ("raise NoAnswer('The host broke. Mend it.')", "The host broke."),
        ("Display().warning('The run broke. Mend it.')", "The run broke."),
        ("def guard():\n yield f'But {x} broke. Mend it.'", "But … broke."),
        ("def guard():\n yield 'unsteady', 'But it broke. Mend it.'", "But it broke."),
        ("_MEANINGS = (('the run broke', 'Mend it.'),)", "the run broke"),
        ("replace(decision, reason=f'{x} But it broke. Mend it.')", "… But it broke."),
        ("def why():\n return f'the {x} broke; Mend it.'", "the … broke"),
        ("def what():\n return 'Mend it.'\nfail(f'{why()} It broke. {what()}')", "… It broke."),
        ("fail(trouble or 'It broke. Mend it.')", "It broke."),
        ("result = {'failed': True, 'msg': 'It broke. Mend it.'}", "It broke."),
        ("fail(f'It broke. {remedy}')\nremedy = {'a': x}.get(a, 'Mend it.')", "It broke."),
    ],
)
def test_each_form_of_a_message_is_found(code: str, row: str) -> None:
    tree = ast.parse(code)
    assert (row, "Mend it.") in messages_of(tree, shapes_of_errors({PAGE: tree}))
