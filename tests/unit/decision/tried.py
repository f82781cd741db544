"""All that is in the space is tried: once, whoever asks what came of it."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

from ansible_collections.slb.fleet.plugins.plugin_utils._decision.decide import decide
from ansible_collections.slb.fleet.plugins.plugin_utils._decision.rules import RULES
from ansible_collections.slb.fleet.tests.unit.decision.promises import broken_promises
from ansible_collections.slb.fleet.tests.unit.decision.space import everything


@dataclass(frozen=True)
class Tried:
    """``reasons``: an example of each, by what was seen and what is done. ``codes``: all that decided. ``broken``: the
    first promise that was. ``of_docker``: what a host of Podman is told with a command of Docker.
    """

    number: int
    reasons: dict[tuple[str, str], str]
    codes: frozenset[str]
    broken: str
    of_docker: frozenset[str]


@functools.cache
def tried() -> Tried:
    number, reasons, codes, broken = 0, dict[tuple[str, str], str](), set[str](), ""
    of_docker = set[str]()
    rows = {rule.code: rule for rule in RULES}
    for evidence, policy in everything():
        number += 1
        decision = decide(evidence, policy)
        codes.add(decision.code)
        # A guard has its own code: the row behind which it stands is the one that applies.
        rule = rows.get(decision.code) or next(rule for rule in RULES if rule.applies(evidence, policy))
        reasons.setdefault((rule.when, decision.action), decision.reason)
        if "`docker " in decision.reason:
            told = decide(replace(evidence, runtime="podman"), policy).reason
            of_docker |= {told} if "`docker " in told else set()
        for promise in () if broken else broken_promises(evidence, policy, decision):
            broken = f"broken: {promise}\n{evidence}\n{policy}\n{decision}"
    return Tried(number, reasons, frozenset(codes), broken, frozenset(of_docker))
