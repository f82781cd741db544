#!/usr/bin/env python3
"""What becomes of what an interface has: the tables of docs/interfaces.md, made from what tests have seen.

kept.py takes what `make interfaces` has left in .cache/interfaces.tsv into tests/integration/interfaces/seen.tsv, and
writes the page anew.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FRESH = ROOT / ".cache" / "interfaces.tsv"
SEEN = ROOT / "tests" / "integration" / "interfaces" / "seen.tsv"
PAGE = ROOT / "docs" / "interfaces.md"
BEGIN, END = "<!-- made by tests/tools/kept.py -->\n", "<!-- to here -->\n"
RELEASES = ("bullseye", "bookworm", "trixie")
SETTINGS = ("ipv4 ", "ipv6 ")
ALONE = "left alone"


class Row(NamedTuple):
    release: str
    what: str
    outcome: str
    number: int


def read(path: Path) -> list[Row]:
    lines = [line.split("\t") for line in path.read_text().splitlines()]
    return [Row(release, what, outcome, int(number)) for release, what, outcome, number in lines]


def together(rows: list[Row]) -> list[Row]:
    """Settings that were kept wherever they were seen are one row."""
    changed = {row.what for row in rows if row.outcome != "kept"}
    found: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        what = row.what
        if what.startswith(SETTINGS) and what not in changed:
            what = f"{what[:4]}: every other setting"
        found[row.release, what, row.outcome] += row.number
    return [Row(*key, number) for key, number in sorted(found.items())]


def document(rows: list[Row]) -> str:
    found = Counter({row[:3]: row.number for row in rows})
    things = sorted({row.what for row in rows if row.outcome != ALONE})
    reasons = sorted({row.what for row in rows if row.outcome == ALONE})
    lines = ["| of an adopted interface | kept | said | where it is said |", "|---|---|---|---|"]
    for what in things:
        kept = sum(found[release, what, "kept"] for release in RELEASES)
        said = sum(found[release, what, "said"] for release in RELEASES)
        where = ", ".join(release for release in RELEASES if found[release, what, "said"])
        lines.append(f"| {what} | {kept} | {said} | {where} |")
    lines += ["", f"| left alone because | {' | '.join(RELEASES)} |", "|---|---|---|---|"]
    for why in reasons:
        numbers = [str(found[release, why, ALONE]) for release in RELEASES]
        lines.append(f"| {why.replace('|', '/')} | {' | '.join(numbers)} |")
    return "\n".join(lines) + "\n"


def page(text: str, rows: list[Row]) -> str:
    head, rest = text.split(BEGIN)
    return f"{head}{BEGIN}\n{document(rows)}\n{END}{rest.split(END)[1]}"


def main() -> None:
    if FRESH.exists():
        rows = together(read(FRESH))
        SEEN.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
    PAGE.write_text(page(PAGE.read_text(), read(SEEN)))


if __name__ == "__main__":
    main()
