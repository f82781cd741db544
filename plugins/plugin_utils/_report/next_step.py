# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to run next, for one host and for all that need it: playbook, inventory and limit."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address

from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import AGAIN, HostEntry, RunEntry

_FEW = 30
_REMEDIED = ("missing_from_engine_list", "engine_stopped")
"""Codes of hosts that only ``remediate`` may change."""
_ROLLOUT, _REMEDIATE = "slb.fleet.rollout", "slb.fleet.remediate"
_FOR_NAMED_HOSTS = (_REMEDIATE, "slb.fleet.adopt_interfaces")
"""Playbooks that change a host because it is named: the file ``retry`` may name other hosts by then."""
_NOT_APPROVED = "not_in_approved_plan"
_APPROVE_AGAIN = "Launch the workflow again, and approve its new plan."
_NOTHING_KNOWN = ("unreachable", "interrupted", "not_started")
_UNREADABLE = ("engine_list_unavailable", "invalid_variable")


@dataclass(frozen=True)
class NextStep:
    """Build the next command. ``inventory``: the options that name it. ``folder``: of the reports, empty for none.
    ``limit``: that of the run.
    """

    inventory: tuple[str, ...] = ()
    folder: str = ""
    limit: str = ""

    def of_host(self, host: HostEntry, run: RunEntry) -> str:
        if host.status not in (*AGAIN, "planned"):
            return ""
        return self._command([host], run, by_file=False)

    def of_run(self, run: RunEntry, hosts: Sequence[HostEntry]) -> str:
        """Return the command for all hosts that need one; empty if none does."""
        if run.status == "running":
            return ""
        planned = [host for host in hosts if host.status == "planned"] if run.is_plan else []
        again = [host for host in hosts if host.status in AGAIN]
        if not planned and not again:
            return ""
        return self._command(planned or again, run, by_file=not planned)

    def _command(self, hosts: Sequence[HostEntry], run: RunEntry, *, by_file: bool) -> str:
        codes = {host.reason.code if host.reason else "" for host in hosts}
        if codes == {_NOT_APPROVED} and run.awx_job_id is not None:
            return _APPROVE_AGAIN
        playbook = _playbook(run, hosts, codes)
        limit = self._limit([host.name for host in hosts], playbook, run, by_file=by_file)
        if limit is None:
            return ""
        is_planned = all(host.status == "planned" for host in hosts)
        check = codes == {_NOT_APPROVED} or (run.check and not is_planned and playbook == run.playbook)
        if run.awx_job_id is not None:
            return f"Launch the template of {playbook}{', with the limit ' + limit if limit else ''}."
        options = [*(["--check"] if check else []), *(["--limit", limit] if limit else [])]
        return shlex.join(["ansible-playbook", *self.inventory, playbook, *options])

    def _limit(self, names: Sequence[str], playbook: str, run: RunEntry, *, by_file: bool) -> str | None:
        """Return the value of ``--limit``, empty for none; None if no host can be named and the run's own limit, or
        all hosts, would be too much.
        """
        named = [name for name in names if can_be_named(name)]
        if playbook in _FOR_NAMED_HOSTS:
            return ",".join(named) or None
        if named == list(names) and by_file and self.folder and run.awx_job_id is None:
            return f"@{self.folder}/retry"
        if named == list(names) and len(named) <= _FEW:
            return ",".join(named)
        # A healthy host that is checked again is not changed.
        return self.limit


def can_be_named(name: str) -> bool:
    """Return whether ``--limit`` takes ``name`` for a name and not for a pattern or an option."""
    is_plain = name not in ("", "all", "ungrouped") and name[0] not in "!&~@#-" and not set(name) & set("*?[],:\\ ")
    return is_plain and visible(name) == name


def can_be_listed(name: str) -> bool:
    """As ``can_be_named``, or an IPv6 address, which is a name in a list with commas."""
    try:
        return can_be_named(name) or bool(IPv6Address(name))
    except ValueError:
        return False


def inventory_of(command: str) -> tuple[str, ...]:
    """Return the options by which a next command names its inventory."""
    try:
        program, *words = shlex.split(command)
    except ValueError:  # none, or cut as too long
        program, words = "", []
    most = next((at for at in range(0, len(words), 2) if words[at] != "-i"), len(words) // 2 * 2)
    return tuple(words[:most]) if program == "ansible-playbook" else ()


def _is_unknown(host: HostEntry) -> bool:
    """Return whether the run decided nothing about the host."""
    was_decided = bool(host.action) and host.status not in _NOTHING_KNOWN
    return not was_decided or (host.reason is not None and host.reason.code in _UNREADABLE)


def _playbook(run: RunEntry, hosts: Sequence[HostEntry], codes: set[str]) -> str:
    if codes and codes <= set(_REMEDIED):
        return _REMEDIATE
    has_plans = any(not _is_unknown(host) for host in hosts)
    return _ROLLOUT if has_plans and run.playbook in ("slb.fleet.diagnose", "slb.fleet.audit") else run.playbook
