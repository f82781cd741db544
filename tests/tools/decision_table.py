"""Write docs/dev/decision-table.md from the rules and safety checks; reference.py writes it, too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ansible_collections.slb.fleet.plugins.plugin_utils.decision import RULES, SAFETY_CHECKS, Rule

PAGE = Path(__file__).resolve().parents[2] / "docs" / "dev" / "decision-table.md"


def table() -> str:
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Decision table"
    yield ""
    yield "Lists the rules of `plugins/plugin_utils/decision.py`, from which this page is generated."
    yield "The plan of a host is the first rule that applies, from top to bottom."
    yield ""
    yield "| # | observed | action | code |"
    yield "|---|---|---|---|"
    for number, rule in enumerate(RULES, 1):
        yield f"| {number} | {rule.when} | {_action(rule)} | `{rule.code}` |"
    yield ""
    yield "## Safety checks"
    yield ""
    yield "If one applies to the action of the rule, the plan is to fail, with the code of the check."
    yield ""
    yield "| condition | before | code |"
    yield "|---|---|---|"
    for check in SAFETY_CHECKS:
        yield f"| {check.when} | {', '.join(check.actions)} | `{check.code}` |"


def _action(rule: Rule) -> str:
    return rule.action if isinstance(rule.action, str) else _ACTIONS[rule.code]


_ACTIONS = {
    "running_in_engine_list": "record; `remediate`: none",
    "container_changed": "`slb_unverified_engine`: fail, or record for `adopt`",
    "deployment_failed": "replace, or install without a container",
    "unverified_container": "`slb_unverified_engine`: fail, record or replace",
}

if __name__ == "__main__":
    PAGE.write_text(table(), encoding="utf-8")
