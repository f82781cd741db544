#!/usr/bin/env python3
"""Makes docs/messages.md out of the code, so that each message that has a remedy is found there: messages.py > FILE."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ROOT / "plugins"

HEAD = """# Messages, and what to do

The messages with which this collection fails, and its warnings and reasons that say what to do (of a decision, of an
interface that is left alone), found by their words; not collected are a reason that stands behind a colon, and what
Ansible, AWX or a command says itself. Made from the code.
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
_OURS = "ansible_collections.slb.fleet.plugins."
_DEEPEST = 6
_FEWEST = 4
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
    """What an expression may read as; names are looked up where they have one text in their file, or in the one that
    they are imported from.
    """

    def __init__(self, tree: ast.Module, given: dict[str, list[str]] | None = None) -> None:
        self._given = given or {}
        self._named: dict[str, list[ast.expr]] = {}
        self._functions: dict[str, ast.FunctionDef] = {}
        self._imported: dict[str, Path] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self._named.setdefault(node.targets[0].id, []).append(node.value)
            elif isinstance(node, ast.FunctionDef):
                self._functions[node.name] = node
            elif isinstance(node, ast.ImportFrom) and str(node.module).startswith(_OURS):
                path = PLUGINS.joinpath(*str(node.module)[len(_OURS) :].split(".")).with_suffix(".py")
                self._imported.update((each.asname or each.name, path) for each in node.names if path.is_file())

    def of(self, node: ast.expr, depth: int = 0, spelt: bool = True) -> list[str]:
        """``spelt``: also what functions return, and names of other files. In the first sentence that is a gap: what
        differs there is not what to do.
        """
        if isinstance(node, ast.Constant):
            return ["…" if node.value is None or isinstance(node.value, float) else str(node.value)]
        if isinstance(node, ast.JoinedStr):
            texts = self._of_parts(node.values, depth, spelt)
            # Nothing but gaps: it is what they stand for that is read.
            return texts if re.search("[a-z]", "".join(texts)) else self._of_parts(node.values, depth, spelt, spelt)
        if isinstance(node, ast.IfExp):
            return self.of(node.body, depth, spelt) + self.of(node.orelse, depth, spelt)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            if any(isinstance(getattr(side, "value", ""), int | float) for side in (node.left, node.right)):
                return ["…"]
            sides = self.of(node.left, depth, spelt), self.of(node.right, depth, spelt)
            return [one + other for one in sides[0] for other in sides[1]]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            return [re.sub(r"{.*?}", "…", text) for text in self.of(node.func.value, depth, spelt)]
        if isinstance(node, ast.Name) and node.id in self._given:
            return self._given[node.id]
        if depth > _DEEPEST:
            return ["…"]
        if isinstance(node, ast.Name) and len(values := self._named.get(node.id, [])) == 1:
            return self.of(values[0], depth + 1, spelt)
        if not spelt:
            return ["…"]
        if isinstance(node, ast.Name) and node.id in self._imported:
            return _words_of(self._imported[node.id]).of(node, depth + 1)
        if isinstance(node, ast.BoolOp):
            # A word for what is not there is a gap like any other; a whole message is one.
            return [text for text in self._any_of(node.values, depth) if ". " in text] or ["…"]
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Dict):
            return self._any_of(node.value.values, depth)
        if isinstance(node, ast.Call):
            return self._of_call(node, depth)
        return ["…"]

    def _of_parts(self, nodes: list[ast.expr], depth: int, spelt: bool, from_the_first: bool = False) -> list[str]:
        texts = [""]
        for part in nodes:
            is_shown = isinstance(part, ast.FormattedValue) and part.conversion < 0
            is_spelt = from_the_first or (spelt and all(". " in text for text in texts))
            parts = self.of(part.value, depth + 1, is_spelt) if is_shown else self.of(part, depth)
            texts = [text + one for text in texts for one in parts]
        return texts

    def _of_call(self, node: ast.Call, depth: int) -> list[str]:
        """What a mapping has, or what a function returns, where it returns texts."""
        name = getattr(node.func, "id", "")
        if isinstance(node.func, ast.Attribute) and node.func.attr == "get" and isinstance(node.func.value, ast.Dict):
            return self._any_of([*node.func.value.values, *node.args[1:]], depth)
        if name in self._imported:
            return _words_of(self._imported[name]).of(node, depth + 1)
        if name not in self._functions:
            return ["…"]
        returned = [each.value for each in ast.walk(self._functions[name]) if isinstance(each, ast.Return)]
        return self._any_of([each for each in returned if each], depth)

    def _any_of(self, nodes: Iterable[ast.expr], depth: int) -> list[str]:
        return list(dict.fromkeys(text for node in nodes for text in self.of(node, depth + 1))) or ["…"]


@functools.cache
def _words_of(path: Path) -> Words:
    return Words(ast.parse(path.read_text()))


def messages_of(tree: ast.Module, shapes: dict[str, Shape]) -> Iterator[tuple[str, str]]:
    """What happened, and what to do."""
    words = Words(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple) and len(node.elts) == 2:
            what, remedy = map(words.of, node.elts)
            yield from ((one, other) for one in what for other in remedy if " " in one and other.endswith("."))
        if isinstance(node, ast.Yield | ast.Return) and node.value:
            # What is said against a decision, and why an interface is left alone.
            said = node.value.elts[-1] if isinstance(node.value, ast.Tuple) and node.value.elts else node.value
            yield from _with_remedy(words.of(said))
        if isinstance(node, ast.keyword) and node.arg == "reason":
            yield from _with_remedy(words.of(node.value))
        if isinstance(node, ast.Dict):
            # A result that is given as it is.
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value in ("msg", "warnings"):
                    yield from _with_remedy(words.of(value.elts[0] if isinstance(value, ast.List) else value))
        if not isinstance(node, ast.Call) or not node.args or isinstance(node.args[0], ast.Starred):
            continue
        kind = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if shape := shapes.get(kind):
            texts = dict(zip(shape.parameters, map(words.of, node.args), strict=False))
            what, remedy = map(Words(shape.tree, texts).of, shape.sentences)
            yield from ((one, other) if other else in_two(one) for one in what for other in remedy)
        elif _OF_ANSIBLE.fullmatch(kind) and len(node.args) == 1:
            yield from map(in_two, words.of(node.args[0]))


def _with_remedy(texts: list[str]) -> Iterator[tuple[str, str]]:
    """Two sentences, or, in a reason that is one, what stands behind a semicolon."""
    for text in texts:
        what, remedy = in_two(text) if ". " in text else text.partition("; ")[::2]
        if not remedy.endswith(("…", "….")):
            yield what, remedy


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


def _or_where(remedy: str) -> str:
    """Of a remedy that is a gap alone, where it is."""
    return remedy if re.search("[a-z]", remedy) else "What the message goes on to say."


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
            is_elsewhere = what.startswith("…") and _or_where(remedy) != remedy
            if remedy and len(re.sub(r"[^a-z]", "", form.format(what))) > _FEWEST and not is_elsewhere:
                rows[title].add((cell(form.format(what)), cell(_or_where(remedy))))
    for folder in "playbooks", "roles":
        for path in sorted((ROOT / folder).rglob("*.yml")):
            rows[PLACES[""]] |= {
                (cell(what), cell(_or_where(rest)))
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
