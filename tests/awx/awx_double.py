"""An AWX that takes what AWX 24.6.1 takes, and stumbles where it stumbles. It runs nothing.

schema.json says of each resource which fields there are, their types, lengths and choices, as a running AWX told them.
What is here beside is what was seen of it: which playbooks a project has, what a survey may be, what an association is.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aiohttp import web

SCHEMA = json.loads((Path(__file__).parent / "schema.json").read_text())
TYPES = {
    "job_templates": "job_template",
    "workflow_job_templates": "workflow_job_template",
    "workflow_job_template_nodes": "workflow_job_template_node",
    "inventories": "inventory",
}
ASSOCIATED = {
    "labels": "labels",
    "credentials": "credentials",
    "always_nodes": "workflow_job_template_nodes",
    "success_nodes": "workflow_job_template_nodes",
    "failure_nodes": "workflow_job_template_nodes",
    **{
        f"notification_templates_{name}": "notification_templates"
        for name in ("started", "success", "error", "approvals")
    },
}
UNIFIED = ("job_templates", "projects", "workflow_job_templates", "inventory_sources", "workflow_approval_templates")
ADMIN = ("admin", "secret of awx")
TOKEN = "token-of-awx"
ENCRYPTED = "$encrypted$"
SCHEDULE = re.compile(r"DTSTART;TZID=\S+:\d{8}T\d{6} RRULE:\S*INTERVAL=\d+")


class RefusedError(Exception):
    def __init__(self, status: int, answer: Any) -> None:
        super().__init__(str(answer))
        self.status, self.answer = status, answer


class Awx:
    """``repositories``: by its address, the files of each repository that a project may sync."""

    def __init__(self) -> None:
        self.repositories: dict[str, list[str]] = {}
        self.tables: dict[str, dict[int, dict[str, Any]]] = {}
        self.links: dict[tuple[str, int, str], list[int]] = {}
        self.surveys: dict[int, dict[str, Any]] = {}
        self.granted: dict[int, list[int]] = {}
        self.tokens: set[int] = set()
        self.writes: list[str] = []
        self.refuse_surveys = False
        self.troubles: dict[tuple[str, str], tuple[int, float]] = {}
        """By method and resource: the status and seconds of an answer that does not come from the tables."""
        self.next_id = 1
        self.organization = self.make("organizations", {"name": "Default"})
        self.team = self.make("teams", {"name": "ops", "organization": self.organization})

    # --- what tests ask

    def all(self, resource: str) -> list[dict[str, Any]]:
        return [self.shown(resource, each) for each in self.tables.get(resource, {}).values()]

    def one(self, resource: str, name: str) -> dict[str, Any]:
        return next(each for each in self.all(resource) if each["name"] == name)

    def names(self, resource: str) -> set[str]:
        return {each["name"] for each in self.all(resource)}

    def linked(self, resource: str, name: str, link: str) -> set[str]:
        numbers = self.links.get((resource, self.one(resource, name)["id"], link), [])
        return {self.tables[ASSOCIATED[link]][number]["name"] for number in numbers}

    def make(self, resource: str, fields: dict[str, Any]) -> int:
        """As it stands, without the rules for a request."""
        number, self.next_id = self.next_id, self.next_id + 1
        self.tables.setdefault(resource, {})[number] = {"description": "", **fields, "id": number}
        return number

    # --- what the API does

    def list(self, resource: str, query: Any) -> list[dict[str, Any]]:
        resources = UNIFIED if resource == "unified_job_templates" else (resource,)
        rows = [row for each in resources for row in self.all(each)]
        plain = {key: value for key, value in query.items() if key not in ("page_size", "page")}
        either = {key[4:]: value for key, value in plain.items() if key.startswith("or__")}
        every = {key: value for key, value in plain.items() if not key.startswith("or__")}
        return [
            row
            for row in rows
            if all(self.matches(row, *pair) for pair in every.items())
            and (not either or any(self.matches(row, *pair) for pair in either.items()))
        ]

    def matches(self, row: dict[str, Any], key: str, wanted: str) -> bool:
        path = key.split("__")
        lookup = path.pop() if path[-1] in ("in", "endswith") else "exact"
        if path[0] == "labels":
            values = [label["name"] for label in row["summary_fields"].get("labels", {}).get("results", [])]
        else:
            value: Any = row
            for part, resource in zip(
                path, (*("organizations" if p == "organization" else "inventories" for p in path[:-1]), ""), strict=True
            ):
                value = value.get(part)
                if resource and value is not None:
                    value = self.tables[resource][value]
                if value is None:
                    return False
            values = [value]
        if lookup == "in":
            return any(str(value) in wanted.split(",") for value in values)
        return any(str(value).endswith(wanted) if lookup == "endswith" else str(value) == wanted for value in values)

    def shown(self, resource: str, row: dict[str, Any]) -> dict[str, Any]:
        number = row["id"]
        kind = TYPES.get(resource, resource.removesuffix("s"))
        related: dict[str, str] = {}
        summary: dict[str, Any] = {}
        if resource in ("job_templates", "workflow_job_templates"):
            related["survey_spec"] = f"/api/v2/{resource}/{number}/survey_spec/"
            labels = self.links.get((resource, number, "labels"), [])
            summary["labels"] = {
                "count": len(labels),
                "results": [{"id": n, "name": self.tables["labels"][n]["name"]} for n in labels],
            }
            roles = (
                "admin_role",
                "execute_role",
                "read_role",
                *(["approval_role"] if resource.startswith("workflow") else []),
            )
            summary["object_roles"] = {role: {"id": number * 100 + place} for place, role in enumerate(roles)}
        more: dict[str, Any] = {}
        if resource == "credentials":
            secret = {
                field["id"]
                for field in self.tables.get("credential_types", {})
                .get(row["credential_type"], {})
                .get("inputs", {})
                .get("fields", [])
                if field.get("secret")
            }
            more["inputs"] = {
                name: ENCRYPTED if name in secret else value for name, value in row.get("inputs", {}).items()
            }
        if resource == "credential_types":
            more["managed"] = False
        if resource == "projects":
            related["update"] = f"/api/v2/projects/{number}/update/"
            more["status"] = "successful" if row.get("scm_url") in self.repositories else "failed"
            more["scm_revision"] = "1"
        if resource == "workflow_job_template_nodes":
            for path in ("always_nodes", "success_nodes", "failure_nodes"):
                more[path] = self.links.get((resource, number, path), [])
            template = row.get("unified_job_template")
            if template:
                table = next(each for each in UNIFIED if template in self.tables.get(each, {}))
                related["unified_job_template"] = f"/api/v2/{table}/{template}/"
        if resource == "job_templates":
            more["organization"] = self.tables["projects"].get(row.get("project"), {}).get("organization")
        organization = {**row, **more}.get("organization")
        if organization:
            summary["organization"] = {"id": organization, "name": self.tables["organizations"][organization]["name"]}
        return {
            **row,
            **more,
            "type": kind,
            "url": f"/api/v2/{resource}/{number}/",
            "related": related,
            "summary_fields": summary,
        }

    def write(self, resource: str, fields: dict[str, Any], number: int | None = None) -> dict[str, Any]:
        present = self.tables.get(resource, {}).get(number or 0, {})
        known = SCHEMA[resource]
        fields = {name: value for name, value in fields.items() if name not in known["read"] or name in known["fields"]}
        wrong = self.wrong(known["fields"], fields, present)
        if wrong:
            raise RefusedError(400, wrong)
        row = {
            "description": "",
            **{name: rule.get("default") for name, rule in known["fields"].items() if "default" in rule},
            **present,
            **fields,
        }
        special = getattr(self, f"check_{resource}", None)
        if special:
            special(row, present)
        scope = next((field for field in ("unified_job_template", "organization") if field in row), "name")
        unique = ("name", scope)
        if "name" in row and resource != "workflow_job_template_nodes":
            for other in self.tables.get(resource, {}).values():
                if other["id"] != number and all(other.get(field) == row.get(field) for field in unique):
                    raise RefusedError(400, {"__all__": [f"{resource} with this name already exists."]})
        if number is None:
            number = self.make(resource, row)
        else:
            self.tables[resource][number] = {**row, "id": number}
        self.writes.append(f"{'PATCH' if present else 'POST'} {resource} {row.get('name') or row.get('identifier')}")
        shown = self.shown(resource, self.tables[resource][number])
        if resource == "projects" and not present:
            shown["summary_fields"]["current_update"] = {"id": number}
        return shown

    def wrong(self, rules: dict[str, Any], fields: dict[str, Any], present: dict[str, Any]) -> dict[str, Any]:
        wrong: dict[str, Any] = {}
        for name, value in fields.items():
            rule = rules.get(name)
            if rule is None:
                wrong[name] = ["There is no such field."]
            elif value is None:
                continue
            elif rule["type"] == "string" and (
                not isinstance(value, str) or len(value) > rule.get("max_length", 10**9)
            ):
                wrong[name] = [f"Not a valid string of at most {rule.get('max_length')} characters."]
            elif rule["type"] == "boolean" and not isinstance(value, bool):
                wrong[name] = ["Must be a valid boolean."]
            elif rule["type"] in ("integer", "id") and (isinstance(value, bool) or not isinstance(value, int)):
                wrong[name] = ["A valid integer is required."]
            elif rule["type"] == "choice" and value not in rule["choices"]:
                wrong[name] = [f'"{value}" is not a valid choice.']
            elif rule["type"] == "json" and isinstance(value, str):
                with contextlib.suppress(ValueError):
                    json.loads(value)
                    continue
                wrong[name] = ["Cannot parse as JSON."]
        for name, rule in rules.items():
            if rule.get("required") and not present and fields.get(name) in (None, ""):
                wrong[name] = ["This field is required."]
        return wrong

    # --- where AWX stumbles

    def check_credential_types(self, row: dict[str, Any], present: dict[str, Any]) -> None:
        for name in row.get("injectors", {}).get("env", {}):
            if name.startswith("ANSIBLE_"):
                raise RefusedError(400, {"injectors": [f"Environment variable {name} is not allowed"]})
        in_use = any(
            each["credential_type"] == present.get("id") for each in self.tables.get("credentials", {}).values()
        )
        if present and in_use and row["inputs"] != present["inputs"]:
            raise RefusedError(
                403, {"detail": "Modifications to inputs are not allowed for credential types that are in use"}
            )

    def check_credentials(self, row: dict[str, Any], present: dict[str, Any]) -> None:
        fields = self.tables["credential_types"][row["credential_type"]]["inputs"]
        names = {field["id"] for field in fields.get("fields", [])}
        if set(row.get("inputs", {})) - names:
            raise RefusedError(400, {"inputs": [f"Invalid inputs: {set(row['inputs']) - names}"]})
        # A secret that comes back as it is shown is the one that is there.
        for name, value in row.get("inputs", {}).items():
            if value == ENCRYPTED:
                row["inputs"][name] = present["inputs"][name]

    def check_job_templates(self, row: dict[str, Any], present: dict[str, Any]) -> None:
        project = self.tables.get("projects", {}).get(row.get("project") or 0, {})
        if row.get("playbook") not in self.repositories.get(project.get("scm_url", ""), []):
            raise RefusedError(400, {"playbook": ["Playbook not found for project."]})

    def check_inventory_sources(self, row: dict[str, Any], present: dict[str, Any]) -> None:
        if row.get("credential"):
            kind = self.tables["credential_types"][self.tables["credentials"][row["credential"]]["credential_type"]][
                "kind"
            ]
            if kind != "cloud":
                raise RefusedError(400, {"credential": ["Credentials of this type are not allowed."]})

    def check_notification_templates(self, row: dict[str, Any], present: dict[str, Any]) -> None:
        needed = {
            "webhook": ("url", "headers", "http_method"),
            "email": ("host", "port", "sender", "recipients", "username", "password", "use_tls", "use_ssl", "timeout"),
        }
        missing = set(needed[row["notification_type"]]) - set(row["notification_configuration"])
        if missing:
            raise RefusedError(
                400,
                {"notification_configuration": [f"Missing required fields for Notification Configuration: {missing}."]},
            )
        allowed = {"approval_status", "approval_node_name", "workflow_url", "job_metadata"}
        for approval in row["messages"]["workflow_approval"].values():
            for text in approval.values():
                if set(re.findall(r"{{\s*(\w+)", text)) - allowed:
                    raise RefusedError(400, {"messages": [f"Field is not allowed in {text}"]})

    def check_schedules(self, row: dict[str, Any], present: dict[str, Any]) -> None:
        if not SCHEDULE.fullmatch(row["rrule"]):
            raise RefusedError(400, {"rrule": ["Valid DTSTART with TZID, and INTERVAL, required in rrule."]})
        for question in self.surveys.get(row["unified_job_template"], {}).get("spec", []):
            if question["required"] and question["variable"] not in row.get("extra_data", {}):
                raise RefusedError(400, {"variables_needed_to_start": [f"'{question['variable']}' value missing"]})

    def check_survey(self, survey: dict[str, Any]) -> None:
        def refuse(why: str) -> None:
            raise RefusedError(400, {"error": why})

        if self.refuse_surveys:
            refuse("'spec' must be a list of items.")
        if not isinstance(survey.get("name"), str) or not isinstance(survey.get("description"), str):
            refuse("'name' and 'description' are required in survey spec.")
        seen: set[str] = set()
        for number, item in enumerate(survey.get("spec") or refuse("'spec' doesn't contain any items.")):
            for field, kind in (("question_name", str), ("variable", str), ("required", bool), ("type", str)):
                if not isinstance(item.get(field), kind):
                    refuse(f"'{field}' missing from survey question {number}.")
            if item["type"] not in (
                "text",
                "textarea",
                "password",
                "multiplechoice",
                "multiselect",
                "integer",
                "float",
            ):
                refuse(f"'{item['type']}' in survey question {number} is not one of the allowed question types.")
            if item["variable"] in seen:
                refuse(f"'variable' '{item['variable']}' duplicated in survey question {number}.")
            seen.add(item["variable"])
            for bound in ("min", "max"):
                if item["type"] in ("text", "integer") and not isinstance(item.get(bound, 0), int):
                    refuse(f"The {bound} limit in survey question {number} expected to be integer.")
            if item["type"] == "multiplechoice":
                if not item.get("choices"):
                    refuse(f"Survey question {number} must specify choices.")
                if item.get("default") and item["default"] not in item["choices"]:
                    refuse(f"Default choice must be answered from the choices listed in question {number}.")
            if item["type"] == "integer" and item.get("default") != "" and not isinstance(item.get("default"), int):
                refuse(f"Default value {item.get('default')} for question {number} expected to be an integer.")

    def associate(self, resource: str, number: int, link: str, other: int, away: bool) -> None:
        links = self.links.setdefault((resource, number, link), [])
        if away:
            links.remove(other)
            return
        opposite = {"success_nodes": "failure_nodes", "failure_nodes": "success_nodes"}.get(link)
        if opposite and other in self.links.get((resource, number, opposite), []):
            raise RefusedError(400, {"error": "Cannot associate a node with the same child on success and on failure."})
        links.append(other)
        self.writes.append(f"LINK {resource} {number} {link} {other}")

    def delete(self, resource: str, number: int) -> None:
        row = self.tables[resource][number]
        if resource == "credential_types" and any(
            each["credential_type"] == number for each in self.tables.get("credentials", {}).values()
        ):
            raise RefusedError(400, {"detail": "Credential types that are in use cannot be deleted."})
        del self.tables[resource][number]
        self.writes.append(f"DELETE {resource} {row.get('name') or row.get('identifier')}")
        holds = {
            "job_templates": (("schedules", "unified_job_template"),),
            "workflow_job_templates": (
                ("schedules", "unified_job_template"),
                ("workflow_job_template_nodes", "workflow_job_template"),
            ),
            "inventories": (("inventory_sources", "inventory"),),
        }
        for other, field in holds.get(resource, ()):
            for held in [each for each in self.tables.get(other, {}).values() if each.get(field) == number]:
                self.delete(other, held["id"])


class Served:
    """An Awx over HTTP."""

    def __init__(self, awx: Awx) -> None:
        self.awx, self.address = awx, ""

    def environment(self) -> dict[str, str]:
        user, password = ADMIN
        return {"CONTROLLER_HOST": self.address, "CONTROLLER_USERNAME": user, "CONTROLLER_PASSWORD": password}

    async def answer(self, request: web.Request) -> web.Response:
        resource = request.path.removeprefix("/api/v2/").partition("/")[0]
        try:
            if (request.method, resource) in self.awx.troubles:
                status, seconds = self.awx.troubles[request.method, resource]
                await asyncio.sleep(seconds)
                if status:
                    raise RefusedError(status, {"detail": "It is as it is."})
            status, body = self.reply(request, await request.json() if request.can_read_body else {})
        except RefusedError as error:
            status, body = error.status, error.answer
        except (KeyError, StopIteration):
            status, body = 404, {"detail": "Not found."}
        headers = {"X-API-Product-Name": "AWX", "X-API-Product-Version": "24.6.1"}
        if status == 204:
            return web.Response(status=204, headers=headers)
        return web.json_response(body, status=status, headers=headers)

    def reply(self, request: web.Request, body: dict[str, Any]) -> tuple[int, Any]:
        awx, method = self.awx, request.method
        basic = "Basic " + base64.b64encode(":".join(ADMIN).encode()).decode()
        if request.headers.get("Authorization") not in (basic, f"Bearer {TOKEN}"):
            raise RefusedError(401, {"detail": "Authentication credentials were not provided."})
        resource, *rest = request.path.removeprefix("/api/v2/").strip("/").split("/")
        if resource == "tokens":
            if method == "POST":
                awx.next_id += 1
                awx.tokens.add(awx.next_id)
                return 201, {"id": awx.next_id, "token": TOKEN}
            awx.tokens.discard(int(rest[0]))
            return 204, None
        if resource == "roles":
            granted = awx.granted.setdefault(int(rest[0]), [])
            if method == "POST":
                away = bool(body.get("disassociate"))
                (granted.remove if away else granted.append)(body["id"])
                awx.writes.append(f"{'REVOKE' if away else 'GRANT'} {rest[0]}")
                return 204, None
            return 200, _page([awx.shown("teams", awx.tables["teams"][each]) for each in granted])
        if resource == "project_updates":
            project = awx.shown("projects", awx.tables["projects"][int(rest[0])])
            failed = project["status"] == "failed"
            return 200, {
                "id": project["id"],
                "status": project["status"],
                "failed": failed,
                "finished": "now",
                "event_processing_finished": True,
                "scm_revision": "1",
                "url": request.path,
            }
        if not rest:
            if method == "POST":
                return 201, awx.write(resource, body)
            return 200, _page(awx.list(resource, request.query))
        number = int(rest[0])
        row = awx.tables[resource][number]
        if len(rest) == 1:
            if method == "PATCH":
                return 200, awx.write(resource, body, number)
            if method == "DELETE":
                awx.delete(resource, number)
                return (202 if resource == "inventories" else 204), {}
            return 200, awx.shown(resource, row)
        return self.below(method, resource, number, rest[1], body)

    def below(self, method: str, resource: str, number: int, what: str, body: dict[str, Any]) -> tuple[int, Any]:
        awx = self.awx
        if what == "survey_spec":
            if method == "POST":
                awx.check_survey(body)
                awx.surveys[number] = body
                awx.writes.append(f"POST survey of {awx.tables[resource][number]['name']}")
            if method == "DELETE":
                awx.surveys.pop(number, None)
            return 200, awx.surveys.get(number, {})
        if what == "update":
            awx.writes.append(f"UPDATE {awx.tables[resource][number]['name']}")
            return 202, {"id": number, "url": f"/api/v2/project_updates/{number}/", "status": "pending"}
        if what == "create_approval_template":
            template = awx.make(
                "workflow_approval_templates", {name: body[name] for name in ("name", "description", "timeout")}
            )
            awx.tables[resource][number]["unified_job_template"] = template
            return 201, awx.shown("workflow_approval_templates", awx.tables["workflow_approval_templates"][template])
        if method == "POST":
            awx.associate(resource, number, what, body["id"], bool(body.get("disassociate")))
            return 204, None
        return 200, _page([awx.tables[ASSOCIATED[what]][each] for each in awx.links.get((resource, number, what), [])])


def _page(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"count": len(rows), "next": None, "previous": None, "results": rows}


@contextlib.contextmanager
def served(awx: Awx) -> Iterator[Served]:
    """On a free port of this machine, until the block ends."""
    one = Served(awx)
    loop = asyncio.new_event_loop()
    started = threading.Event()

    async def start() -> web.AppRunner:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", one.answer)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        one.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
        started.set()
        return runner

    def run() -> None:
        runner = loop.run_until_complete(start())
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert started.wait(30)
    try:
        yield one
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
