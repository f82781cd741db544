"""The examples of the documentation, run as they stand, in check mode, against a lab.

Only what an example cannot know is put in: the lab's management node for console.example, its secrets, and a folder
that is there.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from fleet import BIN, ROOT, Fleet

PLUGINS = [
    (kind, path.stem)
    for kind, folder, ending in (("module", "modules", "py"), ("filter", "filter", "yml"))
    for path in sorted((ROOT / "plugins" / folder).glob(f"*.{ending}"))
]
ROLES = sorted(path.name for path in (ROOT / "roles").iterdir())


@pytest.fixture(scope="module")
def fleet(make_fleet: Callable[[str, dict], Fleet]) -> Fleet:
    nics = {"ens9": {"kind": "no_address"}, "ens10": {"kind": "no_address"}}
    return make_fleet("examples", {"hosts": {"box": {"release": "trixie", "nics": nics}}})


def run(fleet: Fleet, folder: Path, play: dict[str, Any]) -> None:
    node = fleet.lab.management_node
    variables = fleet.lab.inventory()["engines"]["vars"]
    connection = {
        "base_url": node.base_url,
        "username": "admin",
        "password": node.password,
        "tls_fingerprint": variables["slb_tls_fingerprint"],
    }
    defaults = {"group/slb.fleet.management_node": connection}
    text = json.dumps([{**play, "module_defaults": defaults}]).replace("https://console.example", node.base_url)
    for place in ("/etc/slb", "/var/lib/slb"):
        text = text.replace(place, str(folder))
    (folder / "example.yml").write_text(text)
    others = {"all": {"hosts": {"backup.example": {"ansible_connection": "local"}}}}
    (folder / "hosts.yml").write_text(yaml.safe_dump(others))
    known = {"vault_slb_password": node.password, **{f"slb_{key}": value for key, value in connection.items()}}
    done = fleet.play(str(folder / "example.yml"), "-i", str(folder / "hosts.yml"), "--check", variables=known)
    assert done.status == 0, done.output


def documentation(kind: str, name: str) -> dict[str, Any]:
    command = [BIN / "ansible-doc", "--json", "--type", kind, f"slb.fleet.{name}"]
    output = subprocess.run(command, env=Fleet.environment(), capture_output=True, text=True, check=True).stdout
    return json.loads(output)[f"slb.fleet.{name}"]


@pytest.mark.parametrize(("kind", "name"), PLUGINS, ids=[name for _, name in PLUGINS])
def test_the_examples_of_a_plugin_run(fleet: Fleet, tmp_path: Path, kind: str, name: str) -> None:
    tasks = yaml.safe_load(documentation(kind, name)["examples"])
    assert any(f"slb.fleet.{name}" in json.dumps(task) for task in tasks)
    run(fleet, tmp_path, {"hosts": "engines", "gather_facts": False, "tasks": tasks})


def blocks(path: Path) -> Iterator[Any]:
    for block in re.findall(r"```ya?ml\n(.*?)```", path.read_text(), re.DOTALL):
        yield yaml.safe_load(block)


@pytest.mark.parametrize("role", ROLES)
def test_the_examples_of_a_role_run(fleet: Fleet, tmp_path: Path, role: str) -> None:
    plays = [play for block in blocks(ROOT / "roles" / role / "README.md") if isinstance(block, list) for play in block]
    assert plays
    for play in plays:
        run(fleet, tmp_path, play)


def test_the_description_of_the_list_in_the_docs_is_right_for_the_lab(fleet: Fleet, tmp_path: Path) -> None:
    whole = [
        block for block in blocks(ROOT / "docs" / "engine-list.md") if "items" in block.get("slb_engine_listing", ())
    ]
    (described,) = whole
    done = fleet.play("slb.fleet.try_engine_listing", variables=described)
    assert done.status == 0, done.output
    assert "empty: it shows no engine at all" in done.output


def test_the_inventory_in_the_readme_can_be_read(tmp_path: Path) -> None:
    inventory, listing = list(blocks(ROOT / "README.md"))[:2]
    inventory["engines"]["vars"].update(listing)
    path = tmp_path / "inventory.yml"
    path.write_text(yaml.safe_dump(inventory))
    command = [BIN / "ansible-inventory", "-i", path, "--host", "edge-2"]
    host = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert host["slb_engine_listing"]["items"] == "data.items"
    assert host["slb_base_url"].startswith("https://")
