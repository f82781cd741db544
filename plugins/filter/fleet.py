# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What playbooks need of the collection's variables and of the console's list, outside of a task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import excerpt, listed
from ansible_collections.slb.fleet.plugins.plugin_utils._settings import setting as read_setting


def setting(value: Any, name: str) -> Any:
    """The value of slb_<name>, or its default where it is empty."""
    try:
        return read_setting(name, value)
    except FleetError as error:
        raise AnsibleFilterError(str(error)) from error


def listed_as(engines: Sequence[Mapping[str, str]], name: str, manage_ip: str) -> dict[str, Any]:
    """What the list says of one engine."""
    return asdict(listed(excerpt(engines, str(name), str(manage_ip)), str(name), str(manage_ip)))


class FilterModule:
    """Named by Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"setting": setting, "listed_as": listed_as}
