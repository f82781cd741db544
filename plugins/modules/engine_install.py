# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Implemented by the action plugin of the same name, which runs M(slb.fleet.engine_container) on the host.

DOCUMENTATION = r"""
module: engine_install
short_description: Install an engine, and set its leftover aside
version_added: 1.0.0
description:
  - Carries out one plan of M(slb.fleet.engine_plan) on one engine host.
  - Checks that the plan still holds, sets the container C(slb) aside if the plan says so, records the request on the host, and
    requests the installation. If the request is not sent, or the management node rejects it, the container is restored.
  - Does not wait for the end of the installation.
extends_documentation_fragment: [slb.fleet._attributes, slb.fleet._attributes.engine_host]
options:
  plan:
    description:
      - Result of M(slb.fleet.engine_plan) for this host, in the same run.
      - The variables C(slb_*) of the host describe what is wanted.
    type: dict
    required: true
seealso:
  - module: slb.fleet.engine_plan
  - module: slb.fleet.engine_container
"""

EXAMPLES = r"""
- name: Plan the engine
  slb.fleet.engine_plan:
  register: planned

- name: Carry out the plan
  slb.fleet.engine_install:
    plan: "{{ planned }}"
  when: planned.plan.action in ['install', 'replace']
"""

RETURN = r"""
outcome:
  description:
    - V(requested) - the management node has accepted the request.
    - V(unknown) - the request was sent, and its outcome is unknown. It may have been accepted.
    - V(exists), V(port_in_use), V(rejected) - the task fails, and the host is unchanged or restored.
  returned: always, except in check mode and if no request was sent
  type: str
  sample: requested
requests:
  description: Number of install requests that this run has sent for the host.
  returned: success
  type: int
  sample: 1
request_id:
  description: Identifier of the request in the deployment record.
  returned: success
  type: str
  sample: 6f1d3c0a9b5e4f7a8c2d1e0f9a8b7c6d
set_aside_as:
  description: New name of the container that was set aside; null if there was none.
  returned: success
  type: str
  sample: slb-leftover-20261120T131400Z
restored:
  description: Whether a container was restored.
  returned: if the task failed after a change
  type: bool
"""
