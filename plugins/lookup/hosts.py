# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Return the hosts of a playbook of this collection. A run without hosts is an error."""

from __future__ import annotations

DOCUMENTATION = r"""
name: hosts
author: slb.fleet contributors (@slb-fleet)
version_added: 1.0.0
short_description: Return the hosts of a play, at least one
description:
  - Returns the host pattern for a play of this collection, C(engines) if none is given.
  - Fails if no host of the inventory, within C(--limit), matches the pattern, and names the existing groups.
  - Fails for a regular expression (C(~)) with more than 200 characters, a repeated group, or more than four groups and
    quantifiers. Ansible can need years for such an expression.
  - Fails if the pattern names C(localhost) and the inventory does not. Ansible would add the controller.
  - Fails if C(--limit) is empty, for example an empty file. Ansible ignores such a limit.
options:
  _terms:
    description: A host pattern, or a list of patterns. C(engines) if null or empty.
    type: raw
  named:
    description:
      - Whether the pattern or C(--limit) must consist of host names, without groups and patterns. Each line of a file
        must be a host name.
    type: bool
    default: false
  canary:
    description: Host of the inventory that a rollout deploys first. Fails if the inventory does not contain the host.
    type: raw
  report:
    description: Whether to fail if the callback P(slb.fleet.report#callback) is not enabled; else warn.
    type: bool
    default: false
seealso:
  - plugin: slb.fleet.report
    plugin_type: callback
"""

EXAMPLES = r"""
- name: Ping the engine hosts
  hosts: "{{ lookup('slb.fleet.hosts', slb_hosts | default(none)) }}"
  gather_facts: false
  tasks:
    - name: Ping
      ansible.builtin.ping:
"""

RETURN = r"""
_raw:
  description: The host pattern.
  type: str
  sample: engines
"""

import multiprocessing
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ansible import constants, context
from ansible.errors import AnsibleError
from ansible.inventory.manager import InventoryManager, split_host_pattern
from ansible.plugins.lookup import LookupBase
from ansible.utils.display import Display

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.plugin_utils._limit import patterns_of
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import RUN_VARIABLES, checked, is_empty

_DEFAULT = "engines"
_MAX_EXPRESSION = 200
_MAX_STEPS = 4


class LookupModule(LookupBase):  # type: ignore[misc]
    def run(self, terms: list[Any], variables: Mapping[str, Any] | None = None, **options: Any) -> list[str]:
        self.set_options(var_options=variables, direct=options)
        try:
            return self._hosts(terms, variables)
        except AnsibleError as error:
            _end_run(error)
            raise

    def _hosts(self, terms: list[Any], variables: Mapping[str, Any] | None) -> list[str]:
        parts = [part for term in terms for part in (term if isinstance(term, list) else [term])]
        given = [str(part).strip() for part in parts if not is_empty(part)]
        pattern, known = ",".join(given) or _DEFAULT, variables or {}
        if not any(part.strip() for part in split_host_pattern(pattern)):
            # To Ansible, nothing but commas is everybody.
            raise AnsibleError(f"{pattern!r} names no host. Nothing was done. Name the hosts with slb_hosts.")
        _refuse_slow_expression(pattern)
        limit, groups = str(known.get("ansible_limit") or ""), known.get("groups", {})
        if context.CLIARGS.get("syntax"):
            return [pattern]
        _refuse_partial_run()
        limited_to = patterns_of(limit)
        found = self._hosts_of(pattern, groups)
        # Ansible would connect to the controller itself, in AWX to the container of the job.
        if implicit := set(found).difference(*groups.values()):
            raise AnsibleError(
                f"Host {min(implicit)} is not in the inventory. Nothing was done. "
                "Add the host to the inventory, or remove it from slb_hosts."
            )
        # Of a play whose hosts are not known yet, all within the limit, as Ansible has read it at its begin.
        left = set(known.get("ansible_play_hosts_all", found) if limit else found)
        if not left.intersection(found):
            there = visible(", ".join(sorted(set(groups) - {"all", "ungrouped"}))) or "none"
            within = f" within --limit {visible(limit)}" if limit else ""
            raise AnsibleError(
                f"No host matches {pattern!r}{within}. Nothing was done. Groups: {there}. "
                "Name the hosts with slb_hosts, or put them into the group engines."
            )
        if self.get_option("named") and not (
            _names_hosts(limited_to, groups) or (given and _names_hosts(split_host_pattern(pattern), groups))
        ):
            raise AnsibleError(
                "Hosts not named: this playbook sets engines aside on named hosts only, not on groups or patterns. "
                "Check in the web console which engines it does not list, and name their hosts: --limit HOST,HOST "
                "or -e slb_hosts=HOST,HOST."
            )
        self._check_canary(groups)
        _check_run_variables(known)
        _check_report(is_needed=self.get_option("report"))
        return [pattern]

    def _check_canary(self, groups: Mapping[str, list[str]]) -> None:
        """Refuse a canary that is unknown: an arbitrary host would be the first. Raises AnsibleError."""
        canary = self.get_option("canary") or []
        names = [str(name) for name in (canary if isinstance(canary, list) else [canary]) if not is_empty(name)]
        found = self._hosts_of(",".join(names), groups) if names else []
        if names and (not found or set(found).difference(*groups.values())):
            raise AnsibleError(
                f"Variable slb_canary invalid: {visible(','.join(names))} is not a host of the inventory. Nothing was "
                "done. Correct slb_canary, or unset it."
            )

    def _hosts_of(self, pattern: str, groups: Mapping[str, list[str]]) -> list[str]:
        """Return the hosts that match, also those that Ansible adds to the inventory."""
        inventory = InventoryManager(self._loader, parse=False)
        for group, hosts in groups.items():
            inventory.add_group(group)
            for host in hosts:
                inventory.add_host(host, group=group)
        try:
            return [str(host.name) for host in inventory.get_hosts(pattern)]
        except AnsibleError:  # where host_pattern_mismatch is an error
            return []


def _end_run(error: AnsibleError) -> None:
    """End ansible-playbook with the message alone: each ansible-core would add the keyword and the plugin to it.

    Not in a worker, whose task fails as usual, nor in a program that uses Ansible as a library.
    """
    if context.CLIARGS and multiprocessing.parent_process() is None:
        Display().error(str(error.message), wrap_text=False)
        raise SystemExit(1)


def _refuse_slow_expression(pattern: str) -> None:
    """Refuse a regular expression whose time may grow exponentially. Raises AnsibleError."""
    for part in split_host_pattern(pattern):
        text = part.lstrip("!&")
        steps = sum(text.count(each) for each in "(*+?{")
        is_slow = len(text) > _MAX_EXPRESSION or steps > _MAX_STEPS or re.search(r"\)[*+{]", text)
        if text.startswith("~") and is_slow:
            raise AnsibleError(
                f"Regular expression {visible(text[:40])} too complex. Nothing was done. Name hosts with slb_hosts."
            )


def _check_run_variables(known: Mapping[str, Any]) -> None:
    """Check what plays read later, before any host is contacted. Raises AnsibleError."""
    for name in RUN_VARIABLES:
        value = known.get(f"slb_{name}")
        if not is_empty(value):
            try:
                checked(name, value)
            except FleetError as error:
                raise AnsibleError(str(error)) from None


def _check_report(*, is_needed: bool) -> None:
    """Warn if the run has no report. Raises AnsibleError if the plan would stand nowhere else."""
    if "slb.fleet.report" in (constants.CALLBACKS_ENABLED or ()):
        return
    error = FleetError(
        "report_not_enabled",
        "Callback slb.fleet.report not enabled: this run has no report.",
        "Set callbacks_enabled = slb.fleet.report in ansible.cfg.",
    )
    if is_needed:
        raise AnsibleError(str(error))
    Display().warning(str(error))


def _refuse_partial_run() -> None:
    """Refuse options that skip tasks: the run would do nothing, or a part, with status 0. Raises AnsibleError."""
    skipped = [tag for tags in context.CLIARGS.get("skip_tags") or () for tag in str(tags).split(",")]
    option = "--start-at-task" if context.CLIARGS.get("start_at_task") else ""
    if option or "always" in skipped:
        raise AnsibleError(
            f"Option {option or '--skip-tags always'} rejected: it would skip tasks of slb.fleet. Nothing was done. "
            "Run again without it; use --limit to select hosts."
        )


def _names_hosts(patterns: Sequence[str], groups: Mapping[str, list[str]]) -> bool:
    """Whether each that adds hosts is a host's name, and no word or pattern for many."""
    parts = [pattern.lstrip("&") for pattern in patterns if not pattern.startswith("!")]
    hosts = {host for members in groups.values() for host in members}
    return bool(parts) and all(part in hosts for part in parts)
