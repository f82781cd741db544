"""The action group is complete, actions take the documented options, and links of shipped pages lead to files."""

import importlib
from pathlib import Path

import pytest
import yaml

from ansible_collections.slb.fleet.tests.tools.absolute_links import absolute

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "roles").glob("*/README.md"))]
BASE, RAW = "https://home.example/blob/v1.0.0", "https://home.example/raw/v1.0.0"


def plugin(kind, name):
    return importlib.import_module(f"ansible_collections.slb.fleet.plugins.{kind}.{name}")


def test_action_group_has_each_module_that_logs_in():
    group = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text())["action_groups"]["management_node"]
    files = (ROOT / "plugins" / "modules").glob("*.py")
    assert sorted(group) == sorted(file.stem for file in files if "- slb.fleet._management_node" in file.read_text())


@pytest.mark.parametrize("name", ["engine_plan", "engine_install", "merge_reports", "engine_list_proposal"])
def test_documented_options_are_those_of_the_action(name):
    """ansible-test compares the options of the other modules."""
    documented = yaml.safe_load(plugin("modules", name).DOCUMENTATION)["options"]
    keys = {"type": "str", "elements": None, "choices": None, "default": None, "required": False}
    assert {option: {key: rules.get(key, keys[key]) for key in keys} for option, rules in documented.items()} == {
        option: {key: rules.get(key, keys[key]) for key in keys}
        for option, rules in plugin("action", name).ARGUMENTS.items()
    }


def test_plays_override_no_log_of_ansible_cfg():
    """Else the report gets no results. The results of awx_setup may contain what is typed into AWX."""
    files = [*(ROOT / "playbooks").glob("*.yml"), *(ROOT / "playbooks").glob("parts/*.yml")]
    plays = [play for file in files for play in yaml.safe_load(file.read_text()) if "hosts" in play]
    assert [play["name"] for play in plays if play.get("no_log") is not False] == ["Manage the content of AWX"]


def test_links_of_a_release_lead_to_its_files_and_pictures():
    text = "[a](docs/a.md#b) ![picture](docs/a.png) [a [b]](../x/R.md) [web](https://other.example) [here](#b)"
    assert absolute(text, "roles/r", BASE, RAW) == (
        f"[a]({BASE}/roles/r/docs/a.md#b) ![picture]({RAW}/roles/r/docs/a.png) [a [b]]({BASE}/roles/x/R.md) "
        "[web](https://other.example) [here](#b)"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_a_shipped_page_lead_to_files(page):
    text = absolute(page.read_text(), str(page.parent.relative_to(ROOT)), BASE, RAW)
    targets = [part.split(")")[0] for part in text.split("](")[1:]]
    assert targets
    for target in targets:
        assert target.startswith(("https://", "#")), target
        for where in BASE, RAW:
            if target.startswith(where):
                assert (ROOT / target.removeprefix(f"{where}/").split("#")[0]).exists(), target
