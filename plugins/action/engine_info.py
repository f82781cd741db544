# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run ``slb.fleet.engine_info`` in the controller's process."""

from __future__ import annotations

from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import ARGUMENTS
from ansible_collections.slb.fleet.plugins.modules.engine_info import operation
from ansible_collections.slb.fleet.plugins.plugin_utils._management_node_action import ManagementNodeAction


class ActionModule(ManagementNodeAction):
    argument_spec = ARGUMENTS
    operation = staticmethod(operation)
