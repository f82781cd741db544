# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows that come before anything else: who the host is, and whether an engine can be asked for at all."""

from __future__ import annotations

from ansible_collections.slb.fleet.plugins.module_utils._host.containers import what_to_do
from ansible_collections.slb.fleet.plugins.plugin_utils._decision.decision import Decision, fail
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import Evidence, Policy, quoted
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import is_another_machine


def is_unobservable(evidence: Evidence, policy: Policy) -> bool:
    return evidence.container == "unknown"


def unobservable(evidence: Evidence, policy: Policy) -> Decision:
    remedy = (
        what_to_do(str(evidence.container_why), evidence.runtime)
        if evidence.as_root
        else "The look was not made as root: set become: true (ansible_become) for this host, then run again."
    )
    return fail(f"The state of the container slb is unknown: {evidence.container_why}. {remedy}")


def is_disputed(evidence: Evidence, policy: Policy) -> bool:
    return bool(evidence.disputed)


def disputed(evidence: Evidence, policy: Policy) -> Decision:
    return fail(
        f"{evidence.disputed} Nothing was asked for. Give each host its own slb_engine_name and slb_manage_ip, or take "
        "one of them out of the run."
    )


def is_elsewhere(evidence: Evidence, policy: Policy) -> bool:
    return not policy.is_translated and is_another_machine(evidence.engine.manage_ip, evidence.addresses)


def another_machine(evidence: Evidence, policy: Policy) -> Decision:
    contradicts = evidence.console in ("elsewhere", "other_name")
    listed = f"Of the console's list is known: {evidence.console_words}. " if contradicts else ""
    return fail(
        f"This host has the addresses {', '.join(map(quoted, evidence.addresses[:5]))}, and not slb_manage_ip "
        f"{evidence.engine.manage_ip} of the engine {evidence.engine.name}: it may be another machine, as where two "
        f"lines of the inventory were swapped or copied. {listed}Nothing was asked for. Correct slb_manage_ip, "
        "slb_engine_name or ansible_host; or, if that address leads here by address translation, set "
        "slb_manage_ip_translated: true."
    )


def is_unaskable(evidence: Evidence, policy: Policy) -> bool:
    return policy.installs and bool(evidence.engine.trouble or not evidence.engine.base_url)


def unaskable(evidence: Evidence, policy: Policy) -> Decision:
    return fail(
        evidence.engine.trouble
        or "The variable slb_base_url is not set. Set it to the address of the management node, such as "
        "https://console.example."
    )
