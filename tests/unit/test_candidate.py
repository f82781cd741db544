"""What is tested is the artifact of this tree that galaxy-importer has taken: builders are stand-ins, git is real."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tests" / "tools"
STAND_INS = {
    "stamp": 'echo "$1" >>"$(dirname "$0")/../../.cache/stamped"',
    "build-artifact": 'cp galaxy.yml "$2"',
    # Takes what is good, and its time.
    "importer": 'cat "$1" >>.cache/looked-at; sleep 0.5; grep -q good "$1"',
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tools = tmp_path / "tests" / "tools"
    tools.mkdir(parents=True)
    for name, line in STAND_INS.items():
        (tools / name).write_text(f"#!/usr/bin/env bash\nset -eu\n{line}\n")
        (tools / name).chmod(0o755)
    shutil.copy(TOOLS / "candidate", tools)
    (tmp_path / "requirements").mkdir()
    for name in (".gitignore", "requirements/dev.txt", "requirements/release.txt"):
        (tmp_path / name).write_text("/.cache\n")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    return tmp_path


def ask(tree: Path, copy: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([tree / "tests" / "tools" / "candidate", tree / ".cache" / copy])


def looked_at(tree: Path) -> str:
    return (tree / ".cache" / "looked-at").read_text()


def test_those_who_ask_at_once_get_what_was_looked_at_once(tree: Path) -> None:
    (tree / "galaxy.yml").write_text("good\n")
    asked = [ask(tree, str(number)) for number in range(3)]
    assert [each.wait(60) for each in asked] == [0, 0, 0]
    assert {(tree / ".cache" / str(number)).read_text() for number in range(3)} == {"good\n"}
    assert looked_at(tree) == "good\n"


def test_another_tree_s_is_never_given(tree: Path) -> None:
    for content in ("good\n", "good, too\n"):
        (tree / "galaxy.yml").write_text(content)
        assert ask(tree, "copy").wait(60) == 0
        assert (tree / ".cache" / "copy").read_text() == content
    assert looked_at(tree) == "good\ngood, too\n"


@pytest.mark.parametrize("changed", ["tests/tools/importer", "requirements/release.txt"])
def test_who_looks_otherwise_looks_again(tree: Path, changed: str) -> None:
    (tree / "galaxy.yml").write_text("good\n")
    assert ask(tree, "copy").wait(60) == 0
    with (tree / changed).open("a") as file:
        file.write("# more\n")
    assert ask(tree, "copy").wait(60) == 0
    assert looked_at(tree) == "good\n" * 2


def test_what_was_not_taken_is_given_to_nobody(tree: Path) -> None:
    (tree / "galaxy.yml").write_text("bad\n")
    assert [ask(tree, "copy").wait(60) for _ in range(2)] == [1, 1]
    assert not (tree / ".cache" / "copy").exists()
    assert looked_at(tree) == "bad\n" * 2


@pytest.mark.parametrize(("last", "next_"), [("1.0.0-dev", "1.0.0"), ("1.0.0", "1.0.1"), ("1.10.9", "1.10.10")])
def test_it_is_of_the_version_that_comes_next(tree: Path, last: str, next_: str) -> None:
    (tree / "galaxy.yml").write_text(f"# good\nversion: {last}\n")
    assert ask(tree, "copy").wait(60) == 0
    assert (tree / ".cache" / "stamped").read_text() == f"{next_}\n"


@pytest.mark.parametrize(("kibibytes", "status"), [(500, 0), (520, 1)])
def test_what_is_too_large_is_not_built(tmp_path: Path, kibibytes: int, status: int) -> None:
    """By what builds a candidate and a release alike."""
    tree = tmp_path / "tree"
    for page in ("README.md", "roles/one/README.md"):
        (tree / page).parent.mkdir(parents=True, exist_ok=True)
        (tree / page).touch()
    (tree / "large").write_bytes(random.Random(7).randbytes(kibibytes * 1024))
    known = {"namespace": "slb", "name": "fleet", "version": "1.0.0", "readme": "README.md", "authors": ["a"]}
    (tree / "galaxy.yml").write_text("".join(f"{name}: {json.dumps(value)}\n" for name, value in known.items()))
    done = subprocess.run(
        [TOOLS / "build-artifact", TOOLS, tmp_path / "artifact", "1"],
        cwd=tree,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert ("512 KiB are the limit" in done.stderr) == bool(status)
