"""Imports point downwards only, and what no user may rely on has a private name."""

import ast
from pathlib import Path

import pytest

PLUGINS = Path(__file__).resolve().parents[2] / "plugins"
HERE = "ansible_collections.slb.fleet.plugins."
CONTROLLER = {
    *("_causes", "_errors", "_visible", "_module", "_result", "_system", "_management_node", "_secrets", "_typed"),
    "_values",
}
BELOW = {
    "module_utils/_errors": set(),
    "module_utils/_visible": set(),
    "module_utils/_result": set(),
    "module_utils/_module": {"_errors", "_result"},
    "module_utils/_system": {"_errors"},
    "module_utils/_secrets": set(),
    "module_utils/_typed": set(),
    "module_utils/_values": {"_errors"},
    "module_utils/_management_node": {"_errors", "_module", "_result", "_secrets", "_values"},
    "module_utils/_engine_host": {"_errors", "_result", "_system", "_visible"},
    "plugin_utils/_report": CONTROLLER,
}


def imported(file: Path) -> set[str]:
    """Return the full names of what is imported from the collection."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno} has a relative import"
            names |= {f"{node.module}.{each.name}" for each in node.names}
    return {name.removeprefix(HERE) for name in names if name.startswith(HERE)}


def files_of(layer: str) -> list[Path]:
    path = PLUGINS / layer
    return sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]


@pytest.mark.parametrize("layer", sorted(BELOW))
def test_layer_imports_only_layers_below(layer):
    folder, name = layer.split("/")
    own = {found for file in files_of(layer) for found in imported(file)}
    outside = {found for found in own if not found.startswith(f"{folder}.{name}")}
    assert {found.split(".")[0] for found in outside} <= {"module_utils"}
    assert {found.split(".")[1] for found in outside} <= BELOW[layer]


def test_transport_imports_no_session():
    own = {found.rpartition(".")[0] for found in imported(PLUGINS / "module_utils/_management_node/transport.py")}
    names = ("client", "install", "license", "engine_list")
    assert not own & {f"module_utils._management_node.{name}" for name in names}


def test_plugin_utils_import_no_plugin():
    own = {found.split(".")[0] for file in files_of("plugin_utils") for found in imported(file)}
    assert own == {"module_utils", "plugin_utils"}


def test_shared_code_is_private_by_name():
    for folder in ("module_utils", "plugin_utils", "doc_fragments"):
        assert not [path.name for path in (PLUGINS / folder).iterdir() if not path.name.startswith("_")]
