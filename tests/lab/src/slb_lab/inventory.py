"""A lab as an Ansible inventory."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from slb_lab.folder import Folder
from slb_lab.management import ManagementNode

if TYPE_CHECKING:
    from slb_lab.lab import Host


def of(hosts: Mapping[str, "Host"], node: ManagementNode, folder: Folder) -> dict[str, Any]:
    """The group ``engines`` with all hosts, and the variables that the collection's playbooks take."""
    known = f"-o UserKnownHostsFile={folder.known_hosts} -o GlobalKnownHostsFile=/dev/null -o StrictHostKeyChecking=yes"
    return {
        "engines": {
            "hosts": {host.name: {"ansible_host": host.address} for host in hosts.values()},
            "vars": {
                "ansible_user": "root",
                "ansible_ssh_private_key_file": str(folder.private_key),
                "ansible_ssh_common_args": f"{known} -o IdentitiesOnly=yes",
                "ansible_python_interpreter": "/usr/bin/python3",
                "slb_base_url": node.base_url,
                "slb_username": node.username,
                "slb_password": node.password,
                "slb_tls_fingerprint": node.tls_fingerprint,
            },
        }
    }
