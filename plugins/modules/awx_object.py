#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: awx_object
short_description: Make, update or take away one object of AWX
version_added: 1.0.0
description:
  - Gives the object to the module of its kind in the collection C(awx.awx) or C(ansible.controller), and says of
    what AWX answers what it means and what to do next. It is what the role P(slb.fleet.awx_content#role) is made of.
  - The address of AWX and who logs in come from the environment, C(CONTROLLER_HOST), C(CONTROLLER_USERNAME),
    C(CONTROLLER_PASSWORD) or C(CONTROLLER_OAUTH_TOKEN), as those modules have it.
author: slb.fleet contributors (@slb-fleet)
extends_documentation_fragment:
  - slb.fleet.attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
    details: The modules of AWX show none.
options:
  kind:
    description: The name of the module.
    type: str
    required: true
    choices:
      - label
      - credential_type
      - credential
      - execution_environment
      - project
      - inventory
      - inventory_source
      - notification_template
      - job_template
      - workflow_job_template
      - schedule
      - role
  args:
    description: The options of that module.
    type: dict
    required: true
  secrets:
    description:
      - What is secret and left out of O(args), such as C(inputs.password), each with the name of the variable that holds
        it, one of C(slb_awx_*).
    type: dict
    default: {}
  collection:
    description: The collection that the module is taken from.
    type: str
    choices: [awx.awx, ansible.controller]
    default: awx.awx
  foretold:
    description:
      - In check mode, that the object would be made is known already. The module would fail, because something that the
        object needs is not there yet.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: See that there is a label
  slb.fleet.awx_object:
    kind: label
    args:
      name: slb.fleet
      organization: Default
"""

RETURN = r"""
id:
  description: The number of the object in AWX.
  returned: when AWX tells it
  type: int
  sample: 12
"""
