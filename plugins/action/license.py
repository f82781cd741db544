# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Download the license in the controller's process, and write it there; on another host, by ``ansible.legacy.copy``."""

from __future__ import annotations

import contextlib
import grp
import hashlib
import os
import pwd
import re
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ansible import constants

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils._management_node.license import ARGUMENTS, download_license
from ansible_collections.slb.fleet.plugins.module_utils._system import files
from ansible_collections.slb.fleet.plugins.module_utils._system.locks import is_got
from ansible_collections.slb.fleet.plugins.module_utils._values import Options, expand_home, invalid, read_number
from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short
from ansible_collections.slb.fleet.plugins.plugin_utils._job_container import lost_with_job
from ansible_collections.slb.fleet.plugins.plugin_utils._management_node_action import ManagementNodeAction
from ansible_collections.slb.fleet.plugins.plugin_utils._run_cache import RunCache

_OF_THE_COPY = ("dest", "owner", "group", "mode", "backup")
# Without the diff, which would show the license.
_RETURNED = ("changed", "failed", "msg", "backup_file")
_LOCK_SECONDS = 30


class ActionModule(ManagementNodeAction):
    argument_spec = ARGUMENTS
    has_module = False  # a delegated host gets the file and no credentials

    def _run_here(self, options: Options) -> dict[str, Any]:
        connection = Connection.from_options(options)
        most = read_number("max_size", options["max_size"], 1, 2**31 - 1)
        is_local = not self._task.delegate_to or self._connection.transport == "local"
        if is_local:
            # Of the folder of the command: Ansible would take the one of the playbook.
            path = expand_home("dest", options["dest"]).absolute()
            options["dest"] = f"{path}/" if options["dest"].endswith("/") else str(path)
        is_folder = is_local and os.path.isdir(options["dest"])  # noqa: PTH112 (Path.is_dir raises PermissionError)
        if options["dest"].endswith("/") or is_folder:
            fix = f"Set dest (slb_license_dest) to a file, such as {options['dest'].rstrip('/')[:80]}/license."
            raise _not_written(options["dest"], "it is a folder", fix)
        owner = _Owner.from_options(options) if is_local else None
        license = download_license(Client(connection, RunCache(connection)), most)
        warnings = []
        if not license.has_length:
            warnings.append("License without length: the management node does not report its size. Check the file.")
        if is_local and lost_with_job(options["dest"]):
            warnings.append(
                f"License {options['dest']} temporary: it is in the job's container. Set slb_license_host, or mount a "
                "folder into the container."
            )
        if owner:
            written = _write(options, license.body, owner, check_mode=bool(self._task.check_mode))
        else:
            written = self._copy(license.body, options)
        return {
            **written,
            "checksum": hashlib.sha256(license.body).hexdigest(),
            "size": len(license.body),
            **({"warnings": warnings} if warnings else {}),
        }

    def _copy(self, content: bytes, options: dict[str, Any]) -> dict[str, Any]:
        """Write the file on the delegated host. Raises FleetError."""
        task, loaders = self._task.copy(), self._shared_loader_obj
        task.args = {option: options[option] for option in _OF_THE_COPY if options[option] is not None}
        with tempfile.TemporaryDirectory(dir=constants.DEFAULT_LOCAL_TMP) as folder:
            # A remote folder gets a file of this name.
            source = Path(folder) / "license"
            source.write_bytes(content)
            task.args.update(src=str(source), decrypt=False)
            action = loaders.action_loader.get(
                "ansible.legacy.copy",
                task=task,
                connection=self._connection,
                play_context=self._play_context,
                loader=self._loader,
                templar=self._templar,
                shared_loader_obj=loaders,
            )
            copied: dict[str, Any] = action.run(task_vars=self._variables)
        if copied.get("failed"):
            raise _not_written(options["dest"], str(copied.get("msg") or "no reason given").rstrip("."))
        returned = {key: copied[key] for key in _RETURNED if key in copied}
        return {**returned, "dest": copied.get("dest") or options["dest"]}


class _Owner:
    """Mode, user and group of the file; None for an unchanged one. Raises FleetError."""

    def __init__(self, mode: int, user: int | None, group: int | None) -> None:
        self.mode, self.user, self.group = mode, user, group

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> _Owner:
        mode = options["mode"]
        text = f"{mode:o}" if isinstance(mode, int) and not isinstance(mode, bool) else str(mode)
        if not re.fullmatch("0?[0-7]{3}", text.removeprefix("0o")):
            raise invalid("mode", f"{text[:20]!r} is not an octal number", "Set a text such as '0600'.")
        try:
            user = pwd.getpwnam(options["owner"]).pw_uid if options["owner"] else None
            group = grp.getgrnam(options["group"]).gr_gid if options["group"] else None
        except KeyError as error:
            option = "group" if "getgrnam" in str(error) else "owner"
            raise invalid(option, f"{options[option]!r} is unknown on the controller", "Correct it.") from None
        return cls(int(text.removeprefix("0o"), 8), user, group)

    @property
    def ids(self) -> tuple[int, int]:
        return -1 if self.user is None else self.user, -1 if self.group is None else self.group

    def differs(self, path: str) -> bool:
        present = Path(path).stat()
        user, group = (
            now if own == -1 else own for own, now in zip(self.ids, (present.st_uid, present.st_gid), strict=True)
        )
        return (stat.S_IMODE(present.st_mode), present.st_uid, present.st_gid) != (self.mode, user, group)


def _write(options: Mapping[str, Any], content: bytes, owner: _Owner, *, check_mode: bool) -> dict[str, Any]:
    """Write the file in this process. Raises FleetError; the present file is unchanged then."""
    path = os.path.realpath(options["dest"])
    result: dict[str, Any] = {"changed": False, "dest": options["dest"]}
    try:
        with _locked(str(Path(path).parent)):  # no other task replaces the file that the backup keeps
            present = Path(path).read_bytes() if Path(path).exists() else None
            result["changed"] = present != content or owner.differs(path)
            if check_mode:
                return result
            if present != content:
                if present is not None and options["backup"]:
                    result["backup_file"] = f"{path}.{time.strftime('%Y-%m-%dT%H:%M:%S')}.{time.time_ns() % 10**9:09d}~"
                    files.replace(result["backup_file"], present, stat.S_IMODE(Path(path).stat().st_mode))
                files.replace(path, content, owner.mode, owner=owner.ids)
            elif result["changed"]:
                os.chown(path, *owner.ids)
                Path(path).chmod(owner.mode)
    except OSError as error:
        if isinstance(error, (FileNotFoundError, NotADirectoryError)) and not Path(path).parent.is_dir():
            fix = "Create the folder, or correct dest (slb_license_dest)."
            raise _not_written(options["dest"], "its folder does not exist", fix) from None
        raise _not_written(options["dest"], error.strerror or str(error)) from None
    return result


@contextlib.contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Hold the lock of ``folder``, where the file system has locks. Raises OSError if it cannot be opened."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):
            is_got(descriptor, _LOCK_SECONDS)
        yield
    finally:
        os.close(descriptor)


def _not_written(dest: str, cause: str, fix: str = "Check the path, its rights and the free space.") -> FleetError:
    return FleetError(
        "license_not_written", f"License not written to {in_short(dest, 120)}: {in_short(cause, 100)}.", fix
    )
