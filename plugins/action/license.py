# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``slb.fleet.license`` in the controller's own process."""

from __future__ import annotations

from ansible_collections.slb.fleet.plugins.module_utils._console.license import ARGUMENTS, license
from ansible_collections.slb.fleet.plugins.plugin_utils._in_process import InProcessAction


class ActionModule(InProcessAction):
    argument_spec = ARGUMENTS
    operation = staticmethod(license)
