#!/usr/bin/env python3
"""What becomes of what an interface has: the tables of docs/interfaces.md, made from what tests have seen.

kept.py takes what `make interfaces` has left in .cache/interfaces.tsv into tests/integration/interfaces/seen.tsv, and
writes the page anew.
"""

from __future__ import annotations

from collections import Counter, defaultdict
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
    """Settings of which the same was said are one row: nothing, or that IPv6 has come or gone as a whole."""
    usual = {family: _usual(rows, family) for family in SETTINGS}
    found: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        families = [family for family in SETTINGS if row.what in usual[family]]
        what = f"{families[0][:4]}: every other setting" if families else row.what
        found[row.release, what, row.outcome] += row.number
    return [Row(*key, number) for key, number in sorted(found.items())]


def _usual(rows: list[Row], family: str) -> set[str]:
    """The settings of which was said what was said of most; none where no two are alike."""
    said: dict[str, Counter[str]] = {row.what: Counter() for row in rows if row.what.startswith(family)}
    for row in rows:
        if row.what in said and row.outcome == "said":
            said[row.what][row.release] += row.number
    alike: defaultdict[str, set[str]] = defaultdict(set)
    for what, numbers in said.items():
        alike[str(sorted(numbers.items()))].add(what)
    most = max(alike.values(), key=len, default=set())
    return most if len(most) > 1 else set()


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
