"""The page of messages has each of them, in the words of the code."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from ansible_collections.slb.fleet.tests.tools.messages import classes_of_errors, document, messages_of

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
        "The record /etc/ansible/facts.d/slb_engine.fact cannot be written",
    ],
)
def test_a_message_is_found_by_its_words_with_what_to_do(words: str) -> None:
    rows = [line.split(" | ") for line in PAGE.read_text().splitlines() if words in line]
    assert rows
    assert all(len(row[1].strip(" |")) > 10 for row in rows)


def test_an_error_of_any_class_below_the_first_is_found() -> None:
    tree = ast.parse("class One(FleetError): pass\nclass Two(One): pass\nraise Two(f'The {x} broke.', 'Mend it.')")
    assert {"One", "Two"} <= classes_of_errors({PAGE: tree})
    assert list(messages_of(tree, {"Two"})) == [("The … broke.", "Mend it.")]
