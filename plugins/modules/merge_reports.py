#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Implemented by the action plugin of the same name, in the controller's own process.

DOCUMENTATION = r"""
module: merge_reports
short_description: Merge the reports of several runs
version_added: 1.0.0
description:
  - Makes one report of several, with one list of hosts for a next run. Each slice of a fleet has a report of its own.
  - If a host is in several reports, the latest one counts.
extends_documentation_fragment: [slb.fleet._attributes, slb.fleet._attributes.controller]
attributes:
  diff_mode:
    support: none
    details: Each run writes a new report.
options:
  reports:
    description: Files C(report.json), or folders that contain one.
    type: list
    elements: path
    required: true
  dest:
    description: Folder for the merged report. It is created if it is missing.
    type: path
    required: true
seealso:
  - plugin: slb.fleet.report
    plugin_type: callback
"""

EXAMPLES = r"""
- name: Merge the reports of two slices
  slb.fleet.merge_reports:
    reports: [reports/slice-1, reports/slice-2]
    dest: reports/whole
"""

RETURN = r"""
dest:
  description: Folder of the merged report.
  returned: success
  type: str
  sample: /srv/fleet/reports/merged
counts:
  description: Number of hosts, and of hosts of each status.
  returned: success
  type: dict
  sample: {hosts: 200, changed: 3, healthy: 199, done: 0, planned: 0, failed: 1, unreachable: 0, interrupted: 0, not_started: 0}
retry:
  description: Hosts for a next run, as in the file C(retry).
  returned: success
  type: list
  elements: str
  sample: [edge-7]
report:
  description: Lines that the callback P(slb.fleet.report#callback) would show.
  returned: success
  type: list
  elements: str
  sample: ["Result:  FAILED   199 healthy, 1 failed   4 min 12 s", "  1 x engine_stopped   edge-7"]
"""
