# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the collection last took out of the way on this host, noted before it is touched, so that it can be put back."""

import json
import os
import re
import time
from typing import Any, Dict, NamedTuple, Optional

from ansible_collections.slb.fleet.plugins.module_utils._host import containers, notes
from ansible_collections.slb.fleet.plugins.module_utils._host.containers import ENGINE, Container
from ansible_collections.slb.fleet.plugins.module_utils._system import clock, folders
from ansible_collections.slb.fleet.plugins.module_utils._system.files import file_errors, sync_folder, write_ours

PATH = "/var/lib/slb-fleet/set-aside.json"
REASONS = ("list", "operator", "record", "ended")
STATES = ("running", "paused", "restarting", "exited", "created")
_MODE = 0o600
_FOLDER_MODE = 0o700


class Note(NamedTuple):
    """``name`` is ``slb`` until the container has been renamed; ``state`` and ``restart_policy`` are what they were.

    ``at``: seconds since the epoch by the host's clock; ``boot_id`` and ``uptime`` say the same by its uptime.
    ``mistaken``: what took it out of the way was wrong. ``going_back``: the way back has begun and has to be ended.
    """

    id: str
    name: str
    runtime: str
    state: str
    restart_policy: str
    because: str
    at: float
    boot_id: str
    uptime: float
    mistaken: bool
    going_back: bool


def _is_policy(value: Any) -> bool:
    return isinstance(value, str) and bool(re.match(r"(no|always|unless-stopped|on-failure(:\d{1,9})?)\Z", value))


def _is_name(value: Any) -> bool:
    # It is given to the runtime's command line, where a leading dash would be an option.
    return isinstance(value, str) and bool(re.match(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,254}\Z", value))


_CHECKS: Dict[str, notes.Check] = {
    "id": _is_name,
    "name": _is_name,
    "runtime": notes.one_of(*containers.PROGRAMS),
    "state": notes.one_of(*STATES),
    "restart_policy": _is_policy,
    "because": notes.one_of(*REASONS),
    "at": notes.is_number,
    "boot_id": notes.is_text,
    "uptime": notes.is_number,
    "mistaken": notes.is_truth,
    "going_back": notes.is_truth,
}


def read() -> Optional[Note]:
    """The note; None if there is none. Raises notes.NoteError where it cannot be used."""
    noted = notes.read(PATH)
    if noted is None:
        return None
    wrong = notes.wrong(noted, _CHECKS)
    if wrong:
        raise notes.NoteError(f"is not of the known form ({', '.join(wrong)})")
    return Note(**{key: noted[key] for key in _CHECKS})


def is_about(container: Container) -> bool:
    """Whether the note names this container; not where it cannot be used, as without root."""
    try:
        note = read()
    except notes.NoteError:
        return False
    return note is not None and note.id == container.id


def look() -> Optional[Dict[str, Any]]:
    """For a look at the host: the note, its age, the container's name now, and whether it ``exists``; None if unusable.

    ``age``: seconds. ``exists`` is None where the container runtime does not answer.
    """
    try:
        note = read()
    except notes.NoteError:
        return None
    if note is None:
        return None
    seen = containers.inspect(note.runtime, note.id)
    exists = {"absent": False, "unknown": None}.get(seen.state, True)
    shown = ("id", "runtime", "state", "restart_policy", "because", "at", "mistaken", "going_back")
    return dict(
        {key: getattr(note, key) for key in shown},
        name=seen.name if exists else note.name,
        age=clock.age(note.boot_id, note.uptime, note.at),
        exists=exists,
    )


def of(container: Container, because: str, earlier: Optional[Note]) -> Note:
    """What is to be noted of a container that is about to be taken away.

    Where ``earlier`` is of the same move, which was killed or failed half-way, what it says of the container holds:
    the move has changed it since.
    """
    state, policy = container.state, container.whole_restart_policy
    is_unfinished = earlier is not None and (earlier.going_back or not earlier.mistaken)
    if earlier is not None and is_unfinished and (earlier.id, earlier.name) == (container.id, ENGINE):
        # No move pauses a container: that is a person's doing since.
        state = state if state == "paused" or earlier.state in ("exited", "created") else earlier.state
        policy = earlier.restart_policy if policy == "no" else policy
        # That it has ended is this move's own doing; somebody's word is another matter.
        because = earlier.because if because in ("ended", "record") else because
    return Note(
        str(container.id),
        ENGINE,
        str(container.runtime),
        state,
        policy,
        because,
        time.time(),
        clock.boot_id(),
        clock.uptime(),
        mistaken=False,
        going_back=False,
    )


def write(note: Note) -> None:
    """Raises HostError; the note is then as it was."""
    write_ours(PATH, json.dumps(note._asdict(), indent=2, sort_keys=True) + "\n", _MODE, _FOLDER_MODE)
    with file_errors(PATH), folders.opened(os.path.dirname(PATH)) as there:
        os.fchmod(there, _FOLDER_MODE)


def forget() -> None:
    """Takes the note away, if there is one. Raises HostError."""
    with file_errors(PATH):
        if os.path.lexists(PATH):
            os.unlink(PATH)
            sync_folder(os.path.dirname(PATH))


def keep_invalid() -> str:
    """Moves a note that cannot be used beside, for whoever wants to know what it was; its new path."""
    wanted = f"{PATH}.invalid-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
    kept, number = wanted, 1
    while os.path.lexists(kept):
        number += 1
        kept = f"{wanted}-{number}"
    with file_errors(PATH):
        os.rename(PATH, kept)
        sync_folder(os.path.dirname(PATH))
    return kept
