# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare the engine list with the inventory, for playbooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import comparable
from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import listed

_HEAD = ("ENGINE", "ADDRESS", "STATE IN THE LIST", "MAPPED STATE", "HOST", "MATCH")
_MATCHES = {"running": "yes", "deploying": "yes", "failed": "yes", "unknown": "yes"}


def engine_table(engines: Sequence[Mapping[str, str]], hosts: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return the lines of a table: each engine of the list with its host, then hosts whose engine is not listed.

    ``hosts``: name and address of the engine, by host.
    """
    rows = []
    without_entry = dict(hosts)
    for engine in engines:
        row = (engine["name"], engine["address"], engine.get("console_state", ""), engine["state"])
        matches = [
            host
            for host, (name, ip) in hosts.items()
            if engine["name"] == str(name) or engine["address"] == comparable(str(ip))
        ]
        for host in matches:
            without_entry.pop(host, None)
            name, ip = map(str, hosts[host])
            state = listed(engines, name, ip)
            rows.append((*row, host, _MATCHES.get(state.state, f"no: {state.words or state.state}")))
        if not matches:
            rows.append((*row, "-", "no: not in the inventory"))
    rows += [(str(name), str(ip), "-", "-", host, "no: not listed") for host, (name, ip) in without_entry.items()]
    cells = [[visible(str(cell)) for cell in row] for row in (_HEAD, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(_HEAD))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


class FilterModule:
    """Named by Ansible."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"_engine_table": engine_table}
