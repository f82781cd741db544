# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Propose ``slb_engine_list`` in the controller's process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import CONNECTION_ARGUMENTS
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import check_path, get_answer
from ansible_collections.slb.fleet.plugins.module_utils._result import Result
from ansible_collections.slb.fleet.plugins.plugin_utils._management_node_action import ManagementNodeAction
from ansible_collections.slb.fleet.plugins.plugin_utils._proposal import propose


class ActionModule(ManagementNodeAction):
    argument_spec = {
        **CONNECTION_ARGUMENTS,
        "path": {"type": "str", "required": True},
        "hosts": {"type": "dict", "required": True},
    }
    has_module = False

    def operation(self, client: Client, options: Mapping[str, Any], _check_mode: bool) -> Result:
        check_path(options["path"])
        answer = get_answer(client, options["path"])
        hosts = {host: (str(name).strip(), str(address).strip()) for host, (name, address) in options["hosts"].items()}
        document, headers = (answer.document, answer.headers) if answer else (None, {})
        proposal = propose(document, headers, options["path"], hosts)
        return Result(False, {"report": proposal.lines, "engine_list": proposal.option})
