# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the license of a host's management node goes."""

from __future__ import annotations

DOCUMENTATION = r"""
name: license_place
author: slb.fleet contributors (@slb-fleet)
version_added: 1.0.0
short_description: Where the license of the host's management node goes
description:
  - Gives what C(slb_base_url), C(slb_license_dest), C(slb_license_host) and C(slb_license_backup) of the host
    say, evaluated without facts as by P(slb.fleet.setting#lookup), and whether the license can go there.
  - For the playbook C(slb.fleet.download_license), which downloads once for all hosts of a group.
options:
  _terms:
    description: None.
    type: list
    elements: str
  asking:
    description:
      - Give the hosts for a play instead, one of each group that has been made so far, with whose connection its
        license is downloaded; C(!all) where there is no group.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Say where the license goes
  ansible.builtin.debug:
    msg: "{{ lookup('slb.fleet.license_place').dest }}"
"""

RETURN = r"""
_raw:
  description:
    - C(dest), the path; null where none is wanted. C(host), the host of the inventory that keeps the file; empty for
      the controller. C(backup), whether a copy is kept. C(node), the address of the management node, or
      that there is none. C(or_not_kept), words for a message about a download, of the host that keeps the file; empty
      for the controller.
    - C(group), the name for the group of the hosts that have node and file in common; empty without a path.
    - C(trouble), why the license cannot go there, and what to do; empty if it can. Two nodes with one file are seen
      when the groups have been made, and all of them when each has been looked at.
  type: list
  elements: raw
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible import constants
from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._job_container import lost_with_job
from ansible_collections.slb.fleet.plugins.plugin_utils._license_place import LicensePlace, asking
from ansible_collections.slb.fleet.plugins.plugin_utils._misspelt import say_unknown_variables
from ansible_collections.slb.fleet.plugins.plugin_utils._options import refuse_facts
from ansible_collections.slb.fleet.plugins.plugin_utils._run_store import RunStore
from ansible_collections.slb.fleet.plugins.plugin_utils._settings import stated_setting
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import without_facts


class LookupModule(LookupBase):  # type: ignore[misc]
    def run(self, terms: list[Any], variables: Mapping[str, Any] | None = None, **options: Any) -> list[Any]:
        self.set_options(var_options=variables, direct=options)
        known = variables or {}
        if self.get_option("asking"):
            return asking(known.get("groups", {}))
        store, asks = RunStore.of_run(Path(constants.DEFAULT_LOCAL_TMP)), str(known["inventory_hostname"])
        say_unknown_variables(known, asks, store)
        try:
            refuse_facts(known)
            with without_facts(known, self._templar) as stated:
                node, dest, host, backup = (
                    stated_setting(name, stated, self._templar)
                    for name in ("base_url", "license_dest", "license_host", "license_backup")
                )
        except FleetError as error:
            raise AnsibleError(str(error)) from error
        told = {"node": str(node) or "no slb_base_url", "dest": dest, "host": host or "", "backup": backup}
        told |= {"group": "", "trouble": "", "or_not_kept": f", or it could not be kept on {host}" if host else ""}
        if dest is None:
            return [told]
        place = LicensePlace(str(node), dest, host or "")
        try:
            place.refuse(
                asks,
                known["groups"],
                store.same_license_file(asks),
                known["hostvars"],
                _is_here(place.host, known),
                lost_with_job,
            )
        except FleetError as error:
            told["trouble"] = str(error)
        return [{**told, "group": place.group}]


def _is_here(host: str, known: Mapping[str, Any]) -> bool:
    """The controller's own name is known without the inventory."""
    if host in constants.LOCALHOST:
        return True
    is_known = bool(host) and host in known["hostvars"]
    return is_known and str(known["hostvars"][host].get("ansible_connection", "")).endswith("local")
