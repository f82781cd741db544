# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Propose ``slb_engine_list``, or compare the engine list with the inventory, in the controller's process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import CONNECTION_ARGUMENTS
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import check_path, get_answer
from ansible_collections.slb.fleet.plugins.module_utils._result import Result
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import engine_table
from ansible_collections.slb.fleet.plugins.plugin_utils._management_node_action import ManagementNodeAction
from ansible_collections.slb.fleet.plugins.plugin_utils._proposal import propose


class ActionModule(ManagementNodeAction):
    argument_spec = {
        **CONNECTION_ARGUMENTS,
        "path": {"type": "str", "required": True},
        "hosts": {"type": "dict", "required": True},
        "listed": {"type": "dict", "required": True},
    }
    has_module = False

    def operation(self, client: Client, options: Mapping[str, Any], _check_mode: bool) -> Result:
        hosts = {host: (str(name).strip(), str(address).strip()) for host, (name, address) in options["hosts"].items()}
        if "engines" in options["listed"]:
            return Result(False, {"report": engine_table(options["listed"]["engines"], hosts)})
        check_path(options["path"])
        answer = get_answer(client, options["path"])
        document, headers = (answer.document, answer.headers) if answer else (None, {})
        _option, lines = propose(document, headers, options["path"], hosts)
        return Result(False, {"report": lines})
