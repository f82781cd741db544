# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``slb.fleet.engine_record`` on the engine host, in bounded time."""

from __future__ import annotations

import time
from typing import Any

from ansible_collections.slb.fleet.plugins.plugin_utils._on_host import OnHostAction


class ActionModule(OnHostAction):
    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        # By the controller's clock, for whoever waits in a queue between the note and the request.
        return {**super().run(tmp, task_vars), "noted_at": time.time()}
