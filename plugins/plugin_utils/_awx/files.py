# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that a team keeps: the project that AWX syncs, and the content as data for ``infra.aap_configuration``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from ansible_collections.slb.fleet.plugins.plugin_utils._awx.content import Object, Settings

DATA_FILE = "aap_configuration.yml"

_PLAYBOOKS = ("diagnose", "audit", "rollout", "remediate", "adopt_interfaces", "download_license", "show_engine_list")

_ANSIBLE_CFG = """\
[defaults]
# How the fleet stands, at the end of each job and as its artifact.
callbacks_enabled = slb.fleet.report

[inventory]
# A list that cannot be read is no empty fleet.
any_unparsed_is_failed = true

[ssh_connection]
pipelining = True
"""

_HOSTS = """\
---
# Your engine hosts. Or take them from the console's list: inventory/slb_engines.yml.example.
engines:
  hosts:
    # edge-1: {ansible_host: 192.0.2.11}
"""

_GROUP = """\
---
# The connection to the management node comes from the credential of the job template.
# ansible_user: ops
# Where the console's list of engines is described, every run compares every host with it:
# slb_engine_list:
#   path: /console/engines
#   items: data.items
#   name: engine_name
#   address: ip
#   state: status
#   running: [running]
#   deploying: [deploying]
#   failed: [failed]
"""

_FROM_CONSOLE = """\
---
# Without .example in its name, and with slb_awx_inventory_source: inventory/slb_engines.yml, this is the inventory.
plugin: slb.fleet.engines
engine_list: "{{ (lookup('ansible.builtin.file', 'inventory/group_vars/engines.yml') | from_yaml).slb_engine_list }}"
"""

_VARIABLES = {
    "label": "controller_labels",
    "credential_type": "controller_credential_types",
    "credential": "controller_credentials",
    "execution_environment": "controller_execution_environments",
    "project": "controller_projects",
    "inventory": "controller_inventories",
    "inventory_source": "controller_inventory_sources",
    "notification_template": "controller_notifications",
    "job_template": "controller_templates",
    "workflow_job_template": "controller_workflows",
    "schedule": "controller_schedules",
    "role": "controller_roles",
}


def project(settings: Settings) -> dict[str, str]:
    """The files of the project, each by its path. Where the collection is in the execution environment, it needs no
    network: only with ``collection_source`` does it name where AWX gets the collection.
    """
    files = {
        "ansible.cfg": _ANSIBLE_CFG,
        "inventory/hosts.yml": _HOSTS,
        "inventory/group_vars/engines.yml": _GROUP,
        "inventory/slb_engines.yml.example": _FROM_CONSOLE,
    }
    for playbook in _PLAYBOOKS:
        title = playbook.replace("_", " ").capitalize()
        files[f"{playbook}.yml"] = f"---\n- name: {title}\n  ansible.builtin.import_playbook: slb.fleet.{playbook}\n"
    if settings["collection_source"]:
        is_git = "://" in settings["collection_source"] or settings["collection_source"].endswith(".git")
        needed = {
            "name": settings["collection_source"],
            "type": "git" if is_git else "galaxy",
            "version": settings["collection_version"] or ("main" if is_git else "*"),
        }
        files["collections/requirements.yml"] = _text({"collections": [needed]})
    return files


def data(objects: Sequence[Object]) -> str:
    """The variables of ``infra.aap_configuration``. Secrets are named, not written."""
    variables: dict[str, list[dict[str, Any]]] = {}
    for each in objects:
        args = _unevaluated(each.args)
        for place, variable in each.secrets.items():
            option, field = place.split(".")
            args[option][field] = f"{{{{ {variable} }}}}"
        variables.setdefault(_VARIABLES[each.kind], []).append(args)
    return _text(variables)


class _Unsafe(str):
    """What Ansible shall not evaluate: AWX does, or the job."""


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_representer(_Unsafe, lambda dumper, text: dumper.represent_scalar("!unsafe", str(text), style='"'))


def _unevaluated(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _unevaluated(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_unevaluated(each) for each in value]
    if isinstance(value, str) and ("{{" in value or "{%" in value):
        return _Unsafe(value)
    return value


def _text(value: Any) -> str:
    return "---\n" + yaml.dump(value, Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=True)
