# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One guarded change of interfaces: armed before anything is touched, then confirmed from outside, or put back."""

import contextlib
import os
import time
from typing import Any, Dict, Iterator, List

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError, HostError
from ansible_collections.slb.fleet.plugins.module_utils._network import (
    guard,
    session,
    snapshot,
    transaction,
)
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

_RESTORE_SECONDS = 90


def values(
    adopted: List[Dict[str, Any]], left_alone: List[Dict[str, str]], pending: List[str], remarks: List[str]
) -> Dict[str, Any]:
    """What the module returns. Not ``skipped``: a result with that key would be shown as a task that never ran."""
    result: Dict[str, Any] = {"adopted": adopted, "left_alone": left_alone, "pending": pending}
    return dict(result, remarks=remarks) if remarks else result


@contextlib.contextmanager
def guarded(token: str, names: List[str], files: List[str], bound: float) -> Iterator[snapshot.Snapshot]:
    """Arms the rollback timer, then lets the caller change the interfaces, for at most ``bound`` seconds.

    If the caller fails, everything is put back before the error goes on. Raises HostError where it cannot be armed.
    """
    _refuse_another()
    with transaction.locked():
        before = snapshot.take(names, files)
        transaction.write("snapshot.json", before)
        transaction.set_status(
            {
                "token": token,
                "state": transaction.ARMED,
                "armed_at": time.monotonic(),
                "deadline": time.monotonic() + bound,
                "applier": transaction.process_identity(os.getpid()),
                "session": _session(),
            }
        )
    guard.start(token)
    try:
        yield before
    except FleetError as error:
        _let_it_be_put_back()
        raise HostError(error.what, "{} {}".format(error.remedy, outcome()), **error.values) from error


def applied(result: Result, steps: List[Dict[str, Any]], confirm_seconds: float) -> None:
    """The change is made; from now on it waits for its confirmation. ``steps``: what confirming makes lasting."""
    with transaction.locked():
        now = time.monotonic()
        transaction.advance(
            transaction.APPLIED,
            deadline=now + confirm_seconds,
            applied_at=now,
            steps=steps,
            result={"changed": result.changed, "values": result.values, "diff": result.diff},
        )


def nothing_done() -> None:
    """Whatever was tried was put back already: there is nothing to confirm and nothing to guard."""
    with transaction.locked():
        transaction.advance(transaction.CONFIRMED, steps=[])


def outcome() -> str:
    """What became of the change, in one sentence."""
    status = transaction.status() or {}
    if status.get("state") == transaction.RESTORED and not status.get("troubles"):
        return "The host has put everything back as it was."
    if status.get("state") == transaction.RESTORED:
        return "The host tried to put everything back, but: {}".format("; ".join(status["troubles"]))
    return "The host is putting everything back."


def _session() -> Any:
    connection = session.current()
    return None if connection is None else connection._asdict()


def _refuse_another() -> None:
    status = transaction.status() or {}
    if status.get("state") in (None, transaction.CONFIRMED, transaction.RESTORED):
        return
    if not guard.is_watching(str(status["token"])):
        guard.start(str(status["token"]))  # its guard was ended; a new one carries out what was due
        _let_it_be_put_back()
        return
    raise HostError(
        "Another change of this host's interfaces is {} and not yet decided.".format(status["state"]),
        "Nothing was changed. Run again in {:.0f} seconds.".format(max(1, status["deadline"] - time.monotonic())),
    )


def _let_it_be_put_back() -> None:
    with transaction.locked():
        state = (transaction.status() or {}).get("state")
        if state in (transaction.ARMED, transaction.APPLIED):
            transaction.advance(state, deadline=0)
    transaction.wait_for(lambda: (transaction.status() or {}).get("state") == transaction.RESTORED, _RESTORE_SECONDS)
