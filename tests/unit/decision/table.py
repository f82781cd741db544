"""Makes docs/decisions.md out of the function that decides, so that the two cannot differ: python table.py > FILE."""

from __future__ import annotations

import re

from ansible_collections.slb.fleet.plugins.plugin_utils._decision.rules import RULES
from ansible_collections.slb.fleet.tests.unit.decision.tried import tried

HEAD = """# How a plan of a host is decided

Made from the function that decides, by trying what `tests/unit/decision/space.py` makes up; do not edit. There each
kind of container is combined with each record, with what the list says and a run knows, and with one danger; upon a
part of that comes, one at a time, what is seen seldom; and all of it is tried under several policies. The rows are
tried from the first to the last, and the first that applies decides. What a row can lead to depends on the rest of the
evidence and on the policy. Numbers and states in the right column are those of one example.

| what was seen | what is done | why, as the operator reads it |
|---|---|---|
"""


def rows() -> list[str]:
    reasons = tried().reasons
    lines = []
    for rule in RULES:
        actions = sorted(action for when, action in reasons if when == rule.when)
        for number, action in enumerate(actions):
            reason = re.sub(r"\s+", " ", reasons[rule.when, action]).replace("|", "/")
            lines.append(f"| {rule.when if number == 0 else ''} | **{action}** | {reason} |")
    return lines


def document() -> str:
    return HEAD + "\n".join(rows()) + "\n"


if __name__ == "__main__":
    print(document(), end="")
