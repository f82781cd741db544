"""Files and folders are made and changed by descriptor, in a few places: a path may lead elsewhere by now."""

import ast
from pathlib import Path

import pytest

PLUGINS = Path(__file__).resolve().parents[2] / "plugins"
FILES = sorted(PLUGINS.rglob("*.py"))
BY_PATH = {"chmod", "chown", "lchown", "makedirs", "mkdir", "mkstemp", "mkdtemp", "copyfile", "copy2", "rmtree"}
# Each level is made closed, and opened by descriptor; or is made below a descriptor.
MAKE_FOLDERS = {"module_utils/_system/folders.py"}
# In a folder of ours, which is rejected if others can write there.
IN_OURS = {"module_utils/engine_host/adoption.py", "plugin_utils/report/files.py"}


def called(file):
    calls = (node.func for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call))
    return {function.attr for function in calls if isinstance(function, ast.Attribute)}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PLUGINS)))
def test_nothing_is_made_or_given_away_by_its_path(file):
    name = str(file.relative_to(PLUGINS))
    allowed = ({"mkdir"} if name in MAKE_FOLDERS else set()) | (
        {"mkdir", "rmtree", "chmod"} if name in IN_OURS else set()
    )
    assert called(file) & BY_PATH <= allowed
