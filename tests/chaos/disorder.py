"""The states into which a host is brought, and the faults of its management node: each drawn by lot."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from sites import RECORD, Site

Step = Callable[[Site], object]


def _exited(site: Site) -> None:
    site.run_container()
    site.docker("kill", "slb")


def _paused(site: Site) -> None:
    site.run_container()
    site.docker("pause", "slb")


def _live_and_unrecorded(site: Site) -> None:
    site.a_person_deploys()


def _drifted(site: Site) -> None:
    site.a_person_deploys()
    site.docker("rm", "--force", "slb")


def _connected(site: Site) -> None:
    site.run_container()
    site.connect_a_client()


def _noisy_for_the_second_time(site: Site) -> None:
    site.write("/etc/motd.bak", "the first message\n")
    site.make_motd_noisy()


STATES: dict[str, Step] = {
    "clean": lambda site: None,
    "a leftover runs": lambda site: site.run_container(),
    "a leftover crashes": lambda site: site.run_container("slb", "slb:1", "/bin/false"),
    "a leftover has exited": _exited,
    "a leftover was never started": lambda site: site.docker("create", "--name", "slb", "slb:1", "/bin/sh"),
    "a leftover is paused": _paused,
    "a leftover has connections": _connected,
    "an engine is live, without a record": _live_and_unrecorded,
    "an engine is listed, without a container": _drifted,
    "the record is damaged": lambda site: site.write(RECORD, '{"state": "pend'),
    "something else holds the port": lambda site: site.hold_the_port(),
    "another container holds the port": lambda site: site.run_container("other"),
    "the message of the day is long": lambda site: site.make_motd_noisy(),
    "the message of the day is long again": _noisy_for_the_second_time,
}

FAULTS: dict[str, dict[str, Any]] = {
    "no fault": {},
    "stuck front end": {"stuck_front_end": True},
    "fails half-way, listed": {"fail_half_way": "listed"},
    "fails half-way, unlisted": {"fail_half_way": "unlisted"},
    "slow start": {"slow_start_seconds": 8.0},
    "crashing engine": {"engine_crashes": True},
    "answer lost": {"install_answer_lost": True},
    "errors later, in Chinese": {"errors": "later", "language": "zh"},
    "503": {"errors_5xx": 3},
    "slow to accept": {"slow_accept_seconds": 4.0},
    "sessions end at once": {"session_seconds": 1.0},
}


def bring_about(site: Site, chance: random.Random, say: Callable[[str], None]) -> None:
    """A new state in two rounds of three; otherwise what the last round has left."""
    if chance.random() < 0.67:
        state = chance.choice(sorted(STATES))
        say(state)
        site.clean()
        STATES[state](site)
    break_node(site, chance, say)


def break_node(site: Site, chance: random.Random, say: Callable[[str], None]) -> None:
    fault = chance.choice([*sorted(FAULTS), *["no fault"] * 6])
    say(fault)
    site.node.set_faults(FAULTS[fault])
