# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""NetworkManager's profiles as they lie in files, for when it cannot be asked itself."""

import contextlib
import os
import re
from typing import Collection, Dict, Iterator, List, NamedTuple, Optional, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._network import kinds
from ansible_collections.slb.fleet.plugins.module_utils._system.files import file_errors

ON_DISK = "/etc/NetworkManager/system-connections"
IN_MEMORY = "/run/NetworkManager/system-connections"

_RULE = re.compile(r"routing-rule\d+=priority (\d+) ")
_FAMILIES = {"[ipv4]": "-4", "[ipv6]": "-6"}


class ProfileFile(NamedTuple):
    """``interface`` and ``mac``: what it is bound to, if anything. ``watching``: made of one that is only watched."""

    path: str
    uuid: str
    interface: str
    mac: str
    watching: bool


def present() -> List[ProfileFile]:
    """One profile may have two: what is changed in memory only lies before what is on disk."""
    found = [_read(path) for folder in (ON_DISK, IN_MEMORY) for path in _files(folder)]
    return [profile for profile in found if profile is not None]


def remove(uuids: Collection[str]) -> None:
    """Those that NetworkManager could not remove: it merely hid them, until the next boot. Raises HostError."""
    for each in present():
        if each.uuid in uuids:
            with file_errors(each.path):
                os.unlink(each.path)
                show(each.uuid)


def show(uuid: str) -> None:
    """Undoes that NetworkManager hides the file of a profile that it could not remove."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(IN_MEMORY, f"{uuid}.nmmeta"))


def rules_of(content: str) -> List[Tuple[str, str]]:
    """The family, -4 or -6, and the priority of each rule that a profile with this content asks for."""
    found = []
    family = None
    for line in content.splitlines():
        if line.startswith("["):
            family = _FAMILIES.get(line.strip())
        rule = _RULE.match(line)
        if rule and family:
            found.append((family, rule.group(1)))
    return found


def _files(folder: str) -> Iterator[str]:
    if os.path.isdir(folder):
        for name in sorted(os.listdir(folder)):
            yield os.path.join(folder, name)


def _read(path: str) -> Optional[ProfileFile]:
    """None where it is of another kind of interface, or has gone meanwhile."""
    values: Dict[str, str] = {}
    section = ""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            for line in stream:
                if line.startswith("["):
                    section = line.strip()[1:-1]
                key, _equals, value = line.partition("=")
                values.setdefault(f"{section}.{key.strip()}", value.strip())
    except OSError:
        return None
    if values.get("connection.type") not in kinds.TYPES:
        return None
    return ProfileFile(
        path,
        values.get("connection.uuid", ""),
        values.get("connection.interface-name", ""),
        values.get("ethernet.mac-address") or values.get(f"{kinds.WIRED}.mac-address", ""),
        values.get(".nmmeta.nm-generated") == "true",
    )
