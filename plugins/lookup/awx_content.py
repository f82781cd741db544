# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``slb.fleet.awx_setup`` makes in AWX."""

from __future__ import annotations

DOCUMENTATION = r"""
name: awx_content
author: slb.fleet contributors (@slb-fleet)
version_added: 1.0.0
short_description: What is to be made in AWX, as data
description:
  - Reads the variables C(slb_awx_*), checks them, and gives what is to be made of them.
  - The role P(slb.fleet.awx_content#role) is made of it, and so are the playbooks C(slb.fleet.awx_setup) and
    C(slb.fleet.awx_files).
options:
  _terms:
    description:
      - V(steps), what is to be made in AWX and what is to be taken away, in the light of what is there. Asks AWX, as
        the modules of the collection C(awx.awx) do, with C(CONTROLLER_HOST) and so on from the environment.
      - >-
        V(files), the files of the project that AWX syncs, and the content as data for C(infra.aap_configuration),
        each by its path below C(slb_awx_dest), which begins where the command is run.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Show which files the project has
  ansible.builtin.debug:
    msg: "{{ (lookup('slb.fleet.awx_content', 'files')).keys() | list }}"
  vars:
    slb_awx_image: registry.example/slb-fleet:1
    slb_awx_project_url: https://git.example/slb.git
    slb_awx_base_url: https://console.example
    slb_awx_username: admin
"""

RETURN = r"""
_raw:
  description: The steps, or the content of each file by its path.
  type: dict
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._awx import content, files, settings, standing
from ansible_collections.slb.fleet.plugins.plugin_utils._awx.api import Awx
from ansible_collections.slb.fleet.plugins.plugin_utils.variables import value_of

_A_PAGE = {"page_size": 200}


class LookupModule(LookupBase):  # type: ignore[misc]
    def run(self, terms: list[Any], variables: Mapping[str, Any] | None = None, **options: Any) -> list[Any]:
        self.set_options(var_options=variables, direct=options)
        known = variables or {}
        try:
            names = [name for name in known if str(name).startswith(settings.PREFIX)]
            given = {str(name): _plain(value_of(name, known, self._templar)) for name in names}
            wanted = settings.settings_of(given)
            return [_files(wanted) if terms == ["files"] else _steps(wanted)]
        except FleetError as error:
            raise AnsibleError(str(error)) from None


def _files(wanted: dict[str, Any]) -> dict[str, str]:
    settings.check_for_content(wanted)
    # Of a playbook, a relative path would begin where the playbook lies: in the collection.
    folder = Path(wanted["dest"]).expanduser().absolute() if wanted["dest"] else Path()
    written = {f"project/{path}": text for path, text in files.project(wanted).items()}
    written[files.DATA_FILE] = files.data(content.content(wanted))
    return {str(folder / path): text for path, text in written.items()}


def _steps(wanted: dict[str, Any]) -> dict[str, Any]:
    is_absent = wanted["state"] == "absent"
    if not is_absent:
        settings.check_for_content(wanted)
    objects = [] if is_absent else content.content(wanted)
    with Awx.opened(wanted["collection"]) as awx:
        for variable, endpoint, query in standing.needed(wanted)[: 1 if is_absent else None]:
            standing.see_that_there_is_one(variable, endpoint, query["name"], len(awx.all(endpoint, query)))
        existing = standing.without_others_schedules(
            {
                kind: awx.all(
                    endpoint, standing.query(kind, [each.name for each in objects if each.kind == kind], wanted)
                )
                for kind, endpoint in standing.ENDPOINTS.items()
                if objects or kind != "label"
            }
        )
        used = _used_by_others(awx, existing, wanted)
        if is_absent:
            steps = {"make": [], "remove": list(standing.removals(existing, wanted, used=used))}
        else:
            place = standing.approved_by(existing, wanted)
            approving = awx.all(place, _A_PAGE) if place else []
            steps = standing.steps(objects, existing, _nodes(awx, existing, wanted), wanted, used, approving)
        hanging = [
            (each["name"], resource, found)
            for each in steps["remove"]
            for resource, field in standing.hangs_on(each["kind"])
            for found in awx.all(resource, {field: each["args"]["name"], **_A_PAGE})
        ]
        standing.see_that_nothing_of_others_goes(hanging, existing, wanted)
        return steps


def _used_by_others(awx: Awx, existing: Mapping[str, Any], wanted: dict[str, Any]) -> list[int]:
    """A type of credentials is everybody's: AWX does not take it away while there are some."""
    used = []
    for kind in existing["credential_type"]:
        credentials = awx.all("credentials", {"credential_type": kind["id"], **_A_PAGE})
        if not all(standing.is_ours("credential", each, wanted) for each in credentials):
            used.append(kind["id"])
    return used


def _nodes(awx: Awx, existing: Mapping[str, Any], wanted: dict[str, Any]) -> list[dict[str, Any]]:
    name = content.workflow_name(wanted)
    found = next((each for each in existing["workflow_job_template"] if each["name"] == name), None)
    if found is None:
        return []
    nodes = awx.all("workflow_job_template_nodes", {"workflow_job_template": found["id"], **_A_PAGE})
    for node in nodes:
        place = node.get("related", {}).get("unified_job_template")
        node["template"] = awx.one(place) if place else {}
    return nodes


def _plain(value: Any) -> Any:
    """Without what Ansible notes about where a value comes from."""
    return json.loads(json.dumps(value, default=str))
