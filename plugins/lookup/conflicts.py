# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the hosts of a run stand in each other's way."""

from __future__ import annotations

DOCUMENTATION = r"""
name: conflicts
author: slb.fleet contributors (@slb-fleet)
version_added: 1.0.0
short_description: Whether hosts of this run want what cannot be had together
description:
  - What M(slb.fleet.engine_plan) has decided about a host may be another thing in the light of the hosts that were
    looked at after it. That is so where two hosts want one name or one address, and where more running containers
    would be taken away on the list's word alone than C(slb_max_replaced) allows. Where neither is so, no host needs
    to be asked again.
options:
  _terms:
    description: None.
"""

EXAMPLES = r"""
- name: Decide anew
  hosts: "{{ 'engines' if lookup('slb.fleet.conflicts') else '!all' }}"
  tasks:
    - name: See what the looks at all hosts say together
      slb.fleet.engine_plan:
        so_far: "{{ slb_plan }}"
        look: false
"""

RETURN = r"""
_raw:
  description: Whether there are any, among the hosts that were looked at so far.
  type: bool
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible import constants
from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._run_store import RunStore


class LookupModule(LookupBase):  # type: ignore[misc]
    def run(self, terms: list[Any], variables: Mapping[str, Any] | None = None, **options: Any) -> list[bool]:
        try:
            return [RunStore.of_run(Path(constants.DEFAULT_LOCAL_TMP)).has_conflicts()]
        except FleetError as error:
            raise AnsibleError(str(error)) from error
