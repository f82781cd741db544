# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The license download and its checks."""

from __future__ import annotations

from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node import contract
from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import Answer
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import CONNECTION_ARGUMENTS
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils._management_node.contract import Case, judge
from ansible_collections.slb.fleet.plugins.module_utils._management_node.transport import Request

LICENSE_PATH = "/system/license/apply/"
ARGUMENTS: dict[str, dict[str, Any]] = {
    **CONNECTION_ARGUMENTS,
    "dest": {"type": "path", "required": True},
    "owner": {"type": "str"},
    "group": {"type": "str"},
    "mode": {"type": "raw", "default": "0600"},
    "backup": {"type": "bool", "default": True},
    "max_size": {"type": "int", "default": 10 * 1024 * 1024},
}


def download_license(client: Client, max_size: int) -> Answer:
    """Return the answer with the license, at most ``max_size`` bytes. Raises FleetError for anything else."""
    answer = client.call(Request("license", "GET", LICENSE_PATH, limit=max_size))
    case = Case("license", answer)
    if judge(case).meaning == contract.LICENSE:
        return answer
    # A body that is no message may be a part of the license: it is not shown.
    message = case.message if answer.status != 200 or case.is_notice else ""
    cause = "" if message or answer.defect or answer.body.strip() else ", and the body is empty"
    raise FleetError(
        "license_unusable",
        f"License of {client.connection.base_url} unusable: {client.describe(answer, message)}{cause}. "
        "The present file is unchanged.",
        "Check what the web console shows of the license to this user, or run again later.",
        status_code=answer.status,
        answer=client.shown(message),
    )
