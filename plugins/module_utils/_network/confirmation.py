# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes an applied change lasting, once somebody has come in over a fresh SSH connection."""

import os
import time
from typing import Any, Dict, List

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError, HostError
from ansible_collections.slb.fleet.plugins.module_utils._network import (
    change,
    history,
    kernel_state,
    nmcli,
    ssh_connection,
    transaction,
)
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

# The kernel counts the start of a process in hundredths of a second.
_CLOCK_SLACK = 0.05


def confirm(token: str) -> Result:
    """Raises HostError where there is nothing to confirm (any more), or this connection proves nothing.

    It may be called again if its answer was lost.
    """
    with transaction.locked():
        status = transaction.status() or {}
        if status.get("token") != token:
            raise HostError(f"There is no change {token} that waits for its confirmation.", "Run again.")
        if status["state"] in (transaction.RESTORING, transaction.RESTORED):
            why = status.get("refused") or "It was not confirmed in time."
            raise HostError(why, change.outcome(token), state=status["state"])
        if status["state"] in transaction.AT_WORK:
            raise HostError("The change is not yet complete.", "Try again shortly.", state=status["state"])
        if status["state"] == transaction.APPLIED:
            _refuse_stale_connection(status)
            _refuse_late(status)
            try:
                _make_lasting(status["steps"])
            except FleetError as error:
                _refuse(token, error)
            _refuse_late(status, transaction.GRACE_SECONDS)
            transaction.advance(token, [transaction.APPLIED], transaction.CONFIRMED)
    result = status["result"]
    return Result(result["changed"], dict(result["values"], pending=[]), result["diff"])


def _refuse_stale_connection(status: Dict[str, Any]) -> None:
    """Only a connection made after the change proves that the host can be reached."""
    now, then = ssh_connection.current(), status["session"]
    if then is None and now is None:
        return  # never came over SSH: from the console of a container, or on the host itself
    fresh = now is not None
    if now is not None and now.began is not None:
        fresh = now.began >= status["applied_at"] - _CLOCK_SLACK
    elif now is not None and then is not None:
        fresh = (now.client, now.client_port) != (then["client"], then["client_port"])
    if not fresh:
        raise HostError(
            "This SSH connection was made before the change and proves nothing.",
            "Confirm over a new one.",
            state=status["state"],
        )


def _refuse_late(status: Dict[str, Any], grace: float = 0) -> None:
    if time.monotonic() >= status["deadline"] + grace:
        raise HostError("It was not confirmed in time.", "The host is putting everything back.", state="restoring")


def _refuse(token: str, error: FleetError) -> None:
    """What cannot be made lasting is put back at once, not when the time is over."""
    why = f"It could not be made lasting: {error}"
    transaction.advance(token, [transaction.APPLIED], transaction.APPLIED, deadline=0, refused=why)
    raise HostError(why, "The host is putting everything back.", state=transaction.RESTORING) from error


def _make_lasting(steps: List[Dict[str, Any]]) -> None:
    adopted = [step for step in steps if not step.get("returned")]
    for step in steps:
        if step not in adopted:
            history.forget(step["name"])
    if not adopted:
        return
    present = kernel_state.read([step["name"] for step in adopted])
    for step in adopted:
        history.remember(step, present.get(step["name"]))
        # While it is waited for, nothing can be put back.
        nmcli.modify(step["uuid"], step["at_boot"], False, nmcli.SIGN_OF_LIFE_SECONDS)
    paths = nmcli.profile_paths()
    for step in adopted:
        path = paths.get(step["uuid"], "")
        if not path or path.startswith("/run/") or not os.path.exists(path):
            raise HostError(
                f"NetworkManager did not write the profile of {step['name']} to disk (it is in {path or 'no file'}).",
                "Look at `journalctl -u NetworkManager` on the engine host.",
            )
