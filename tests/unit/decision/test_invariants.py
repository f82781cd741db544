"""The promises hold, no rule is there for nothing, and where that is tried each field is varied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from itertools import chain

import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils._decision.objections import BESIDE_THE_ROWS
from ansible_collections.slb.fleet.plugins.plugin_utils._decision.rules import RULES
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import EngineIdentity, Evidence, Policy, SetAside
from ansible_collections.slb.fleet.plugins.plugin_utils._progress import Progress
from ansible_collections.slb.fleet.tests.unit.decision.space import everything, seldom
from ansible_collections.slb.fleet.tests.unit.decision.tried import tried

pytestmark = pytest.mark.long

ALWAYS_THE_SAME = {
    (EngineIdentity, "name"): "it is shown, and nothing hangs on it",
    (Progress, "asked_at"): "the age of the record is made of it before anything is decided",
    (Policy, "may_be_empty"): "what an empty list says is settled before anything is decided",
    (Policy, "max_replaced"): "the run's budget is applied to what was decided",
    (Policy, "fleet"): "as max_replaced",
}
KINDS = (Evidence, EngineIdentity, SetAside, Progress, Policy)


def test_every_promise_holds_for_every_evidence() -> None:
    assert tried().broken == ""
    assert tried().number > 100_000


def test_every_rule_is_reached() -> None:
    reached = {when for when, _action in tried().reasons}
    assert [rule.when for rule in RULES if rule.when not in reached] == []


def test_every_guard_is_reached_and_has_its_code_in_the_list() -> None:
    assert tried().codes - {rule.code for rule in RULES} == set(BESIDE_THE_ROWS)


def test_no_host_of_podman_is_told_a_command_of_docker() -> None:
    assert tried().of_docker == frozenset()


def test_every_field_that_a_decision_reads_is_varied() -> None:
    first: dict[tuple[type, str], object] = {}
    constant: set[tuple[type, str]] = {(kind, field.name) for kind in KINDS for field in fields(kind)}
    for evidence, policy in chain(seldom(), everything()):
        values = dict(values_of(constant, evidence, policy))
        constant -= {field for field, value in values.items() if first.setdefault(field, value) != value}
        if constant <= ALWAYS_THE_SAME.keys():
            break
    assert constant == ALWAYS_THE_SAME.keys()


def values_of(
    wanted: set[tuple[type, str]], evidence: Evidence, policy: Policy
) -> Iterator[tuple[tuple[type, str], object]]:
    wholes = (evidence, evidence.engine, evidence.progress, evidence.set_aside, policy)
    whole_of = {type(whole): whole for whole in wholes}
    for kind, name in wanted:
        if kind in whole_of:
            yield (kind, name), getattr(whole_of[kind], name)
