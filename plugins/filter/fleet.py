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
from ansible_collections.slb.fleet.plugins.plugin_utils._batches import batches as of_play
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


def batches(
    serial: Any, hosts: Sequence[str], batch_max: Any = None, canary: Any = None, slice_: Any = None
) -> list[int | str]:
    """The batches for these hosts; the values are those of the variables of the same names."""
    part, is_first_alone = setting(slice_, "slice"), setting(canary, "canary") == "first_slice"
    if is_first_alone and part.number is None:
        raise AnsibleFilterError(
            "slb_canary is first_slice, but slb_slice does not say which slice this is: no run would have a canary. "
            "Give the number, such as 2/5, or leave slb_canary out."
        )
    return of_play(
        setting(serial, "serial"),
        len(hosts),
        setting(batch_max, "batch_max"),
        canary_in_first_slice_only=is_first_alone,
        slice_=part,
    )


class FilterModule:
    """Named by Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"setting": setting, "listed_as": listed_as, "batches": batches}
