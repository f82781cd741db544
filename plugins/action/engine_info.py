# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``slb.fleet.engine_info`` in the controller's own process."""

from __future__ import annotations

from ansible_collections.slb.fleet.plugins.module_utils._console.description import description
from ansible_collections.slb.fleet.plugins.module_utils._console.engine_info import ARGUMENTS, engine_info
from ansible_collections.slb.fleet.plugins.plugin_utils._in_process import InProcessAction


class ActionModule(InProcessAction):
    argument_spec = ARGUMENTS
    operation = staticmethod(engine_info)
    described = {"listing": description}
