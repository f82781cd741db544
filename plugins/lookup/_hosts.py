# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Return the hosts of a playbook of this collection. A run without hosts is an error."""

from __future__ import annotations

DOCUMENTATION = r"""
name: _hosts
author: slb.fleet contributors (@slb-fleet)
version_added: 1.0.0
short_description: "Internal: return the hosts of a play, at least one"
description:
  - "Internal: only playbooks of this collection use this lookup, and it may change in each release."
  - Fails if Ansible would only warn of a host, a pattern, C(--limit) or an option, or ignore it.
options:
  _terms:
    description: A host pattern, or a list of patterns. C(engines) if null or empty.
    type: raw
  named:
    description: Whether the pattern or C(--limit) must consist of host names. Each line of a file must be one.
    type: bool
    default: false
  canary:
    description: Host of the inventory that a rollout deploys first.
    type: raw
  without:
    description: Returns only the hosts of the pattern without this note of the run; each checked host has V(any).
    type: str
    choices: [any]
  noted:
    description: As O(without), for the hosts of the pattern with the note.
    type: str
    choices: [healthy, late, license, ready, stopped, work left]
  report:
    description: Whether to fail if the callback P(slb.fleet.report#callback) is not enabled; else warn.
    type: bool
    default: false
"""

import contextlib
import multiprocessing
import os
import re
import resource
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import yaml
from ansible import constants, context
from ansible.errors import AnsibleError
from ansible.inventory.manager import InventoryManager, split_host_pattern
from ansible.plugins.lookup import LookupBase
from ansible.release import __version__ as core_version
from ansible.utils.display import Display
from ansible.utils.vars import load_extra_vars

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.plugin_utils._limit import patterns_of
from ansible_collections.slb.fleet.plugins.plugin_utils._report import recorder
from ansible_collections.slb.fleet.plugins.plugin_utils._reservations import Reservations, forget_earlier_playbook
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import (
    RUN_VARIABLES,
    checked,
    is_empty,
    is_set_by_run,
)

_DEFAULT = "engines"
_OLDEST_CORE = (2, 16)
_MAX_EXPRESSION = 200
_MAX_STEPS = 4
_DESCRIPTORS = 4
"""File descriptors of a fork."""
_DESCRIPTORS_OF_RUN = 64
Problem = tuple[str, str]
"""Why a run must not begin, and the fix."""


class LookupModule(LookupBase):  # type: ignore[misc]
    _inventory: InventoryManager | None = None

    def run(self, terms: list[Any], variables: Mapping[str, Any] | None = None, **options: Any) -> list[str]:
        self.set_options(var_options=variables, direct=options)
        known, own_pattern = variables or {}, _join(terms)
        pattern, limit = own_pattern or _DEFAULT, str(known.get("ansible_limit") or "")
        with_note, without = self.get_option("noted"), self.get_option("without")
        if note := with_note or without:
            hosts_with_note = Reservations().hosts() if note == "any" else set(Reservations().noted(note))
            in_play = set(known.get("ansible_play_hosts_all", ()))
            left = in_play & hosts_with_note if with_note else in_play - hosts_with_note
            # A pattern for each: an exclusion in slb_hosts, or a colon, has another meaning behind the canary.
            patterns = [*filter(None, [_join([self.get_option("canary") or []])]), pattern] if left else []
            found = chain.from_iterable(self._hosts_of(each, known.get("groups", {})) for each in patterns)
            return [host for host in dict.fromkeys(found) if host in left]
        problems = _find_in_pattern(pattern)
        if not context.CLIARGS.get("syntax"):
            hosts = self._find_in_hosts(own_pattern, limit, known)
            problems = chain(
                _find_in_version(),
                problems,
                _find_in_options(),
                _find_in_inventory(),
                _find_in_limit(limit),
                hosts,
                self._find_in_variables(known),
            )
        for cause, fix in problems:
            _end_run(f"{cause} Nothing was done. {fix}")
        if multiprocessing.parent_process() is None:
            forget_earlier_playbook()
        return [pattern]

    def _find_in_hosts(self, own_pattern: str, limit: str, known: Mapping[str, Any]) -> Iterator[Problem]:
        pattern, groups = own_pattern or _DEFAULT, known.get("groups", {})
        matches, named = self._hosts_of(pattern, groups), {host for hosts in groups.values() for host in hosts}
        # Ansible would connect to the controller itself, in AWX to the container of the job.
        if implicit := set(matches) - named:
            fix = "Add the host to the inventory, or remove it from slb_hosts."
            yield f"Host {min(implicit)} is not in the inventory.", fix
        # Of a play whose hosts are not known yet, all within the limit, as Ansible read it when it started.
        left = set(known.get("ansible_play_hosts_all", matches) if limit else matches).intersection(matches)
        if not left:
            if len(split_host_pattern(own_pattern)) > 1:  # host_pattern_mismatch = error rejects all for one element
                yield from self._find_unmatched(own_pattern, "", groups, named)
            if not named:
                sources = visible(", ".join(map(str, context.CLIARGS.get("inventory") or ())))
                yield f"Inventory {sources} contains no host.", "Check -i, and the file: `ansible-inventory --graph`."
            there = visible(", ".join(sorted(set(groups) - {"all", "ungrouped"}))) or "none"
            within = f" within --limit {visible(limit)}" if limit else ""
            fix = f"Groups: {there}. Name the hosts with slb_hosts, or put them into the group engines."
            yield f"No host matches {pattern!r}{within}.", fix
        yield from _raise_descriptors(len(left))
        limited_to = chain.from_iterable(patterns_of(limit).values())
        is_named = _are_names(limited_to, named) or _are_names(split_host_pattern(own_pattern), named)
        if self.get_option("named") and not is_named:
            yield (
                "Hosts not named: this playbook sets engines aside on named hosts only, not on groups or patterns.",
                "Name the hosts whose engines the web console does not list: --limit HOST,HOST.",
            )
        yield from self._find_unmatched(own_pattern, limit, groups, named)
        if canary := _join([self.get_option("canary") or []]):
            # Of one that is unknown, an arbitrary host would be the first.
            first = set(self._hosts_of(canary, groups))
            if not first or first - named:
                cause = f"Variable slb_canary invalid: {visible(canary)} is not a host of the inventory."
                yield cause, "Correct slb_canary, or unset it."

    def _find_unmatched(
        self, own_pattern: str, limit: str, groups: Mapping[str, list[str]], named: set[str]
    ) -> Iterator[Problem]:
        """Find an element that matches no host, which Ansible ignores: a host would be missing, or be included."""
        of_limit = ((part, "--limit") for parts in patterns_of(limit).values() for part in parts)
        for part, option in chain(of_limit, ((part, "slb_hosts") for part in split_host_pattern(own_pattern))):
            pattern = part.strip().lstrip("!&")
            if pattern and pattern not in named and not self._hosts_of(pattern, groups):
                fix = "Correct or remove it. `ansible-inventory --graph` shows the hosts and groups."
                yield f"Element {visible(part)} of {option} matches no host.", fix

    def _find_in_variables(self, known: Mapping[str, Any]) -> Iterator[Problem]:
        """Check what plays read later, before any host is contacted; warn if the run has no report."""
        for name in filter(is_set_by_run, load_extra_vars(self._loader)):
            yield f"Variable {visible(name)} is set by the run itself.", "Remove it from -e."
        for name in RUN_VARIABLES:
            value = known.get(f"slb_{name}")
            if not is_empty(value):
                try:
                    checked(name, value)
                except FleetError as error:
                    yield error.summary, error.fix
        if "slb.fleet.report" not in (constants.CALLBACKS_ENABLED or ()):
            missing = FleetError(
                "report_not_enabled",
                "Callback slb.fleet.report not enabled: this run has no report.",
                "Set callbacks_enabled = slb.fleet.report in ansible.cfg.",
            )
            if self.get_option("report"):  # the plan would stand nowhere else
                yield missing.summary, missing.fix
            Display().warning(str(missing))

    def _hosts_of(self, pattern: str, groups: Mapping[str, list[str]]) -> list[str]:
        """Return the hosts that match, also those that Ansible adds to the inventory."""
        if self._inventory is None:
            self._inventory = InventoryManager(self._loader, parse=False)
            for group, hosts in groups.items():
                self._inventory.add_group(group)
                for host in hosts:
                    self._inventory.add_host(host, group=group)
        try:
            return [str(host.name) for host in self._inventory.get_hosts(pattern)]
        except AnsibleError:  # where host_pattern_mismatch is an error
            return []


def _join(terms: Iterable[Any]) -> str:
    """Return texts and lists of texts as one pattern; empty ones are left out."""
    parts = [
        str(part).strip()
        for term in terms
        for part in (term if isinstance(term, list) else [term])
        if not is_empty(part)
    ]
    return parts[0] if len(parts) == 1 else ",".join(chain.from_iterable(map(split_host_pattern, parts)))


def _end_run(message: str) -> None:
    """End ansible-playbook with the message alone: each ansible-core would add the keyword and the plugin to it.

    Not in a worker, whose task fails as usual, nor in a program that uses Ansible as a library.
    """
    if context.CLIARGS and multiprocessing.parent_process() is None:
        Display().error(message, wrap_text=False)
        recorder.is_refused = True
        raise SystemExit(1)
    raise AnsibleError(message)


def _find_in_pattern(pattern: str) -> Iterator[Problem]:
    parts = split_host_pattern(pattern)
    if not any(part.strip() for part in parts):
        # To Ansible, nothing but commas is everybody.
        yield f"{pattern!r} names no host.", "Name the hosts with slb_hosts."
    for text in (part.lstrip("!&") for part in parts):
        # The time of such an expression may grow exponentially.
        is_slow = len(text) > _MAX_EXPRESSION or sum(map(text.count, "(*+?{")) > _MAX_STEPS
        if text.startswith("~") and (is_slow or re.search(r"\)[*+{]", text)):
            yield f"Regular expression {visible(text[:40])} too complex.", "Name hosts with slb_hosts."


def _find_in_version() -> Iterator[Problem]:
    if tuple(map(int, core_version.split(".")[:2])) < _OLDEST_CORE:
        yield f"ansible-core {core_version} not supported.", "Install ansible-core 2.16 to 2.21."


def _find_in_inventory() -> Iterator[Problem]:
    """Find a source that Ansible warns of only: the hosts of another source would be taken for the whole fleet."""
    for source in map(str, context.CLIARGS.get("inventory") or ()):
        path = Path(source)
        if "," not in source and not os.path.exists(path):  # noqa: PTH110 - below a folder of another user, no error
            yield f"Inventory {visible(source)} not found.", "Correct -i."
        for file in (each for each in (path, *path.glob("*")) if each.suffix in (".yml", ".yaml")):
            if not os.path.isfile(file):  # noqa: PTH113 - to open a pipe would hang
                continue
            with contextlib.suppress(OSError, UnicodeError):
                text = file.read_text(encoding="utf-8")
                if re.search(r"^\[", text, re.MULTILINE):
                    continue  # in INI format
                try:
                    deque(yaml.parse(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)), maxlen=0)
                except yaml.MarkedYAMLError as error:
                    line = f" (line {error.problem_mark.line + 1})" if error.problem_mark else ""
                    yield f"Inventory {visible(str(file))} not read: {error.problem}{line}.", "Correct its YAML."


def _find_in_options() -> Iterator[Problem]:
    """Options that skip tasks: the run would do nothing, or a part, with status 0."""
    tags, skipped = (_split(context.CLIARGS.get(name)) for name in ("tags", "skip_tags"))
    options = {
        "--start-at-task": context.CLIARGS.get("start_at_task"),
        "--step": context.CLIARGS.get("step"),
        "--skip-tags": {"always", "tagged"} & skipped,
        # Each play has the tag always, so that no part of it is left out: the tags of an import select nothing.
        "--tags": tags - {"all", "always", "tagged"} if not context.CLIARGS.get("listtags") else None,
    }
    for option, value in options.items():
        if value:
            shown = " ".join([option, *(sorted(value) if isinstance(value, set) else [])])
            yield f"Option {shown} rejected: playbooks of slb.fleet run as a whole.", "Run again without it."


def _split(tags: Any) -> set[str]:
    return {tag.strip() for each in tags or () for tag in str(each).split(",")}


def _raise_descriptors(hosts: int) -> Iterator[Problem]:
    """Raise the soft limit of file descriptors for the workers. If they are too few, Ansible drops hosts in silence."""
    needed = _DESCRIPTORS * min(int(context.CLIARGS.get("forks") or 0), hosts) + _DESCRIPTORS_OF_RUN
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    except (OSError, ValueError):
        fix = f"Run `ulimit -n {needed}` (hard limit: {hard}), or lower --forks."
        yield f"Limit of {soft} file descriptors too low for the forks.", fix


def _find_in_limit(limit: str) -> Iterator[Problem]:
    parts = patterns_of(limit)
    for part in (part for part, patterns in parts.items() if not patterns):
        cause = f"The file {visible(part[1:])} of --limit names no host, which Ansible takes for all hosts."
        yield cause, "Write the hosts into it, one per line, or leave --limit out."
    if limit and not parts:
        cause = f"--limit {visible(limit)} names no host, which Ansible takes for all hosts."
        yield cause, "Name the hosts, or leave --limit out."


def _are_names(patterns: Iterable[str], hosts: set[str]) -> bool:
    """Return whether each pattern that adds hosts is the name of a host, and no word or pattern for many."""
    parts = [pattern.lstrip("&") for pattern in patterns if not pattern.startswith("!")]
    return bool(parts) and all(part in hosts for part in parts)
