# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``slb.fleet.engine_record`` on the engine host, in bounded time."""

from __future__ import annotations

from ansible_collections.slb.fleet.plugins.plugin_utils._on_host import OnHostAction


class ActionModule(OnHostAction):
    pass
