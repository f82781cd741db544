# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands the decision about a host, and the part of the evidence that the console gives, to playbooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._console_state import console_state as listed_state
from ansible_collections.slb.fleet.plugins.plugin_utils._decision import decide
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import evidence_from, policy_from


def decision(
    slb_host: Mapping[str, Any], policy: Mapping[str, Any], console: Mapping[str, Any] | None = None, **known: Any
) -> dict[str, Any]:
    """What is to be done on a host, and why."""
    try:
        return asdict(decide(evidence_from(slb_host, **(console or {}), **known), policy_from(policy)))
    except FleetError as error:
        raise AnsibleFilterError(str(error)) from error


def console_state(console: Mapping[str, Any], name: str, manage_ip: str) -> dict[str, str]:
    """What a registered result of engine_info says of one engine."""
    if "engines" in console:
        return {"console": listed_state(console["engines"], name, manage_ip)}
    if not console or console.get("skipped"):
        return {"console": "unknown"}
    # The task's own failed_when may have made a success of it.
    return {"console": "unreadable", "console_words": console["msg"]}


class FilterModule:
    """Named by Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"decision": decision, "console_state": console_state}
