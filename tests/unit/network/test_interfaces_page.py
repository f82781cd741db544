"""The page on interfaces says of what was seen what the test of everything has seen."""

from __future__ import annotations

from ansible_collections.slb.fleet.tests.tools import kept
from ansible_collections.slb.fleet.tests.tools.kept import Row


def test_the_tables_are_made_of_what_was_seen() -> None:
    text = kept.PAGE.read_text()
    assert text == kept.page(text, kept.read(kept.SEEN)), "make them anew: .venv/bin/python tests/tools/kept.py"


def test_every_release_has_seen_something_of_each_outcome() -> None:
    seen = {(row.release, row.outcome) for row in kept.read(kept.SEEN)}
    assert seen == {(release, outcome) for release in kept.RELEASES for outcome in ("kept", "said", "left alone")}


def test_settings_of_which_the_same_was_said_are_one_row() -> None:
    rows = [
        Row("trixie", "ipv4 arp_ignore", "kept", 2),
        Row("trixie", "ipv4 arp_filter", "kept", 3),
        Row("trixie", "ipv6 accept_ra", "kept", 1),
        Row("trixie", "ipv6 accept_ra", "said", 4),
        Row("trixie", "the route to … is odd", "left alone", 5),
    ]
    assert kept.document(kept.together(rows)).splitlines() == [
        "| of an adopted interface | kept | said | where it is said |",
        "|---|---|---|---|",
        "| ipv4: every other setting | 5 | 0 |  |",
        "| ipv6 accept_ra | 1 | 4 | trixie |",
        "",
        "| left alone because | bullseye | bookworm | trixie |",
        "|---|---|---|---|",
        "| the route to … is odd | 0 | 0 | 5 |",
    ]


def test_so_they_are_where_ipv6_went_as_a_whole() -> None:
    whats = ("ipv6 autoconf", "ipv6 hop_limit", "ipv6 accept_dad")
    rows = [Row(release, what, "said", 1) for release in kept.RELEASES for what in whats]
    rows += [Row("trixie", "ipv6 hop_limit", "said", 8), Row("trixie", "ipv6 autoconf", "kept", 5)]
    assert {(row.release, row.what, row.outcome): row.number for row in kept.together(rows)} == {
        **{(release, "ipv6: every other setting", "said"): 2 for release in kept.RELEASES},
        **{(release, "ipv6 hop_limit", "said"): 1 for release in ("bullseye", "bookworm")},
        ("trixie", "ipv6 hop_limit", "said"): 9,
        ("trixie", "ipv6: every other setting", "kept"): 5,
    }
