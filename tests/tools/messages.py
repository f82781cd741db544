#!/usr/bin/env python3
"""Makes docs/messages.md out of the code, so that each message that has a remedy is found there: messages.py > FILE."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ROOT / "plugins"

HEAD = """# Messages, and what to do

The messages with which this collection fails, and its warnings that say what to do, found by their words; not collected
are a reason that stands behind a colon, and what Ansible, AWX or a command says itself. Made from the code.
`…` stands for what differs: a name, a number, what was seen. Where a variable gave the value of an option, the message
names the variable: `slb_timeout` for `timeout`. The words after a first colon may come from elsewhere: look for those
before it.

"""
PLACES = {
    "plugin_utils/_decision": "What is decided about a host",
    "module_utils/_console": "The management node",
    "module_utils/_host": "Engine hosts: container, record, message of the day",
    "module_utils/_network": "Engine hosts: interfaces",
    "plugin_utils/_awx": "AWX",
    "": "The run, its variables, and what all share",
}
_MARK = re.compile(r"O\(([a-z_.]+…?)\)")
_OF_ANSIBLE = re.compile(r"Ansible\w*(Error|Failure)|NoAnswer|fail|warning")
# What AWX says stands in the middle of the message.
_SAID_BY_AWX = "AWX did not take …: … {} …"


def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text()) for path in sorted(PLUGINS.rglob("*.py"))}


class Shape(NamedTuple):
    """How an error makes its two sentences of what it is given."""

    tree: ast.Module
    parameters: list[str]
    sentences: list[ast.expr]


def shapes_of_errors(code: dict[Path, ast.Module]) -> dict[str, Shape]:
    """FleetError and all that are made from it, by their names."""
    plain = ast.parse("what, remedy")
    shapes = {
        "FleetError": Shape(plain, ["what", "remedy"], [node for node in ast.walk(plain) if isinstance(node, ast.Name)])
    }
    classes = [(tree, node) for tree in code.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    while more := [
        (tree, node, shapes[base.id])
        for tree, node in classes
        for base in node.bases
        if isinstance(base, ast.Name) and base.id in shapes and node.name not in shapes
    ]:
        for tree, node, shape in more:
            shapes[node.name] = _own_shape(tree, node) or shape
    return shapes


def _own_shape(tree: ast.Module, node: ast.ClassDef) -> Shape | None:
    for begin in node.body:
        if isinstance(begin, ast.FunctionDef) and begin.name == "__init__":
            for call in ast.walk(begin):
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "super().__init__":
                    return Shape(tree, [each.arg for each in begin.args.args[1:]], call.args)
    return None


class Words:
    """What an expression may read as; names are looked up where they have one text in their file."""

    def __init__(self, tree: ast.Module, given: dict[str, list[str]] | None = None) -> None:
        self._given = given or {}
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
                is_shown = isinstance(part, ast.FormattedValue) and part.conversion < 0
                parts = self.of(part.value, depth + 1) if is_shown else self.of(part, depth)
                texts = [text + one for text in texts for one in parts]
            return texts
        if isinstance(node, ast.IfExp):
            return self.of(node.body, depth) + self.of(node.orelse, depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return [one + other for one in self.of(node.left, depth) for other in self.of(node.right, depth)]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            return [re.sub(r"{.*?}", "…", text) for text in self.of(node.func.value, depth)]
        if isinstance(node, ast.Name) and node.id in self._given:
            return self._given[node.id]
        if isinstance(node, ast.Name) and depth < 3 and len(values := self._named.get(node.id, [])) == 1:
            return self.of(values[0], depth + 1)
        return ["…"]


def messages_of(tree: ast.Module, shapes: dict[str, Shape]) -> Iterator[tuple[str, str]]:
    """What happened, and what to do."""
    words = Words(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple) and len(node.elts) == 2:
            what, remedy = map(words.of, node.elts)
            yield from ((one, other) for one in what for other in remedy if " " in one and other.endswith("."))
        if isinstance(node, ast.Yield | ast.Return) and node.value:
            # What is said against a decision, by objections.py and the guard of a plan.
            said = node.value.elts[-1] if isinstance(node.value, ast.Tuple) else node.value
            yield from (
                in_two(text) for text in words.of(said) if text.startswith(("But ", "The install was asked for"))
            )
        if not isinstance(node, ast.Call) or not node.args or isinstance(node.args[0], ast.Starred):
            continue
        kind = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if shape := shapes.get(kind):
            texts = dict(zip(shape.parameters, map(words.of, node.args), strict=False))
            what, remedy = map(Words(shape.tree, texts).of, shape.sentences)
            yield from ((one, other) if other else in_two(one) for one in what for other in remedy)
        elif _OF_ANSIBLE.fullmatch(kind) and len(node.args) == 1:
            yield from map(in_two, words.of(node.args[0]))


def in_two(text: str) -> tuple[str, str]:
    """The first sentence, and the others."""
    first, _, rest = text.partition(". ")
    return f"{first}." if rest else first, rest


def messages_of_tasks(node: object) -> Iterator[tuple[str, str]]:
    """What playbooks and roles end with, told apart after the first sentence."""
    if isinstance(node, dict):
        said = node.get("fail_msg") or (node.get("ansible.builtin.fail") or {}).get("msg")
        if said:
            first, rest = in_two(re.sub(r"{{.*?}}", "…", said, flags=re.DOTALL))
            yield first, rest or first
        node = list(node.values())
    if isinstance(node, list):
        for inner in node:
            yield from messages_of_tasks(inner)


def cell(text: str) -> str:
    # An option may be known only when the message is made: then the mark itself has a gap in it.
    named = _MARK.sub(r"`\1`", re.sub(r"O\(…\)", "…", text))
    named = re.sub(r"(…[\s.,;:]*){2,}", "… ", re.sub(r"\s+", " ", named)).strip().replace(": .", ".")
    return named.replace("|", "/").replace("<", "&lt;").replace("*", "\\*")


def document() -> str:
    code = trees()
    shapes = shapes_of_errors(code)
    rows: dict[str, set[tuple[str, str]]] = {title: set() for title in PLACES.values()}
    for path, tree in code.items():
        inside = path.relative_to(PLUGINS).as_posix()
        title = next(title for place, title in PLACES.items() if inside.startswith(place))
        form = _SAID_BY_AWX if inside == "plugin_utils/_awx/trouble.py" else "{}"
        for what, remedy in messages_of(tree, shapes):
            # A gap alone is a message that is made elsewhere, where it is found.
            if remedy and len(re.sub(r"[^a-z]", "", form.format(what))) > 5:
                rows[title].add((cell(form.format(what)), cell(remedy)))
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
