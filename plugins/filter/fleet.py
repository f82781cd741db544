# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of an engine in the engine list, for playbooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ansible_collections.slb.fleet.plugins.plugin_utils.listed import excerpt, listed


def listed_as(engines: Sequence[Mapping[str, str]], name: str, manage_ip: str) -> dict[str, Any]:
    """Return the state of one engine in the engine list."""
    return asdict(listed(excerpt(engines, str(name), str(manage_ip)), str(name), str(manage_ip)))


class FilterModule:
    """Named by Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"listed_as": listed_as}
