# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps that change the container of an engine host, each protected by the deployment record.

Each step writes the record before it touches the container, so the next run can continue or restore after a kill.
"""

import contextlib
import os
import secrets
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import container, leftovers, safety, sockets
from ansible_collections.slb.fleet.plugins.module_utils._engine_host.container import Container
from ansible_collections.slb.fleet.plugins.module_utils._engine_host.record import (
    ENGINE,
    OPEN,
    PATH,
    Record,
    SetAside,
    check_writable,
    read,
    write,
)
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._result import Result
from ansible_collections.slb.fleet.plugins.module_utils._system import clock, mounts
from ansible_collections.slb.fleet.plugins.module_utils._system.locks import locked
from ansible_collections.slb.fleet.plugins.module_utils._system.waiting import Deadline

ARGUMENTS: Dict[str, Dict[str, Any]] = {
    "allow_established": {"type": "bool", "default": False},
    "remove": {"type": "bool", "default": False},
    "ignored_starters": {"type": "list", "elements": "path", "default": []},
    "stop_timeout": {"type": "int", "default": 10},
    "lock_timeout": {"type": "int", "default": 10},
    "time_limit": {"type": "float"},
    "name": {"type": "str"},
    "manage_ip": {"type": "str"},
    "base_url": {"type": "str"},
}
_LOCK_SECONDS = 10
_SECONDS_FREE = 2.0  # for which the name has to stay free, and a restored container has to run
_STEP_SECONDS = 120  # from the record of a step to its last command, the stop of the container not included
_COMMANDS = 6  # of the runtime, to set a container aside or to restore it
_RUN_AGAIN = "Run again: the host is checked again."


def prepare(options: Dict[str, Any], check_mode: bool) -> Result:
    """Check that the plan still holds, set the container aside for ``action: replace``, and record that.

    A second execution with the same request finishes what the first began, and answers the same.
    """
    step = Deadline(options["time_limit"])
    with locked("record.lock", options["lock_timeout"], check_mode):
        record = read()
        if record.request_id == options["request_id"] and record.state != "none":
            return _continue(record, options, step)
        begin = step.used
        before = container.known(container.find_container())
        slowest = step.used - begin
        _compare(record, before, options["expected"])
        if options["action"] == "install" and before.state != "absent":
            raise FleetError("state_changed", "Container slb exists; the plan is to install.", _RUN_AGAIN)
        leftover = None
        if before.state != "absent":
            check_may_stop(before, options)
            leftover = leftovers.plan_set_aside(before, "replace", options["stop_timeout"])
        else:
            _check_not_managed(before, options)
        planned = _new(options, record, "preparing", leftover)
        if check_mode:
            check_writable()
            after = before._replace(state="absent", id=None) if leftover else before
            return _result(
                True, record, planned._replace(state="prepared"), before, after, set_aside_as=_name(leftover)
            )
        # Time enough to set the container aside, and to restore it if that fails.
        step.check(2 * _needed(leftover, slowest) + options["stop_timeout"] if leftover else slowest)
        write(planned)
        return _set_aside(record, planned, options, before, lambda: step.check(_needed(leftover, slowest)))


def mark(options: Dict[str, Any]) -> Result:
    """Record that the request is about to be sent, if no container ``slb`` has come since the step before.

    A second execution does not change the time of the first.
    """
    step = Deadline(options["time_limit"])
    with locked("record.lock", options["lock_timeout"], False):
        record = read()
        is_own = record.request_id == options["request_id"]
        if not is_own or record.state not in ("prepared", "requested"):
            raise FleetError("state_changed", "Deployment record changed before the request was sent.", _RUN_AGAIN)
        after = record
        if record.state == "prepared":
            step.check(0)
            slb = container.known(container.find_container())
            if slb.state != "absent":
                summary = f"Container slb ({str(slb.id)[:12]}) is {slb.state}: another process or user made it."
                raise FleetError("state_changed", f"{summary} No install request was sent.", _RUN_AGAIN)
            after = record._replace(state="requested", sent=True, boot_id=clock.boot_id(), uptime=clock.uptime())
            write(after)
        return Result(after != record, {"record": after.shown()}, _diff(record, after))


def restore(options: Dict[str, Any], check_mode: bool) -> Result:
    """Restore what the request ``request_id`` changed: the container and the record.

    ``open_age``, ``requested_age``: Minimum age in seconds of a record that is open, or that shows a request; None for
    never. If the record is about another request, or is younger, nothing is changed.
    """
    with locked("record.lock", options["lock_timeout"], check_mode):
        record = read()
        ages = {"requested": options["requested_age"], **dict.fromkeys(OPEN, options["open_age"])}
        least, age = ages.get(record.state), record.age or 0
        is_own = record.request_id == options["request_id"]
        if least and record.state == "requested":  # the run that sent the request may wait longer than this one
            least = max(least, record.wait_timeout or 0)
        if not is_own or least is None or age < least:
            return _result(False, record, record, *[container.find_container()] * 2, restored=False)
        if not check_mode:
            _require_no_pending_stop(record)
        return _restore(record, record.set_aside, check_mode)


def set_aside(options: Dict[str, Any], check_mode: bool) -> Result:
    """Set the container aside without a request, or finish an interrupted step in this way."""
    step = Deadline(options["time_limit"])
    with locked("record.lock", options["stop_timeout"] + options["lock_timeout"], check_mode):
        record = read()
        begin = step.used
        before = container.known(container.find_container())
        slowest = step.used - begin
        is_own = options["request_id"] is not None and record.request_id == options["request_id"]
        if is_own and record.state == "none":
            return _result(True, record, record, before, before, set_aside_as=_name(record.set_aside))
        leftover = record.set_aside if record.state in OPEN else None
        previous = _as_previous(record)
        if leftover and before.id in (None, leftover.id):
            # The interrupted step has changed state and policy; the record has the values from before.
            leftover, previous = leftover._replace(purpose="remediate"), record.previous
        elif before.state == "absent":
            return _clear(record, before, options["remove"], check_mode)
        else:
            leftover = leftovers.plan_set_aside(before, "remediate", options["stop_timeout"])
            _compare(record, before, options["expected"])
        if before.state != "absent":
            check_may_stop(before, options)
        planned = _new(options, record, "preparing", leftover)._replace(previous=previous)
        name = None if options["remove"] else _name(leftover)
        if check_mode:
            check_writable()
            gone = before._replace(state="absent", id=None)
            return _result(True, record, planned._replace(state="none"), before, gone, set_aside_as=name)
        step.check(2 * _needed(leftover, slowest) + options["stop_timeout"])
        write(planned)
        return _set_aside(record, planned, options, before, lambda: step.check(_needed(leftover, slowest)))


def _clear(record: Record, absent: Container, is_to_remove: bool, check_mode: bool) -> Result:
    """Finish a step without a container ``slb``: remove its leftover, and allow the installation of an engine."""
    # What this step has set aside in an earlier run, such as one that was killed after it.
    is_left = is_to_remove and record.state == "none"
    # One that another process or user has deleted is not a change of this step.
    is_removed = is_left and _remove_leftover(record.set_aside, check_mode) == "deleted"
    after = record._replace(set_aside=None) if is_removed else record
    # The operator knows that the container is gone: it may be installed again.
    is_cleared = bool(record.replaced_gone)
    after = after._replace(replaced_gone=None) if is_cleared else after
    if after != record and not check_mode:
        write(after)
    values = {"is_cleared": True} if is_cleared and not is_removed else {"set_aside_as": None}
    return _result(after != record, record, after, absent, absent, **values)


def restore_set_aside(lock_timeout: int, check_mode: bool) -> Result:
    """Restore the container that was set aside last, whatever the state of the record."""
    with locked("record.lock", lock_timeout, check_mode):
        record = read()
        if record.state == "invalid":
            fix = f"Find the container with `docker ps --all`, restore it by hand, then remove {PATH}."
            raise FleetError("record_invalid", f"Record invalid: {record.why}.", fix)
        leftover = record.set_aside or record.earlier
        is_deleted = leftover and leftovers.find_set_aside(leftover).state == "absent"
        if (record.state not in OPEN and not leftover) or (record.state == "verified" and is_deleted):
            what = "the set-aside container was deleted" if is_deleted else "the record names no set-aside container"
            slb, msg = container.find_container(), f"Nothing to restore: {what}."
            return _result(False, record, record, slb, slb, restored=False, msg=msg)
        if not check_mode:
            _require_no_pending_stop(record)
        return _restore(record, leftover, check_mode, is_asked=True)


def start(options: Dict[str, Any], check_mode: bool) -> Result:
    """Start the container ``container_id`` if the record verifies it. A container that runs is left as it is."""
    with locked("record.lock", options["lock_timeout"], check_mode):
        record, slb = read(), container.known(container.find_container())
        _compare(record, slb, {"container_id": options["container_id"] or slb.id})
        if record.state != "verified" or slb.id is None or record.last_verified != slb.id:
            summary = f"Container slb ({slb.state}) not started: the deployment record does not verify it."
            raise FleetError("unverified_container", summary, "Start it by hand, or run slb.fleet.rollout.")
        if slb.state in ("running", "restarting"):
            return _result(False, record, record, slb, slb, started=False)
        obstacle = find_start_obstacle(slb)
        if obstacle:
            raise safety.not_started(obstacle)
        _check_not_managed(slb, options)
        if check_mode:
            return _result(True, record, record, slb, slb._replace(state="running"), started=True)
        try:
            leftovers.start(slb)
        except FleetError as error:
            if error.values.get("is_unknown"):
                raise
            raise safety.not_started(error.summary.rstrip(".")) from error
        return _result(True, record, record, slb, container.find_container(), started=True)


def find_start_obstacle(slb: Container) -> Optional[str]:
    """Return why the stopped container must not be started; None if nothing is known."""
    if slb.state == "paused":
        return "it is paused"
    if slb.is_dead:
        return f"{slb.runtime} failed to remove it (it is dead)"
    if slb.auto_remove:
        return "it deletes itself if the start fails (--rm)"
    obstacle, place = find_restore_obstacle(slb), mounts.find_unmounted(slb.paths)
    if obstacle or place:
        return obstacle or f"{place} is not mounted (/etc/fstab)"
    taken = {each["port"]: each["process"] for each in sockets.find_listening(slb) if each["engine"]}
    if taken:
        port, process = min(taken.items())
        return f"port {port} is in use by {process or 'another process'}"
    return None


def find_restore_obstacle(slb: Container) -> Optional[str]:
    """Return why the container, once it is stopped, could not be started again; None if nothing is known."""
    missing = [path for path in slb.paths if not os.path.exists(mounts.encoded(path))]
    if missing:
        return f"{missing[0]} is missing (a disk that is not mounted?)"
    for address in slb.published_on:
        if not sockets.can_listen(address):
            return f"address {address}, on which it publishes a port, is not on this host"
    down = ("absent", "created", "exited")
    ended = [other for other in slb.joins if container.inspect(slb.runtime, other).state in down]
    return f"container {ended[0][:12]}, whose namespace it uses, does not run" if ended else None


def verify(options: Dict[str, Any], check_mode: bool) -> Result:
    """Record that the engine was verified to run in the container ``container_id``."""
    with locked("record.lock", _LOCK_SECONDS, check_mode):
        record, slb = read(), container.known(container.find_container())
        _compare(record, slb, {"container_id": options["container_id"]})
        leftover = record.set_aside or record.earlier
        own_policy = leftover.restart_policy if leftover and leftover.id == slb.id else slb.restart_policy
        leftover = None if leftover and leftover.id == slb.id else leftover
        is_same = _is_same_engine(record, options)
        after = (record if is_same else _new(options, record, "verified", leftover))._replace(
            state="verified",
            containers_before=(),
            set_aside=leftover,
            last_verified=slb.id,
            verified_by=options["verified_by"],
            previous=None,
            sent=None,
        )
        if (record.state, record.last_verified) != ("verified", slb.id):
            after = after._replace(boot_id=clock.boot_id(), uptime=clock.uptime())
        is_changed = after != record or own_policy != slb.restart_policy
        if is_changed:
            check_writable()
        if is_changed and not check_mode:
            leftovers.restore_policy(slb, str(own_policy))  # first: the record forgets it
            write(after)
        removed = _remove_leftover(leftover, check_mode) if options["remove_leftovers"] else "kept"
        if removed != "kept":
            after, is_changed = after._replace(set_aside=None), True
            if not check_mode:
                write(after)
        return _result(is_changed, record, after, slb, slb, has_deleted=removed == "deleted")


def _remove_leftover(leftover: Optional[SetAside], check_mode: bool) -> str:
    """Delete a stopped container that was set aside; return deleted, absent (before) or kept. Raises FleetError.

    Only by id, and only while it has the name that was given to it.
    """
    if leftover is None:
        return "kept"
    now = container.check_storage(leftovers.inspect(leftover), [leftover.runtime])
    is_stopped = now.state in ("created", "exited") and now.name.startswith(container.LEFTOVER)
    if is_stopped and not check_mode:
        leftovers.remove_container(now)
    return "deleted" if is_stopped else "absent" if now.state == "absent" else "kept"


def remove(check_mode: bool) -> Result:
    """Remove the record."""
    with locked("record.lock", _LOCK_SECONDS, check_mode):
        record = read()
        absent = Record()
        if not check_mode:
            write(absent)
        return Result(record != absent, {"record": absent.shown()}, _diff(record, absent))


def check_may_stop(slb: Container, options: Dict[str, Any]) -> None:
    """Raise FleetError if a safety check forbids to stop the container."""
    _check_not_managed(slb, options)
    if slb.state in container.LIVE and not options["remove"]:
        if slb.auto_remove:
            raise safety.would_be_deleted()
        obstacle = find_restore_obstacle(slb)
        if obstacle:
            raise safety.not_restorable(obstacle)
    _check_unused(slb, options["allow_established"])
    leftovers.check_runtime(slb)


def _check_unused(slb: Container, allow_established: bool) -> None:
    """Raise FleetError if the container has connections, or if they cannot be seen."""
    inbound = sockets.find_connections(slb).inbound
    if not allow_established and (inbound is None or inbound):
        raise safety.in_use(None if inbound is None else len(inbound), inbound or [])


def _check_not_managed(slb: Container, options: Dict[str, Any]) -> None:
    """Raise FleetError if something would start the container again, or another one with its name."""
    manager = container.find_manager(slb, options["ignored_starters"])
    if manager:
        raise safety.managed(manager.words, manager.fix)


def _continue(record: Record, options: Dict[str, Any], step: Deadline) -> Result:
    """Finish the step of an earlier execution with the same request."""
    leftover = record.set_aside
    before = leftovers.inspect(leftover) if leftover else container.find_container()
    if record.state == "preparing":
        return _set_aside(record, record, options, before, lambda: step.check(0))
    if record.state != "prepared":
        raise FleetError("state_changed", f"Deployment record is {record.state} already.", _RUN_AGAIN)
    return _result(True, record, record, before, container.find_container(), set_aside_as=_name(leftover))


def _set_aside(
    record: Record, planned: Record, options: Dict[str, Any], before: Container, check_time: Callable[[], None]
) -> Result:
    """Set the planned container aside and record that; restore after an error. ``record``: the one before."""
    leftover, name = planned.set_aside, None
    is_remediated = leftover is not None and leftover.purpose == "remediate"
    with _restored_on_error(planned) as progress:
        if leftover:
            check = _stop_check(leftover, options, check_time, progress)
            is_to_remove = is_remediated and options["remove"]
            name = leftovers.move_aside(leftover, options["stop_timeout"], check, is_to_remove)
            if not is_to_remove:
                leftovers.check_name_free(leftover)
        aside = leftover._replace(name=name) if leftover and name else None
        after = planned._replace(state="none" if is_remediated else "prepared", set_aside=aside)
        write(after)
        slb = leftovers.require_free(container.find_container()) if leftover else before
    return _result(True, record, after, before, slb, set_aside_as=name)


def _stop_check(
    leftover: SetAside, options: Dict[str, Any], check_time: Callable[[], None], progress: List[str]
) -> Callable[[Container], None]:
    """Return the check directly before the stop and the rename: between plan and act, minutes may pass.

    ``progress`` gets the id of the container that is then changed.
    """

    def check(slb: Container) -> None:
        check_time()
        if slb.state == "absent":
            return
        if slb.name not in (container.NAME, leftover.name) or (
            slb.state in container.LIVE and leftover.state not in container.LIVE
        ):
            summary = f"Container {slb.name} is {slb.state} now; the plan was made for {leftover.state}."
            raise FleetError("state_changed", summary, _RUN_AGAIN)
        if slb.state in container.LIVE:
            _check_unused(slb, options["allow_established"])
        progress.append(str(slb.id))

    return check


def _needed(leftover: Optional[SetAside], slowest: float) -> float:
    """Return the seconds that the commands of one direction need, by the time of those that were run."""
    return _COMMANDS * slowest + 2 * _SECONDS_FREE if leftover else 0.0


@contextlib.contextmanager
def _restored_on_error(planned: Record) -> Iterator[List[str]]:
    """Restore after an error. If the result is unknown, the record stays ``preparing``."""
    changed: List[str] = []
    try:
        yield changed
    except FleetError as error:
        if error.values.get("is_unknown"):
            raise
        try:
            values = _restore(planned, planned.set_aside, False).values
            # Another process or person may have started it again.
            is_restored = values["restored"] or values["after"]["id"] in changed
        except FleetError as second:
            if second.code == "name_taken":
                is_cause = error.code == "container_recreated"
                code, fix = (error.code, error.fix) if is_cause else (second.code, second.fix)
                values = {"set_aside_as": _name(planned.set_aside)} if changed else {}
                raise FleetError(code, f"{error.summary} {second.summary}", fix, restored=False, **values) from error
            partial = leftovers.partially_restored(container.NAME, second)
            raise second if second.code == partial.code else partial from error
        words = f"{error.summary} Restored." if is_restored else error.summary
        raise FleetError(error.code, words, error.fix, **dict(error.values, restored=is_restored)) from error


def _require_no_pending_stop(record: Record) -> None:
    """Raise FleetError if the runtime may still stop the container: it carries out a stop whose command was killed."""
    leftover = record.set_aside
    if record.state != "preparing" or not leftover or leftover.state not in container.LIVE:
        return
    left = leftover.stop_timeout + _STEP_SECONDS - (record.age or 0)
    begin = clock.uptime()
    leftovers.wait_for_stop(leftover, max(0.0, min(left, leftover.stop_timeout + _SECONDS_FREE)))
    left -= clock.uptime() - begin
    slb = leftovers.inspect(leftover)
    # The first write comes before the stop.
    is_untouched = slb.restart_policy == leftover.restart_policy != "no" and leftover.runtime == "docker"
    if left > 0 and slb.state in container.LIVE and not is_untouched:
        raise FleetError(
            "replacement_in_progress",
            f"Container {slb.name} is {slb.state}, but its interrupted stop may still be carried out.",
            f"Run again in {left:.0f} s: the next run restores it.",
            is_unknown=True,
        )


def _restore(record: Record, leftover: Optional[SetAside], check_mode: bool, is_asked: bool = False) -> Result:
    """Restore the container ``leftover``, then its earlier record. ``is_asked``: a person names what is to be restored.

    If a container that came after the request has the name, the request may have been accepted: nothing is restored.
    """
    after = record.previous or Record()
    if is_asked and record.state == "requested" and (record.age or 0) < (record.wait_timeout or 0):
        # The deployment may be in progress: the record keeps its request, so no second one is sent meanwhile.
        after = record._replace(set_aside=None)
    if leftover and after.set_aside and after.set_aside.id == leftover.id:
        after = after._replace(set_aside=None)
    before = container.known(container.find_container())
    holder = leftovers.find_other_holder(leftover)
    if holder is None and check_mode:
        gone = leftover is None or leftovers.find_set_aside(leftover).state == "absent"
        return _result(True, record, after, before, before, restored=not gone)
    is_restored = False
    if leftover and holder is None:
        # A full disk must not keep the container from being restored.
        with contextlib.suppress(FleetError):
            write(record._replace(state="restoring"))
        is_restored, holder = _move_back(leftover)
    if leftover and holder:
        if is_asked:
            raise leftovers.name_taken(leftover, holder)
        return _leave_to_evidence(record, leftover, holder, check_mode)
    try:
        write(after)
    except FleetError as error:
        words = f"{error.summary} The container was restored." if is_restored else error.summary
        raise FleetError(error.code, words, error.fix, restored=is_restored) from error
    return _result(True, record, after, before, container.find_container(), restored=is_restored)


def _move_back(leftover: SetAside) -> Tuple[bool, Optional[Container]]:
    """Return whether the container was restored, and which other one has taken its name. Raises FleetError."""
    try:
        return leftovers.move_back(leftover), None
    except FleetError as error:
        try:
            holder = leftovers.find_other_holder(leftover)
        except FleetError:
            raise error from None  # the runtime does not answer any more
        if holder is None:
            raise
        return False, holder


def _leave_to_evidence(record: Record, leftover: SetAside, holder: Container, check_mode: bool) -> Result:
    """Record a request whose wait is over, for a new container ``slb`` that may have come with a request.

    Raises FleetError for an earlier container, and if no request was sent: then a person made the new one.
    """
    if holder.id in record.containers_before or not record.may_be_sent:
        if record.state != "restoring" and not check_mode:
            write(record._replace(state="restoring"))
        raise leftovers.name_taken(leftover, holder)
    # With another id, no step of the request acts on the record any more.
    after = record._replace(state="requested", request_id=secrets.token_hex(16), uptime=0.0, boot_id=clock.boot_id())
    if not check_mode:
        write(after)
    return _result(True, record, after, holder, holder, restored=False, is_replaced=True)


def _compare(record: Record, slb: Container, expected: Dict[str, Any]) -> None:
    """Raise FleetError if container or record differ from ``expected``; keys that are missing are not compared."""
    now = {
        "container_id": slb.id,
        "container_state": slb.state,
        "record_state": record.state,
        "record_request_id": record.request_id,
    }
    for key, value in expected.items():
        # A crash loop changes between these two.
        are_both_up = {value, now[key]} <= {"running", "restarting"}
        if value != now[key] and not are_both_up:
            what = key.replace("_", " ").capitalize()
            was, is_now = str(value or "none")[:12], str(now[key] or "none")[:12]
            summary = f"{what} changed from {was} to {is_now} since the plan was made."
            raise FleetError("state_changed", summary, _RUN_AGAIN)
    if "record_state" in expected and record.state in OPEN:
        raise FleetError("state_changed", "Record shows an interrupted deployment.", "Restore it first: run again.")


def _new(options: Dict[str, Any], record: Record, state: str, leftover: Optional[SetAside]) -> Record:
    """Return a record of the engine in ``options`` that follows ``record``."""
    return Record(
        state,
        request_id=options.get("request_id"),
        name=options.get("name"),
        manage_ip=options.get("manage_ip"),
        base_url=options.get("base_url"),
        containers_before=tuple(container.list_ids()) if state == "preparing" else (),
        last_verified=record.last_verified if _is_same_engine(record, options) else None,
        set_aside=leftover,
        previous=_as_previous(record),
        wait_timeout=options.get("wait_timeout"),
        replaced_gone=_replaces_gone(record, options) if state == "preparing" and leftover is None else None,
        boot_id=clock.boot_id(),
        uptime=clock.uptime(),
    )


def _replaces_gone(record: Record, options: Dict[str, Any]) -> Optional[bool]:
    """Return whether a new container replaces a verified one that was removed, perhaps by a program of the host."""
    if not _is_same_engine(record, options):
        return None
    return True if record.state == "verified" else record.replaced_gone


def _as_previous(record: Record) -> Optional[Record]:
    if record.state == "invalid" or record.boot_id is None:
        return None
    earlier = record.previous if record.state == "none" else None
    # After remediate, the record of the container that was set aside is still needed to restore it.
    return record._replace(previous=earlier if earlier and earlier.state != "none" else None)


def _is_same_engine(record: Record, options: Dict[str, Any]) -> bool:
    return all(getattr(record, key) == options.get(key) for key in ENGINE)


def _name(leftover: Optional[SetAside]) -> Optional[str]:
    return leftover.name if leftover else None


def _result(
    changed: bool, record: Record, after_record: Record, before: Container, after: Container, **values: Any
) -> Result:
    shown = {"record": after_record.shown(), "before": before.summary(), "after": after.summary()}
    return Result(changed, dict(shown, **values), _diff(record, after_record, before, after))


def _diff(record: Record, after_record: Record, *containers: Container) -> Dict[str, Any]:
    def side(one: Record, slb: Optional[Container]) -> Dict[str, Any]:
        shown = {key: value for key, value in one.shown().items() if key != "age"}
        return dict(record=shown, **({"slb": [slb.state, slb.id]} if slb else {}))

    before, after = containers or (None, None)
    return {"before": side(record, before), "after": side(after_record, after)}
