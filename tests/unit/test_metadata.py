"""What the collection says of itself is so: its action group, its licence, where its pages lead to."""

import ast
import importlib
from pathlib import Path

import pytest
import yaml

from ansible_collections.slb.fleet.plugins.doc_fragments import management_node
from ansible_collections.slb.fleet.tests.tools.absolute_links import absolute

ROOT = Path(__file__).resolve().parents[2]

MODULES = sorted((ROOT / "plugins" / "modules").glob("[!_]*.py"))
PLUGINS = "ansible_collections.slb.fleet.plugins"
PAGES = [ROOT / "README.md", *sorted((ROOT / "roles").glob("*/README.md"))]
BASE, RAW = "https://home.example/blob/v1.0.0", "https://home.example/raw/v1.0.0"


def options(module):
    """Those of the documentation, its fragments included."""
    text = next(
        node.value.value
        for node in ast.parse(module.read_text()).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DOCUMENTATION"
    )
    documentation = yaml.safe_load(text)
    found = dict(documentation.get("options", {}))
    if "slb.fleet.management_node" in documentation["extends_documentation_fragment"]:
        found |= yaml.safe_load(management_node.ModuleDocFragment.DOCUMENTATION)["options"]
    return found


def arguments_of(name):
    """As the code has them: the module's, or its action's where all is done there."""
    found = [
        getattr(importlib.import_module(f"{PLUGINS}.{kind}.{name}"), "ARGUMENTS", None)
        for kind in ("modules", "action")
    ]
    return found[0] or found[1]


def test_the_action_group_has_each_module_that_takes_the_connection():
    group = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text())["action_groups"]["management_node"]
    # The address alone is taken by the record of a host, too, which logs in nowhere.
    takes = {module.stem for module in MODULES if {"base_url", "password"} <= options(module).keys()}
    assert takes
    assert sorted(group) == sorted(takes)


@pytest.mark.parametrize(
    "module", [module for module in MODULES if arguments_of(module.stem)], ids=lambda file: file.stem
)
def test_what_is_documented_of_an_option_is_so(module):
    """For who reads, defaults such as the words by which an answer is understood are written once more."""
    arguments = arguments_of(module.stem) or {}
    documented = options(module)
    keys = ("type", "elements", "choices", "default", "required")
    unsaid = {"type": "str", "required": False}
    assert documented.keys() <= arguments.keys()
    for name, said in documented.items():
        told = {key: said.get(key, unsaid.get(key)) for key in keys}
        assert told == {key: arguments[name].get(key, unsaid.get(key)) for key in keys}, name


def test_options_of_all_modules_are_compared():
    assert [module.stem for module in MODULES if not arguments_of(module.stem)] == []


@pytest.mark.parametrize("file", sorted((ROOT / "plugins").rglob("*.py")), ids=lambda file: file.name)
def test_code_that_is_shipped_names_its_holder_and_its_licence(file):
    head = file.read_text().removeprefix("#!/usr/bin/python\n").splitlines()[:3]
    # REUSE-IgnoreStart
    assert head == [
        "# Copyright (c) slb.fleet contributors",
        "# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)",
        "# SPDX-License-Identifier: GPL-3.0-or-later",
    ]
    # REUSE-IgnoreEnd


def test_links_lead_to_the_file_of_the_release_and_pictures_to_its_bytes():
    text = "[a](docs/a.md#b) ![picture](docs/a.png) [a [b]](../x/R.md) [web](https://other.example) [here](#b)"
    assert absolute(text, "roles/r", BASE, RAW) == (
        f"[a]({BASE}/roles/r/docs/a.md#b) ![picture]({RAW}/roles/r/docs/a.png) [a [b]]({BASE}/roles/x/R.md) "
        "[web](https://other.example) [here](#b)"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_that_is_shown_elsewhere_is_made_so_and_leads_to_a_file(page):
    text = absolute(page.read_text(), str(page.parent.relative_to(ROOT)), BASE, RAW)
    targets = [part.split(")")[0] for part in text.split("](")[1:]]
    assert targets
    for target in targets:
        assert target.startswith(("https://", "#")), target
        for where in BASE, RAW:
            if target.startswith(where):
                assert (ROOT / target.removeprefix(f"{where}/").split("#")[0]).exists(), target
