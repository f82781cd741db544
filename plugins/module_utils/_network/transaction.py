# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of one change that waits for its confirmation; shared by the module and the guard on the host.

It lies in /run: a reboot forgets it, together with the profiles, which are in memory only until confirmed.
"""

import contextlib
import json
import os
from typing import Any, Collection, Dict, Iterator, Optional

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._system import folders, processes
from ansible_collections.slb.fleet.plugins.module_utils._system.files import file_errors, write_ours
from ansible_collections.slb.fleet.plugins.module_utils._system.locks import is_got

FOLDER = "/run/slb-fleet/interfaces"
FOLDER_MODE = 0o700
GRACE_SECONDS = 4
"""By which whoever decides about a change may overrun its deadline."""
_LOCK_SECONDS = 60
_END_SECONDS = 2

# What becomes of a change: planned → armed → applied → confirmed, or → restoring → restored. Until it is armed nothing
# is changed.
PLANNED, ARMED, APPLIED = "planned", "armed", "applied"
CONFIRMED, RESTORING, RESTORED = "confirmed", "restoring", "restored"
AT_WORK = (PLANNED, ARMED)
DECIDED = (CONFIRMED, RESTORED)
UNDECIDED = (*AT_WORK, APPLIED, RESTORING)

Status = Dict[str, Any]
"""``token``, ``state``, ``applier``, ``session``; by the monotonic clock ``armed_at``, ``applied_at`` and ``deadline``;
once it is applied ``steps`` and ``result``; once it is restored ``troubles``."""


def path(name: str) -> str:
    return os.path.join(FOLDER, name)


@contextlib.contextmanager
def locked(by_force: bool = False) -> Iterator[None]:
    """Whoever decides what becomes of the change holds the lock: it is confirmed or put back, never both.

    ``by_force``: for the guard, which nobody may hold up. A process that hangs is ended, and does not go on with what
    it was about to do. One that is not known yet has not looked at the status, and will be refused by it.
    Raises HostError where anybody else does not get the lock in time.
    """
    with file_errors(FOLDER):
        folders.make_ours(FOLDER, FOLDER_MODE)
        descriptor = os.open(path("lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        is_held = is_got(descriptor, GRACE_SECONDS if by_force else _LOCK_SECONDS)
        if by_force and not is_held:
            processes.end(os.pread(descriptor, 100, 0).decode())
            is_held = is_got(descriptor, _END_SECONDS)
        if not is_held and not by_force:
            raise HostError(
                f"Another process has been deciding about a change of the interfaces for {_LOCK_SECONDS} seconds.",
                f"`fuser {path('lock')}` on the engine host shows which. When it has ended, run again.",
            )
        if is_held:
            _sign(descriptor)
        yield
    finally:
        os.close(descriptor)


def _sign(descriptor: int) -> None:
    """Says who holds it. Where there is no room for that, there is none either for what is decided."""
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, (processes.identity(os.getpid()) or "").encode(), 0)


def status() -> Optional[Status]:
    """None where there never was a change since boot."""
    return read("status.json")  # type: ignore[no-any-return]


def set_status(changed: Status) -> None:
    write("status.json", changed)


def advance(token: str, since: Collection[str], state: str, **values: Any) -> None:
    """Notes the next state of the change ``token``, which is in one of ``since``; the caller holds the lock.

    Raises HostError where it is not: somebody else has decided it, or it is another change by now.
    """
    present = status() or {}
    if present.get("token") != token:
        raise HostError("Another change of this host's interfaces has begun since.", "Run again.")
    if present["state"] not in since:
        raise HostError(f"The change of this host's interfaces is {present['state']} already.", "Run again.")
    set_status(dict(present, state=state, **values))


def read(name: str) -> Any:
    try:
        with open(path(name), encoding="utf-8") as stream:
            return json.load(stream)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise HostError(f"The file {path(name)} cannot be read: {error}.", "Look at it on the engine host.") from error


def write(name: str, content: Any) -> None:
    write_ours(path(name), json.dumps(content), 0o600, FOLDER_MODE)
