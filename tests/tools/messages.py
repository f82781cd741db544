#!/usr/bin/env python3
"""Makes docs/messages.md out of the code, so that each message that has a remedy is found there: messages.py > FILE."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ROOT / "plugins"

HEAD = """# Messages, and what to do

Every message with which this collection fails, found by its words; made from the code, do not edit. `…` stands for what
differs: a name, a number, what was seen. Where a variable gave the value of an option, the message names the variable:
`slb_timeout` for `timeout`. The words after a first colon may come from elsewhere: look for those before it.

"""
PLACES = {
    "plugin_utils/_decision": "What is decided about a host",
    "module_utils/_console": "The management node",
    "module_utils/_host": "Engine hosts: container, record, message of the day",
    "module_utils/_network": "Engine hosts: interfaces",
    "": "The run, its variables, and what all share",
}
_MARK = re.compile(r"O\(([a-z_.]+…?)\)")
_FIXED = {
    "OptionError": "The option O({}) has the value …: {}.",
    "VariableError": "The variable {} has the value …: {}.",
}


def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text()) for path in sorted(PLUGINS.rglob("*.py"))}


def classes_of_errors(code: dict[Path, ast.Module]) -> set[str]:
    """The names of FleetError and of all that are made from it."""
    bases = {
        node.name: {base.id for base in node.bases if isinstance(base, ast.Name)}
        for tree in code.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found = {"FleetError"}
    while more := {name for name, of in bases.items() if of & found} - found:
        found |= more
    return found


class Words:
    """What an expression may read as; names are looked up where they have one text in their file."""

    def __init__(self, tree: ast.Module) -> None:
        self._named: dict[str, list[ast.expr]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self._named.setdefault(node.targets[0].id, []).append(node.value)

    def of(self, node: ast.expr, depth: int = 0) -> list[str]:
        if isinstance(node, ast.Constant):
            return [str(node.value)]
        if isinstance(node, ast.JoinedStr):
            texts = [""]
            for part in node.values:
                parts = self.of(part.value, depth + 1) if isinstance(part, ast.FormattedValue) else self.of(part, depth)
                texts = [text + one for text in texts for one in parts]
            return texts
        if isinstance(node, ast.IfExp):
            return self.of(node.body, depth) + self.of(node.orelse, depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return [one + other for one in self.of(node.left, depth) for other in self.of(node.right, depth)]
        if isinstance(node, ast.Name) and depth < 3 and len(values := self._named.get(node.id, [])) == 1:
            return self.of(values[0], depth + 1)
        return ["…"]


def messages_of(tree: ast.Module, errors: set[str]) -> Iterator[tuple[str, str]]:
    """What happened, and what to do."""
    words = Words(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
            continue
        texts = [words.of(argument) for argument in node.args if not isinstance(argument, ast.Starred)]
        kind = node.func.id
        if kind in _FIXED and len(texts) == 4:
            for option in texts[0]:
                for why in texts[2]:
                    yield from ((_FIXED[kind].format(option, why), remedy) for remedy in texts[3])
        elif kind == "MissingOptionError":
            yield from ((f"The option O({option}) is missing.", f"Set O({option}).") for option in texts[0])
        elif kind in errors and len(texts) == 2:
            yield from ((what, remedy) for what in texts[0] for remedy in texts[1])
        elif kind == "fail" and len(texts) == 1:
            for text in texts[0]:
                first, _, rest = text.partition(". ")
                yield f"{first}." if rest else first, rest


def messages_of_tasks(node: object) -> Iterator[tuple[str, str]]:
    """What asserts in playbooks and roles say, told apart after the first sentence."""
    if isinstance(node, dict):
        if isinstance(node.get("fail_msg"), str):
            first, _, rest = re.sub(r"{{.*?}}", "…", node["fail_msg"], flags=re.DOTALL).partition(". ")
            yield (f"{first}.", rest) if rest else (first, first)
        node = list(node.values())
    if isinstance(node, list):
        for inner in node:
            yield from messages_of_tasks(inner)


def cell(text: str) -> str:
    # An option may be known only when the message is made: then the mark itself has a gap in it.
    named = _MARK.sub(r"`\1`", re.sub(r"O\(…\)", "…", text))
    named = re.sub(r"(…[\s.,;:]*){2,}", "… ", re.sub(r"\s+", " ", named)).strip()
    return named.replace("|", "/").replace("<", "&lt;").replace("*", "\\*")


def document() -> str:
    code = trees()
    errors = classes_of_errors(code)
    rows: dict[str, set[tuple[str, str]]] = {title: set() for title in PLACES.values()}
    for path, tree in code.items():
        inside = path.relative_to(PLUGINS).as_posix()
        title = next(title for place, title in PLACES.items() if inside.startswith(place))
        for what, remedy in messages_of(tree, errors):
            # A gap alone is a message that is made elsewhere, where it is found.
            if remedy and len(re.sub(r"[^a-z]", "", what)) > 9:
                rows[title].add((cell(what), cell(remedy)))
    for folder in "playbooks", "roles":
        for path in sorted((ROOT / folder).rglob("*.yml")):
            rows[PLACES[""]] |= {
                (cell(what), cell(rest))
                for what, rest in messages_of_tasks(yaml.safe_load(path.read_text()))
                if re.search(r"[a-z]", what)
            }
    parts = [
        f"## {title}\n\n| the message | what to do |\n|---|---|\n"
        + "".join(f"| {what} | {remedy} |\n" for what, remedy in sorted(found))
        for title, found in rows.items()
        if found
    ]
    return HEAD + "\n".join(parts)


if __name__ == "__main__":
    print(document(), end="")
