# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run ``slb.fleet.login`` in the controller's process."""

from __future__ import annotations

from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import CONNECTION_ARGUMENTS
from ansible_collections.slb.fleet.plugins.modules.login import operation
from ansible_collections.slb.fleet.plugins.plugin_utils._management_node_action import ManagementNodeAction


class ActionModule(ManagementNodeAction):
    argument_spec = CONNECTION_ARGUMENTS
    operation = staticmethod(operation)
    is_secret = True
