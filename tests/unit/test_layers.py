"""Layers of module_utils import downwards only: engine hosts and the management node do not know each other."""

import ast
from pathlib import Path

import pytest

MODULE_UTILS = Path(__file__).resolve().parents[2] / "plugins" / "module_utils"
HERE = "ansible_collections.slb.fleet.plugins."
BELOW = {
    "errors": set(),
    "_system": {"errors"},
    "management_node": {"errors", "_module", "_result"},
    "engine_host": {"errors", "_result", "_system"},
}


@pytest.mark.parametrize("layer", sorted(BELOW))
def test_layer_imports_only_layers_below(layer):
    path = MODULE_UTILS / layer
    modules = set()
    for file in path.glob("*.py") if path.is_dir() else [path.with_suffix(".py")]:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{file}:{node.lineno} has a relative import"
                modules |= {f"{node.module}.{each.name}" for each in node.names}
    own = {name.removeprefix(HERE) for name in modules if name.startswith(HERE)}
    assert own <= {name for name in own if name.startswith("module_utils.")}
    assert {name.split(".")[1] for name in own} <= BELOW[layer] | {layer}
