# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rollback timer: a process of its own on the engine host that puts everything back unless it is confirmed.

It outlives the module, the SSH connection and the controller, and reads its code from the state folder.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from typing import Callable, List, Optional

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._network import nmcli, snapshot, transaction
from ansible_collections.slb.fleet.plugins.module_utils._system import commands, processes, watchdog
from ansible_collections.slb.fleet.plugins.module_utils._system.files import write_ours
from ansible_collections.slb.fleet.plugins.module_utils._system.waiting import wait_for

_COLLECTION = "ansible_collections.slb.fleet."
_START_SECONDS = 15
_POLL_SECONDS = 0.2
_BLIND_SECONDS = 60
_TRIES = 3
_PAUSE_SECONDS = 2
_ANSWER_SECONDS = 20


def start(token: str) -> None:
    """Starts the guard and returns once it watches. Raises HostError: then nothing guards, and nothing may change."""
    program = f"import sys; sys.path.insert(0, {_copy_code()!r}); from {__name__} import main; main({token!r})"
    argv = [sys.executable, "-I", "-B", "-c", program]
    if os.path.isdir("/run/systemd/system") and commands.find("systemd-run"):
        # A unit of its own: outside of the SSH session, started again if it fails or freezes.
        unit = f"slb-fleet-rollback-{token}"
        properties = ["Restart=on-failure", "IgnoreOnIsolate=yes", "RefuseManualStop=yes", *watchdog.PROPERTIES]
        options = ["--quiet", "--collect", "--unit", unit, *(f"--property={each}" for each in properties)]
        commands.check([str(commands.find("systemd-run")), *options, *argv], _ANSWER_SECONDS)
    else:
        nothing = subprocess.DEVNULL
        subprocess.Popen(  # pylint: disable=ansible-bad-function
            argv, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True, cwd="/"
        )
    if not wait_for(lambda: is_watching(token), _START_SECONDS):
        raise HostError(
            f"The rollback timer did not start within {_START_SECONDS} seconds.",
            "Nothing was changed. Look at `journalctl -u 'slb-fleet-rollback-*'` on the engine host.",
        )


def is_watching(token: str) -> bool:
    """Whether the change ``token`` has a guard; that of an earlier change may not have ended yet."""
    noted = transaction.read("guard.json")
    return bool(noted) and noted["token"] == token and processes.is_alive(noted["process"])


def main(token: str) -> None:
    """The guard's whole life."""
    watchdog.give_signs_of_life()
    before = transaction.read("snapshot.json")
    transaction.write("guard.json", {"token": token, "process": processes.identity(os.getpid())})
    signal.signal(signal.SIGTERM, _raise_shutdown)
    try:
        _wait_until_due(token)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # there is no better moment to finish this
        if not _claimed(token):
            return
        snapshot.put_lost_back(before)
        troubles = put_back(before, lambda why: _wait_for_networkmanager(token, why))
    except _ShutdownError:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if not _claimed(token):
            return
        snapshot.put_files_back(before)
        # If it was not the host that goes down, systemd starts this again, and what was claimed is due.
        raise SystemExit(1) from None
    with contextlib.suppress(HostError), transaction.locked(by_force=True):
        transaction.advance(token, [transaction.RESTORING], transaction.RESTORED, troubles=troubles, away=None)


def put_back(before: snapshot.Snapshot, wait: Optional[Callable[[str], None]] = None) -> List[str]:
    """Puts everything back, with the profiles made since removed; returns what remains, in sentences.

    ``wait``: is told why NetworkManager is away, and returns when it is worth another try, however many there were.
    """
    tries = 0
    while True:
        troubles = snapshot.put_back(before) or snapshot.not_watched_again(before)
        if not troubles:
            return []
        away = _networkmanager_is_away() if wait is not None else ""
        if wait is not None and away:
            wait(away)
            continue
        tries += 1
        if tries == _TRIES:
            return troubles


def _networkmanager_is_away() -> str:
    """Why, if it is."""
    try:
        nmcli.require_sign_of_life()
    except HostError as error:
        return error.what
    return ""


def _wait_for_networkmanager(token: str, why: str) -> None:
    """What the host needs to be reached is back: now a shutdown may come in between."""
    with contextlib.suppress(HostError), transaction.locked(by_force=True):
        transaction.advance(token, [transaction.RESTORING], transaction.RESTORING, away=why)
    signal.signal(signal.SIGTERM, _raise_shutdown)
    time.sleep(_PAUSE_SECONDS)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _wait_until_due(token: str) -> None:
    """A look that fails is no reason to give up, nor may failing looks keep everything from being put back."""
    blind_since = None
    while True:
        try:
            if _is_due(token):
                return
            blind_since = None
        except Exception:
            blind_since = blind_since or time.monotonic()
            if time.monotonic() >= blind_since + _BLIND_SECONDS:
                return
        time.sleep(_POLL_SECONDS)


def _claimed(token: str) -> bool:
    """Whether it is for this guard to put everything back; where nobody can say, it is."""
    with contextlib.suppress(Exception), transaction.locked(by_force=True):
        if _is_over(token):
            return False
        transaction.advance(token, transaction.UNDECIDED, transaction.RESTORING)
    return True


class _ShutdownError(BaseException):
    """The host goes down in between: nothing that merely fails, and not to be taken for that."""


def _raise_shutdown(*_: object) -> None:
    raise _ShutdownError


def _is_due(token: str) -> bool:
    status = transaction.status() or {}
    if _is_over(token):
        return True
    if status.get("state") in transaction.AT_WORK and not processes.is_alive(status["applier"]):
        return True  # whoever was at it has died half-way
    return bool(status["state"] == transaction.RESTORING or time.monotonic() >= status["deadline"])


def _is_over(token: str) -> bool:
    """Whether the change was confirmed or put back, or another one is already under way."""
    status = transaction.status() or {}
    return bool(status.get("token") != token or status["state"] in transaction.DECIDED)


def _copy_code() -> str:
    """Copies the collection's modules that are loaded here to the state folder: the module's own are soon gone."""
    folder = transaction.path("code")
    for name, module in sorted(sys.modules.items()):
        if not name.startswith(_COLLECTION) or hasattr(module, "__path__"):
            continue
        source = module.__loader__.get_source(name)  # type: ignore[union-attr]
        write_ours(os.path.join(folder, *name.split(".")) + ".py", source, 0o600, transaction.FOLDER_MODE)
    return folder
