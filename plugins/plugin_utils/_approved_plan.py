# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The approved plan (``slb_approved_plan``): a host is changed only as the approved plan states."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import Engine as InstallRequest
from ansible_collections.slb.fleet.plugins.module_utils._typed import build
from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short, visible
from ansible_collections.slb.fleet.plugins.plugin_utils._decision import Plan
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import (
    FORMAT,
    IDLE,
    PLAN_FORMAT,
    VERSION,
    digest_of,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import Plan as PlanOfRun
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import DEFAULTS

if TYPE_CHECKING:
    from ansible_collections.slb.fleet.plugins.plugin_utils._fleet_host import FleetHost

_MAX_BYTES = 64 * 1024 * 1024
_MAX_NAMES = 10
_WORK_OPTIONS = (
    *(each.name for each in fields(InstallRequest) if each.name not in ("name", "manage_ip", "user_credential_id")),
    *(
        "remove_leftovers",
        "allow_established",
        "ignored_starters",
        "motd",
        "motd_max_bytes",
        "motd_after",
        "adopt_interfaces",
    ),
)
_INTERFACE_OPTIONS = ("interfaces", "interfaces_state")
_WORK = re.compile(r"(\w+): (.*?)(?: [0-9a-f]{12,64})?( credential .*)")
"""The line of a host with work: the action, what it is about, the container, options."""
_BEGUN = ("wait", "record", "restore", "none")
"""Actions of a host whose work was begun."""
_OF_RUN = "hosts of the run"
_MAX_LINE = 1000


def work_of(plan: Plan, host: FleetHost, slb_host: Mapping[str, Any]) -> str:
    """Return what a rollout would do on a host, in one line: why it does nothing, or the work.

    Work has action, engine, address, management node, container id, credential, and options that are not the default.
    """
    if plan.action == "fail":
        return f"blocked: {plan.code}"
    if plan.action == "none" and not host.has_other_work:
        return f"healthy: {host.engine.name}"
    engine, container = host.engine, slb_host["engine_container"].get("id")
    credential = f"credential {host.variables['user_credential_id']}"
    words = [f"{plan.action}:", engine.name, engine.manage_ip, engine.base_url, container, credential, *_options(host)]
    # As the report shows a text: without double blanks, and with an end.
    line = visible(" ".join(" ".join(str(word) for word in words if word).split()))
    return line if len(line) <= _MAX_LINE else f"{line[:_MAX_LINE]} {digest_of({host.name: line})}"


def _options(host: FleetHost) -> Iterator[str]:
    for name in _WORK_OPTIONS + (_INTERFACE_OPTIONS if host.variables["adopt_interfaces"] else ()):
        value = host.variables[name]
        if value not in (None, DEFAULTS.get(f"slb_{name}")):
            shown = ",".join(sorted(value)) if isinstance(value, list) else value
            yield name if value is True else f"{name} {shown}"


def find_difference(host: FleetHost, work: str) -> str:
    """Return how the run differs from the approved plan, in words; empty if not. Raises FleetError.

    Each host counts: one that was healthy and is blocked or unreachable now keeps all others from being changed.
    """
    approved = host.variables["approved_plan"]
    if approved is None or is_idle(work):
        return ""
    planned = dict(line.partition("\t")[::2] for line in host.reservations.noted("work"))
    if _is_digest(approved):
        is_same = digest_of(planned) == approved and _is_as_approved(planned.get(host.name, ""), work)
        return "" if is_same else "The plan of the fleet has changed."
    # As they were at the beginning: another check may have written the file since.
    kept = host.reservations.noted("approved plan")
    hosts = dict(line.partition("\t")[::2] for line in kept) if kept else _hosts_of(approved)
    if not _is_as_approved(hosts.get(host.name, ""), work):
        return "The approved plan has another plan for this host, or none."
    # In a run of some hosts, the others have no plan; one of the run that was not checked has none, either.
    of_run = {name for line in host.reservations.noted(_OF_RUN) for name in line.split("\t")}
    names = {*planned, *(name for name in hosts if name in of_run or not host.is_limited)}
    others = [name for name in sorted(names) if not _is_as_approved(hosts.get(name, ""), planned.get(name, ""))]
    return f"Hosts differ from the approved plan: {', '.join(others[:_MAX_NAMES])}." if others else ""


def is_idle(work: str) -> bool:
    """Return whether nothing is done on a host with this line of a plan."""
    return not work or work.startswith(IDLE)


def _is_as_approved(then: str, now: str) -> bool:
    """Return whether the line of a host is that of the approved plan, or its work was begun or done since."""
    if now == then or is_idle(then):
        return now == then
    before, after = _WORK.fullmatch(then), _WORK.fullmatch(now)
    if before and after and after[1] in _BEGUN:
        return before.groups()[1:] == after.groups()[1:]
    return now.startswith("healthy:")


def note_work(host: FleetHost, work: str) -> None:
    """Note the line of the host; that of the comparison, which comes last, counts."""
    host.reservations.note("work", f"{host.name}\t{work}")


def check_approved_plan(host: FleetHost, hosts: Iterable[str]) -> None:
    """Raise FleetError, for the first host of a run, if the approved plan is not one. ``hosts``: those of the run."""
    approved = host.variables["approved_plan"]
    if approved is not None and host.reservations.is_first("approved plan"):
        host.reservations.note(_OF_RUN, "\t".join(hosts))
        for name, work in ({} if _is_digest(approved) else _hosts_of(approved)).items():
            host.reservations.note("approved plan", f"{name}\t{work}")


def _is_digest(approved: Any) -> bool:
    """Return whether the approved plan is given by its digest."""
    return isinstance(approved, str) and bool(re.fullmatch("sha256:[0-9a-f]{64}", approved))


def _hosts_of(approved: Any) -> dict[str, str]:
    """Return the work of each host in the approved plan. Raises FleetError for anything that is not a plan."""
    plan, source = approved, "slb_approved_plan"
    try:
        if isinstance(approved, str):
            path = Path(approved.strip()).expanduser().absolute()
            source = str(path)
            if path.stat().st_size > _MAX_BYTES or not path.is_file():  # a pipe or a device may have no end
                raise ValueError("it is not a regular file of at most 64 MiB")
            plan = json.loads(path.read_text(encoding="utf-8"))
            if plan["format"] == FORMAT:
                raise ValueError(f"it is the report of {plan['run']['playbook']} of {plan['run']['began']}")
            if (plan["format"], plan["version"]) != (PLAN_FORMAT, VERSION):
                raise LookupError
        plan_of_run: PlanOfRun = build(PlanOfRun, plan, "plan")
        hosts = {str(host): str(work) for host, work in plan_of_run.hosts.items()}
        if digest_of(hosts) != plan_of_run.digest:
            raise ValueError("its digest does not match")
    except (AttributeError, LookupError, TypeError):
        raise _invalid(source, "invalid: it contains no plan") from None
    except FileNotFoundError:
        raise _invalid(source, "not found") from None
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise _invalid(source, "invalid: it is not JSON") from None
    except (OSError, ValueError, RuntimeError) as error:
        raise _invalid(source, f"invalid: {getattr(error, 'strerror', None) or error}") from None
    return hosts


def _invalid(source: str, why: str) -> FleetError:
    return FleetError(
        "approved_plan_invalid",
        f"Approved plan {in_short(source, 120)} {in_short(why, 120)}.",
        "Set slb_approved_plan to the plan.json of slb.fleet.rollout --check, or to the digest of its plan.",
    )
