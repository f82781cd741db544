# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``propose_engine_list`` shows: the candidates, the proposal as YAML, and recorded answers. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import Answer, show
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import LOGIN_PATH, is_rejection
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import STATES
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import INSTALL_PATH, find_outcome
from ansible_collections.slb.fleet.plugins.module_utils._management_node.license import (
    LICENSE_PATH,
    find_license_problem,
)
from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short
from ansible_collections.slb.fleet.plugins.plugin_utils._proposal import Candidate, mask_opaque
from ansible_collections.slb.fleet.plugins.plugin_utils._recording import Exchange, Recording

Patterns = Mapping[str, Sequence[re.Pattern[str]]]

_CALLS = {("POST", LOGIN_PATH): "login", ("GET", LICENSE_PATH): "license", ("POST", INSTALL_PATH): "install"}
_MAX_ANSWERS = 20
_SHOWN_ANSWER = 150  # characters


def read_answers(exchanges: Iterable[Exchange], patterns: Patterns, known: Iterable[str]) -> list[dict[str, Any]]:
    """Return how the answers of the documented calls are understood, each kind once.

    ``known``: names of the inventory, which are shown although they may look like tokens.
    """
    names, answers = list(known), list[dict[str, Any]]()
    for exchange in exchanges:
        call = _CALLS.get((exchange.method, exchange.path))
        if not call:
            continue
        answer = exchange.answer
        outcome = _find_outcome(call, exchange, patterns)
        # The text of a license, or of an answer without JSON, may be a secret.
        is_message = bool(answer.parsed) or answer.is_html or (call == "install" or not answer.is_success)
        is_shown = is_message and not (call == "license" and outcome == "license")
        message = mask_opaque(answer.shown(exchange.secrets), [*names, *exchange.sent]) if is_shown else ""
        read = {"call": call, "status_code": answer.status, "outcome": outcome, "message": message}
        if read not in answers:
            answers.append(read)
    return answers[:_MAX_ANSWERS]


def _find_outcome(call: str, exchange: Exchange, patterns: Patterns) -> str:
    answer = exchange.answer
    if call == "install":
        return find_outcome(answer, patterns, exchange.sent)
    if call == "license":
        return find_license_problem(answer)[0] or "license"
    return _find_login_outcome(answer)


def _find_login_outcome(answer: Answer) -> str:
    """Return the outcome of a login, except for its cookie, which a recording may lack."""
    if is_rejection(answer) or answer.status in (400, 401, 403, 422, 423):
        return "rejected"
    if answer.status >= 400:
        return "unavailable"
    return "redirected" if not answer.is_success else "accepted"


def as_yaml(option: Mapping[str, Any]) -> str:
    """Return ``slb_engine_list`` as YAML."""
    text: str = yaml.safe_dump({"slb_engine_list": dict(option)}, sort_keys=False, allow_unicode=True, width=1000)
    return text


def show_proposal(recording: Recording, candidates: Sequence[Candidate], hosts: int) -> list[str]:
    """Return the lines about the candidates, the doubts, and the proposal itself. ``hosts``: of the inventory."""
    lines = [
        f"{recording.requests} requests, {sum(bool(each.answer.parsed) for each in recording.exchanges)} with JSON"
    ]
    lines += [f"{count} answers {reason}: see docs/engine-list.md" for reason, count in recording.unusable.items()]
    if not candidates:
        return [*lines, "No list has names or addresses of the inventory."]
    table = [("LIST", "HOSTS", "ENTRIES", "PROBLEM")]
    for each in candidates:
        place = f"{each.method} {each.option['path']} {each.option.get('items', '')}".strip()
        table.append((in_short(place, 70), f"{each.explained} of {hosts}", str(each.engines), each.problem or "-"))
    widths = [max(len(row[column]) for row in table) for column in range(3)]
    lines += ["  ".join([*map(str.ljust, row[:3], widths), row[3]]) for row in table]
    best = candidates[0]
    if best.problem:
        return [*lines, f"No proposal: {best.problem}."]
    lines += as_yaml(best.option).splitlines()
    lines += [f"Doubt: {doubt}." for doubt in best.doubts]
    lines += [f"Assign to running, deploying or failed: {', '.join(best.unmapped)}"] if best.unmapped else []
    missing = [state for state in STATES if not best.option.get(state)]
    lines += [f"Not recorded: a state for {', '.join(missing)}"] if missing else []
    return [*lines, f"A missing engine may exist: {best.gap}."] if best.gap else lines


def show_answers(answers: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a line for each recorded answer."""
    return [
        show(f"{each['call']}: {each['outcome']}: HTTP {each['status_code']} {each['message']}", _SHOWN_ANSWER)
        for each in answers
    ]
