# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A file for a host's container."""

from dataclasses import dataclass


@dataclass(frozen=True)
class File:
    """A file of root's in the container. ``path``: without the leading slash."""

    path: str
    content: str
    mode: int = 0o644
