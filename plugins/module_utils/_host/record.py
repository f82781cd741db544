# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record: what the collection noted about the engine, kept on the host as an Ansible local fact."""

import json
import os
import time
from typing import Any, Dict, Optional

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._host.files import (
    file_errors,
    sync_folder,
    write_atomically,
)
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

PATH = "/etc/ansible/facts.d/slb_engine.fact"
_SAME_SECONDS = 0.001  # a number may lose digits on its way through templates
_MODE = 0o644  # local facts are readable; no secret is in it
_FIELDS: Dict[str, Any] = {
    "state": str,
    "name": str,
    "manage_ip": str,
    "requested_at": (int, float),
    "boot_id": str,
    "uptime": (int, float),
}


def read() -> Dict[str, Any]:
    """The record and its ``age`` in seconds; ``state``: none, pending, confirmed, or invalid (``why``)."""
    try:
        with open(PATH, encoding="utf-8") as stream:
            noted = json.load(stream)
    except FileNotFoundError:
        return {"state": "none"}
    except (OSError, ValueError) as error:
        return {"state": "invalid", "why": "{} cannot be read: {}".format(PATH, error)}
    wrong = [
        key for key, kind in _FIELDS.items() if not isinstance(noted, dict) or not isinstance(noted.get(key), kind)
    ]
    if wrong or noted["state"] not in ("pending", "confirmed"):
        return {
            "state": "invalid",
            "why": "{} is not of the known form ({})".format(PATH, ", ".join(wrong) or "state"),
        }
    return dict(noted, age=_age(noted))


def pending(name: str, manage_ip: str, attempt: int, check_mode: bool, decided_about: Optional[float] = None) -> Result:
    """Notes a request for an install that is about to be made.

    ``decided_about``: ``requested_at`` of the record that led to it, 0 for none. Raises HostError where there is
    another by now.
    """
    before = read()
    if decided_about is not None and not _is_of(before, decided_about):
        raise HostError(
            "{} is {} now, and not what was decided about.".format(PATH, before["state"]),
            "No install was asked for. Somebody else deploys on this host; run again to look anew.",
        )
    noted = dict(_fresh(name, manage_ip), state="pending", attempt=attempt, container_id=None, verified_by=None)
    return _write(noted, check_mode)


def confirmed(name: str, manage_ip: str, container_id: str, verified_by: str, check_mode: bool) -> Result:
    """Notes that the engine was proven to run in this container, by the ``host`` or by the ``console``."""
    before = read()
    proof = {"state": "confirmed", "container_id": container_id, "verified_by": verified_by}
    if all(before.get(key) == value for key, value in proof.items()):
        return Result(False, {"record": before}, {"before": before, "after": before})
    request = before if before["state"] in ("pending", "confirmed") else _fresh(name, manage_ip)
    request.pop("age", None)
    return _write(dict(request, **proof, confirmed_at=time.time()), check_mode)


def absent(check_mode: bool, decided_about: Optional[float] = None) -> Result:
    """Takes the record away: what it says is known not to be so. Another than ``decided_about`` is left alone."""
    before = read()
    if before["state"] == "none" or (decided_about is not None and not _is_of(before, decided_about)):
        return Result(False, {"record": before}, {"before": before, "after": before})
    if not check_mode:
        with file_errors(PATH):
            os.unlink(PATH)
            sync_folder(os.path.dirname(PATH))
    after = {"state": "none"}
    return Result(True, {"record": after}, {"before": before, "after": after})


def _is_of(record: Dict[str, Any], requested_at: float) -> bool:
    return abs(float(record.get("requested_at", 0)) - requested_at) < _SAME_SECONDS


def _fresh(name: str, manage_ip: str) -> Dict[str, Any]:
    return {
        "name": name,
        "manage_ip": manage_ip,
        "requested_at": time.time(),
        "boot_id": _boot_id(),
        "uptime": _uptime(),
    }


def _write(noted: Dict[str, Any], check_mode: bool) -> Result:
    before = read()
    if not check_mode:
        write_atomically(PATH, json.dumps(noted, indent=2, sort_keys=True) + "\n", _MODE)
    return Result(True, {"record": noted}, {"before": before, "after": noted})


def _age(record: Dict[str, Any]) -> float:
    """Seconds since the request: by the clock that nobody sets where the host has not been booted since."""
    if record["boot_id"] == _boot_id():
        return max(0.0, _uptime() - float(record["uptime"]))
    # A clock that was set back must not make the request young again: it is older than this boot.
    return max(_uptime(), time.time() - float(record["requested_at"]))


def _uptime() -> float:
    with open("/proc/uptime") as stream:
        return float(stream.read().split()[0])


def _boot_id() -> str:
    with open("/proc/sys/kernel/random/boot_id") as stream:
        return stream.read().strip()
