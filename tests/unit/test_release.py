"""A release comes to its tag, or leaves everything unchanged: its gates and builders are stand-ins, git is real."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ansible_collections.slb.fleet.tests.tools.signing import signer

ROOT = Path(__file__).resolve().parents[2]
STAND_INS = {
    "tests/tools/environment": "",
    "tests/tools/licences": "",
    "tests/tools/docsite": 'cp "$1/galaxy.yml" "$(dirname "$0")/../../.cache/docsite"',
    "tests/tools/importer": "",
    "tests/tools/stamp": 'printf "%s: %s\\n" version "$1" repository "$2" >galaxy.yml',
    "tests/tools/build-artifact": 'cp galaxy.yml "$2"',
    ".venv/bin/ansible-galaxy": "",
    ".venv/bin/python3": "",
    ".cache/release/bin/python": "",
    ".cache/release/bin/cyclonedx-py": 'while [[ $1 != --output-file ]]; do shift; done; echo "{}" >"$2"',
}
HOME = "https://home.example/team/slb-fleet"


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
    git(tree, "add", "--all")
    git(tree, "-c", "user.name=a", "-c", "user.email=a@tree.example", "commit", "--quiet", "--message=All of it")
    return tree


def environment():
    """Return the environment of a machine without a user name for git."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    told = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.useConfigOnly", "GIT_CONFIG_VALUE_0": "true"}
    return {**kept, **told, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}


def git(tree, *arguments):
    done = subprocess.run(["git", *arguments], cwd=tree, env=environment(), capture_output=True, text=True, check=True)
    return done.stdout.strip()


def release(tree, *arguments, **told):
    command = [tree / "tests" / "tools" / "release", *arguments]
    return subprocess.run(command, env={**environment(), **told}, capture_output=True, text=True, check=False)


def test_where_git_knows_no_name_it_comes_to_its_tag(tree):
    done = release(tree, "1.0.0", HOME)
    assert done.returncode == 0, done.stderr
    assert git(tree, "rev-parse", "v1.0.0^{commit}") == git(tree, "rev-parse", "main")
    assert git(tree, "cat-file", "-t", "v1.0.0") == "tag"
    assert git(tree, "show", "v1.0.0:galaxy.yml") == f"version: 1.0.0\nrepository: {HOME}"
    assert git(tree, "status", "--porcelain") == ""
    assert (tree / ".cache" / "docsite").read_text() == f"version: 1.0.0\nrepository: {HOME}\n"
    subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=tree / "dist" / "1.0.0", check=True)
    assert "v1.0.0 is there already" in release(tree, "1.0.0", HOME).stderr


@pytest.fixture
def key(tmp_path, monkeypatch):
    """Make the key of a releaser, in the key ring that gpg uses from now on."""
    with signer(tmp_path) as (name, where):
        for variable, value in where.items():
            monkeypatch.setenv(variable, value)
        yield name


@pytest.mark.skipif(not shutil.which("gpg"), reason="there is no GnuPG")
def test_with_a_key_the_tag_is_signed_by_it(tree, key):
    done = release(tree, "1.0.0", HOME, key)
    assert done.returncode == 0, done.stderr
    words = "git tag --verify v1.0.0"
    assert words in done.stdout
    seen = subprocess.run(words.split(), cwd=tree, env=environment(), capture_output=True, text=True, check=True)
    assert f'Good signature from "{key}"' in seen.stderr
    assert release(tree, "1.0.1", HOME).returncode == 0
    unsigned = [*words.split()[:-1], "v1.0.1"]
    assert subprocess.run(unsigned, cwd=tree, env=environment(), capture_output=True, check=False).returncode != 0


def test_what_is_released_is_later_than_what_was(tree):
    assert release(tree, "1.9.0", HOME).returncode == 0
    done = release(tree, "1.8.3", HOME)
    assert "has been released as v1.9.0" in done.stderr
    assert git(tree, "tag") == "v1.9.0"
    assert release(tree, "1.10.0", HOME).returncode == 0


def test_a_release_has_something_to_tell(tree):
    git(tree, "rm", "--quiet", "changelogs/fragments/one.yml")
    git(tree, "-c", "user.name=a", "-c", "user.email=a@tree.example", "commit", "--quiet", "--message=Released")
    assert "changelogs/fragments is empty" in release(tree, "1.0.0", HOME).stderr
    assert git(tree, "tag") == ""


NO_VERSIONS = ("1.0", "v1.0.0", "01.0.0", "1.0.0-rc1", "1.0.0\n2.0.0")
NO_REPOSITORIES = (
    "",
    "http://home.example/team/slb-fleet",
    "git@home.example:team/slb-fleet.git",
    "https://home.example",
    "https://user:secret@home.example/team/slb-fleet",
    "https://home.example/team/slb&fleet",
    "https://home.example/a b/c",
    "https://home.example/a)b|c",
    "https://home.example/team/slb-fleet?token=secret",
)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "VERSION is missing"),
        *[([version, HOME], "not of the form 1.0.0") for version in NO_VERSIONS],
        *[(["1.0.0", repository], "not the address of a repository's page") for repository in NO_REPOSITORIES],
        (["1.0.0", HOME, "unknown@home.example"], "GnuPG has no secret key unknown@home.example"),
    ],
)
def test_what_it_lacks_is_said_before_the_gates(tree, arguments, words):
    done = release(tree, *arguments)
    assert words in done.stderr
    assert "the gates" not in done.stdout
    assert git(tree, "tag") == ""


@pytest.mark.parametrize(
    "trouble",
    ["tests/tools/docsite", "tests/tools/importer", ".cache/release/bin/cyclonedx-py", ".venv/bin/ansible-galaxy"],
)
def test_where_something_fails_everything_is_as_it_was(tree, trouble):
    before = git(tree, "rev-parse", "main")
    (tree / trouble).write_text("#!/bin/sh\nexit 1\n")
    if trouble.startswith("tests"):
        git(
            tree,
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@tree.example",
            "commit",
            "--quiet",
            "--all",
            "--message=Broken",
        )
        before = git(tree, "rev-parse", "main")
    assert release(tree, "1.0.0", HOME).returncode != 0
    assert (git(tree, "rev-parse", "main"), git(tree, "tag")) == (before, "")
    assert not (tree / "dist").exists()
