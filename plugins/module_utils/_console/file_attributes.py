# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Owner, group and mode of a file, given as for ansible.builtin.copy."""

import grp
import os
import pwd
import re
import stat
from types import SimpleNamespace
from typing import Any, Callable, Dict, NamedTuple, Optional, Union

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.slb.fleet.plugins.module_utils._console.folder import drop_acl
from ansible_collections.slb.fleet.plugins.module_utils._errors import OptionError

_DIGITS = re.compile(r"[0-9]+")
_LAST_ID = 2**32 - 2  # the one after it means "leave it as it is" to the system
_NEW_FILE = 0o600
_CLAUSE = re.compile(r"(a|[ugo]*)([-+=][rwxXstugo]*)+")


class FileAttributes(NamedTuple):
    """What a file shall have; None leaves as it is what is there. ``mode`` is octal or symbolic."""

    owner: Optional[int]
    group: Optional[int]
    mode: Union[int, str, None]

    @classmethod
    def from_params(cls, params: Dict[str, Any]) -> "FileAttributes":
        """Raises OptionError for a value that cannot be used."""
        return cls(
            owner=_id("owner", params["owner"], lambda name: pwd.getpwnam(name).pw_uid),
            group=_id("group", params["group"], lambda name: grp.getgrnam(name).gr_gid),
            mode=_mode(params["mode"]),
        )

    def wanted(self, present: Optional[os.stat_result]) -> Dict[str, int]:
        """``mode``, and ``owner`` and ``group`` as ids, for the file that is there or a new one."""
        old_mode = stat.S_IMODE(present.st_mode) if present else _NEW_FILE
        return {
            "owner": _first(self.owner, present.st_uid if present else os.geteuid()),
            "group": _first(self.group, present.st_gid if present else os.getegid()),
            "mode": _applied(self.mode, old_mode) if isinstance(self.mode, str) else _first(self.mode, old_mode),
        }


def present_attributes(present: os.stat_result) -> Dict[str, int]:
    return {"owner": present.st_uid, "group": present.st_gid, "mode": stat.S_IMODE(present.st_mode)}


def apply_attributes(descriptor: int, attributes: Dict[str, int]) -> None:
    """Changes what differs, of an open file: a path may lead to another one by now. Raises OSError."""
    drop_acl(descriptor)
    present = present_attributes(os.fstat(descriptor))
    if (present["owner"], present["group"]) != (attributes["owner"], attributes["group"]):
        os.fchown(descriptor, attributes["owner"], attributes["group"])
    # A change of the owner may clear bits, so the mode comes last.
    if stat.S_IMODE(os.fstat(descriptor).st_mode) != attributes["mode"]:
        os.fchmod(descriptor, attributes["mode"])


def _first(given: Optional[int], otherwise: int) -> int:
    return otherwise if given is None else given


def _id(option: str, value: Optional[str], look_up: Callable[[str], int]) -> Optional[int]:
    if not value:
        return None
    number: Optional[int]
    try:
        number = int(value) if _DIGITS.fullmatch(value) else look_up(value)
    except (KeyError, ValueError):
        number = None
    if number is None or number > _LAST_ID:
        raise OptionError(option, value, "this machine does not know it", "Give a name or a number that exists here.")
    return number


def _mode(value: object) -> Union[int, str, None]:
    if value in (None, ""):
        return None
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 0o7777:
        return value
    text = str(value)
    if re.fullmatch(r"[0-7]{3,5}", text) and int(text, 8) <= 0o7777:
        return int(text, 8)
    if all(_CLAUSE.fullmatch(clause) for clause in text.split(",")):
        return text
    raise OptionError("mode", value, "it is no file mode", "Give it as a quoted octal number or as in u=rw,g=r.")


def _applied(symbolic: str, mode: int) -> int:
    # Ansible's own code, so that a mode means here what it means to its modules.
    return int(AnsibleModule._symbolic_mode_to_octal(SimpleNamespace(st_mode=mode), symbolic))
