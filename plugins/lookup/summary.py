# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Return the summary of the run for other programs."""

from __future__ import annotations

DOCUMENTATION = r"""
name: summary
author: slb.fleet contributors (@slb-fleet)
version_added: 1.0.0
short_description: Return the summary of the run
description:
  - Returns the summary that the callback P(slb.fleet.report#callback) has so far, smaller than 100 KB.
  - Empty if the callback is not enabled. The summary is as of the start of the C(ansible.builtin.set_stats) task.
options: {}
seealso:
  - plugin: slb.fleet.report
    plugin_type: callback
"""

EXAMPLES = r"""
- name: Publish the summary of the run
  ansible.builtin.set_stats:
    data:
      slb_fleet: "{{ lookup('slb.fleet.summary') }}"
"""

RETURN = r"""
_raw:
  description: Counts, groups of hosts by reason, the digest of the plan, and the limit for a next run.
  type: dict
  sample:
    playbook: slb.fleet.rollout
    counts:
      {hosts: 2, changed: 1, healthy: 1, done: 0, planned: 0, failed: 1, unreachable: 0, interrupted: 0, not_started: 0}
    complete: true
    groups: [{code: engine_stopped, status: failed, count: 1, hosts: [edge-7]}]
    again: edge-7
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible import constants
from ansible.plugins.lookup import LookupBase

from ansible_collections.slb.fleet.plugins.plugin_utils._report.summary import FILE


class LookupModule(LookupBase):  # type: ignore[misc]
    def run(self, terms: list[Any], variables: Mapping[str, Any] | None = None, **options: Any) -> list[Any]:
        try:
            return [json.loads((Path(constants.DEFAULT_LOCAL_TMP) / FILE).read_text(encoding="utf-8"))]
        except FileNotFoundError:
            return [{}]
