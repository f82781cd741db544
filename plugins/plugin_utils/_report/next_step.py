# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to run next, for one host and for all that need it: a command that can be pasted."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv6Address

from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import AGAIN, HostEntry, Plan, RunEntry

_FEW = 30
_REMEDIED = ("gone_from_the_list", "ailing")
"""Reasons for which the operator's word is needed before the engine is installed anew."""
_ROLLOUT, _REMEDIATE = "slb.fleet.rollout", "slb.fleet.remediate"
_FOR_ANY_HOST = (
    _ROLLOUT,
    "slb.fleet.audit",
    "slb.fleet.diagnose",
    "slb.fleet.download_license",
    "slb.fleet.try_engine_listing",
)
"""Those that do nothing to a host because it was named. To the others, a name is the operator's word about the host."""
_NOT_APPROVED = "not_approved"
_APPROVE_AGAIN = "Launch the workflow again, and have its new plan approved."
_NOTHING_KNOWN, _UNREADABLE = ("unreachable", "unfinished", "not_attempted"), "unreadable"


@dataclass(frozen=True)
class NextStep:
    """``options``: those of the command that has been run which the next one needs, the inventory above all.
    ``folder``: where the reports are, empty where there are none. ``limit``: that of the command. ``playbooks``: those
    of the command, where they are not named by the run. ``approved``: the plan that was given, as an option;
    ``unapproved``: the option that takes away one which ``options`` have, in a file.
    """

    options: tuple[str, ...] = ()
    folder: str = ""
    limit: str = ""
    playbooks: tuple[str, ...] = ()
    approved: tuple[str, ...] = ()
    unapproved: tuple[str, ...] = ()
    planned: frozenset[str] = frozenset()
    """The hosts for which the run's plan has something."""
    is_limit_lost: bool = False
    """It was by a file that may have other hosts by then, as the one that this run itself writes anew; or cannot be
    shown.
    """

    def knowing(self, plan: Plan | None) -> NextStep:
        """``plan``: the run's, which its document has. A digest is that of the whole fleet before anything was done:
        what is left to do is not it any more, and is found in the document.
        """
        if plan is None:
            return self
        is_known = self.folder and self.approved == ("-e", f"slb_plan={plan.digest}")
        approved = ("-e", f"slb_plan={self.folder}/report.json") if is_known else self.approved
        return replace(self, approved=approved, planned=frozenset(plan.hosts))

    def of_host(self, host: HostEntry, run: RunEntry) -> str:
        if host.verdict not in (*AGAIN, "needs_you", "planned"):
            return ""
        is_remedied = host.reason is not None and host.reason.code in _REMEDIED
        what = _REMEDIATE if is_remedied else _what(run, [host])
        limit = self._naming([host.name], None if self._is_a_word(what, run) else 1)
        if limit is None:
            return ""
        if is_remedied:
            return self._command(_REMEDIATE, run, *self.unapproved, *limit)
        if self._is_not_approved(host):
            if run.awx_job_id is not None:
                return _APPROVE_AGAIN
            return self._command(_ROLLOUT, run, *self.unapproved, "--check", *limit)
        return self._again(run, [host], *limit)

    def of_run(self, run: RunEntry, hosts: Sequence[HostEntry]) -> str:
        """What goes on with all of them; empty where nothing has to be done."""
        if run.status == "running":
            return ""
        if run.is_plan and any(host.verdict == "planned" for host in hosts):
            what = _what(run, hosts)
            planned = [host.name for host in hosts if host.verdict == "planned"]
            limit = self._naming(planned, 0 if what in _FOR_ANY_HOST else None)
            if limit is None:
                return ""
            # Later options outrank those before. A rollout alone does what a plan says and nothing else.
            has_plan = self.folder and run.check and what == _ROLLOUT
            plan = ("-e", f"slb_plan={self.folder}/report.json") if has_plan else self.unapproved
            return self._command(what, run, *limit, *plan)
        again = [host for host in hosts if host.verdict in AGAIN]
        if not again:
            return ""
        limit = self._limit([host.name for host in again], _what(run, again), run)
        if limit is None:
            return ""
        if all(self._is_not_approved(host) for host in again):
            if run.awx_job_id is not None:
                return _APPROVE_AGAIN
            return self._command(_ROLLOUT, run, *self.unapproved, "--check", *limit)
        return self._again(run, again, *limit)

    def _is_not_approved(self, host: HostEntry) -> bool:
        """Another run with the same plan would do nothing there."""
        has_plan = bool(self.approved or self.unapproved)
        is_refused = host.reason is not None and host.reason.code == _NOT_APPROVED
        return is_refused or (has_plan and host.name not in self.planned)

    def _is_a_word(self, what: str, run: RunEntry) -> bool:
        """About the hosts that are named, and about no others that a later run may write into a file: with variables, a
        rollout may do what it does not do without the operator's word. AWX's launches state theirs anew.
        """
        has_variables = "-e" in self.options or bool(self.approved or self.unapproved or run.left_out)
        return what not in _FOR_ANY_HOST or (has_variables and run.awx_job_id is None)

    def _limit(self, names: Sequence[str], what: str, run: RunEntry) -> tuple[str, ...] | None:
        if self._is_a_word(what, run):
            return self._naming(names, None)
        are_in_the_file = any(map(can_be_named, names)) if self.is_limit_lost else all(map(can_be_named, names))
        if are_in_the_file and run.awx_job_id is None and self.folder:
            return ("--limit", f"@{self.folder}/retry")
        # Without a file of the names all are looked at again, which changes nothing where all is well.
        return self._naming(names, _FEW)

    def _naming(self, names: Sequence[str], most: int | None) -> tuple[str, ...] | None:
        """Those, or the limit of the command, within which they are: where they are more than ``most``, or one cannot
        be named. Where that is lost, or ``most`` is None, those that can; None where none can: it is not made wider.
        """
        named = [name for name in names if can_be_named(name)]
        are_too_many = most is not None and (len(names) > most or named != list(names))
        if are_too_many and not self.is_limit_lost:
            return ("--limit", self.limit) if self.limit else ()
        return ("--limit", ",".join(named)) if named else None

    def _again(self, run: RunEntry, hosts: Sequence[HostEntry], *limit: str) -> str:
        """The same, or what it prepares. A rehearsal goes on as one."""
        what = _what(run, hosts)
        if self.approved[-1:] and self.approved[-1].startswith("slb_plan=sha256:"):
            return self._command(what, run, "--check", *limit)
        if run.check:
            return self._command(what, run, *self.approved, "--check", *limit)
        is_same = what == run.playbook
        return self._command(what, run, *(self.approved if is_same else self.unapproved), *limit)

    def _command(self, what: str, run: RunEntry, *more: str) -> str:
        if run.awx_job_id is not None:
            return f"Launch the template of {what}{_at_launch(more)}."
        playbooks = self.playbooks if self.playbooks and what == run.playbook else (what,)
        return shlex.join(["ansible-playbook", *self.options, *playbooks, *more])


def _at_launch(options: Sequence[str]) -> str:
    """In the words of AWX's prompts."""
    given, words = iter(options), []
    for option in given:
        if option == "--check":
            words.append("the job type Check")
        else:
            words.append(f"the {'limit' if option == '--limit' else 'variable'} {next(given)}")
    return f", with {' and '.join(words)}" if words else ""


def inventory_of(command: str) -> tuple[str, ...]:
    """The options by which a command that was told as the next one names its inventory: its first ones."""
    try:
        program, *words = shlex.split(command)
    except ValueError:  # none, or cut as too long
        program, words = "", []
    most = next((at for at in range(0, len(words), 2) if words[at] != "-i"), len(words) // 2 * 2)
    return tuple(words[:most]) if program == "ansible-playbook" else ()


def can_be_named(name: str) -> bool:
    """By ``--limit``, which takes some signs for a pattern of names, or for an option; and in one line."""
    is_plain = name not in ("", "all", "ungrouped") and name[0] not in "!&~@#-" and not set(name) & set("*?[],:\\ ")
    return is_plain and visible(name) == name


def can_be_listed(name: str) -> bool:
    """Between commas, where the colons of an address part nothing."""
    try:
        return can_be_named(name) or bool(IPv6Address(name))
    except ValueError:
        return False


def _is_unknown(host: HostEntry) -> bool:
    """The run has come to nothing about it."""
    was_decided = bool(host.action) and host.verdict not in _NOTHING_KNOWN
    return not was_decided or (host.reason is not None and host.reason.code == _UNREADABLE)


def _what(run: RunEntry, hosts: Sequence[HostEntry]) -> str:
    """Those that only look are run again where they have seen nothing."""
    has_seen = any(not _is_unknown(host) for host in hosts)
    is_prepared = has_seen and run.playbook in ("slb.fleet.diagnose", "slb.fleet.audit")
    return _ROLLOUT if is_prepared else run.playbook
