"""The generated pages are up to date, and the reference is complete."""

import ast
import re
from pathlib import Path

import pytest
import yaml

from ansible_collections.slb.fleet.plugins.plugin_utils._rules import REMEDIATION_RULES, RULES
from ansible_collections.slb.fleet.plugins.plugin_utils._safety_checks import SAFETY_CHECKS
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import DEFAULTS, KNOWN

reference = pytest.importorskip("reference")
ROOT = Path(__file__).resolve().parents[2]
RUN = "run: tests/tools/python tests/tools/reference.py"
# Codes that no FleetError has: the report, and a code that is built from two parts.
OF_REPORT = {"host_timeout", "interrupted", "not_started"}
BUILT = {"interface_not_adopted", "interface_not_released"}
# Variables of the code that hold codes.
CODE_NAMES = ("_ERRORS", "TIMEOUT", "code", "code, fix")


@pytest.mark.parametrize("page", reference.pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page_is_up_to_date(page):
    assert page.read_text() == reference.pages()[page], RUN


def test_variables_page_has_each_variable_once():
    names = [name for group in reference.GROUPS.values() for name in group]
    assert len(names) == len(set(names))
    assert set(names) == KNOWN


def test_variables_page_has_the_defaults():
    options = reference.read_options()
    for name, default in DEFAULTS.items():
        if not name.startswith("slb_awx_") and name not in ("slb_engine_name", "slb_manage_ip"):
            assert options[name].get("default") == default, name


@pytest.mark.parametrize("module", sorted((ROOT / "plugins" / "modules").glob("*.py")), ids=lambda path: path.stem)
def test_option_of_a_module_has_the_default_of_the_variable(module):
    documentation = re.search(r'DOCUMENTATION = r"""(.*?)"""', module.read_text(), re.DOTALL)
    for option, rules in (yaml.safe_load(documentation[1]).get("options") or {}).items():
        if "default" in rules:
            assert rules["default"] == DEFAULTS.get(f"slb_{option}", rules["default"]), option


def errors(tree):
    """Return the expressions that stand for a code: the first argument of an error, and codes in tables of errors."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            name = ast.unparse(node.func)
            if name in ("FleetError", "error", "Reason", "self.failure"):
                yield node.args[0]
            elif name in ("block", "Plan"):
                yield from node.args[1:4]
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in CODE_NAMES:
            yield node.value


def codes():
    found = (
        {rule.code for rule in (*RULES, *REMEDIATION_RULES)}
        | {check.code for check in SAFETY_CHECKS if isinstance(check.code, str)}
        | OF_REPORT
        | BUILT
    )
    for file in sorted((ROOT / "plugins").rglob("*.py")):
        for each in errors(ast.parse(file.read_text())):
            constants = [node.value for node in ast.walk(each) if isinstance(node, ast.Constant)]
            found |= {text for text in constants if isinstance(text, str) and re.fullmatch(r"[a-z]+(_[a-z]+)+", text)}
    return found


def test_messages_page_has_each_code_and_no_other():
    page = (ROOT / "docs" / "reference" / "messages.md").read_text()
    documented = re.findall(r"^## (\w+)$", page, re.MULTILINE)
    assert documented == sorted(set(documented))
    assert all("\n- Check: " in each and "\n- Fix: " in each for each in page.split("\n## ")[1:])
    missing, unknown = codes() - set(documented), set(documented) - codes()
    assert not missing, f"add a section to docs/reference/messages.md for {sorted(missing)}"
    assert not unknown, f"remove from docs/reference/messages.md: {sorted(unknown)}"
