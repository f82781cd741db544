# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The license download and its checks."""

from __future__ import annotations

from typing import Any, NamedTuple

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import Answer
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import CONNECTION_ARGUMENTS
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils._management_node.transport import Request

LICENSE_PATH = "/system/license/apply/"
ARGUMENTS: dict[str, dict[str, Any]] = {
    **CONNECTION_ARGUMENTS,
    "dest": {"type": "path", "required": True},
    "owner": {"type": "str"},
    "group": {"type": "str"},
    "mode": {"type": "raw", "default": "0600"},
    "backup": {"type": "bool", "default": False},
    "max_size": {"type": "int", "default": 10 * 1024 * 1024},
}


class License(NamedTuple):
    """``has_length``: whether the answer showed its length, so that ``content`` is known to be complete."""

    content: bytes
    has_length: bool


def download_license(client: Client, max_size: int) -> License:
    """Return the license, at most ``max_size`` bytes. Raises FleetError ``license_unusable`` for anything else."""
    answer = client.call(Request("GET", LICENSE_PATH, limit=max_size))
    cause, is_message = find_license_problem(answer)
    if not cause:
        return License(answer.body, answer.has_length)
    # A body that is no message may be a part of the license: it is not shown.
    message = client.message(answer) if is_message else ""
    shown = client.describe(answer) if is_message else cause
    raise FleetError(
        "license_unusable",
        f"License of {client.connection.base_url} unusable: {shown}. The present file is unchanged.",
        "Check the license in the web console, or run again later.",
        status_code=answer.status,
        answer=message,
    )


def find_license_problem(answer: Answer) -> tuple[str, bool]:
    """Return why an answer is no license, empty if it is one, and whether it is a message instead."""
    is_failure = bool(answer.parsed) and answer.verdict is False
    is_message = not answer.is_success or answer.is_html or is_failure or answer.is_notice
    causes = {
        f"HTTP {answer.status}": answer.status != 200,
        answer.defect: bool(answer.defect),
        "the body is empty": not answer.body.strip(),
        "it is a web page": answer.is_html,
        "it reports an error": is_message,
    }
    return next((text for text, is_true in causes.items() if is_true), ""), is_message
