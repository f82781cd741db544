"""Write the generated pages and the examples in pages: `tests/tools/python tests/tools/reference.py`."""

import collections.abc
import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import yaml

from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import CONNECTION_ARGUMENTS
from ansible_collections.slb.fleet.plugins.module_utils._management_node.contract import ROWS
from ansible_collections.slb.fleet.plugins.module_utils._management_node.install import ENGINE_ARGUMENTS
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import (
    FORMAT,
    STATUSES,
    VERSION,
    Document,
    Group,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._rules import REMEDIATION_RULES, RULES, Rule
from ansible_collections.slb.fleet.plugins.plugin_utils._safety_checks import SAFETY_CHECKS, SafetyCheck
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import BEFORE_HOSTS

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = re.compile(r"(<!-- (examples/\S+) -->\n```(\w*)\n)(.*?)(```\n)", re.DOTALL)
CONTRACT = re.compile(r"(<!-- contract -->)\n.*?(<!-- /contract -->)", re.DOTALL)
FILES = re.compile(r"(<!-- files -->)\n.*?(<!-- /files -->)", re.DOTALL)
_FIRST_LINE = re.compile(
    r'^short_description: "?(.+?)"?$|^(?:"""|/\* |\{# )(.+?)(?:\.?"""|\. |\.$| \*/| -?#\})', re.MULTILINE
)
_MARKUP = re.compile(r"\b([VCOE])\(([^)]*)\)")
_PLUGIN = re.compile(r"\b[PM]\(([\w.]+)(?:#\w+)?\)")

NEEDED = (
    *("slb_base_url", "slb_username", "slb_password", "slb_tls_fingerprint"),
    *("slb_engine_list", "slb_user_credential_id"),
)
GROUPS: Mapping[str, tuple[str, ...]] = {
    "Connection": tuple(f"slb_{name}" for name in CONNECTION_ARGUMENTS if name != "sessionid"),
    "Engine": (
        *("slb_engine_name", "slb_manage_ip", "slb_manage_ip_translated"),
        *(f"slb_{name}" for name in ENGINE_ARGUMENTS if name not in ("name", "manage_ip")),
    ),
    "Engine list": ("slb_engine_list", "slb_engine_list_may_be_empty"),
    "Leftovers": (
        *("slb_unverified_engine", "slb_stopped_engine", "slb_max_replaced", "slb_allow_established"),
        "slb_ignored_starters",
        *("slb_remove_leftovers", "slb_stop_timeout"),
    ),
    "Deployment and login banner": (
        *("slb_wait_timeout", "slb_settle", "slb_throttle", "slb_host_timeout"),
        *("slb_motd", "slb_motd_max_bytes", "slb_motd_after"),
    ),
    "Runs": (
        *("slb_hosts", "slb_canary", "slb_serial", "slb_max_fail_percentage", "slb_batch_pause", "slb_approved_plan"),
        *("slb_reports", "slb_merged_dir"),
    ),
    "License": ("slb_license_dest", "slb_license_host", "slb_license_backup"),
    "Interfaces": (
        *("slb_adopt_interfaces", "slb_interfaces", "slb_interfaces_state"),
        *("slb_dhcp_timeout", "slb_confirm_timeout"),
    ),
}
OF_PLAYBOOKS: Mapping[str, dict[str, Any]] = {
    "slb_hosts": {"type": "str", "default": "engines", "description": "Hosts of the playbooks, as a host pattern."},
    "slb_canary": {
        "type": "str",
        "description": "Host of the inventory that C(rollout) deploys first, if the host is to be changed. Default is "
        "the first host that is to be changed.",
    },
    "slb_serial": {
        "type": "list",
        "default": [1, "10%", "25%"],
        "description": "Sizes of the batches of C(rollout), also as a text such as V(1,10%). The last one is repeated. "
        "A batch ends when at most a fifth of its hosts are in progress.",
    },
    "slb_max_fail_percentage": {
        "type": "float",
        "default": 100,
        "description": "Maximum percentage of failed hosts in a batch of C(rollout). If more fail, it is the last.",
    },
    "slb_reports": {"type": "list", "description": "Folders of the reports that C(merge_reports) reads."},
    "slb_merged_dir": {"type": "path", "description": "Folder of the report that C(merge_reports) writes."},
}
"""Variables that no role has."""
_SCOPES = """\
Scope `host`: set the variable in the inventory, for a host or a group. Scope `run`: set it with `-e` only (in AWX: in
the job template). An empty value counts as unset. An invalid value fails its host with `invalid_variable`, and an
unknown `slb_` variable causes a warning. Quote texts: YAML reads `0123` as 83 and `yes` as true, and such a value is
rejected. The variables of `awx_content`: [AWX](../awx.md).

A connection variable is taken from, in this order: the option of the task, the variable, the environment variable, the
default."""
_SCHEMA = """\
Lists the fields of `report.json`, from [report.schema.json](../report.schema.json). Times are in UTC. A later version
may add fields; removed or changed fields get another `version`."""


_DONE_BY_ROLLOUT = {
    "none": "None needed.",
    "record": "None needed: `rollout` records the engine.",
    "restore": "None needed: `rollout` restores the container.",
    "start": "None needed: `rollout` starts the container.",
    "install": "None needed: `rollout` installs the engine.",
    "replace": "None needed: `rollout` replaces the container.",
}
_NAMES = re.compile(
    r"`[^`]*`|(?:-e )?\bslb_\w+(?:(?:: |=)(?:true|adopt|replace|fail)\b)?|\bslb\.fleet\.\w+(?: --check)?"
    r"|/etc/\S+\.fact|\bbecome: true\b|\bansible_\w+"
)
_LABELS = ("When", "Plan", "Check", "Fix", "Note")


def read_options() -> dict[str, dict[str, Any]]:
    """Return the variables with type, default and description."""
    found: dict[str, dict[str, Any]] = {name: dict(option) for name, option in OF_PLAYBOOKS.items()}
    for role in ("host_preparation", "engine_deployment", "interface_adoption"):
        file = ROOT / "roles" / role / "meta" / "argument_specs.yml"
        specs = yaml.safe_load(file.read_text())["argument_specs"]
        found.update(specs["main"]["options"])
    for name, argument in CONNECTION_ARGUMENTS.items():
        if name != "sessionid":
            found[f"slb_{name}"] = {**found[f"slb_{name}"], **argument}
    found["slb_engine_name"]["default"], found["slb_manage_ip"]["default"] = "inventory_hostname", "ansible_host"
    return found


def _plain(text: str | list[str]) -> str:
    words = text if isinstance(text, str) else " ".join(text)
    words = re.sub(r"\bO\([^)]*:([^:)]*)\)", r"O(\1)", words)
    return _PLUGIN.sub(r"`\1`", _MARKUP.sub(r"`\2`", words))


def _line(name: str, option: Mapping[str, Any]) -> str:
    default = option.get("default", "")
    facts = [option["type"]]
    if default not in ("", [], {}):
        facts.append(f"default `{json.dumps(default) if not isinstance(default, str) else default}`")
    variables = option.get("fallback", (None, ()))[1]
    facts += [f"or `{each}`" for each in variables]
    is_of_run = name.removeprefix("slb_") in BEFORE_HOSTS or name in OF_PLAYBOOKS
    facts.append("run" if is_of_run else "host")
    return f"- `{name}` ({', '.join(facts)}): {_plain(option['description'])}"


def _first_sentence(option: Mapping[str, Any]) -> str:
    return re.split(r"(?<=\.) ", _plain(option["description"]))[0]


def variables_page() -> str:
    """Return the page about the variables."""
    options = read_options()
    lines = [
        *("# Variables", "", "Lists the variables of the roles and playbooks. Most fleets need these six:", ""),
        *("| variable | meaning |", "|---|---|"),
        *(f"| `{name}` | {_first_sentence(options[name])} |" for name in NEEDED),
        *("", _SCOPES),
    ]
    for group, names in GROUPS.items():
        lines += ["", f"## {group}", "", *(_line(name, options[name]) for name in names)]
    return "\n".join(lines) + "\n"


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema of report.json, from the dataclasses of the report."""
    parts = _schema_of(Document)["properties"]
    counts = {"hosts": "All hosts of the run.", "changed": "Hosts that the run changed."}
    properties = {
        "format": {"description": f"Always `{FORMAT}`.", "const": FORMAT},
        "version": {"description": f"Always {VERSION}.", "const": VERSION},
        "run": parts["run"],
        "counts": {
            "description": "Number of hosts, in total and by status.",
            **_object(
                {name: {"description": text, **_schema_of(int)} for name, text in counts.items()}
                | {status: _schema_of(int) for status in STATUSES}
            ),
        },
        "groups": {
            "description": "Hosts that need attention, by status and code, the largest group first.",
            **_schema_of(tuple[Group, ...]),
        },
        **{name: parts[name] for name in ("plan", "unknown_engines", "hosts")},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{FORMAT}, version {VERSION}",
        "description": "The report of a run. A later version may add fields; changed fields get another number.",
        **_object(properties),
    }


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "required": list(properties), "properties": properties}


def _schema_of(hint: Any) -> dict[str, Any]:
    """Return the schema of a type: texts in ``Annotated`` are its description, patterns limit its values."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        keys = {str: "description", re.Pattern: "pattern"}
        found = {keys[type(each)]: getattr(each, "pattern", each) for each in hint.__metadata__}
        return {**found, **_schema_of(hint.__origin__)}
    if origin in (Union, UnionType):
        return {"anyOf": [_schema_of(part) for part in parts]}
    if origin is Literal:
        return {"enum": list(parts)}
    if origin is tuple:
        return {"type": "array", "items": _schema_of(parts[0])}
    if origin is collections.abc.Mapping:
        return {"type": "object", "additionalProperties": _schema_of(parts[1])}
    if is_dataclass(hint):
        return _object({name: _schema_of(part) for name, part in get_type_hints(hint, include_extras=True).items()})
    simple = {str: "string", bool: "boolean", int: "integer", float: "number", NoneType: "null"}[hint]
    return {"type": simple, **({"minimum": 0} if hint in (int, float) else {})}


def schema_page() -> str:
    """Return the page about the fields of report.json."""
    schema = report_schema()
    lines = ["# Report schema", "", _SCHEMA, "", "```sh", "jq '.counts' reports/report.json", "```", ""]
    return "\n".join([*lines, *_fields(schema, 0)]) + "\n"


def _fields(node: Mapping[str, Any], depth: int) -> Iterator[str]:
    for name, raw in node.get("properties", {}).items():
        field = raw.get("anyOf", [raw])[0]
        kind = field.get("type") or ("constant" if "const" in field else "string")
        choices = ", ".join(f"`{each}`" for each in field.get("enum", ()))
        words = " ".join(filter(None, (raw.get("description"), choices and f"One of: {choices}.")))
        yield f"{'  ' * depth}- `{name}` ({kind}){': ' + words if words else ''}"
        yield from _fields(field.get("items", field), depth + 1)


def decision_table() -> str:
    """Return the page about the rules and safety checks."""
    lines = [
        *(
            "# Decision table",
            "",
            "Lists the rules of `plugins/plugin_utils/_rules.py` and `_safety_checks.py`, from which this page is "
            "generated.",
        ),
        *("The plan of a host is the first rule that applies, from top to bottom.", ""),
        *_rules(RULES),
        *("", "## Of slb.fleet.remediate and slb.fleet.retire", ""),
        *_rules(REMEDIATION_RULES),
        *("", "## Safety checks", ""),
        *("If one applies to the action of the rule, the plan is to fail, with the code of the check.", ""),
        *("| condition | before | code |", "|---|---|---|"),
        *(f"| {_marked(check.when)} | {', '.join(check.actions)} | {_code(check)} |" for check in SAFETY_CHECKS),
    ]
    return "\n".join(lines) + "\n"


def _rules(rules: Iterable[Rule]) -> Iterator[str]:
    yield from ("| # | observed | action | code |", "|---|---|---|---|")
    for number, rule in enumerate(rules, 1):
        yield f"| {number} | {_marked(rule.when)} | {_action_of(rule)} | `{rule.code}` |"


def _code(check: SafetyCheck) -> str:
    return f"`{check.code}`" if isinstance(check.code, str) else "its own"


def _marked(text: str) -> str:
    """Return the text with names of variables and playbooks as code."""
    return _NAMES.sub(lambda found: f"`{found[0].strip('`')}`", text.replace("{runtime}", "docker"))


def _action_of(rule: Rule) -> str:
    if isinstance(rule.action, str):
        return rule.action
    return _marked(str(rule.action.__doc__).removeprefix("Return ").rstrip("."))


def messages_page(text: str) -> str:
    """Return the page about the codes.

    For codes of the rules, the lines When and Plan, and Fix if it is a fixed text, come from the rules. All other lines
    are written by hand; Check and Fix have a general text until then.
    """
    intro, *parts = re.split("^## ", text, flags=re.MULTILINE)
    sections = {code: body.strip() for code, _newline, body in (part.partition("\n") for part in parts)}
    rows: dict[str, list[Rule | SafetyCheck]] = {}
    of_remediation = [rule for rule in REMEDIATION_RULES if rule not in RULES]
    for row in (*RULES, *of_remediation, *SAFETY_CHECKS):
        if isinstance(row.code, str):
            rows.setdefault(row.code, []).append(row)
    for code, alike in rows.items():
        sections[code] = _section(alike, sections.get(code, ""))
    return intro + "\n".join(f"## {code}\n\n{body}\n" for code, body in sorted(sections.items()))


def _section(rows: list[Rule | SafetyCheck], written: str) -> str:
    found: dict[str, list[str]] = {"When": [], "Plan": [], "Fix": []}
    for row in rows:
        if isinstance(row, Rule):
            action, fix = _action_of(row), row.fix or _DONE_BY_ROLLOUT.get(str(row.action), "")
        else:
            action, fix = f"fail (instead of {', '.join(row.actions)})", row.fix
        found["When"].append(f"{row.when[:1].upper()}{row.when[1:]}.")
        found["Plan"].append(action)
        found["Fix"] += [fix] if fix and isinstance(fix, str) else []
    made = {label: list(dict.fromkeys(texts)) for label, texts in found.items() if texts}
    lines = [
        (label, textwrap.fill(f"- {label}: {_marked(text)}", 132, subsequent_indent="  ", break_on_hyphens=False))
        for label, texts in made.items()
        for text in texts
    ]
    by_hand = re.findall(r"^(- (\w+): .*(?:\n  .*)*)", written, re.MULTILINE)
    lines += [(label, line) for line, label in by_hand if label not in made]
    missing = {"Check": "The line `Seen` below the message.", "Fix": "As shown in the message."}
    lines += [(label, f"- {label}: {text}") for label, text in missing.items() if label not in dict(lines)]
    return "\n".join(line for _label, line in sorted(lines, key=lambda pair: _LABELS.index(pair[0])))


def with_contract(text: str) -> str:
    """Return the text of a page with the present table of the contract between its markers."""
    rows = ["| call | answer | meaning |", "|---|---|---|"]
    rows += [f"| {row.calls} | {row.when} | {row.shown or f'`{row.meaning}`'} |" for row in ROWS]
    return CONTRACT.sub(lambda found: "\n".join([found[1], *rows, found[2]]), text)


def with_files(text: str) -> str:
    """Return the text of a page with the present list of files between its markers."""
    plugins = ROOT / "plugins"
    files = [path for path in plugins.rglob("*.*") if path.suffix in (".py", ".j2", ".css") and path.stat().st_size]
    lines, folder = list[str](), plugins
    for path in sorted(files, key=lambda path: (path.parent, path.name)):
        if path.parent != folder:
            folder = path.parent
            lines += ["", f"`{folder.relative_to(ROOT)}/`", ""]
        first = _FIRST_LINE.search(path.read_text())
        assert first, f"{path} does not say what it is for"
        lines.append(f"- `{path.name}`: {first[1] or first[2]}".replace("``", "`"))
    return FILES.sub(lambda found: "\n".join([found[1], *lines, "", found[2]]), text)


def with_examples(text: str) -> str:
    """Return the text of a page with the present content of each example in it."""

    def filled(found: re.Match[str]) -> str:
        return found[1] + (ROOT / found[2]).read_text().removeprefix("---\n") + found[5]

    return EXAMPLE.sub(filled, text)


def pages() -> dict[Path, str]:
    """Return the text of each page that is generated, or contains an example."""
    reference = ROOT / "docs" / "reference"
    made = {
        reference / "variables.md": variables_page(),
        reference / "messages.md": messages_page((reference / "messages.md").read_text()),
        reference / "report-schema.md": schema_page(),
        ROOT / "docs" / "report.schema.json": json.dumps(report_schema(), indent=1) + "\n",
        ROOT / "docs" / "dev" / "decision-table.md": decision_table(),
    }
    written = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    examples = {
        page: with_files(with_contract(with_examples(page.read_text()))) for page in written if page not in made
    }
    return {**examples, **made}


if __name__ == "__main__":
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")
