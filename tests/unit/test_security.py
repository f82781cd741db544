"""The page that says what holds names tests that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROWS = [line for line in (ROOT / "SECURITY.md").read_text().splitlines() if line.startswith("| ")][1:]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip())
def test_each_claim_is_shown_by_tests_that_are_there(row):
    *_, shown_by, end = row.split("|")
    assert end == ""
    files = re.findall(r"`([^`]+)`", shown_by)
    assert files
    for file in files:
        assert Path(file).name.startswith("test_"), file
        assert "\ndef test_" in (ROOT / file).read_text(), file
