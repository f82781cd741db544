#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Implemented by the action plugin of the same name, in the controller's own process.

DOCUMENTATION = r"""
module: merge_reports
short_description: Make one report of those of several runs
version_added: 1.0.0
description:
  - Where slices of a fleet are run side by side, each makes a report of its own. This makes one of them, with one list of
    the hosts for a next run.
  - Of a host that is in several, what the run says that was heard of last counts.
author: slb.fleet contributors (@slb-fleet)
extends_documentation_fragment:
  - slb.fleet.attributes
  - slb.fleet.attributes.controller
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
    details: What is written is a report, which is new with each run.
options:
  reports:
    description: Files C(report.json), or folders that contain one.
    type: list
    elements: path
    required: true
  dest:
    description: The folder for the one report. It is made where it is not there.
    type: path
    required: true
"""

EXAMPLES = r"""
- name: Make one report of two slices
  slb.fleet.merge_reports:
    reports: [reports/slice-1, reports/slice-2]
    dest: reports/whole
"""

RETURN = r"""
dest:
  description: The folder with the one report.
  returned: success
  type: str
counts:
  description: Hosts, and how many of them have which status.
  returned: success
  type: dict
retry:
  description: The hosts for a next run, as in the file C(retry).
  returned: success
  type: list
  elements: str
report:
  description: What the callback P(slb.fleet.report#callback) would have said of it.
  returned: success
  type: list
  elements: str
"""
