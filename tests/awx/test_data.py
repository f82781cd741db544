"""What awx_files writes for infra.aap_configuration makes the same of AWX as awx_setup does."""

from __future__ import annotations

import json
from typing import Any

from awx_double import Awx, served
from operators import NEEDED, Operator, empty_awx
from test_setup import EVERYTHING

# The lists that its roles read, in the order of its role dispatch. Each role hands the fields of an item to the module
# of that kind, under the names that they have.
ROLES = {
    "controller_credential_types": "credential_type",
    "controller_credentials": "credential",
    "controller_execution_environments": "execution_environment",
    "controller_notifications": "notification_template",
    "controller_projects": "project",
    "controller_inventories": "inventory",
    "controller_inventory_sources": "inventory_source",
    "controller_labels": "label",
    "controller_templates": "job_template",
    "controller_workflows": "workflow_job_template",
    "controller_schedules": "schedule",
    "controller_roles": "role",
}
REFERENCES = (
    *(
        "organization",
        "credential_type",
        "credential",
        "execution_environment",
        "project",
        "source_project",
        "inventory",
    ),
    *("unified_job_template", "workflow_job_template"),
)
"""Fields that hold the number of another object."""


def by_names(awx: Awx) -> dict[str, Any]:
    """All that is in it, without the numbers of the objects."""
    names = {
        number: str(row.get("name") or row["identifier"])
        for table in awx.tables.values()
        for number, row in table.items()
    }
    rows = {
        f"{resource}: {names[number]}": {
            field: names.get(value, value) if field in REFERENCES else value
            for field, value in row.items()
            if field != "id"
        }
        for resource, table in awx.tables.items()
        for number, row in table.items()
    }
    links = {
        f"{names[number]}: {link}": sorted(names[other] for other in others)
        for (_resource, number, link), others in awx.links.items()
        if others
    }
    surveys = {f"{names[number]}: survey": survey for number, survey in awx.surveys.items()}
    granted = {
        f"{names[role // 100]}: {role % 100}": [names[team] for team in awx.granted[role]] for role in awx.granted
    }
    return {**rows, **links, **surveys, **granted}


def test_both_ways_make_the_same(operator: Operator) -> None:
    made = operator.set_up(**EVERYTHING)
    made.assert_ok()
    variables = {**NEEDED, **{f"slb_awx_{name}": value for name, value in EVERYTHING.items()}, "slb_awx_dest": "slb"}
    operator.run("awx_files", variables).assert_ok()

    tasks = [
        {
            "name": f"Do what is done with {kept}",
            f"awx.awx.{kind}": {},
            "args": "{{ item }}",
            "loop": f"{{{{ {kept} }}}}",
            "no_log": True,
        }
        for kept, kind in ROLES.items()
    ]
    play = {
        "name": "Keep AWX as data",
        "hosts": "localhost",
        "gather_facts": False,
        "connection": "local",
        "vars": {"ansible_python_interpreter": "{{ ansible_playbook_python }}"},
        "vars_files": ["slb/aap_configuration.yml"],
        "tasks": tasks,
    }
    playbook = operator.folder / "data.json"
    playbook.write_text(json.dumps([play]))
    with served(empty_awx()) as one:
        other = Operator(one.awx, one, operator.folder)
        other.run(str(playbook), variables).assert_ok()
        left, right = by_names(operator.awx), by_names(one.awx)
    assert left.keys() == right.keys()
    for name, fields in left.items():
        assert fields == right[name], name
