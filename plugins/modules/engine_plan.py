# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Implemented by the action plugin of the same name, which runs M(slb.fleet.host_info) on the host.

DOCUMENTATION = r"""
module: engine_plan
short_description: Make the plan of an engine host
version_added: 1.0.0
description:
  - Gathers facts about the engine host in one round trip, compares them with the deployment record and the engine list,
    and decides what to do. Changes nothing, unless O(record) tells it to record a verified engine.
  - The engine list is fetched once per run and management node, and shared by all hosts.
  - Does not fail if nothing safe can be done. RV(plan.action) is then V(fail), and RV(plan.fix) tells what to do.
  - The variables C(slb_*) of the host describe what is wanted. See the roles P(slb.fleet.host_preparation#role) and
    P(slb.fleet.engine_deployment#role). An empty variable is unset.
extends_documentation_fragment: [slb.fleet._attributes]
requirements:
  - requests, on the controller
attributes:
  diff_mode:
    details: Of the deployment record, with O(record).
  where:
    description: Gathers facts on the engine host with M(slb.fleet.host_info), and decides in the controller's process.
    support: full
options:
  phase:
    description:
      - V(check) - gather facts, and plan the host alone.
      - V(compare) - with O(planned), the result of the check, use its facts again. The host is not contacted. The other hosts of
        the run have been checked by then, so conflicts, O(ignore:slb_max_replaced) and O(ignore:slb_approved_plan) are applied
        to all of them.
      - V(deploy) - gather facts again, directly before an installation, and apply the same.
      - V(verify) - with O(planned), the result of M(slb.fleet.engine_install), check that deployment.
      - V(remediate) - as V(check), and the operator states that the engine list does not list the engine of this host. An earlier
        verification does not count then, and nothing is installed.
      - V(retire) - as V(remediate), for a host that gets no engine any more. The plan fails while the engine list shows the engine
        as running or deploying.
    type: str
    choices: [check, compare, deploy, verify, remediate, retire]
    default: check
  planned:
    description: Result of the task before for the same host, in the same run. See O(phase).
    type: dict
  record:
    description: Whether to write a verified engine to the deployment record if RV(plan.action) would be V(record). In the phases
      V(compare), V(deploy) and V(verify).
    type: bool
    default: false
  list_unknown_engines:
    description: Whether to return RV(unknown_engines). With O(phase=check), the first host of each management node has work
      left, for the comparison, when all hosts have been checked. In the phases V(check) and V(compare).
    type: bool
    default: false
  may_be_late:
    description: Whether to end the wait for this host when most hosts of the batch are healthy. In the phase V(verify). A task with
      it takes 4 s longer, in which it watches the batch, if the host is in progress.
    type: bool
    default: false
seealso:
  - module: slb.fleet.host_info
  - module: slb.fleet.engine_info
  - module: slb.fleet.engine_install
"""

EXAMPLES = r"""
- name: Make the plan
  slb.fleet.engine_plan:
  register: slb_plan

- name: Show the plan
  ansible.builtin.debug:
    msg: "{{ slb_plan.plan.action }}: {{ slb_plan.plan.summary }} {{ slb_plan.plan.fix }}"
"""

RETURN = r"""
plan:
  description: What to do, and why.
  returned: always
  type: dict
  contains:
    action:
      description:
        - V(none) - the engine is verified.
        - V(wait) - a deployment is in progress.
        - V(record) - record the verified engine.
        - V(restore) - restore what an interrupted run set aside.
        - V(start) - start the verified container, which stopped.
        - V(install) - request the installation.
        - V(replace) - set the container aside, then request the installation.
        - V(fail) - change nothing.
      type: str
    code:
      description: Stable code of the plan, such as V(healthy), V(not_installed) or V(unverified_container).
      type: str
    summary:
      description: Why.
      type: str
    fix:
      description: With V(fail), what to set or run.
      type: str
    steps:
      description: What a rollout would do, in its order.
      type: list
      elements: str
    verified_by:
      description: V(engine_list) or V(host) for a verified engine, else null.
      type: str
    moves_banner:
      description: Whether a rollout would move the login banner aside.
      type: bool
    engine_list:
      description: State of the engine in the engine list.
      type: str
    seen:
      description: The observed state, one phrase each.
      type: list
      elements: str
slb_host:
  description: Facts about the host, as of M(slb.fleet.host_info).
  returned: if there is something to do
  type: dict
  sample: {root: true, engine_container: {state: absent, runtime: docker}, record: {state: none}}
engine:
  description: The wanted engine, C(name), C(manage_ip) and C(base_url).
  returned: if the variables of the host are valid
  type: dict
  sample: {name: edge-1, manage_ip: 192.0.2.11, base_url: "https://console.example"}
work:
  description: What a rollout would do, in one line. An approved plan (C(slb_approved_plan)) consists of these lines.
  returned: if there is something to do
  type: str
  sample: "install: edge-1 192.0.2.11 https://console.example credential 1"
has_recorded:
  description: Whether the deployment record was changed.
  returned: with O(record), if there was something to record
  type: bool
has_deleted:
  description: Whether the container that was set aside was deleted (C(slb_remove_leftovers)).
  returned: with O(record), if there was something to record
  type: bool
unknown_engines:
  description: Engines of the engine list that no host of the run wants, for one host of each management node. Empty with C(--limit)
    or C(slb_hosts).
  returned: with O(list_unknown_engines)
  type: list
  elements: str
  sample: ["edge-9 (192.0.2.19)"]
requests:
  description: Number of install requests that this run has sent for the host.
  returned: if there is something to do
  type: int
  sample: 0
settings:
  description: Variables of the host that the roles' tasks need, in their types.
  returned: if there is something to do
  type: dict
  sample: {stop_timeout: 30, wait_timeout: 180, adopt_interfaces: false, allow_established: false, polls: 46, step_timeout: 60, check_mode: false}
"""
