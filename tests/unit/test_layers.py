"""Layers of module code point one way: the look, below it hosts and networks side by side, then the ground floor."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
MODULE_UTILS = TESTS.parent / "plugins" / "module_utils"
BELOW = {
    "errors": set(),
    "_system": {"errors"},
    "management_node": {"errors", "_module", "_result"},
    "engine_host": {"errors", "_result", "_system"},
}


# Also in a program that a test writes for another process.
MADE_BY_ITSELF = re.compile(r"\bsys\.path(\[.*?\] *=[^=]|\.(append|extend|insert)\b| *\+?=[^=])")


def imports(file):
    """What it imports, by whole names: ``from`` a module or as one."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            # Other tools than this test read imports as well, and know whole names alone.
            assert node.level == 0, f"{file}:{node.lineno}: name what is imported whole, from ansible_collections on"
            yield from (f"{node.module}.{each.name}" for each in node.names)


def imported(layer):
    path = MODULE_UTILS / layer
    found = set()
    for file in path.glob("*.py") if path.is_dir() else [path.with_suffix(".py")]:
        for name in imports(file):
            outside, _plugins, inside = f"{name}.".partition(".fleet.plugins.")
            if outside == "ansible_collections.slb":
                place, its_layer = inside.split(".")[:2]
                assert place == "module_utils", f"{file} knows {name}"
                found.add(its_layer)
    return found - {layer}


@pytest.mark.parametrize("layer", sorted(BELOW))
def test_no_layer_knows_what_is_above_or_beside_it(layer):
    assert imported(layer) <= BELOW[layer]


def test_the_collection_imports_itself_by_whole_names():
    names = [name for file in MODULE_UTILS.parent.rglob("*.py") for name in imports(file)]
    assert len(names) > 500


def test_no_test_says_itself_where_its_imports_are_found():
    """pytest has its pythonpath, and tests/tools/python has the same for programs."""
    texts = {file: file.read_bytes().decode(errors="replace") for file in TESTS.rglob("*") if file.is_file()}
    assert Path(__file__) in texts
    assert [file for file, text in texts.items() if MADE_BY_ITSELF.search(text)] == []
