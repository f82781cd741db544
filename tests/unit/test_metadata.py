"""The action group is complete, actions take the documented options, and links of shipped pages lead to files."""

import importlib
import re
from dataclasses import fields
from pathlib import Path

import pytest
import yaml
from ansible.plugins.loader import fragment_loader
from ansible.utils.plugin_docs import get_docstring

from ansible_collections.slb.fleet.plugins.plugin_utils._facts import ALWAYS, RETURNED, Facts
from ansible_collections.slb.fleet.plugins.plugin_utils._state import Container, Record
from ansible_collections.slb.fleet.tests.tools.absolute_links import absolute

ROOT = Path(__file__).resolve().parents[2]
IGNORED = yaml.safe_load((ROOT / "galaxy.yml").read_text())["build_ignore"]
PAGES = [
    page
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md", "roles/*/*.md")
    for page in sorted(ROOT.glob(pattern))
    if not {str(page.relative_to(ROOT)), str(page.parent.relative_to(ROOT))} & set(IGNORED)
]
BASE = "https://home.example/blob/v1.0.0"
RAW = BASE.replace("/blob/", "/raw/")


def plugin(kind, name):
    return importlib.import_module(f"ansible_collections.slb.fleet.plugins.{kind}.{name}")


# Actions have the documentation of their modules.
PUBLIC = [
    path
    for pattern in ("modules/*.py", "inventory/*.py", "callback/*.py", "lookup/*.py")
    for path in sorted((ROOT / "plugins").glob(pattern))
    if path.name[0] != "_"
]


def test_templates_use_tests_that_each_ansible_core_has():
    """Of those that a role or a playbook may use, not ``timedout``: it is newer than the oldest ansible-core."""
    texts = [file.read_text() for folder in ("roles", "playbooks") for file in (ROOT / folder).rglob("*.yml")]
    expressions = [part for text in texts for part in re.findall(r"\{\{.*?\}\}|when:.*", text, re.DOTALL)]
    used = {name for each in expressions for name in re.findall(r"\bis (?:not )?(\w+)", each)}
    assert "timedout" not in used
    assert {"defined", "failed", "skipped"} <= used


def documentation(path):
    """Return the documentation of a plugin or module with its fragments, the examples and the return values."""
    return get_docstring(
        str(path), fragment_loader, collection_name="slb.fleet", is_module=path.parent.name == "modules"
    )[:3]


@pytest.mark.parametrize("path", PUBLIC, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_documentation_of_public_plugin_is_complete(path):
    text, examples, returned = documentation(path)
    keys = {"short_description", "description", "version_added", "author", "seealso"}
    is_module = path.parent.name == "modules"
    if is_module:
        keys.add("attributes")
        assert {"check_mode", "diff_mode"} <= set(text["attributes"])
        assert {"support", "description"} <= set(text["attributes"]["platform"])
    assert keys <= set(text), keys - set(text)
    # galaxy-importer cannot parse an example without content.
    assert yaml.safe_load(examples) if is_module else examples or path.parent.name == "callback"
    assert returned or path.parent.name in ("callback", "inventory")
    assert all(value.get("returned") for value in (returned or {}).values()) or not is_module
    # A boolean needs no sample.
    assert all({"sample", "contains"} & set(value) or value["type"] == "bool" for value in (returned or {}).values())


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "plugins" / "modules").glob("_*.py")))
def test_private_module_is_marked_and_not_in_release_notes(name):
    """ansible-doc lists each module, antsibull-changelog those whose documentation has the version of the release."""
    text, examples, _returned = documentation(ROOT / "plugins" / "modules" / f"{name}.py")
    assert text["short_description"].startswith("Internal: ")
    assert "version_added" not in text
    assert yaml.safe_load(examples)


def test_action_group_has_each_module_that_logs_in():
    group = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text())["action_groups"]["management_node"]
    files = (ROOT / "plugins" / "modules").glob("*.py")
    assert sorted(group) == sorted(file.stem for file in files if "slb.fleet._management_node" in file.read_text())


@pytest.mark.parametrize("name", ["engine_plan", "engine_install", "merge_reports", "license"])
def test_documented_options_are_those_of_the_action(name):
    """ansible-test compares the options of the other modules."""
    documented = documentation(ROOT / "plugins" / "modules" / f"{name}.py")[0]["options"]
    keys = {"type": "str", "elements": None, "choices": None, "default": None, "required": False}
    assert {option: {key: rules.get(key, keys[key]) for key in keys} for option, rules in documented.items()} == {
        option: {key: rules.get(key, keys[key]) for key in keys}
        for option, rules in plugin("action", name).ARGUMENTS.items()
    }


@pytest.mark.parametrize("name", sorted(name for name in RETURNED if name[0] != "_"))
def test_documented_values_are_taken_from_the_host(name):
    """Actions drop other keys of a module's result."""
    documented = documentation(ROOT / "plugins" / "modules" / f"{name}.py")[2]
    assert set(documented) <= {*ALWAYS, *RETURNED[name]}


@pytest.mark.parametrize(("kind", "place"), [(Facts, ()), (Container, ("engine_container",)), (Record, ("record",))])
def test_each_fact_that_a_plan_uses_is_documented(kind, place):
    documented = documentation(ROOT / "plugins" / "modules" / "host_info.py")[2]["slb_host"]["contains"]
    for name in place:
        documented = documented[name]["contains"]
    assert {field.name for field in fields(kind)} - {"engine"} <= set(documented)  # a record has the engine's own keys


def test_plays_override_no_log_of_ansible_cfg():
    """Else the report gets no results. The results of awx_setup may contain what is typed into AWX."""
    files = [*(ROOT / "playbooks").glob("*.yml"), *(ROOT / "playbooks").glob("parts/*.yml")]
    plays = [play for file in files for play in yaml.safe_load(file.read_text()) if "hosts" in play]
    assert [play["name"] for play in plays if play.get("no_log") is not False] == ["Manage the content of AWX"]


def test_links_of_a_release_lead_to_its_files():
    text = "[a](docs/a.md#b) ![picture](docs/a.png) [a [b]](../x/R.md) [web](https://other.example) [here](#b)"
    assert absolute(text, "roles/r", BASE) == (
        f"[a]({BASE}/roles/r/docs/a.md#b) ![picture](docs/a.png) [a [b]]({BASE}/roles/x/R.md) "
        "[web](https://other.example) [here](#b)"
    )
    assert absolute("![run](docs/a.png)", ".", BASE) == f"![run]({RAW}/docs/a.png)"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_a_shipped_page_lead_to_files(page):
    text = absolute(page.read_text(), str(page.parent.relative_to(ROOT)), BASE)
    for picture, target in re.findall(r"(!?)\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)]*)\)", text):
        # Galaxy shows the first page without the artifact. Of the files, see test_documentation.py.
        if picture and page.parent != ROOT:
            assert page.parent == ROOT / "docs"
            assert not [each for each in IGNORED if (page.parent / target).match(each)]
        else:
            assert target.startswith(("https://", "#")), target
