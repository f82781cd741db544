"""What the collection says of itself is so: its action group, its licence, where its pages lead to."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import yaml

from ansible_collections.slb.fleet.plugins.doc_fragments.management_node import ModuleDocFragment
from ansible_collections.slb.fleet.tests.tools.absolute_links import absolute

ROOT = Path(__file__).resolve().parents[2]

PAGES = [ROOT / "README.md", *sorted((ROOT / "roles").glob("*/README.md"))]
BASE, RAW = "https://home.example/blob/v1.0.0", "https://home.example/raw/v1.0.0"


def options(module: Path) -> set[str]:
    """Those of the documentation, its fragments included."""
    text = next(
        node.value.value
        for node in ast.parse(module.read_text()).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DOCUMENTATION"
    )
    documentation = yaml.safe_load(text)
    own = set(documentation.get("options", ()))
    if "slb.fleet.management_node" in documentation["extends_documentation_fragment"]:
        own |= set(yaml.safe_load(ModuleDocFragment.DOCUMENTATION)["options"])
    return own


def test_the_action_group_has_each_module_that_takes_the_connection() -> None:
    group = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text())["action_groups"]["management_node"]
    modules = (ROOT / "plugins" / "modules").glob("[!_]*.py")
    # The address alone is taken by the record of a host, too, which logs in nowhere.
    takes = {module.stem for module in modules if {"base_url", "password"} <= options(module)}
    assert takes
    assert sorted(group) == sorted(takes)


@pytest.mark.parametrize("file", sorted((ROOT / "plugins").rglob("*.py")), ids=lambda file: file.name)
def test_code_that_is_shipped_names_its_holder_and_its_licence(file: Path) -> None:
    head = file.read_text().removeprefix("#!/usr/bin/python\n").splitlines()[:3]
    # REUSE-IgnoreStart
    assert head == [
        "# Copyright (c) slb.fleet contributors",
        "# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)",
        "# SPDX-License-Identifier: GPL-3.0-or-later",
    ]
    # REUSE-IgnoreEnd


def test_links_lead_to_the_file_of_the_release_and_pictures_to_its_bytes() -> None:
    text = "[a](docs/a.md#b) ![picture](docs/a.png) [a [b]](../x/R.md) [web](https://other.example) [here](#b)"
    assert absolute(text, "roles/r", BASE, RAW) == (
        f"[a]({BASE}/roles/r/docs/a.md#b) ![picture]({RAW}/roles/r/docs/a.png) [a [b]]({BASE}/roles/x/R.md) "
        "[web](https://other.example) [here](#b)"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_that_is_shown_elsewhere_is_made_so_and_leads_to_a_file(page: Path) -> None:
    text = absolute(page.read_text(), str(page.parent.relative_to(ROOT)), BASE, RAW)
    targets = [part.split(")")[0] for part in text.split("](")[1:]]
    assert targets
    for target in targets:
        assert target.startswith(("https://", "#")), target
        for where in BASE, RAW:
            if target.startswith(where):
                assert (ROOT / target.removeprefix(f"{where}/").split("#")[0]).exists(), target
