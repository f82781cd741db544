# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The deployment record of an engine host: one local fact, which the steps on the host read and write."""

import json
import os
import re
import stat
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._engine_host.container import RUNTIMES
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._system import clock, files, folders

Check = Callable[[Any], bool]

PATH = "/etc/ansible/facts.d/slb_engine.fact"
ENGINE = ("name", "manage_ip", "base_url")
OPEN = ("preparing", "prepared", "restoring")
"""States of a step that is in progress or was interrupted. No request was sent, or it was rejected."""

_MODE = 0o644
_MAX_BYTES = 1024 * 1024
_MAX_CONTAINERS = 5000


class SetAside(NamedTuple):
    """A container that was set aside: its state and restart policy from before that, and the ``name`` that it got."""

    id: str
    name: str
    runtime: str
    restart_policy: str
    state: str
    stop_timeout: float
    purpose: str


class Record(NamedTuple):
    """The deployment record. ``state``: none, preparing, prepared, requested, restoring, verified or invalid (``why``).

    ``containers_before``: ids of all containers on the host before the request. ``previous``: the record before this
    one. ``boot_id`` and ``uptime``: the time of the request or of the verification; None without a file.
    """

    state: str = "none"
    why: Optional[str] = None
    request_id: Optional[str] = None
    name: Optional[str] = None
    manage_ip: Optional[str] = None
    base_url: Optional[str] = None
    containers_before: Tuple[str, ...] = ()
    last_verified: Optional[str] = None
    verified_by: Optional[str] = None
    set_aside: Optional[SetAside] = None
    previous: Optional["Record"] = None
    wait_timeout: Optional[float] = None
    sent: Optional[bool] = None
    replaced_gone: Optional[bool] = None
    boot_id: Optional[str] = None
    uptime: Optional[float] = None

    @property
    def age(self) -> Optional[float]:
        """Return the seconds since the time of the record, after a reboot those since the boot; None without a file."""
        if self.uptime is None:
            return None
        return max(0.0, clock.uptime() - self.uptime) if self.boot_id == clock.boot_id() else clock.uptime()

    @property
    def earlier(self) -> Optional[SetAside]:
        """Return the container that the record before this one set aside."""
        return self.previous.set_aside if self.previous else None

    @property
    def may_be_sent(self) -> bool:
        """Return whether a container may come from a request of this record, or of the one before."""
        return bool(self.sent or (self.previous and self.previous.sent))

    def shown(self) -> Dict[str, Any]:
        """Return the record as results and facts contain it."""
        shown = {key: value for key, value in _as_data(self).items() if key not in ("previous", "boot_id", "uptime")}
        earlier = dict(self.earlier._asdict()) if self.earlier else None
        return dict(shown, why=self.why, earlier=earlier, age=self.age, sent=self.may_be_sent)


def _one_of(*values: str) -> Check:
    return lambda value: isinstance(value, str) and value in values


def _matches(pattern: str) -> Check:
    return lambda value: isinstance(value, str) and re.match(pattern + r"\Z", value) is not None


def _or_null(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e15


# The values are arguments of the runtime's command, where a leading dash would be an option.
_is_name = _matches(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,254}")
_is_text = _matches(r"[^\x00-\x1f\ud800-\udfff]{0,1024}")
_SET_ASIDE: Dict[str, Check] = {
    "id": _is_name,
    "name": _is_name,
    "runtime": _one_of(*RUNTIMES),
    "restart_policy": _matches(r"(no|always|unless-stopped|on-failure(:\d{1,9})?)"),
    "state": _one_of("created", "running", "restarting", "paused", "exited"),
    "stop_timeout": _is_number,
    "purpose": _one_of("replace", "remediate"),
}
_FIELDS: Dict[str, Check] = {
    "state": _one_of("none", "preparing", "prepared", "requested", "restoring", "verified"),
    "request_id": _or_null(_matches(r"[0-9A-Za-z][0-9A-Za-z-]{0,63}")),
    "name": _or_null(_is_text),
    "manage_ip": _or_null(_is_text),
    "base_url": _or_null(_is_text),
    "containers_before": lambda value: (
        isinstance(value, list) and len(value) <= _MAX_CONTAINERS and all(map(_is_name, value))
    ),
    "last_verified": _or_null(_is_name),
    "verified_by": _or_null(_one_of("host", "engine_list")),
    "set_aside": _or_null(lambda value: isinstance(value, dict) and not _find_invalid(value, _SET_ASIDE)),
    "previous": _or_null(lambda value: isinstance(value, dict) and not _find_invalid(value, _FIELDS)),
    "wait_timeout": _or_null(_is_number),
    "sent": _or_null(lambda value: isinstance(value, bool)),
    "replaced_gone": _or_null(lambda value: isinstance(value, bool)),
    "boot_id": _is_text,
    "uptime": _is_number,
}


def read() -> Record:
    """Return the record. A record that cannot be used has the state ``invalid`` and the reason in ``why``."""
    try:
        data = _load()
        if data is None:
            return Record()
        wrong = _find_invalid(data, _FIELDS)
        if data.get("state") in ("prepared", "requested", "verified"):
            wrong += [key for key in ENGINE if data.get(key) is None]
        if wrong:
            raise ValueError("has invalid values: " + ", ".join(wrong))
        if data["boot_id"] == clock.boot_id() and data["uptime"] > clock.uptime() + 1:
            raise ValueError("is from the future")
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        return Record("invalid", why=f"{PATH} {why}")
    return _build(data)


def find_obstacle() -> Optional[str]:
    """Return why the record could not be written; None if nothing is known. Nothing is written."""
    try:
        if os.path.lexists(PATH) and not stat.S_ISREG(os.lstat(PATH).st_mode):
            return f"{PATH} is not a regular file"
        return files.find_obstacle(PATH) or folders.untrusted(os.path.dirname(PATH))
    except OSError as error:
        return f"{PATH} cannot be checked: {error.strerror}"


def write(record: Record) -> None:
    """Replace the record atomically, or remove an empty one. Raises FleetError; the record is then unchanged."""
    try:
        if record.state == "none" and not record.set_aside:
            if os.path.lexists(PATH):
                os.unlink(PATH)
                files.sync_folder(os.path.dirname(PATH))
            return
        data = _as_data(record)
        wrong = _find_invalid(data, _FIELDS)
        why = "invalid values: " + ", ".join(wrong) if wrong else find_obstacle()
        if why is not None:
            raise _not_writable(why)
        folders.make(os.path.dirname(PATH), 0o755)
        content = json.dumps(data, indent=2, sort_keys=True) + "\n"
        files.replace(PATH, content.encode(), _MODE)
    except OSError as error:
        raise _not_writable(str(error.strerror)) from error


def check_writable() -> None:
    """Raise FleetError if the record could not be written."""
    why = find_obstacle()
    if why is not None:
        raise _not_writable(why)


def _not_writable(why: str) -> FleetError:
    fix = "Free space or make the file writable, then run again as root."
    return FleetError("record_not_writable", f"Deployment record not writable: {why}.", fix)


def _load() -> Optional[Dict[str, Any]]:
    """Return the JSON object in the file; None if there is no file. Raises OSError and ValueError."""
    try:
        # Without O_NONBLOCK, opening a FIFO would not return.
        descriptor = os.open(PATH, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("is not a regular file")
        content = stream.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise ValueError(f"is larger than {_MAX_BYTES} bytes")
    data = json.loads(content.decode("utf-8"))
    if not isinstance(data, dict):
        raise ValueError("is not a JSON object")
    return data


def _find_invalid(data: Dict[str, Any], checks: Dict[str, Check]) -> List[str]:
    return [key for key, is_valid in checks.items() if not is_valid(data.get(key))]


def _build(data: Dict[str, Any]) -> Record:
    """Return the record that ``_as_data`` made the data of; its values are valid."""
    values: Dict[str, Any] = {key: data.get(key) for key in _FIELDS}
    aside, previous = values["set_aside"], values["previous"]
    values.update(
        containers_before=tuple(values["containers_before"]),
        set_aside=SetAside(**{key: aside[key] for key in _SET_ASIDE}) if aside else None,
        previous=_build(previous) if previous else None,
    )
    return Record(**values)


def _as_data(record: Record) -> Dict[str, Any]:
    """Return the record as it is written: without ``why``."""
    return dict(
        {key: getattr(record, key) for key in _FIELDS},
        containers_before=list(record.containers_before),
        set_aside=dict(record.set_aside._asdict()) if record.set_aside else None,
        previous=_as_data(record.previous) if record.previous else None,
    )
