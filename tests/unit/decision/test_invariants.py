"""The promises hold, and no rule is there for nothing."""

from __future__ import annotations

from ansible_collections.slb.fleet.plugins.plugin_utils._decision.rules import RULES
from ansible_collections.slb.fleet.tests.unit.decision.tried import tried


def test_every_promise_holds_for_every_evidence() -> None:
    assert tried().broken == ""
    assert tried().number > 100_000


def test_every_rule_is_reached() -> None:
    reached = {when for when, _action in tried().reasons}
    assert [rule.when for rule in RULES if rule.when not in reached] == []
