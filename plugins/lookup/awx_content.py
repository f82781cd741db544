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
  - It is what the role P(slb.fleet.awx_content#role) and the playbooks C(slb.fleet.awx_setup) and C(slb.fleet.awx_files) are made of.
options:
  _terms:
    description:
      - V(steps), what is to be made in AWX and what is to be taken away there, in the light of what is there. Asks AWX, as
        the modules of the collection C(awx.awx) do, with C(CONTROLLER_HOST) and so on from the environment.
      - V(files), the files of the project that AWX syncs, and the content as data for C(infra.aap_configuration).
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
from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.loader import lookup_loader
from ansible.plugins.lookup import LookupBase

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._awx import content, files, settings, standing
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import value_of


class LookupModule(LookupBase):  # type: ignore[misc]
    def run(self, terms: list[Any], variables: Mapping[str, Any] | None = None, **options: Any) -> list[Any]:
        self.set_options(var_options=variables, direct=options)
        known = variables or {}
        try:
            names = [name for name in known if str(name).startswith(settings.PREFIX)]
            given = {str(name): _plain(value_of(name, known, self._templar)) for name in names}
            wanted = settings.settings_of(given)
            return [self._files(wanted) if terms == ["files"] else self._steps(wanted, known)]
        except FleetError as error:
            raise AnsibleError(str(error)) from None

    def _files(self, wanted: dict[str, Any]) -> dict[str, str]:
        settings.check_for_content(wanted)
        written = {f"project/{path}": text for path, text in files.project(wanted).items()}
        return {**written, files.DATA_FILE: files.data(content.content(wanted))}

    def _steps(self, wanted: dict[str, Any], variables: Mapping[str, Any]) -> dict[str, Any]:
        if wanted["state"] == "absent":
            existing = self._existing([], wanted, variables)
            return {"make": [], "remove": list(standing.removals(existing, wanted))}
        settings.check_for_content(wanted)
        objects = content.content(wanted)
        existing = self._existing(objects, wanted, variables)
        nodes = self._nodes(existing, wanted, variables)
        return standing.steps(objects, existing, nodes, wanted)

    def _existing(
        self, objects: list[content.Object], wanted: dict[str, Any], variables: Mapping[str, Any]
    ) -> dict[str, list[dict[str, Any]]]:
        return {
            kind: self._ask(
                endpoint,
                standing.query(kind, [each.name for each in objects if each.kind == kind], wanted),
                wanted,
                variables,
            )
            for kind, endpoint in standing.ENDPOINTS.items()
            if objects or kind != "label"
        }

    def _nodes(
        self, existing: Mapping[str, Any], wanted: dict[str, Any], variables: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        name = content.workflow_name(wanted)
        found = [each for each in existing["workflow_job_template"] if each["name"] == name]
        if not found:
            return []
        nodes = self._ask(
            "workflow_job_template_nodes", {"workflow_job_template": found[0]["id"], "page_size": 200}, wanted, variables
        )
        for node in nodes:
            place = node.get("related", {}).get("unified_job_template")
            node["template"] = self._ask(place, {}, wanted, variables)[0] if place else {}
        return nodes

    def _ask(
        self, endpoint: str, query: dict[str, Any], wanted: dict[str, Any], variables: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        name = f"{wanted['collection']}.controller_api"
        lookup = lookup_loader.get(name, loader=self._loader, templar=self._templar)
        if lookup is None:
            raise FleetError(
                f"The collection {wanted['collection']} is not installed where this runs.",
                "Install it (ansible-galaxy collection install awx.awx; the PyPI package ansible 13 has it, too), or "
                "name the other one with slb_awx_collection: awx.awx or ansible.controller.",
            )
        found: list[dict[str, Any]] = lookup.run(
            [endpoint], variables=variables, query_params=query, return_all=True, return_objects=True, max_objects=10_000
        )
        return found


def _plain(value: Any) -> Any:
    """Without what Ansible notes about where a value comes from."""
    return json.loads(json.dumps(value, default=str))
