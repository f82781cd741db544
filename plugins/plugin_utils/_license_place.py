# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the license of a host's management node goes: who shares the file, and why it cannot go there."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError

_GROUP = "slb_license"


@dataclass(frozen=True)
class LicensePlace:
    """``host``: the host of the inventory that keeps the file; empty for the controller."""

    node: str
    dest: str
    host: str

    @property
    def file(self) -> str:
        if self.host:
            # Its links are not known here.
            return f"{self.host}:{re.sub('^//', '/', os.path.normpath(self.dest))}"
        # A link to the folder is another way to the same file; one in its place is replaced by it.
        folder, name = os.path.split(os.path.expanduser(self.dest))  # noqa: PTH111 (pathlib's raises without a home)
        return os.path.join(os.path.realpath(folder), name)  # noqa: PTH118

    @property
    def group(self) -> str:
        """The group of the hosts that have node and file in common."""
        return f"{self._of_the_file}{_digest(self.node.rstrip('/'))}"

    @property
    def _of_the_file(self) -> str:
        return f"{_GROUP}_{_digest(self.file)}_"

    def refuse(
        self,
        inventory_hostname: str,
        groups: Mapping[str, Sequence[str]],
        same: Sequence[str],
        inventory: Container[str],
        is_here: bool,
        is_lost: Callable[[str], bool],
    ) -> None:
        """Raises FleetError where the license cannot go there. ``same``: hosts of other nodes with the same file, as
        far as the files have been looked at. ``is_here``: the host that keeps it is the controller
        itself. ``is_lost``: whether a file of the controller is gone with its job.
        """
        others = list(same) or [
            min(hosts) for name, hosts in groups.items() if name.startswith(self._of_the_file) and name != self.group
        ]
        if others:
            raise FleetError(
                f"Several management nodes have the same slb_license_dest: {self.node or '(no slb_base_url)'} (of "
                f"{inventory_hostname}) has {self.file}, as have those of {' and '.join(sorted(others))}.",
                "Nothing was downloaded. Give the hosts of each node a slb_license_dest of their own.",
            )
        if self.host and self.host not in inventory:
            raise FleetError(
                f"There is no host {self.host} in the inventory, on which slb_license_host wants the license to be "
                "kept.",
                "Nothing was downloaded. Correct the name, or add the host. A slice of a job contains only its own "
                "hosts: download the license with slb.fleet.download_license.",
            )
        if (is_here or not self.host) and is_lost(self.dest):
            raise FleetError(
                f"This job runs in a container of its own, and {self.dest} would be gone with it.",
                "Nothing was downloaded. Name the host of the inventory that shall keep the license: slb_license_host.",
            )


def asking(groups: Mapping[str, Sequence[str]]) -> list[str]:
    """One host of each group that has a node and a file in common: the pattern of a play, which may be nobody."""
    first = [min(hosts) for name, hosts in groups.items() if name.startswith(f"{_GROUP}_")]
    return first or ["!all"]


def sharing(groups: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Each host with the group in which it has a node and a file in common with others."""
    return {host: name for name, hosts in groups.items() if name.startswith(f"{_GROUP}_") for host in hosts}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
