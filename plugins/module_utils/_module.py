# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run plain functions as Ansible modules: the only caller of exit_json and fail_json."""

from typing import Any, Callable, Dict

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

Operation = Callable[[Dict[str, Any], bool], Result]
"""Takes the validated options and whether this is check mode; raises FleetError."""


def run_module(argument_spec: Dict[str, Any], operation: Operation, **rules: Any) -> None:
    """Run ``operation`` as an Ansible module. ``rules``: options of AnsibleModule, such as ``required_if``."""
    module = AnsibleModule(argument_spec=argument_spec, supports_check_mode=True, **rules)
    try:
        result = operation(module.params, module.check_mode)
    except FleetError as error:
        module.fail_json(**error.as_result())
    module.exit_json(**result.as_task_result(module._diff))
