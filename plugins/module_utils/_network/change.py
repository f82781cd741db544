# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One guarded change of interfaces: armed before anything is touched, then confirmed from outside, or put back."""

import contextlib
import os
import time
from typing import Any, Dict, Iterator, List, Optional, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError, HostError
from ansible_collections.slb.fleet.plugins.module_utils._network import (
    guard,
    history,
    snapshot,
    ssh_connection,
    transaction,
)
from ansible_collections.slb.fleet.plugins.module_utils._network.unmanaged import lift_path
from ansible_collections.slb.fleet.plugins.module_utils._result import Result
from ansible_collections.slb.fleet.plugins.module_utils._system import processes
from ansible_collections.slb.fleet.plugins.module_utils._system.waiting import wait_for

_RESTORE_SECONDS = 90


def values(
    adopted: List[Dict[str, Any]], left_alone: List[Dict[str, str]], pending: List[str], remarks: List[str]
) -> Dict[str, Any]:
    """What the module returns. Not ``skipped``: a result with that key would be shown as a task that never ran."""
    result: Dict[str, Any] = {"adopted": adopted, "left_alone": left_alone, "pending": pending}
    return dict(result, remarks=remarks) if remarks else result


def earlier() -> Tuple[Optional[str], Optional[str]]:
    """Before a change is planned: which the last one was, and what has become of it."""
    status = transaction.status() or {}
    return status.get("token"), status.get("state")


@contextlib.contextmanager
def guarded(
    token: str,
    names: List[str],
    uuids: List[str],
    files: List[str],
    bound: float,
    since: Tuple[Optional[str], Optional[str]],
) -> Iterator[snapshot.Snapshot]:
    """Arms the rollback timer, then lets the caller change the interfaces, for at most ``bound`` seconds.

    ``uuids`` and ``files``: the existing profiles and the files that may be changed. ``since``: what was ``earlier``
    when that was planned. If the caller fails, everything is put back before the error goes on. Raises HostError where
    it cannot be armed, or what was planned is about what there was before another change.
    """
    with transaction.locked():
        _refuse_another()
        if earlier() != since:
            raise HostError(
                "Meanwhile another change of this host's interfaces came to its end.", "Nothing was changed. Run again."
            )
        before = snapshot.take(names, uuids, files, [history.path(name) for name in names])
        before["files"].update(_left_over(names, files))
        transaction.write("snapshot.json", before)
        transaction.set_status(
            {
                "token": token,
                "state": transaction.PLANNED,
                "deadline": time.monotonic() + bound,
                "applier": processes.identity(os.getpid()),
                "session": _session(),
            }
        )
    guard.start(token)
    with transaction.locked():
        transaction.advance(token, [transaction.PLANNED], transaction.ARMED, armed_at=time.monotonic())
    try:
        yield before
    except FleetError as error:
        with contextlib.suppress(HostError):
            _let_it_be_put_back(token, before)
        raise HostError(error.what, f"{error.remedy} {outcome(token)}", **error.values) from error


def _left_over(names: List[str], files: List[str]) -> Dict[str, None]:
    """Files that an earlier way back could not remove: of what was not adopted there is none of ours."""
    return {lift_path(name): None for name in names if lift_path(name) in files and history.of(name) is None}


def applied(token: str, result: Result, steps: List[Dict[str, Any]], confirm_seconds: float) -> None:
    """The change is made; from now on it waits for its confirmation. ``steps``: what confirming makes lasting.

    Raises HostError where it took too long, so that the guard has put it back already.
    """
    with transaction.locked():
        now = time.monotonic()
        transaction.advance(
            token,
            [transaction.ARMED],
            transaction.APPLIED,
            deadline=now + confirm_seconds,
            applied_at=now,
            steps=steps,
            result=_kept(result),
        )


def nothing_done(token: str, result: Result) -> None:
    """Whatever was tried was put back already: there is nothing to confirm and nothing to guard. Raises HostError."""
    with transaction.locked():
        transaction.advance(token, [transaction.ARMED], transaction.CONFIRMED, steps=[], result=_kept(result))


def _kept(result: Result) -> Dict[str, Any]:
    return {"changed": result.changed, "values": result.values, "diff": result.diff}


def outcome(token: str) -> str:
    """What became of the change, in one sentence."""
    status = transaction.status() or {}
    if status.get("token") != token:
        return "Another change of the interfaces has begun since."
    if status.get("state") == transaction.RESTORED and not status.get("troubles"):
        return "The host has put everything back as it was."
    if status.get("state") == transaction.RESTORED:
        return f"The host tried to put everything back, but: {'; '.join(status['troubles'])}"
    if status.get("away"):
        return (
            f"What the kernel had is back. {status['away']} It is told that the change is undone as soon as it answers."
        )
    return "The host is putting everything back."


def _session() -> Any:
    connection = ssh_connection.current()
    return None if connection is None else connection._asdict()


def finish_abandoned() -> None:
    """Before another is planned, a change that is not decided and that nobody sees to is put back, as was due."""
    status = transaction.status() or {}
    if status.get("state") not in transaction.UNDECIDED or guard.is_watching(str(status["token"])):
        return
    if status["state"] in transaction.AT_WORK and processes.is_alive(status["applier"]):
        return  # its guard is only just about to start
    if status["state"] == transaction.PLANNED:
        # It never began, and what others have done since is theirs.
        with transaction.locked():
            transaction.advance(str(status["token"]), [transaction.PLANNED], transaction.RESTORED, troubles=[])
        return
    guard.start(str(status["token"]))
    _let_it_be_put_back(str(status["token"]), transaction.read("snapshot.json"))


def _refuse_another() -> None:
    """Raises HostError where a change is under way; the caller holds the lock, so that none begins meanwhile."""
    status = transaction.status() or {}
    if status.get("state") in transaction.UNDECIDED:
        raise HostError(
            f"Another change of this host's interfaces is {status['state']} and not yet decided.",
            f"Nothing was changed. {_when_to_run_again(status)}",
        )


def _when_to_run_again(status: transaction.Status) -> str:
    if status.get("away"):
        return f"{status['away']} See that it answers, so that it can be told, then run again."
    left = status["deadline"] - time.monotonic()
    if left > 0:
        return f"Run again in {left + 1:.0f} seconds."
    return (
        "It is being put back; `systemctl status 'slb-fleet-rollback-*'` on the engine host shows how. Then run again."
    )


def _let_it_be_put_back(token: str, before: snapshot.Snapshot) -> None:
    with transaction.locked():
        status = transaction.status() or {}
        state = status.get("state") if status.get("token") == token else None
        if state in (transaction.ARMED, transaction.APPLIED):
            transaction.advance(token, [state], state, deadline=0)
    settled = wait_for(lambda: _is_restored(token) or _waits_for_networkmanager(token), _RESTORE_SECONDS)
    if settled and state in (transaction.RESTORING, transaction.RESTORED):
        # The guard began while something was still being changed: it may have missed the last of it.
        with transaction.locked():
            if _is_restored(token):
                troubles = guard.put_back(before)
                transaction.advance(token, [transaction.RESTORED], transaction.RESTORED, troubles=troubles)


def _waits_for_networkmanager(token: str) -> bool:
    status = transaction.status() or {}
    return bool(status.get("token") == token and status.get("away"))


def _is_restored(token: str) -> bool:
    status = transaction.status() or {}
    return bool(status.get("token") == token and status["state"] == transaction.RESTORED)
