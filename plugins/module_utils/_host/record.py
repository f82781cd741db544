# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record: what the collection noted about the engine, kept on the host as an Ansible local fact."""

import json
import os
import time
from typing import Any, Dict, Optional

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._host import containers, notes, room, set_aside
from ansible_collections.slb.fleet.plugins.module_utils._host.containers import Container
from ansible_collections.slb.fleet.plugins.module_utils._result import Result
from ansible_collections.slb.fleet.plugins.module_utils._system import clock, processes
from ansible_collections.slb.fleet.plugins.module_utils._system.files import (
    file_errors,
    sync_folder,
    write_ours,
)

PATH = "/etc/ansible/facts.d/slb_engine.fact"
_SAME_SECONDS = 0.001  # a number may lose digits on its way through templates
_MODE = 0o644  # local facts are readable; no secret is in it
_FOLDER_MODE = 0o755
_REQUEST: Dict[str, notes.Check] = {
    "state": notes.one_of("requested", "verified"),
    "name": notes.is_text,
    "manage_ip": notes.is_text,
    "base_url": notes.is_text,
    "attempt": notes.optional(notes.is_count),
    "requested_at": notes.is_number,
    "boot_id": notes.is_text,
    "uptime": notes.is_number,
    "container_id": notes.optional(notes.is_text),
    "verified_by": notes.optional(notes.one_of("host", "engine_list")),
    "verified_at": notes.optional(notes.is_number),
    "verified_before": notes.optional(notes.is_truth),
}
_PROOF: Dict[str, notes.Check] = dict(
    _REQUEST, container_id=notes.is_text, verified_by=notes.one_of("host", "engine_list")
)


def read() -> Dict[str, Any]:
    """The record and its ``age`` in seconds; ``state``: none, pending, confirmed, or invalid (``why``)."""
    try:
        noted = notes.read(PATH)
    except notes.NoteError as error:
        return {"state": "invalid", "why": f"{PATH} {error}"}
    if noted is None:
        return {"state": "none"}
    wrong = notes.wrong(noted, _PROOF if noted.get("state") == "verified" else _REQUEST)
    if wrong:
        return {"state": "invalid", "why": f"{PATH} is not of the known form ({', '.join(wrong)})"}
    if noted["boot_id"] == clock.boot_id() and noted["uptime"] > clock.uptime() + 1:
        return {"state": "invalid", "why": f"{PATH} is of a time that has not come yet"}
    age = clock.age(noted["boot_id"], float(noted["uptime"]), float(noted["requested_at"]))
    known = {key: noted[key] for key in _REQUEST if key in noted}
    return dict(known, age=age)


def unwritable() -> Optional[str]:
    """Why the record could not be written, as a part of a sentence, told without writing; None where it could."""
    return room.unwritable(PATH)


def require_writable(check_mode: bool) -> None:
    """Raises HostError where the record cannot be written. But for check mode, it is tried for real."""
    why = unwritable()
    if why is not None:
        raise HostError(
            f"The record {PATH} cannot be written: {why}.",
            "Nothing was changed. Run the task as root (`become: true`), make room or move away what is in the way, "
            "then run again.",
        )
    if not check_mode:
        room.try_writing(PATH)


def after_request(noted: Dict[str, Any], container: Container) -> Optional[bool]:
    """Whether the container was started after the request that the record is about; None where that has no answer.

    By the host's uptime, within one boot and where its process can be seen; else by the host's clock. One that was
    taken out of the way is older, whoever has put it back and started it since.
    """
    if noted["state"] not in ("requested", "verified") or container.started_at is None:
        return None
    if set_aside.is_about(container):
        return False
    process = processes.look(container.pid)
    if process is not None and noted["boot_id"] == clock.boot_id():
        return process.began + processes.TICK >= float(noted["uptime"])
    return container.started_at >= float(noted["requested_at"])


def pending(
    name: str,
    manage_ip: str,
    base_url: str,
    attempt: int,
    check_mode: bool,
    decided_about: Optional[float] = None,
    container_absent: bool = False,
) -> Result:
    """Notes a request for an install that is about to be made.

    ``decided_about``: ``requested_at`` of the record that led to it, 0 for none. Raises HostError where there is
    another by now, or with ``container_absent`` where there is a container by now.
    """
    before = read()
    if decided_about is not None and not is_of(before, decided_about):
        raise HostError(
            f"{PATH} is {before['state']} now, and not what was decided about.",
            "No install was asked for. Somebody else deploys on this host; run again to look anew.",
            overtaken=True,
        )
    if container_absent:
        _refuse_container(containers.look())
    noted = dict(
        _fresh(name, manage_ip, base_url), state="requested", attempt=attempt, container_id=None, verified_by=None
    )
    if _is_about(before, {"name": name, "manage_ip": manage_ip, "base_url": base_url}):
        # Where this run is interrupted, the next one still knows that the engine had been verified to run.
        noted["verified_before"] = before["state"] == "verified" or bool(before.get("verified_before"))
    return _write(before, noted, check_mode)


def confirmed(
    name: str, manage_ip: str, base_url: str, container_id: str, verified_by: str, check_mode: bool
) -> Result:
    """Notes that the engine was verified to run in this container, on the ``host`` or in the ``engine_list``."""
    before = read()
    engine = {"name": name, "manage_ip": manage_ip, "base_url": base_url}
    proof = dict(engine, state="verified", container_id=container_id, verified_by=verified_by)
    if all(before.get(key) == value for key, value in proof.items()):
        return Result(False, {"record": before}, {"before": before, "after": before})
    request = {key: before[key] for key in before if key not in ("age", "verified_before")}
    if not _is_about(before, engine):
        request = _fresh(name, manage_ip, base_url)
    return _write(before, dict(request, **dict(proof, verified_at=time.time())), check_mode)


def absent(check_mode: bool, decided_about: Optional[float] = None) -> Result:
    """Takes the record away: what it says is known not to be so. Another than ``decided_about`` is left alone."""
    before = read()
    if before["state"] == "none" or (decided_about is not None and not is_of(before, decided_about)):
        return Result(False, {"record": before}, {"before": before, "after": before})
    if not check_mode:
        with file_errors(PATH):
            os.unlink(PATH)
            sync_folder(os.path.dirname(PATH))
    after = {"state": "none"}
    return Result(True, {"record": after}, {"before": before, "after": after})


def _refuse_container(seen: Container) -> None:
    if seen.state == "absent":
        return
    why = f" ({seen.why})" if seen.state == "unknown" else ""
    raise HostError(
        f"There was no container slb when it was decided to ask for an install; now its state is {seen.state}{why}.",
        "Nobody asked; run again to look anew.",
        overtaken=seen.state != "unknown",
        container=seen.summary(),
    )


def is_of(record: Dict[str, Any], requested_at: float) -> bool:
    return abs(float(record.get("requested_at", 0)) - requested_at) < _SAME_SECONDS


def _is_about(record: Dict[str, Any], engine: Dict[str, str]) -> bool:
    """Return whether the record is about this engine."""
    is_known = record["state"] in ("requested", "verified")
    return is_known and all(record[key] == value for key, value in engine.items())


def _fresh(name: str, manage_ip: str, base_url: str) -> Dict[str, Any]:
    return {
        "name": name,
        "manage_ip": manage_ip,
        "base_url": base_url,
        "requested_at": time.time(),
        "boot_id": clock.boot_id(),
        "uptime": clock.uptime(),
    }


def _write(before: Dict[str, Any], noted: Dict[str, Any], check_mode: bool) -> Result:
    if check_mode or not room.is_replaceable(PATH):
        require_writable(check_mode)
    if not check_mode:
        write_ours(PATH, json.dumps(noted, indent=2, sort_keys=True) + "\n", _MODE, _FOLDER_MODE)
    return Result(True, {"record": noted}, {"before": before, "after": noted})
