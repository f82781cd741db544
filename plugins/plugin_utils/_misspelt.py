# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A variable that nobody knows has no effect, which whoever wrote it has to be told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.utils.display import Display

from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.plugin_utils._run_store import RunStore
from ansible_collections.slb.fleet.plugins.plugin_utils._settings import unknown_variables


def say_unknown_variables(variables: Mapping[str, Any], host: str, store: RunStore) -> None:
    """Warns of each once in a run. ``variables``: those of ``host``."""
    for name, nearest in unknown_variables(variables).items():
        if store.first_to_say(f"variable {name}", host) == host:
            meant = f" Is {nearest} meant?" if nearest else ""
            Display().warning(f"The variable {name} (of {visible(host)}, at least) is not known to slb.fleet.{meant}")
