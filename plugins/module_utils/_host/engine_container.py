# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done to the engine's container: a leftover is taken out of the way or put back, an engine is waited for."""

import contextlib
import time
from typing import Any, Dict, List, Optional

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError, WaitError
from ansible_collections.slb.fleet.plugins.module_utils._host import (
    containers,
    moves,
    notes,
    record,
    set_aside,
    sockets,
)
from ansible_collections.slb.fleet.plugins.module_utils._host.containers import ENGINE, Container, what_to_do
from ansible_collections.slb.fleet.plugins.module_utils._host.set_aside import Note
from ansible_collections.slb.fleet.plugins.module_utils._result import Result
from ansible_collections.slb.fleet.plugins.module_utils._system.waiting import wait_for

_POLL_SECONDS = 0.5


def stopped(
    container_id: Optional[str],
    container_state: Optional[str],
    allow_established: bool,
    stop_seconds: int,
    remove: bool,
    because: str,
    check_mode: bool,
) -> Result:
    """Takes the container ``slb`` out of the way, guarded: see the module's documentation for the rules."""
    before = _known(containers.look())
    if before.state == "absent":
        return _moved(before, before, None)
    _refuse_another(before, container_id)
    _refuse_revived(before, container_state)
    _refuse_what_systemd_makes(before)
    _refuse_self_deleting(before, remove)
    _refuse_traffic(before, allow_established)
    _refuse_what_was_put_back(before, because)
    # A disk that takes no record would leave the host without an engine and without a way to ask for one.
    record.require_writable(check_mode)
    if check_mode:
        return _moved(before, before._replace(state="absent", id=None), None, changed=True)
    name = _take_aside(before, stop_seconds, remove, because)
    return _moved(before, containers.look(), name, changed=True, starts_at_boot=_starts_at_boot(before, name))


def restored(mistaken: bool, check_mode: bool, decided_about: Optional[float] = None) -> Result:
    """Puts back what the note of ``set_aside`` names: its name, its restart policy, its state. See the module."""
    before = _known(containers.look())
    note = _what_was_taken(before.program)
    if note is None:
        seen = _put_back(before, before, False, changed=False)
        # The note may be lost, and the container is still there.
        return seen._replace(values=dict(seen.values, leftovers=containers.names(moves.ASIDE)))
    mistaken = mistaken or note.mistaken
    if mistaken and not note.going_back and before.id == note.id and moves.is_back(before, note):
        return _put_back(before, before, False, changed=False)
    if before.state != "absent" and before.id != note.id:
        raise HostError(
            f"The container {note.id} cannot be put back: the name {ENGINE} is taken by another one, {before.id}.",
            "Nothing was changed. If it is a leftover, take it out of the way first; if it serves, all is well.",
            overtaken=f"the name {ENGINE} is taken by another container, {before.id}.",
        )
    aside = containers.inspect(note.runtime, note.id)
    if aside.state == "absent":
        raise HostError(
            f"The container {note.id} that was taken out of the way is gone: somebody has removed it.",
            "Nothing was changed. Ask for an install.",
        )
    aside = _known(aside)
    _refuse_another_request(decided_about)
    if check_mode:
        after = aside._replace(name=ENGINE, restart_policy=note.restart_policy.partition(":")[0])
        if note.state in moves.LIVE:
            after = after._replace(state=note.state)
        return _put_back(before, after, not moves.is_back(aside, note), changed=True)
    # A request that is noted is not what started it again.
    if record.read()["state"] == "requested":
        record.absent(check_mode)
    # From here on the way back has begun: whoever comes after a kill has to end it.
    with contextlib.suppress(HostError):
        set_aside.write(note._replace(name=ENGINE, mistaken=mistaken, going_back=True))
    try:
        done = moves.put_back(aside, note)
    except HostError as error:
        raise _half_back(error, before, note) from error
    if mistaken:
        set_aside.write(note._replace(name=ENGINE, mistaken=True, going_back=False))
    else:
        set_aside.forget()
    return _put_back(before, containers.look(), done, changed=True)


def _what_was_taken(program: str) -> Optional[Note]:
    try:
        return set_aside.read()
    except notes.NoteError as error:
        raise HostError(
            f"What was taken out of the way is not known: {set_aside.PATH} {error}.",
            f"Nothing was changed. Put the container back by hand: `{program} ps --all` lists it.",
        ) from error


def running(timeout: float, settle: float, after_request: bool, check_mode: bool) -> Result:
    """Waits until the container ``slb`` has run for ``settle`` seconds.

    ``after_request``: only one that was started after the request that the record is about counts.
    Raises WaitError after ``timeout`` seconds, with what was last seen. Check mode looks once.
    """
    begin = time.monotonic()
    request = _request() if after_request else None
    looks: List[Container] = []

    def is_up() -> bool:
        looks.append(containers.look())
        return _settled(looks[-1], settle, request)

    came_up = wait_for(is_up, 0 if check_mode else timeout, _POLL_SECONDS)
    before, seen = looks[0], looks[-1]
    if not came_up and not check_mode:
        raise WaitError(
            f"No engine came up within {timeout:g} seconds; last seen: {_sight(seen, request)}.",
            f"Look at the deployment in the web console, and at `{seen.program} ps --all` on the host.",
            before=before.summary(),
            after=seen.summary(),
        )
    return Result(
        False,
        {"before": before.summary(), "after": seen.summary(), "waited": round(time.monotonic() - begin, 1)},
    )


def _take_aside(before: Container, stop_seconds: int, remove: bool, because: str) -> Optional[str]:
    """Notes what is about to be done, then does it. Where nothing could be done, the note is as it was."""
    try:
        earlier = set_aside.read()
    except notes.NoteError:
        earlier = None
        set_aside.keep_invalid()
    note = set_aside.of(before, because, earlier)
    set_aside.write(note)
    try:
        name = moves.take_aside(before, stop_seconds, remove)
    except HostError as error:
        _undo(before, note)
        raise _half_done(error, before, note, earlier) from error
    if name is None:
        set_aside.forget()
    else:
        # It is done; the note with the old name says the same to whoever looks, since the id is what counts.
        with contextlib.suppress(HostError):
            set_aside.write(note._replace(name=name))
    return name


def _undo(before: Container, note: Note) -> None:
    """What ran gets its restart policy back at once, and runs again."""
    seen = containers.inspect(note.runtime, note.id)
    if before.state in moves.LIVE and seen.state != "absent":
        with contextlib.suppress(HostError):
            moves.put_back(seen, note)


def _half_done(error: HostError, before: Container, note: Note, earlier: Optional[Note]) -> HostError:
    seen = containers.inspect(note.runtime, note.id)
    is_untouched = _is_untouched(before, seen)
    runs_again = before.state in moves.LIVE and seen.state == before.state and moves.is_back(seen, note)
    if is_untouched or runs_again:
        with contextlib.suppress(HostError):
            set_aside.forget() if earlier is None else set_aside.write(earlier)
        done = "Nothing was changed." if is_untouched else "It had been stopped, and was started again as it was."
        return HostError(error.what, f"{done} {error.remedy}", **error.values)
    return HostError(
        f"{error.what} {_how_things_are(seen, note)}",
        f"{error.remedy} Run again to go on, or put it back with O(state): restored.",
        **dict(error.values, before=before.summary(), after=seen.summary()),
    )


def _half_back(error: HostError, before: Container, note: Note) -> HostError:
    seen = containers.inspect(note.runtime, note.id)
    return HostError(
        f"{error.what} {_how_things_are(seen, note)}",
        f"{error.remedy} Run again to go on.",
        **dict(error.values, before=before.summary(), after=seen.summary()),
    )


def _how_things_are(seen: Container, note: Note) -> str:
    why = f" ({seen.why})" if seen.state == "unknown" else ""
    return (
        f"The container {seen.name} is {seen.state}{why} now, with the restart policy "
        f"{seen.restart_policy or 'unknown'}; it was {note.state}, with {note.restart_policy}."
    )


def _is_untouched(before: Container, seen: Container) -> bool:
    return all(
        getattr(before, key) == getattr(seen, key)
        for key in ("id", "name", "state", "restart_policy", "started_at", "stopping")
    )


def _request() -> Dict[str, Any]:
    noted = record.read()
    if noted["state"] not in ("requested", "verified"):
        why = f" ({noted['why']})" if "why" in noted else ""
        raise HostError(
            f"Which request the engine has to be newer than is not known: the record is {noted['state']}{why}.",
            "Nothing was waited for. Run again to look anew.",
        )
    return noted


def _settled(seen: Container, settle: float, request: Optional[Dict[str, Any]]) -> bool:
    uptime = containers.uptime(seen)
    if uptime is None or uptime < settle:
        return False
    return request is None or bool(record.after_request(request, seen))


def _sight(seen: Container, request: Optional[Dict[str, Any]]) -> str:
    if seen.state == "unknown":
        return f"its state is unknown ({seen.why})"
    uptime = containers.uptime(seen)
    if uptime is None:
        return f"the container is {seen.state}"
    if request is not None and not record.after_request(request, seen):
        return "a container that was running before the request"
    return f"running for {uptime:.0f} seconds, restarted {seen.restart_count} times"


def _known(seen: Container) -> Container:
    if seen.state == "unknown":
        remedy = what_to_do(str(seen.why), seen.program)
        if "permission denied" in str(seen.why).lower():
            remedy = "Run the task as root (`become: true`)."
        raise HostError(
            f"The state of the container {seen.name} is unknown: {seen.why}.",
            f"Nothing was changed. {remedy}",
        )
    return seen


def _refuse_what_was_put_back(before: Container, because: str) -> None:
    """Another run may have found out meanwhile that the list is wrong about it."""
    with contextlib.suppress(notes.NoteError):
        note = set_aside.read()
        if note is not None and because == "list" and note.mistaken and note.id == before.id:
            raise HostError(
                f"The container {before.name} was taken out of the way before and put back, because the list was"
                " wrong.",
                "Nothing was changed. Run again to look anew.",
                before=before.summary(),
            )


def _refuse_another(before: Container, container_id: Optional[str]) -> None:
    if container_id is not None and before.id != container_id:
        raise HostError(
            f"The container slb is {before.id}, not {container_id} as when it was decided to stop it.",
            "Nothing was changed. Somebody else deploys on this host; run again to look anew.",
        )


def _refuse_another_request(decided_about: Optional[float]) -> None:
    if decided_about is not None and not record.is_of(record.read(), decided_about):
        raise HostError(
            "The record is not what it was when it was decided to put the container back.",
            "Nothing was changed. Somebody else deploys on this host; run again to look anew.",
        )


def _refuse_revived(before: Container, container_state: Optional[str]) -> None:
    if container_state in ("created", "exited") and before.state not in ("created", "exited"):
        raise HostError(
            f"The container slb is {before.state}; it was {container_state} when it was decided to take it away.",
            "Nothing was changed. Somebody has started it since; run again to look anew.",
        )


def _refuse_what_systemd_makes(before: Container) -> None:
    unit = before.systemd_unit
    if unit is not None:
        raise HostError(
            f"The container slb is run by the systemd unit {unit}, which would start it again.",
            f"Nothing was changed. Run `systemctl disable --now {unit}` on the host; where it is a Quadlet's, "
            f"`systemctl stop {unit}`, and move the Quadlet away. Then run again. If there is no such unit any more, "
            f"remove the container: `{before.program} rm slb`.",
            systemd_unit=unit,
        )


def _refuse_self_deleting(before: Container, remove: bool) -> None:
    if before.auto_remove and before.state in moves.LIVE and not remove:
        raise HostError(
            f"The container slb is {before.state} and would delete itself when it stops (--rm).",
            "Nothing was changed. If it may be lost, say so for this host alone: O(remove): true.",
            auto_remove=True,
        )


def _refuse_traffic(before: Container, allow_established: bool) -> None:
    if allow_established:
        return
    peers = sockets.served(before)
    if peers is None:
        raise HostError(
            "Whether the container slb carries established connections cannot be seen by this user.",
            "Nothing was changed. Run with become: true. If it is a leftover all the same, allow it for this host "
            "alone: O(allow_established): true.",
            established=None,
        )
    if peers:
        raise HostError(
            f"The container slb carries {len(peers)} established connections (from {', '.join(peers[:5])}).",
            "Nothing was changed. If it is a leftover all the same, allow it for this host alone: "
            "O(allow_established): true.",
            established=len(peers),
        )


def _put_back(before: Container, after: Container, done: bool, changed: bool) -> Result:
    values = {"before": before.summary(), "after": after.summary(), "restored": done}
    return Result(changed, values, {"before": {"slb": before.state}, "after": {"slb": after.state}})


def _starts_at_boot(before: Container, name: Optional[str]) -> bool:
    """Podman starts at boot what has this one policy, also what was stopped; before 5.1 it cannot be changed."""
    if name is None or before.restart_policy != "always":
        return False
    return containers.inspect(str(before.runtime), str(before.id)).restart_policy == "always"


def _moved(
    before: Container,
    after: Container,
    name: Optional[str],
    changed: bool = False,
    starts_at_boot: bool = False,
) -> Result:
    values: Dict[str, Any] = {
        "before": before.summary(),
        "after": after.summary(),
        "set_aside_as": name,
        "starts_at_boot": starts_at_boot,
    }
    return Result(changed, values, {"before": {"slb": before.state}, "after": {"slb": after.state}})
