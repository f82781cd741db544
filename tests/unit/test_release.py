"""A release comes to its tag, or leaves everything unchanged: its checks and builders are stand-ins, git is real."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STAND_INS = {
    "tests/tools/environment": "",
    "tests/tools/licences": "",
    "tests/tools/ansible-test": '[[ "$*" == ".venv sanity" ]]',
    "tests/tools/docsite": 'cp "$1/galaxy.yml" "$(dirname "$0")/../../.cache/docsite"',
    "tests/tools/importer": "",
    "tests/tools/release-environment": "",
    "tests/tools/stamp": 'printf "%s: %s\\n" version "$1" repository "$2" >galaxy.yml',
    "tests/tools/build-artifact": 'cp galaxy.yml "$2"',
    ".venv/bin/ansible-galaxy": "",
    ".venv/bin/python3": "",
    ".cache/release/bin/python": "",
    ".cache/release/bin/cyclonedx-py": 'while [[ $1 != --output-file ]]; do shift; done; echo "{}" >"$2"',
}
HOME = "https://home.example/team/slb-fleet"


@pytest.fixture(autouse=True)
def _git_without_a_user_name(monkeypatch):
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    settings = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.useConfigOnly", "GIT_CONFIG_VALUE_0": "true"}
    for name, value in {**settings, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def tree(tmp_path):
    tree = tmp_path / "tree"
    for name, line in STAND_INS.items():
        program = tree / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/usr/bin/env bash\nset -eu\n{line}\n")
        program.chmod(0o755)
    shutil.copy(ROOT / "tests" / "tools" / "release", tree / "tests" / "tools")
    (tree / "galaxy.yml").write_text("version: 0.0.0\n")
    (tree / "changelogs" / "fragments").mkdir(parents=True)
    (tree / "changelogs" / "fragments" / "one.yml").write_text("bugfixes: [a]\n")
    (tree / ".gitignore").write_text("/.venv\n/.cache\n/dist\n")
    git(tree, "init", "--quiet", "--initial-branch=main")
    commit(tree)
    return tree


def git(tree, *arguments):
    return subprocess.run(["git", *arguments], cwd=tree, capture_output=True, text=True, check=True).stdout.strip()


def commit(tree):
    git(tree, "add", "--all")
    git(tree, "-c", "user.name=a", "-c", "user.email=a@tree.example", "commit", "--quiet", "--message=Change")


def release(tree, *arguments):
    command = [tree / "tests" / "tools" / "release", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_release_is_tagged_and_has_checksums(tree):
    done = release(tree, "1.9.0", HOME)
    assert done.returncode == 0, done.stderr
    assert git(tree, "rev-parse", "v1.9.0^{commit}") == git(tree, "rev-parse", "main")
    assert git(tree, "cat-file", "-t", "v1.9.0") == "tag"
    assert git(tree, "show", "v1.9.0:galaxy.yml") == f"version: 1.9.0\nrepository: {HOME}"
    assert git(tree, "status", "--porcelain") == ""
    assert (tree / ".cache" / "docsite").read_text() == f"version: 1.9.0\nrepository: {HOME}\n"
    subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=tree / "dist" / "1.9.0", check=True)
    for version in ("1.9.0", "1.8.3"):
        assert release(tree, version, HOME).returncode != 0, "not later than the last release"
    assert release(tree, "1.10.0", HOME).returncode == 0
    assert git(tree, "tag").split() == ["v1.10.0", "v1.9.0"]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        *([version, HOME] for version in ("1.0", "v1.0.0", "01.0.0", "1.0.0-rc1", "1.0.0\n2.0.0")),
        ["1.0.0", "http://home.example/team/slb-fleet"],
        ["1.0.0", "https://home.example"],
        ["1.0.0", "https://user:secret@home.example/team/slb-fleet"],
        ["1.0.0", "https://home.example/team/slb-fleet?token=secret"],
        ["1.0.0", HOME, "unknown@home.example"],
    ],
    ids=str,
)
def test_unusable_argument_ends_before_the_checks(tree, arguments):
    done = release(tree, *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert git(tree, "tag") == ""


@pytest.mark.parametrize(
    "failed",
    [
        "tests/tools/ansible-test",
        "tests/tools/docsite",
        "tests/tools/importer",
        ".cache/release/bin/cyclonedx-py",
        ".venv/bin/ansible-galaxy",
        "changelogs/fragments/one.yml",
    ],
)
def test_failure_leaves_everything_unchanged(tree, failed):
    if failed.startswith("changelogs"):
        (tree / failed).unlink()
    else:
        (tree / failed).write_text("#!/bin/sh\nexit 1\n")
    if not failed.startswith("."):
        commit(tree)
    before = git(tree, "rev-parse", "main")
    assert release(tree, "1.0.0", HOME).returncode != 0
    assert (git(tree, "rev-parse", "main"), git(tree, "tag")) == (before, "")
    assert not (tree / "dist").exists()
