"""The table in the docs is the one that the code follows."""

from pathlib import Path

from ansible_collections.slb.fleet.tests.unit.decision.table import document

REMEDY = "tests/tools/python tests/unit/decision/table.py > docs/decisions.md"


def test_the_table_in_the_docs_is_made_from_the_function() -> None:
    path = Path(__file__).resolve().parents[3] / "docs" / "decisions.md"
    assert path.read_text() == document(), f"make it anew: {REMEDY}"
