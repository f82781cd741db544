"""What is released can be installed, and a version installed over another, by what the pages have users type."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

import pytest
from typed import ROOT, block, type_in

FIRST_RELEASE = "74399c12b720"
PLACE = Path(".ansible", "collections", "ansible_collections", "slb", "fleet")
# What is installed beside the collection comes with its checksums, before the lines of a page ask for it.
PINNED = f"pip install -qq --require-hashes --requirement {ROOT}/requirements/runtime.txt; export PIP_NO_INDEX=1"


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("released") / "slb-fleet-1.0.0.tar.gz"
    subprocess.run([ROOT / "tests" / "tools" / "candidate", copy], check=True)
    return copy


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, artifact: Path) -> Path:
    """Of somebody who has read the README that far, in a folder with the artifact."""
    home = tmp_path_factory.mktemp("home")
    make, *install = block("README.md", "python3 -m venv").splitlines()
    type_in(artifact.parent, "\n".join([make, PINNED, *install]), {"HOME": str(home)}).assert_ok()
    return home


def content(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def packed(artifact: Path) -> dict[Path, bytes]:
    with tarfile.open(artifact) as archive:
        members = [member for member in archive.getmembers() if member.isfile()]
        return {Path(member.name): archive.extractfile(member).read() for member in members}  # type: ignore[union-attr]


def test_by_the_lines_of_the_readme_everything_is_there(home: Path, artifact: Path) -> None:
    assert content(home / PLACE) == packed(artifact)
    (home / "inventory.yml").write_text("engines: {hosts: {edge-1: }}\n")
    look = next(line for line in block("README.md", "rollout --check").splitlines() if "diagnose" in line)
    looked = type_in(home, f". ~/slb/bin/activate && {look} --list-tasks", {"HOME": str(home)})
    looked.assert_ok()
    assert "play #1 (engines)" in looked.output


def test_what_an_execution_environment_is_built_of_is_where_the_page_has_it_copied_from(
    home: Path, artifact: Path
) -> None:
    copies = [line for line in block("docs/awx.md", "ansible-builder build").splitlines() if line.startswith("cp ")]
    type_in(artifact.parent, "\n".join(copies), {"HOME": str(home)}).assert_ok()
    definition = artifact.with_name("execution-environment.yml")
    assert definition.read_bytes() == packed(artifact)[Path(definition.name)]
    assert f"src: {artifact.name.replace('-1.0.0', '')}" in definition.read_text()


def test_an_upgrade_leaves_nothing_of_the_version_before(home: Path, artifact: Path, tmp_path: Path) -> None:
    if subprocess.run(
        ["git", "-C", ROOT, "cat-file", "-e", FIRST_RELEASE], capture_output=True, check=False
    ).returncode:
        pytest.skip("This tree is a copy without the history that has 0.1.0.")
    old = tmp_path / "old"
    old.mkdir()
    before = f"""
. ~/slb/bin/activate
git -C {ROOT} archive {FIRST_RELEASE} | tar -x -C {old}
ansible-galaxy collection build --output-path {tmp_path} {old}
ansible-galaxy collection install {tmp_path}/slb-fleet-0.1.0.tar.gz --force
"""
    type_in(tmp_path, before, {"HOME": str(home)}).assert_ok()
    assert content(home / PLACE).keys() != packed(artifact).keys()
    install = block("docs/operations.md", "--upgrade").splitlines()[0]
    type_in(artifact.parent, f". ~/slb/bin/activate && {install}", {"HOME": str(home)}).assert_ok()
    assert content(home / PLACE) == packed(artifact)
