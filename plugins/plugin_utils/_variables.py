# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host's variables, as the operator has set them: templated, and unset where they are empty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleError

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError


def value_of(variable: str, task_vars: Mapping[str, Any], templar: Any) -> Any:
    """The variable's value; None where it is not set or is empty, as a survey's unanswered question is.

    Raises FleetError where it cannot be templated.
    """
    if variable not in task_vars:
        return None
    try:
        value = templar.template(task_vars[variable])
    except AnsibleError as error:
        raise FleetError(
            f"The variable {variable} of this host cannot be evaluated: {error}.", "Correct it in the inventory."
        ) from None
    return None if is_empty(value) else value


def is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())
