"""The document follows its schema, and takes fields by name."""

import json
from pathlib import Path

import jsonschema
import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils._report.files import AT_THE_END, as_text
from ansible_collections.slb.fleet.tests.unit.plugins.plugin_utils._report import told_runs as told

DOCS = Path(__file__).resolve().parents[5] / "docs"

SCHEMA = json.loads((DOCS / "report.schema.json").read_text())


@pytest.mark.parametrize("document", [told.troubled(), told.healthy(3), told.hostile(), told.RecordedRun().ended()])
def test_the_document_is_as_its_schema_has_it(document):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads(as_text(document)), SCHEMA)


def test_no_secret_can_come_in_because_fields_are_taken_by_name():
    secret = "s3cret-never-shown"
    run = told.RecordedRun().play("check", "edge-1")
    result = told.planned(
        {**told.HEALTHY, "password": secret}, password=secret, invocation={"module_args": {"password": secret}}
    )
    result["engine"]["session"] = secret
    run.task("edge-1", "slb.fleet.engine_plan", result)
    run.task("edge-1", "slb.fleet.login", {"sessionid": secret, "changed": True})
    run.task("edge-1", "ansible.builtin.command", {"stdout": secret, "changed": True})
    document = run.ended()
    assert all(secret not in render(document) for render in AT_THE_END.values())
