# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a lab."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from slb_lab.errors import LabError
from slb_lab.hosts import containers
from slb_lab.lab import Host, Lab

_LOOK = "systemctl is-system-running; %s ps --all --filter name=^slb$ --format '{{.Status}}'"


def of(lab: Lab) -> dict[str, Any]:
    """A row for each host of the topology, and the management node; for people and for programs."""
    there = containers.of_lab(lab.name)
    hosts = lab.hosts
    rows: list[dict[str, Any]] = []
    with ThreadPoolExecutor() as looking:
        answers = {name: looking.submit(_look, host) for name, host in hosts.items() if there[name].state == "running"}
        for name, description in lab.topology.hosts.items():
            state, engine = answers[name].result() if name in answers else ("", "")
            made_with = description.model_dump(exclude_defaults=True, exclude={"release"})
            rows.append(
                {
                    "host": name,
                    "release": description.release,
                    "address": there[name].address if name in there else "",
                    "state": state or (there[name].state if name in there else "missing"),
                    "engine_container": engine or "none",
                    "made_with": ", ".join(f"{key}: {_short(value)}" for key, value in made_with.items()),
                }
            )
    running = lab.management_node.running()
    return {
        "name": lab.name,
        "hosts": rows,
        "management_node": {
            "state": "running" if running else "stopped",
            "base_url": lab.management_node.base_url if running else "",
        },
    }


def _look(host: Host) -> tuple[str, str]:
    try:
        looked = host.exec(["sh", "-c", _LOOK % host.spec.runtime], check=False, timeout=20)
        state, engine = (*looked.stdout.splitlines(), "", "")[:2]
    except LabError as error:
        return f"does not answer: {error}", ""
    return state, engine


def _short(value: Any) -> str:
    return " ".join(value) if isinstance(value, dict) else str(value).lower()
