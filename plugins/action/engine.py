# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``slb.fleet.engine`` in the controller's own process."""

from __future__ import annotations

from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import ARGUMENTS
from ansible_collections.slb.fleet.plugins.modules.engine import operation
from ansible_collections.slb.fleet.plugins.plugin_utils._management_node_action import ManagementNodeAction


class ActionModule(ManagementNodeAction):
    argument_spec = ARGUMENTS
    operation = staticmethod(operation)
