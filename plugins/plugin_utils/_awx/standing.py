# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be done in AWX, in the light of what is there: what is not ours is never touched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._awx.content import (
    Object,
    Settings,
    mark_of,
    template_name,
    workflow_name,
)

Found = Mapping[str, Any]

ENDPOINTS: Mapping[str, str] = {
    "label": "labels",
    "credential_type": "credential_types",
    "credential": "credentials",
    "execution_environment": "execution_environments",
    "project": "projects",
    "inventory": "inventories",
    "inventory_source": "inventory_sources",
    "notification_template": "notification_templates",
    "job_template": "job_templates",
    "workflow_job_template": "workflow_job_templates",
    "schedule": "schedules",
}
"""Of each kind, in the order in which they are made."""
_WITH_LABELS = ("job_template", "workflow_job_template")
_OF_AN_ORGANIZATION = {
    "inventory_source": "inventory__organization__name",
    **dict.fromkeys(("label", "project", *_WITH_LABELS), "organization__name"),
}
"""Of the others, the modules find one by its name alone: so those of all organizations are looked at."""
_GONE_WITH_ANOTHER = ("label", "inventory_source", "schedule")
"""Labels that nothing carries are taken away by AWX; a source goes with its inventory, a schedule with its template."""

_FOUND_BY: Mapping[str, tuple[str, ...]] = {
    "credential": ("credential_type",),
    "inventory": ("organization",),
    "inventory_source": ("inventory",),
    "notification_template": ("organization",),
}
"""What a module needs beside the number, or looks for nothing without it."""


def query(kind: str, names: Sequence[str], settings: Settings) -> dict[str, Any]:
    """For all objects of a kind that are ours, or that have one of the names."""
    asked: dict[str, Any] = {"page_size": 200}
    if kind in _OF_AN_ORGANIZATION:
        asked[_OF_AN_ORGANIZATION[kind]] = settings["organization"]
    if names:
        asked["or__name__in"] = ",".join(names)
    if kind != "label":
        asked["or__description__endswith"] = mark_of(settings)
    if kind in _WITH_LABELS:
        asked["or__labels__name"] = settings["label"]
    return asked


def is_ours(kind: str, found: Found, settings: Settings) -> bool:
    related = found.get("summary_fields", {})
    if related.get("organization", {}).get("name", settings["organization"]) != settings["organization"]:
        return False
    labels = related.get("labels", {}).get("results", [])
    return (
        kind == "label"
        or str(found.get("description", "")).endswith(mark_of(settings))
        or any(label.get("name") == settings["label"] for label in labels)
    )


def is_ours_to_take_away(kind: str, found: Found, settings: Settings) -> bool:
    """A label is anybody's to give: a template of ours has our name or our description, too."""
    is_marked = str(found.get("description", "")).endswith(mark_of(settings))
    is_named = kind in _WITH_LABELS and str(found["name"]).startswith(f"{settings['name']} ")
    return is_ours(kind, found, settings) and (is_marked or is_named)


_NODES = "workflow_job_template_nodes"
_KIND_OF = {endpoint: kind for kind, endpoint in ENDPOINTS.items()}
_MOST_NAMED = 20
_HANGS_ON: Mapping[str, tuple[tuple[str, str], ...]] = {
    **dict.fromkeys(_WITH_LABELS, (("schedules", "unified_job_template"), (_NODES, "unified_job_template"))),
    "project": (("job_templates", "project"), ("inventory_sources", "source_project")),
    "inventory": (("job_templates", "inventory"), ("inventory_sources", "inventory"), ("hosts", "inventory")),
    "execution_environment": (("job_templates", "execution_environment"),),
}
"""What AWX takes away, or leaves without it, together with an object: resources, each with the field that names it."""


def hangs_on(kind: str) -> tuple[tuple[str, str], ...]:
    return _HANGS_ON.get(kind, ())


def see_that_nothing_of_others_goes(
    hanging: Sequence[tuple[str, str, Found]], existing: Mapping[str, Sequence[Found]], settings: Settings
) -> None:
    """``hanging``: what hangs on what would be taken away: the name of that, the resource, and the object itself.
    Raises FleetError that names those that are not ours.
    """
    ours = {
        (kind, found["id"])
        for kind, all_found in existing.items()
        for found in all_found
        if is_ours_to_take_away(kind, found, settings)
    }
    others = [
        f"{_KIND_OF.get(resource, resource.removesuffix('s')).replace('_', ' ')} "
        f"{str(each.get('name') or each.get('identifier'))!r} (on {what})"
        for what, resource, each in hanging
        if not _is_with(ours, resource, each)
    ]
    if others:
        more = f" and {len(others) - _MOST_NAMED} more" if others[_MOST_NAMED:] else ""
        raise FleetError(
            "With what is to be taken away, AWX would take these of others, or leave them without it: "
            f"{', '.join(others[:_MOST_NAMED])}{more}.",
            "Take them away yourself, or have them use something else. Nothing was changed.",
        )


def _is_with(ours: set[tuple[str, Any]], resource: str, found: Found) -> bool:
    if resource == "hosts":
        return bool(found.get("has_inventory_sources"))
    if resource == _NODES:
        return ("workflow_job_template", found.get("workflow_job_template")) in ours
    return (_KIND_OF[resource], found["id"]) in ours


def needed(settings: Settings) -> list[tuple[str, str, dict[str, Any]]]:
    """What the content names and does not make: the variable, and the endpoint and query that find exactly one."""
    named = [
        ("organization", "organizations", settings["organization"]),
        ("execution_environment", "execution_environments", settings["execution_environment"]),
        *((each, "credentials", settings[each]) for each in ("credential", "machine_credential", "project_credential")),
        *(("approvers", "teams", team) for team in settings["approvers"]),
    ]
    of_organization = {"teams": {"organization__name": settings["organization"]}}
    return [
        (variable, endpoint, {"name": name, **of_organization.get(endpoint, {})})
        for variable, endpoint, name in named
        if name
    ]


def see_that_there_is_one(variable: str, endpoint: str, name: str, count: int) -> None:
    """Raises FleetError where what is named is not there, or is there several times."""
    what = endpoint.replace("_", " ").removesuffix("s")
    if count == 0:
        raise FleetError(
            f"AWX has no {what} {name!r}, which slb_awx_{variable} names, or hides it from who logs in.",
            "Make it, or correct the name. Nothing was changed.",
        )
    if count > 1:
        raise FleetError(
            f"AWX has {count} objects that slb_awx_{variable} can mean: each is a {what} {name!r}.",
            "Give one of them another name. Nothing was changed.",
        )


def without_others_schedules(existing: Mapping[str, Sequence[Found]]) -> dict[str, Sequence[Found]]:
    """A schedule has its name among those of its template alone."""
    templates = {found["id"] for kind in _WITH_LABELS for found in existing[kind]}
    schedules = [found for found in existing["schedule"] if found["unified_job_template"] in templates]
    return {**existing, "schedule": schedules}


def steps(
    objects: Sequence[Object],
    existing: Mapping[str, Sequence[Found]],
    nodes: Sequence[Found],
    settings: Settings,
    used: Sequence[int] = (),
    approving: Sequence[Found] = (),
) -> dict[str, Any]:
    """``make``: what is made or updated, in this order; ``remove``: what is ours and no longer wanted.

    ``nodes``: those of the workflow that is there, each with its template in full, under ``template``. ``used``: the
    credential types that others have made credentials of. ``approving``: the teams that may approve now.
    Raises FleetError where a name is taken by something that is not ours, or where a secret is missing.
    """
    _refuse_others(objects, existing, settings)
    there = {(kind, found["name"]) for kind, all_found in existing.items() for found in all_found}
    to_come = {each.name for each in objects if each.kind in ENDPOINTS and (each.kind, each.name) not in there}
    make = []
    for each in objects:
        is_there = (each.kind, each.name) in there
        if each.kind == "credential" and not settings["password"]:
            if is_there:
                continue
            raise FleetError(
                f"The credential {each.name} is not in AWX yet, and slb_awx_password is not set.",
                "Set it, from a vault, for the first run; or name a credential that AWX has with slb_awx_credential.",
            )
        data = each.as_data()
        if each.kind == "workflow_job_template":
            data["args"] = _with_nodes(each.args, nodes)
        found = _named(existing, each.kind, each.name) if each.kind == "project" else None
        if found and found["status"] != "successful":
            # Its last sync has failed, or never was: the module would not try again.
            data["args"]["update_project"] = True
        # A module cannot foretell what it would do with something that is yet to be made.
        data["foretold"] = (not is_there and each.kind in ENDPOINTS) or not to_come.isdisjoint(_texts(each.args))
        make.append(data)
    wanted = {(each.kind, each.name) for each in objects}
    away = [*_taken_back(existing, approving, settings), *removals(existing, settings, wanted, used)]
    return {"make": make, "remove": away}


def approved_by(existing: Mapping[str, Sequence[Found]], settings: Settings) -> str:
    """Where AWX says which teams may approve; empty where there is no workflow yet."""
    workflow = _named(existing, "workflow_job_template", workflow_name(settings))
    return f"roles/{workflow['summary_fields']['object_roles']['approval_role']['id']}/teams" if workflow else ""


def _named(existing: Mapping[str, Sequence[Found]], kind: str, name: str) -> Found | None:
    return next((found for found in existing.get(kind, ()) if found["name"] == name), None)


def _taken_back(
    existing: Mapping[str, Sequence[Found]], approving: Sequence[Found], settings: Settings
) -> Iterator[dict[str, Any]]:
    """From the teams that may approve and are no longer named: that, and that they read what there is to approve."""
    named = [(settings["organization"], team) for team in settings["approvers"]]
    others = [team for team in approving if (team["summary_fields"]["organization"]["name"], team["name"]) not in named]
    audit = _named(existing, "job_template", template_name(settings, "audit"))
    workflow = _named(existing, "workflow_job_template", workflow_name(settings))
    for role, option, found in (("approval", "workflows", workflow), ("read", "job_templates", audit)):
        if others and found:
            args = {"teams": [str(team["id"]) for team in others], "role": role, option: [str(found["id"])]}
            name = f"{role} of {', '.join(str(team['name']) for team in others)}"
            yield {"kind": "role", "name": name, "args": {**args, "state": "absent"}}


def removals(
    existing: Mapping[str, Sequence[Found]],
    settings: Settings,
    wanted: set[tuple[str, str]] | None = None,
    used: Sequence[int] = (),
) -> Iterator[dict[str, Any]]:
    """What is ours and not ``wanted``, those first that hold others."""
    for kind in reversed(list(ENDPOINTS)):
        for found in existing.get(kind, ()):
            name = str(found["name"])
            is_wanted = (kind, name) in (wanted or set())
            is_gone = kind in _GONE_WITH_ANOTHER and wanted is None
            if is_wanted or kind == "label" or is_gone or not is_ours_to_take_away(kind, found, settings):
                continue
            if kind == "credential_type" and found["id"] in used:
                continue
            args = {"name": str(found["id"]), "state": "absent"}
            for field in _FOUND_BY.get(kind, ()):
                args[field] = str(found[field])
            yield {"kind": kind, "name": name, "args": args}


def _refuse_others(objects: Sequence[Object], existing: Mapping[str, Sequence[Found]], settings: Settings) -> None:
    wanted = {(each.kind, each.name) for each in objects}
    others = [
        f"{kind.replace('_', ' ')} {found['name']!r}{_where(found, settings)}"
        for kind, all_found in existing.items()
        for found in all_found
        if (kind, found["name"]) in wanted and not is_ours(kind, found, settings)
    ]
    if others:
        raise FleetError(
            f"AWX has something else under a name that is needed: {', '.join(others)}. Nothing was changed.",
            "Set slb_awx_name to another name, and for another organization slb_awx_label, too; or, if it is to "
            f"become ours, end its description with {mark_of(settings)}.",
        )


def _where(found: Found, settings: Settings) -> str:
    name = found.get("summary_fields", {}).get("organization", {}).get("name", settings["organization"])
    return "" if name == settings["organization"] else f" of the organization {name!r}"


def _with_nodes(args: Mapping[str, Any], nodes: Sequence[Found]) -> dict[str, Any]:
    """With its nodes only where they are others: the module would count them as changed each time."""
    if {_wanted_node(node) for node in args["workflow_nodes"]} == set(_found_nodes(nodes)):
        return {name: value for name, value in args.items() if name != "workflow_nodes"}
    return {**args, "destroy_current_nodes": bool(nodes)}


_PATHS = ("always_nodes", "success_nodes", "failure_nodes")


def _wanted_node(node: Mapping[str, Any]) -> tuple[Any, ...]:
    template, related = node["unified_job_template"], node["related"]
    paths = tuple(tuple(sorted(each["identifier"] for each in related.get(path, ()))) for path in _PATHS)
    return node["identifier"], template["name"], template.get("description"), template.get("timeout"), paths


def _found_nodes(nodes: Sequence[Found]) -> Iterator[tuple[Any, ...]]:
    identifiers = {node["id"]: node["identifier"] for node in nodes}
    for node in nodes:
        template = node.get("template") or {}
        is_approval = template.get("type") == "workflow_approval_template"
        yield (
            node["identifier"],
            template.get("name"),
            template.get("description") if is_approval else None,
            template.get("timeout") if is_approval else None,
            tuple(tuple(sorted(str(identifiers.get(each)) for each in node.get(path, ()))) for path in _PATHS),
        )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            # The object's own name.
            if name != "name" or not isinstance(each, str) or "type" in value:
                yield from _texts(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, str):
        yield value
