# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The batches of a run, as Ansible's ``serial`` takes them: bounded, because what a batch costs in memory is. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.slb.fleet.plugins.plugin_utils._slices import Slice

Batch = int | str


def batches(
    serial: Sequence[Batch], hosts: int, most: int, *, canary_in_first_slice_only: bool = False, slice_: Slice
) -> list[Batch]:
    """``hosts``: how many the play has. No batch is larger than ``most``; the last one is repeated by Ansible.

    With ``canary_in_first_slice_only``, a run that has another slice of the fleet begins with the second batch, where
    the first one is a single host.
    """
    later = serial[1:] if canary_in_first_slice_only and slice_.number != 1 and serial[0] == 1 else serial
    return [_capped(batch, hosts, most) for batch in later or serial]


def _capped(batch: Batch, hosts: int, most: int) -> Batch:
    # As Ansible reckons it; what is not too large stays as it was written.
    size = max(1, int(hosts * float(batch.rstrip("%")) / 100)) if isinstance(batch, str) else batch
    return most if size > most else batch
