# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a run may begin another host."""

from __future__ import annotations

DOCUMENTATION = r"""
name: too_many_failed
author: slb.fleet contributors (@slb-fleet)
version_added: 1.0.0
short_description: Whether more hosts of this run have failed than it may have
description:
  - Counts the hosts that have failed or were unreachable, over all plays and batches of this collection in the run.
  - Where that is more than is allowed, it says so once.
options:
  _terms:
    description:
      - The value of C(slb_max_fail_hosts), a number of hosts or a percentage of the run's. Empty for any number.
      - The value of C(slb_slice), where this run is one of several, of which each has a share of that number.
    type: list
    elements: raw
"""

EXAMPLES = r"""
- name: End the batch where too many hosts have failed
  ansible.builtin.meta: end_batch
  when: lookup('slb.fleet.too_many_failed', slb_max_fail_hosts | default(none))
"""

RETURN = r"""
_raw:
  description: Whether no further host is to be begun.
  type: bool
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible import constants
from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase
from ansible.utils.display import Display

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._run_store import RunStore
from ansible_collections.slb.fleet.plugins.plugin_utils._settings import setting
from ansible_collections.slb.fleet.plugins.plugin_utils._slices import is_exceeded


class LookupModule(LookupBase):  # type: ignore[misc]
    def run(self, terms: list[Any], variables: Mapping[str, Any] | None = None, **options: Any) -> list[bool]:
        try:
            limit, slice_ = (
                setting(name, value) for name, value in zip(("max_fail_hosts", "slice"), (*terms, None), strict=False)
            )
            return [limit is not None and self._is_over(slice_.share(limit), variables or {})]
        except FleetError as error:
            raise AnsibleError(str(error)) from error

    @staticmethod
    def _is_over(limit: int | str, variables: Mapping[str, Any]) -> bool:
        store = RunStore.of_run(Path(constants.DEFAULT_LOCAL_TMP))
        named = variables.get("ansible_play_hosts_all", ())
        # Of this play Ansible knows them, whatever failed; in earlier ones hosts were looked at, and nothing else.
        failed = store.troubled() | set(named).difference(variables.get("ansible_play_hosts", ()))
        fleet = store.fleet(len(named))
        if not is_exceeded(limit, len(failed), fleet):
            return False
        if store.is_news("too many have failed", ""):
            Display().warning(
                f"{len(failed)} of {fleet} hosts have failed, and slb_max_fail_hosts allows {limit}: no further host "
                "is begun, and those that are under way are brought to their end."
            )
        return True
