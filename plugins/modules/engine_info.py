#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: engine_info
short_description: Read the engine list of the management node
version_added: 1.0.0
description:
  - Reads the engine list that the web console shows. The API documents no such call, so O(engine_list) configures it.
  - All pages of the list are read. A page that is repeated, and a list that is not as configured, are errors.
  - RV(complete) returns whether an engine that the list does not have is known not to exist.
extends_documentation_fragment: [slb.fleet._attributes, slb.fleet._attributes.controller, slb.fleet._management_node]
attributes:
  diff_mode:
    support: none
    details: The module changes nothing.
options:
  engine_list:
    description: The configuration of the engine list. Nested keys are joined by dots.
    type: dict
    required: true
    suboptions:
      path:
        description:
          - The path of the request below O(base_url), with its query.
          - It should give all engines in one answer, unless O(engine_list.page_parameter) is set.
        type: str
        required: true
      items:
        description:
          - The keys that lead to the list in the JSON answer. Leave it out if the answer is the list.
          - A number is an index of a list, and V(*) stands for each member, as in V(groups.*.engines).
        type: str
        default: ""
      name:
        description: The field of an item that holds the engine's name.
        type: str
        required: true
      address:
        description: >-
          The field of an item that holds the address of the engine host. A port or a URL around the address is ignored.
        type: str
        required: true
      state:
        description: The field of an item that holds the engine's state.
        type: str
        required: true
      running:
        description: The words of the management node for a running engine. Quote numbers and booleans.
        type: list
        elements: str
        required: true
      deploying:
        description: The words for an engine whose deployment is in progress.
        type: list
        elements: str
        default: []
      failed:
        description: The words for an engine whose deployment failed.
        type: list
        elements: str
        default: []
      total:
        description:
          - The keys that lead to the number of all engines in the JSON answer, such as V(data.total), or a header, such
            as V(header:X-Total-Count).
          - By default, a member V(total), V(totalCount), V(total_count) or V(totalElements) at the top of the answer or
            on the way to the list.
        type: str
        default: ""
      complete:
        description:
          - Whether the list has all engines, although no total shows it.
          - A list that reports a larger total, or has as many engines as a number in its path, is never complete.
        type: bool
      page_parameter:
        description:
          - The parameter of the query that selects the page, such as V(page) or V(offset).
          - With it, pages are read until the total is reached, or a page is empty, V(null), HTTP 204 or 404.
        type: str
        default: ""
      first_page:
        description: The value of O(engine_list.page_parameter) for the first page, V(0) or more.
        type: int
        default: 1
      page_step:
        description: >-
          V(1) - the parameter counts pages. More - it counts engines: it grows by the number of engines on each page.
        type: int
        default: 1
seealso:
  - module: slb.fleet.engine
"""

EXAMPLES = r"""
- name: Read the engine list
  slb.fleet.engine_info:
    base_url: https://console.example
    username: admin
    password: "{{ vault_slb_password }}"
    tls_fingerprint: "{{ slb_tls_fingerprint }}"
    engine_list:
      path: /console/engines
      items: data.items
      name: engine_name
      address: ip
      state: status
      running: [running]
      deploying: [deploying]
      failed: [failed]
  register: result
"""

RETURN = r"""
engines:
  description: The engines in the list.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The engine's name.
      type: str
    address:
      description: The address of its host.
      type: str
    state:
      description: V(running), V(deploying), V(failed), or V(unmapped) for a word without a meaning in O(engine_list).
      type: str
    console_state:
      description: The management node's own word.
      type: str
  sample:
    - {name: edge-1, address: 192.0.2.11, state: running, console_state: running}
complete:
  description: Whether an engine that the list does not have is known not to exist.
  returned: success
  type: bool
incomplete_cause:
  description: Why RV(complete) is V(false), and what to set.
  returned: success
  type: str
  sample: ""
unmapped:
  description: The words in the list that have no meaning in O(engine_list), sorted.
  returned: success
  type: list
  elements: str
  sample: [upgrading]
"""

from typing import Any, Dict

from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client, run_client_module
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import (
    ARGUMENTS,
    UNMAPPED,
    EngineList,
    fetch_engines,
)
from ansible_collections.slb.fleet.plugins.module_utils._result import Result


def operation(client: Client, options: Dict[str, Any], check_mode: bool) -> Result:
    """Read the engine list."""
    engines, gap = fetch_engines(client, EngineList.from_option(options["engine_list"]))[:2]
    unmapped = sorted({engine["console_state"] for engine in engines if engine["state"] == UNMAPPED})
    cause = "%s. %s" % (gap.cause, gap.fix) if gap.kind else ""
    values = {"engines": engines, "unmapped": unmapped, "complete": not gap.kind, "incomplete_cause": cause}
    return Result(False, values)


def main() -> None:
    run_client_module(ARGUMENTS, operation)


if __name__ == "__main__":
    main()
