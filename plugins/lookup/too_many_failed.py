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
      - The value of C(slb_max_fail_percentage), where a batch begins; it is about the hosts of the batch before.
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
from ansible_collections.slb.fleet.plugins.plugin_utils._slices import Slice, is_exceeded

_TERMS = ("max_fail_hosts", "slice")


class LookupModule(LookupBase):  # type: ignore[misc]
    def run(self, terms: list[Any], variables: Mapping[str, Any] | None = None, **options: Any) -> list[bool]:
        try:
            limit, slice_ = (setting(name, value) for name, value in zip(_TERMS, (*terms, None), strict=False))
            store = RunStore.of_run(Path(constants.DEFAULT_LOCAL_TMP))
            is_over = limit is not None and self._is_over(limit, slice_, store, variables or {})
            if len(terms) > len(_TERMS) and not is_over:
                percentage = setting("max_fail_percentage", terms[-1])
                is_over = self._was_batch_bad(percentage, store, variables or {})
            return [is_over]
        except FleetError as error:
            raise AnsibleError(str(error)) from error

    @staticmethod
    def _is_over(allowed: int | str, slice_: Slice, store: RunStore, variables: Mapping[str, Any]) -> bool:
        named = variables.get("ansible_play_hosts_all", ())
        # Of this play Ansible knows them, whatever failed; in earlier ones hosts were looked at, and nothing else.
        failed = store.troubled() | _failed_in_this_play(variables)
        fleet = store.fleet(len(named))
        limit = slice_.share(allowed)
        if not is_exceeded(limit, len(failed), fleet):
            return False
        if store.is_news("too many have failed", ""):
            within = "" if slice_.count == 1 else " in this slice"
            Display().warning(
                f"{len(failed)} of {fleet} hosts have failed, and slb_max_fail_hosts allows {limit}{within}: no "
                "further host is begun, and those that are under way are brought to their end."
            )
        return True

    @staticmethod
    def _was_batch_bad(percentage: float, store: RunStore, variables: Mapping[str, Any]) -> bool:
        batch, begins = store.batch(), set(variables.get("ansible_play_batch", ()))
        if batch & begins:  # under the strategy free, each of its hosts comes here
            return False
        failed = batch & _failed_in_this_play(variables)
        if not batch or not is_exceeded(f"{percentage}%", len(failed), len(batch)):
            store.note_batch(begins)
            return False
        if store.is_news("too many of a batch have failed", ""):
            Display().warning(
                f"{len(failed)} of {len(batch)} hosts of the last batch have failed, and slb_max_fail_percentage "
                f"allows {percentage:g} %: no further host is begun."
            )
        return True


def _failed_in_this_play(variables: Mapping[str, Any]) -> set[str]:
    return set(variables.get("ansible_play_hosts_all", ())).difference(variables.get("ansible_play_hosts", ()))
