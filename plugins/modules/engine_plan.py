# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Implemented by the action plugin of the same name, which runs M(slb.fleet.host_info) on the host.

DOCUMENTATION = r"""
module: engine_plan
short_description: Decide what is to be done about the engine of a host, and say why
version_added: 1.0.0
description:
  - Looks at the engine host, in one round trip, compares it with the console's list of engines where that is described,
    and decides. It changes nothing, unless O(record) asks it to note what is verified.
  - The list is read once a run and management node, and shared by all hosts. Before a container is stopped or an install
    is asked for, a reading is not older than O(max_reading_age).
  - Before it says V(install) or V(replace), it is known that the install can be asked for. The request is valid, the login
    succeeds, and the record can be written on the host.
  - Fails where nothing safe can be done, for that host alone, and says what to do.
  - What is wanted comes from the host's variables C(slb_*), see the roles P(slb.fleet.host_preparation#role) and
    P(slb.fleet.engine_deployment#role). A variable that is empty counts as not set.
author: slb.fleet contributors (@slb-fleet)
extends_documentation_fragment:
  - slb.fleet.attributes
requirements:
  - requests, on the controller
attributes:
  check_mode:
    support: full
    details: With O(so_far) and O(look), check mode returns O(so_far) as it is, because nothing was done since.
  diff_mode:
    support: full
    details: Of the record, with O(record).
  where:
    description: Looks at the engine host by M(slb.fleet.host_info); decides in the controller's own process.
    support: full
options:
  so_far:
    description: The result of the task of this module that went before, in the same run and for the same host.
    type: dict
  done:
    description: The result of the task that did what RV(plan.action) of O(so_far) says.
    type: dict
    default: {}
  look:
    description:
      - V(false) does not look at the host again, and decides anew about what O(so_far) has seen, in the light of what
        the looks at the other hosts of the run have shown since.
    type: bool
    default: true
  measure_motd:
    description: Measure what a login on the host prints, too.
    type: bool
    default: false
  max_reading_age:
    description: How old a reading of the console's list may be, in seconds. Any of this run serves where it is left out.
    type: float
  wait:
    description:
      - Where waiting is what is to be done, wait, look again and decide again.
      - Where O(so_far) is held back, or there was nothing to do, it is returned as it is.
    type: bool
    default: false
  record:
    description:
      - Where the decision is V(record), note in the host's record that the engine runs, as M(slb.fleet.engine_record) does,
        look again and decide again. Also where O(so_far) says so.
    type: bool
    default: false
  unlisted:
    description:
      - The operator says of this host, by its name, that the console does not list its engine. A proof of the past does
        not count then, and no install follows.
    type: bool
    default: false
  report_only:
    description: Do not fail where nothing safe can be done.
    type: bool
    default: false
  must_be_healthy:
    description:
      - Fail unless the engine is verified, whatever would be done about it; and tell which engines the console's list shows
        that no host of the run wants, where the run is not limited.
    type: bool
    default: false
  begins:
    description: What is decided is about to be done, and all hosts of the run have been looked at; for C(slb_approved_plan).
    type: bool
    default: false
  group:
    description: The group to put the host into if something is to be done about it.
    type: str
  license_group:
    description: The group to put the host into if its variables name a file for the license.
    type: str
seealso:
  - module: slb.fleet.host_info
  - module: slb.fleet.engine_info
  - module: slb.fleet.engine_record
"""

EXAMPLES = r"""
- name: Look at the host and decide
  slb.fleet.engine_plan:
  register: slb_plan

- name: Say what would be done
  ansible.builtin.debug:
    msg: "{{ slb_plan.plan.action }}: {{ slb_plan.plan.reason }}"
"""

RETURN = r"""
plan:
  description: What is to be done, and why.
  returned: where the variables of the host can be used, also where the task fails
  type: dict
  contains:
    action:
      description:
        - V(none), the engine is verified to run. V(record), note that in the record. V(wait). V(install), ask for an
          install. V(replace), take the container out of the way, then ask. V(restore), undo that. V(fail).
      type: str
    reason:
      description: Why, in a sentence or two.
      type: str
    code:
      description: The same in one word, such as V(healthy), V(not_installed) or V(unverified_container), of those that docs/report.md lists.
      type: str
    evidence:
      description: What was seen, a phrase each.
      type: list
      elements: str
    verified_by:
      description:
        - V(engine_list), the list that this run has read shows the engine as running. V(host), the host alone proves it. Null otherwise.
      type: str
    wait_seconds:
      description: With V(wait), how long at most.
      type: float
    wait_for:
      description: With V(wait), V(host), for the engine to come up, or V(engine_list), for its list to be up to date.
      type: str
    because:
      description: With V(replace), on whose word, V(list), V(operator), V(record) or V(ended).
      type: str
    console:
      description: What the console's list says of the engine.
      type: str
  sample:
    action: nothing
    reason: The engine runs in the container that the record names, and the console lists it as running.
    evidence: ["container slb: running for 86400 s", "record: verified, of this engine and container", "console's list: running"]
    verified_by: console
slb_host:
  description: What was seen of the host, as RV(slb.fleet.host_info#module:slb_host).
  returned: where the task does not fail, and the host joins O(group) if that is given
  type: dict
engine:
  description: Which engine is wanted, C(name), C(manage_ip), C(base_url), and in C(trouble) why no install can be asked for.
  returned: where the task does not fail
  type: dict
recorded:
  description:
    - What the host's record said, C(state), C(name), C(manage_ip), C(base_url) and C(verified_before), as far as there is one.
    - C(set_aside) is whether the container that it proves is gone because it was taken out of the way on the operator's word.
  returned: where the variables of the host can be used, also where the task fails
  type: dict
work:
  description:
    - The same in one line, with the engine, its address and management node, the container that is there, the credential,
      and what else was asked for. A plan (C(slb_approved_plan)) is of these.
  returned: where something is to be done
  type: str
has_recorded:
  description: It was noted in the host's record that the engine runs.
  returned: with O(record), where the record said something else before
  type: bool
unknown_engines:
  description: >-
    The engines that the console's list shows and no host of its management node wants, told for one of these hosts. Of
    one at whose address another management node has a host, that one is named.
  returned: with O(must_be_healthy=true)
  type: list
  elements: str
settings:
  description: The values of the host's variables, by their names without C(slb_), in their own types.
  returned: where the task does not fail, and the host joins O(group) if that is given
  type: dict
progress:
  description: What this run has done about the host so far.
  returned: where the host joins O(group) if that is given, or where the task fails
  type: dict
"""
