# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a run may begin another host."""

from __future__ import annotations

DOCUMENTATION = r"""
name: too_many_failed
author: slb.fleet contributors (@slb-fleet)
version_added: 1.0.0
short_description: Check whether too many hosts of the last batch failed
description:
  - Returns whether more hosts of the last batch failed than C(slb_max_fail_percentage) allows.
  - Ansible's own keyword would also end a play between two steps of a host.
options:
  _terms:
    description: The value of C(slb_max_fail_percentage).
    type: list
    elements: raw
"""

EXAMPLES = r"""
- name: End the batch after too many failures
  ansible.builtin.meta: end_batch
  when: lookup('slb.fleet.too_many_failed', slb_max_fail_percentage | default(none))
"""

RETURN = r"""
_raw:
  description: Whether no further host may be started.
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


class LookupModule(LookupBase):  # type: ignore[misc]
    def run(self, terms: list[Any], variables: Mapping[str, Any] | None = None, **options: Any) -> list[bool]:
        known = variables or {}
        try:
            allowed = setting("max_fail_percentage", terms[0])
            store = RunStore.of_run(Path(constants.DEFAULT_LOCAL_TMP))
            batch, begins = store.batch(), set(known.get("ansible_play_batch", ()))
            if batch & begins:  # with the strategy free, each host of a batch evaluates this lookup
                return [False]
            hosts = set(known.get("ansible_play_hosts_all", ()))
            failed = batch & hosts.difference(known.get("ansible_play_hosts", ()))
            if 100 * len(failed) <= allowed * len(batch):
                store.note_batch(begins)
                return [False]
            if store.is_news("too many of a batch have failed", ""):
                Display().warning(
                    f"{len(failed)} of {len(batch)} hosts of the last batch failed; slb_max_fail_percentage allows "
                    f"{allowed:g} %. No further host is started."
                )
        except FleetError as error:
            raise AnsibleError(str(error)) from error
        return [True]
