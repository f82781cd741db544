# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The three calls that the interface document names. Paths are relative to ``base_url``."""

from __future__ import annotations

from typing import NamedTuple


class Call(NamedTuple):
    """``is_repeatable``: may be sent again although an earlier sending may have arrived."""

    method: str
    path: str
    is_repeatable: bool = True


LOGIN = Call("POST", "/account/login/")
LICENSE = Call("GET", "/system/license/apply/")
INSTALL = Call("POST", "/system/add_slb_engine/", is_repeatable=False)
