"""Where more hosts of a batch fail than allowed, its others are brought to their end and no later batch begins."""

from __future__ import annotations

from typing import Any

import pytest
from estate import Estate, History

pytestmark = pytest.mark.long

# Its container cannot be stopped: it fails when the others of its batch are stopped, and before these have an engine.
FAILING = "h1"
_REFUSING = """#!/bin/sh
[ "$1" = stop ] && echo "it does not want to" >&2 && exit 1
exec /usr/bin/docker "$@"
"""
LEFTOVER: dict[str, Any] = {"slb_engine_list_may_be_empty": True, "slb_max_replaced": "100%"}


@pytest.fixture(scope="module")
def above(estate: Estate) -> History:
    """One of three is more than 33 %."""
    estate.make_leftover()
    estate[FAILING].write("/usr/local/bin/docker", _REFUSING)
    estate[FAILING].host.exec(["chmod", "0755", "/usr/local/bin/docker"])
    of_the_plays = {"slb_serial": [3, "100%"], "slb_max_fail_percentage": 33}
    return estate.history("slb.fleet.rollout", extra=of_the_plays, **LEFTOVER)


def test_the_others_of_the_batch_are_brought_to_their_end(estate: Estate, above: History) -> None:
    assert above.failed(FAILING), above.run.output
    assert above.verified_by_console("h2", "h3")
    for name in ("h2", "h3"):
        assert estate[name].is_verified(by="engine_list")


def test_the_one_that_failed_is_as_it_was(above: History) -> None:
    before, after = above.before.hosts[FAILING], above.after.hosts[FAILING]
    assert after.is_back_from(before), above.run.output
    assert "it does not want to" in above.said(FAILING)


@pytest.mark.parametrize("host", ["h4", "h5", "h6"])
def test_later_batches_are_not_started(above: History, host: str) -> None:
    assert above.run.report[host].startswith("not started"), above.run.output
    assert host not in above.touched
    assert above.requests["install"] == 2


@pytest.fixture(scope="module")
def below(estate: Estate, above: History) -> History:
    """One of two is not more than 50 %. The two that are verified by now are in no batch."""
    of_the_plays = {"slb_serial": [2, "100%"], "slb_max_fail_percentage": 50}
    return estate.history("slb.fleet.rollout", extra=of_the_plays, **LEFTOVER)


def test_with_no_more_failures_than_allowed_the_run_goes_on(estate: Estate, below: History) -> None:
    assert below.failed(FAILING), below.run.output
    assert below.verified_by_console(*(name for name in estate.names if name != FAILING))
    assert below.requests["install"] == 3
