#!/usr/bin/python
# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: login
short_description: Check the credentials of the management node
version_added: 1.0.0
description:
  - Logs in to the management node and returns the session.
  - Other tasks do not need it, because they log in when necessary. Use it to check credentials and certificate first, or
    to pass the session to another task.
  - If a task of the same run has logged in already, returns that session without a second login.
extends_documentation_fragment: [slb.fleet._attributes, slb.fleet._attributes.controller, slb.fleet._management_node]
attributes:
  check_mode:
    details: Logs in as without check mode, because only the session changes.
  diff_mode:
    support: none
    details: There is nothing to compare.
seealso:
  - module: slb.fleet.license
  - module: slb.fleet.engine
"""

EXAMPLES = r"""
- name: Check the credentials before the fleet is touched
  slb.fleet.login:
    base_url: https://console.example
    username: admin
    password: "{{ vault_slb_password }}"
    tls_fingerprint: "{{ slb_tls_fingerprint }}"
  run_once: true
  register: login

- name: Save the license on another host
  slb.fleet.license:
    base_url: https://console.example
    sessionid: "{{ login.sessionid }}"
    dest: /etc/slb/license
  delegate_to: backup.example
"""

RETURN = r"""
sessionid:
  description: The session. The callbacks do not show the result of this task, so that it stays out of the logs.
  returned: success
  type: str
  sample: 4c1p0z8k2m7q5v9x3b6n1d4f8h2j7s0w
tls_fingerprint:
  description: The SHA-256 fingerprint of the certificate that the management node presented, as C(openssl x509) prints it.
  returned: success
  type: str
  sample: "9F:86:D0:81:88:4C:7D:65:9A:2F:EA:A0:C5:5A:D0:15:A3:BF:4F:1B:2B:0B:82:2C:D1:5D:6C:15:B0:F0:0A:08"
"""

from typing import Any, Dict

from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import (
    CONNECTION_ARGUMENTS as ARGUMENTS,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client, run_client_module
from ansible_collections.slb.fleet.plugins.module_utils._result import Result
from ansible_collections.slb.fleet.plugins.module_utils._values import invalid


def operation(client: Client, options: Dict[str, Any], check_mode: bool) -> Result:
    """Return the session of the run; log in if there is none."""
    if options["sessionid"]:
        raise invalid("sessionid", "a login makes a session of its own", "Remove sessionid from this task.")
    session = client.log_in()
    return Result(False, {"sessionid": session.id, "tls_fingerprint": session.tls_fingerprint})


def main() -> None:
    run_client_module(ARGUMENTS, operation)


if __name__ == "__main__":
    main()
