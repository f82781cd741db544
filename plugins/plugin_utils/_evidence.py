# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was observed of one engine, and the operator's policy: the two things that decide a host's fate."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ansible.module_utils.parsing.convert_bool import boolean

from ansible_collections.slb.fleet.plugins.module_utils._errors import OptionError

ContainerState = Literal["absent", "created", "running", "restarting", "paused", "exited", "unknown"]
RecordState = Literal["none", "pending", "confirmed", "invalid"]
ConsoleState = Literal["running", "deploying", "failed", "not_listed", "unknown", "unreadable"]
"""``unknown``: no list is described, or it says nothing clear; ``unreadable``: one is described but cannot be read."""
Answer = Literal["none", "requested", "exists", "port_occupied", "refused", "unknown"]
Unrecorded = Literal["fail", "adopt", "replace"]


# The variables from which the policy comes.
_VARIABLES = {
    "unrecorded": "slb_unrecorded_engine",
    "wait": "slb_wait_timeout",
    "settle": "slb_settle",
    "attempts": "slb_attempts",
    "allow_established": "slb_allow_established",
    "unlisted": "__slb_is_unlisted",
}


@dataclass(frozen=True)
class Policy:
    """What the operator wants. Times in seconds; the default of ``wait`` is the 2 to 3 minutes of the rules."""

    unrecorded: Unrecorded = "fail"
    wait: float = 180
    settle: float = 5
    attempts: int = 3
    allow_established: bool = False
    unlisted: bool = False
    """The operator says of this host that the console does not list its engine."""

    def __post_init__(self) -> None:
        _one_of(_VARIABLES["unrecorded"], self.unrecorded, get_args(Unrecorded))
        for key, value, least in (("wait", self.wait, 0), ("settle", self.settle, 0), ("attempts", self.attempts, 1)):
            if not value >= least:
                raise OptionError(_VARIABLES[key], value, "it is too small", f"Give a number from {least} upwards.")


@dataclass(frozen=True)
class Evidence:
    """What was seen. Times in seconds; ``started_at`` and ``requested_at`` are by the host's clock."""

    container: ContainerState = "absent"
    container_id: str | None = None
    container_why: str | None = None
    started_at: float | None = None
    uptime: float | None = None
    restarts: int = 0
    established: int | None = 0
    """Connections; None where they cannot be seen."""
    ports: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)
    record: RecordState = "none"
    record_why: str | None = None
    record_container: str | None = None
    record_verified_by: str | None = None
    record_age: float = 0
    requested_at: float = 0
    console: ConsoleState = "unknown"
    console_words: str = ""
    answer: Answer = "none"
    answer_words: str = ""
    asked: int = 0
    """How often this run has asked for an install."""
    waited: float = 0
    """For how long this run has waited for the engine."""
    manage_ip: str = ""
    """As the management node would be given it; empty where nobody asks."""

    def __post_init__(self) -> None:
        _one_of("console", self.console, get_args(ConsoleState))
        _one_of("answer", self.answer, get_args(Answer))

    @property
    def confirmed(self) -> bool:
        """The record proves this very container."""
        return (
            self.record == "confirmed" and self.container_id is not None and self.record_container == self.container_id
        )

    @property
    def started_after_request(self) -> bool:
        return self.started_at is not None and self.started_at >= self.requested_at

    def proves(self, policy: Policy) -> bool:
        """``confirmed``, unless it was the host alone that proved it, and the operator knows better."""
        return self.confirmed and not (policy.unlisted and self.record_verified_by != "console")

    @property
    def has_usable_manage_ip(self) -> bool:
        try:
            ipaddress.ip_address(self.manage_ip.strip())
        except ValueError:
            return not self.manage_ip
        return True

    def stable(self, policy: Policy) -> bool:
        return self.container == "running" and self.uptime is not None and self.uptime >= policy.settle

    def settling(self, policy: Policy) -> bool:
        """It runs, not yet long enough to tell, and it was never restarted by the runtime."""
        return self.container == "running" and not self.stable(policy) and self.restarts == 0

    def restarted_lately(self, policy: Policy) -> bool:
        """It runs, not yet long enough to tell, after its runtime has restarted it."""
        return self.container == "running" and not self.stable(policy) and self.restarts > 0

    def remaining(self, policy: Policy) -> float:
        """What is left of the wait for our own request; 0 where there is none."""
        return max(0.0, policy.wait - self.record_age) if self.record == "pending" else 0.0

    def in_words(self) -> list[str]:
        """One short phrase for each thing that was seen."""
        container = f"container slb: {self.container}"
        if self.uptime is not None:
            container += f" for {self.uptime:.0f} s"
        if self.restarts:
            container += f", restarted {self.restarts} times"
        if self.established is None:
            container += ", its connections cannot be seen"
        elif self.established:
            container += f", {self.established} established connections"
        if self.container == "unknown":
            container += f" ({self.container_why})"
        record = f"record: {self.record}"
        if self.record == "pending":
            record += f" for {self.record_age:.0f} s"
        elif self.record == "confirmed":
            record += ", of this container" if self.confirmed else ", of another container"
        elif self.record == "invalid":
            record += f" ({self.record_why})"
        words = [container, record, f"console's list: {self.console}"]
        if self.answer != "none":
            words.append(f"answer to the install: {self.answer}")
        return words


def _one_of(option: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise OptionError(option, value, "it is not known", f"Use one of: {', '.join(choices)}.")


def policy_from(variables: Mapping[str, Any]) -> Policy:
    """Reads the policy of a playbook, in which ansible-core before 2.19 turns every value into text."""
    read: dict[str, Callable[[Any], Any]] = {
        "unrecorded": str,
        "wait": float,
        "settle": float,
        "attempts": int,
        "allow_established": boolean,
        "unlisted": boolean,
    }
    values = {}
    for key, value in variables.items():
        try:
            values[key] = read[key](value)
        except (TypeError, ValueError):
            what = "a boolean" if read[key] is boolean else "a number"
            raise OptionError(_VARIABLES[key], value, f"it is not {what}", f"Give {what}.") from None
    return Policy(**values)


def evidence_from(
    slb_host: Mapping[str, Any],
    *,
    console: ConsoleState = "unknown",
    console_words: str = "",
    answer: Answer = "none",
    answer_words: str = "",
    asked: int = 0,
    waited: float = 0,
    since_asked: float | None = None,
    manage_ip: str = "",
) -> Evidence:
    """Reads what M(slb.fleet.host_info) returned; the rest is what the run itself knows.

    ``since_asked``: seconds since this run has asked; its note is older, by the time in which the request had to wait.
    """
    container, record = slb_host["engine_container"], slb_host["record"]
    ages = [record.get("age", 0)] + ([] if since_asked is None else [since_asked])
    return Evidence(
        container=container["state"],
        container_id=container.get("id"),
        container_why=container.get("why"),
        started_at=container.get("started_at"),
        uptime=container.get("uptime"),
        restarts=container.get("restart_count", 0),
        established=container.get("established", 0),
        ports=tuple(slb_host.get("ports", ())),
        record=record["state"],
        record_why=record.get("why"),
        record_container=record.get("container_id"),
        record_verified_by=record.get("verified_by"),
        record_age=min(ages),
        requested_at=record.get("requested_at", 0),
        console=console,
        console_words=console_words,
        answer=answer,
        answer_words=answer_words,
        asked=asked,
        waited=waited,
        manage_ip=str(manage_ip),
    )
