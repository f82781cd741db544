"""The tests that SECURITY.md names exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROWS = [line for line in (ROOT / "SECURITY.md").read_text().splitlines() if line.startswith("| ")][1:]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip())
def test_protection_names_existing_tests(row):
    *_, shown_by, end = row.split("|")
    assert end == ""
    files = re.findall(r"`([^`]+)`", shown_by)
    assert files
    for file in files:
        assert Path(file).name.startswith("test_"), file
        assert "\ndef test_" in (ROOT / file).read_text(), file
