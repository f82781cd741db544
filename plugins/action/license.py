# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Download the license in the controller's process, and have ``ansible.legacy.copy`` write the file."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from pathlib import Path
from typing import Any

from ansible import constants

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import (
    Connection,
    Options,
    expand_home,
    read_number,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils._management_node.license import ARGUMENTS, download_license
from ansible_collections.slb.fleet.plugins.plugin_utils._job_container import lost_with_job
from ansible_collections.slb.fleet.plugins.plugin_utils._management_node_action import ManagementNodeAction
from ansible_collections.slb.fleet.plugins.plugin_utils._options import with_defaults
from ansible_collections.slb.fleet.plugins.plugin_utils._run_cache import RunCache

_OF_THE_COPY = ("dest", "owner", "group", "mode", "backup")
# Without the diff, which would show the license.
_RETURNED = ("changed", "failed", "msg", "backup_file")


class ActionModule(ManagementNodeAction):
    argument_spec = ARGUMENTS
    has_module = False  # a delegated host gets the file and no credentials

    def _run_here(self, given: Options) -> dict[str, Any]:
        options = with_defaults(ARGUMENTS, given)
        connection = Connection.from_options(options)
        most = read_number("max_size", options["max_size"], 1, 2**31 - 1)
        is_local = not self._task.delegate_to or self._connection.transport == "local"
        if is_local:
            # Of the folder of the command: Ansible would take the one of the playbook.
            path = expand_home("dest", options["dest"]).absolute()
            options["dest"] = f"{path}/" if options["dest"].endswith("/") else str(path)
        if options["dest"].endswith("/") or (is_local and Path(options["dest"]).is_dir()):
            raise FleetError(
                "license_not_written",
                f"License not written to {options['dest'][:80]}: it is a folder.",
                f"Set dest (slb_license_dest) to a file, such as {options['dest'].rstrip('/')[:80]}/license.",
            )
        license = download_license(Client(connection, RunCache(connection)), most)
        warnings = []
        if not license.has_length:
            warnings.append("License without length: the management node does not report its size. Check the file.")
        if is_local and lost_with_job(options["dest"]):
            warnings.append(
                f"License {options['dest']} temporary: it is in the job's container. Set slb_license_host, or mount a "
                "folder into the container."
            )
        with tempfile.TemporaryDirectory(dir=constants.DEFAULT_LOCAL_TMP) as folder:
            # A remote folder gets a file of this name.
            source = Path(folder) / "license"
            source.write_bytes(license.content)
            copied = self._copy(str(source), options, is_local=is_local)
        if copied.get("failed"):
            raise FleetError(
                "license_not_written",
                f"License not written to {options['dest'][:80]}: {str(copied.get('msg', ''))[:80].rstrip('.')}.",
                "Check the path, its rights and the free space.",
            )
        return {
            **{key: copied[key] for key in _RETURNED if key in copied},
            "dest": copied.get("dest") or options["dest"],
            "checksum": hashlib.sha256(license.content).hexdigest(),
            "size": len(license.content),
            **({"warnings": warnings} if warnings else {}),
        }

    def _copy(self, source: str, options: dict[str, Any], *, is_local: bool) -> Any:
        task, loaders, connection = self._task.copy(), self._shared_loader_obj, self._connection
        variables = self._variables
        task.args = {option: options[option] for option in _OF_THE_COPY if options[option] is not None}
        task.args.update(src=source, decrypt=False)
        if is_local and connection.transport != "local":
            connection = loaders.connection_loader.get("ansible.builtin.local", self._play_context, "/dev/null")
            variables = {**variables, "ansible_python_interpreter": sys.executable}
        action = loaders.action_loader.get(
            "ansible.legacy.copy",
            task=task,
            connection=connection,
            play_context=self._play_context,
            loader=self._loader,
            templar=self._templar,
            shared_loader_obj=loaders,
        )
        return action.run(task_vars=variables)
