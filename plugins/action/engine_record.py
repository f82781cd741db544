# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the module on the host, and take declared keys only from its answer."""

from __future__ import annotations

from ansible_collections.slb.fleet.plugins.plugin_utils._host_action import HostAction


class ActionModule(HostAction):
    """As its base."""
