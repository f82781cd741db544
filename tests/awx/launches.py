"""What reaches a job of AWX from a launch: the answers to a survey, marked as AWX marks them, and its own variables."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]


class _Loader(yaml.SafeLoader):
    pass


_Loader.add_constructor("!unsafe", lambda loader, node: loader.construct_scalar(node))
CONTENT: dict[str, Any] = yaml.load((ROOT / "roles/awx_content/defaults/main.yml").read_text(), _Loader)
"""The defaults of the role, with their templates."""
TEMPLATES: dict[str, dict[str, Any]] = {
    each["name"].removeprefix("{{ slb_awx_name }} "): each
    for kind in ("job", "license", "slice")
    for each in CONTENT[f"__slb_awx_{kind}_templates"]
}
SURVEYS: dict[str, list[dict[str, Any]]] = {
    name: each["survey_spec"]["spec"] for name, each in TEMPLATES.items() if "survey_spec" in each
}
APPROVED = "rollout approved"
APPROVED_PLAN: str = TEMPLATES[APPROVED]["extra_vars"]["slb_approved_plan"]

ANSWERED: dict[str, dict[str, Any]] = {
    "diagnose": {"slb_hosts": "edge-1"},
    "audit": {"slb_hosts": "edge-1"},
    "rollout": {
        "slb_hosts": "edge-1",
        "slb_serial": "1, 50%, 100%",
        "slb_max_fail_percentage": "30",
        "slb_unverified_engine": "fail",
        "slb_stopped_engine": "start",
        "slb_adopt_interfaces": "true",
    },
    "rollout canary": {"slb_hosts": "edge-1", "slb_unverified_engine": "adopt", "slb_adopt_interfaces": "false"},
    "rollout sliced": {"slb_hosts": "edge-1", "slb_max_fail_percentage": "0"},
    "remediate": {"slb_hosts": "edge-1", "slb_remove_leftovers": "true"},
    "retire": {"slb_hosts": "edge-1", "slb_remove_leftovers": "false"},
    "adopt_interfaces": {"slb_hosts": "edge-1", "slb_interfaces": "ens9, ens10", "slb_dhcp_timeout": 5},
}


class _Unsafe(str):
    """As AWX marks it."""


class _Dumper(yaml.SafeDumper):
    pass


_Dumper.add_representer(_Unsafe, lambda dumper, text: dumper.represent_scalar("!unsafe", str(text)))


def _marked(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _marked(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_marked(each) for each in value]
    return _Unsafe(value) if isinstance(value, str) else value


def sent(template: str, answers: Mapping[str, Any]) -> dict[str, Any]:
    """What of a survey arrives: the answers, and the default of an open question for a text that has one.

    The page of AWX answers each open question for a text with an empty one. Raises AssertionError where AWX would
    refuse the launch.
    """
    variables: dict[str, Any] = {}
    for question in SURVEYS[template]:
        name = question["variable"]
        if name in answers:
            value = answers[name]
            kind = int if question["type"] == "integer" else str
            assert isinstance(value, kind)
            assert value in question.get("choices", [value])
            size = value if kind is int else len(value)
            assert question.get("min", size) <= size <= question.get("max", size)
            variables[name] = value
        else:
            assert not question["required"]
            if question["type"] == "text" and question["min"] == 0 and "default" in question:
                variables[name] = question["default"]
    return variables


def with_variables(folder: Path, variables: Mapping[str, Any]) -> list[str]:
    """Their file, as AWX writes it: what came with the launch is marked, what the template itself says is not."""
    file = folder / "extravars.yml"
    own = {} if "awx_job_id" in variables else {"awx_job_id": 7}
    if variables.get("slb_approved_plan") == APPROVED_PLAN:
        own["slb_approved_plan"] = variables["slb_approved_plan"]
    file.write_text(yaml.dump({**_marked(dict(variables)), **own}, Dumper=_Dumper))
    launched = {name: value for name, value in variables.items() if name not in own}
    assert ("!unsafe" in file.read_text()) is _has_text(launched)
    return ["-e", f"@{file}"]


def _has_text(value: Any) -> bool:
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return isinstance(value, str) or any(map(_has_text, parts))


def playbook_of(template: str) -> str:
    return str(TEMPLATES[template]["playbook"]).removesuffix(".yml")
