# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The connection to the management node of a host, as its variables state it: once, and in no task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._console.options import CONNECTION_ARGUMENTS
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._options import (
    VARIABLES,
    given_options,
    refuse_facts,
    typed_options,
    with_defaults,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import without_facts


def connection_params(task_vars: Mapping[str, Any], templar: Any, task: Any = None) -> dict[str, Any]:
    """What ``Connection.from_params`` takes: the host's variables, then the environment, then the defaults.

    What has no value is None, and it is for ``Connection.from_params`` to say what is missing. A task's own keyword
    ``environment`` counts inside ``task_environment``. Raises FleetError for a value that cannot be used.
    """
    refuse_facts(task_vars)
    with without_facts(task_vars, templar, task) as stated:
        given = given_options(CONNECTION_ARGUMENTS, {}, stated, templar)
    return with_defaults(CONNECTION_ARGUMENTS, typed_options(CONNECTION_ARGUMENTS, given.values))


def in_variables(error: FleetError) -> str:
    """The words of ``error`` for somebody who sets variables, and no options of a task."""
    return error.in_words(VARIABLES, {*VARIABLES, *CONNECTION_ARGUMENTS})
