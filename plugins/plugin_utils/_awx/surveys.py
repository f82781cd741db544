# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The questions that a job template asks before it runs.

A text that is not answered arrives as an empty text, which counts as unset; a choice or a number that is not answered
does not arrive at all. Nothing is asked for that is a secret: AWX shows answers.
"""

from __future__ import annotations

from typing import Any

_LONGEST = 1024


def _text(variable: str, question: str, description: str, required: bool = False) -> dict[str, Any]:
    return {
        "question_name": question,
        "question_description": description,
        "variable": variable,
        "type": "text",
        "required": required,
        # What is required may not be empty, which AWX sees to only where there is a least length.
        "min": 1 if required else 0,
        "max": _LONGEST,
        "default": "",
    }


def _choice(variable: str, question: str, description: str, *choices: str) -> dict[str, Any]:
    return {
        "question_name": question,
        "question_description": description,
        "variable": variable,
        "type": "multiplechoice",
        "required": False,
        "choices": list(choices),
        "default": "",
    }


def _number(variable: str, question: str, description: str, least: int, most: int) -> dict[str, Any]:
    return {
        "question_name": question,
        "question_description": description,
        "variable": variable,
        "type": "integer",
        "required": False,
        "min": least,
        "max": most,
        "default": "",
    }


_HOSTS = _text(
    "slb_hosts", "Hosts", "Names of hosts or groups, separated by commas. Empty: all hosts of the group engines."
)
_NAMED_HOSTS = _text(
    "slb_hosts", "Hosts", "The names of the hosts, separated by commas; a group names no hosts.", required=True
)
_FIRST_HOSTS = _text(
    "slb_hosts", "Hosts", "Names of the hosts that go first, separated by commas. A group is all of its hosts.",
    required=True,
)  # fmt: skip
_BATCHES = _text(
    "slb_serial", "Batches", "Hosts or a percentage of them, separated by commas. Empty: 1,10%,25%: a canary first."
)
_MAX_FAIL = _text(
    "slb_max_fail_percentage",
    "How many hosts may fail",
    "Above this percentage of a batch no other batch begins. Empty: 100.",
)
_UNRECORDED = _choice(
    "slb_unverified_engine",
    "An engine that runs and that nothing proves",
    "fail (when nothing is chosen): leave it and say so. adopt: it is good. replace: it is a leftover.",
    *("fail", "adopt", "replace"),
)
_ADOPT = _choice(
    "slb_adopt_interfaces",
    "Bring network interfaces under NetworkManager",
    "Not, when nothing is chosen.",
    *("false", "true"),
)
_PLAN = _text(
    "slb_approved_plan",
    "The plan that was approved",
    "Its digest, sha256:…, which a run of this template in check mode has shown. Then nothing else is done.",
)
_INTERFACES = _text(
    "slb_interfaces", "Interfaces", "Names, separated by commas. Empty: those that are under no one's control."
)
_DHCP = _number("slb_dhcp_timeout", "Seconds to wait for DHCP", "15 when it is not answered.", 0, 3600)
_REMOVE = _choice(
    "slb_remove_leftovers", "Delete leftovers", "When nothing is chosen they are set aside.", *("false", "true")
)
_LICENSE_DEST = _text(
    "slb_license_dest", "The path of the license", "On the host of the question before.", required=True
)
_LICENSE_HOST = _text(
    "slb_license_host",
    "The host on which the license is kept",
    "A host of the inventory: a file in the job's own container is gone with it.",
    required=True,
)
_BACKUP = _choice(
    "slb_license_backup",
    "Keep a copy of a license that is replaced",
    "true, when nothing is chosen.",
    *("true", "false"),
)

SURVEYS: dict[str, list[dict[str, Any]]] = {
    "diagnose": [_HOSTS],
    "audit": [_HOSTS],
    "rollout": [_HOSTS, _BATCHES, _MAX_FAIL, _UNRECORDED, _ADOPT, _PLAN],
    "rollout canary": [_FIRST_HOSTS, _UNRECORDED, _ADOPT],
    "rollout sliced": [_HOSTS, _MAX_FAIL, _UNRECORDED, _ADOPT],
    "remediate": [_NAMED_HOSTS, _REMOVE],
    "adopt_interfaces": [_HOSTS, _INTERFACES, _DHCP],
    "download_license": [_LICENSE_HOST, _LICENSE_DEST, _BACKUP],
}
"""By the name of the job template."""
