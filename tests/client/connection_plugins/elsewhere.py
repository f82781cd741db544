"""A connection that is not local to Ansible, to a host that is this one: for tasks that are delegated."""

from ansible.plugins.connection.local import Connection as LocalConnection

DOCUMENTATION = """
name: elsewhere
short_description: This machine, as if it were another
description: Runs commands here, while Ansible takes it for another host.
author: slb.fleet contributors
extends_documentation_fragment:
  - connection_pipelining
"""


class Connection(LocalConnection):
    transport = "elsewhere"
