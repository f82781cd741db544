"""The artifact can be installed by the commands of the pages."""

import subprocess
import tarfile
from pathlib import Path

import pytest
from typed import ROOT, block, type_in

PLACE = Path(".ansible", "collections", "ansible_collections", "slb", "fleet")
# What is installed in addition to the collection comes with its checksums, before the lines of a page ask for it.
PINNED = f"pip install -qq --require-hashes --requirement {ROOT}/requirements/ee.txt; export PIP_NO_INDEX=1"


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    copy = tmp_path_factory.mktemp("released") / "slb-fleet-1.0.0.tar.gz"
    subprocess.run([ROOT / "tests" / "tools" / "candidate", copy], check=True)
    return copy


@pytest.fixture(scope="module")
def home(tmp_path_factory, artifact):
    """Return the home of a user after the installation steps of the pages, with the file of a release."""
    home = tmp_path_factory.mktemp("home")
    make, packages, *_install = block("docs/getting-started.md", "python3 -m venv").splitlines()
    install = next(line for line in block("README.md", "collection install").splitlines() if "./slb-fleet" in line)
    type_in(artifact.parent, "\n".join([make, PINNED, packages, install]), {"HOME": str(home)}).assert_ok()
    return home


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def packed(artifact):
    with tarfile.open(artifact) as archive:
        members = [member for member in archive.getmembers() if member.isfile()]
        return {Path(member.name): archive.extractfile(member).read() for member in members}


def test_by_the_lines_of_the_readme_everything_is_there(home, artifact):
    assert content(home / PLACE) == packed(artifact)
    (home / "inventory.yml").write_text("engines: {hosts: {edge-1: }}\n")
    look = next(line for line in block("README.md", "read -rs").splitlines() if "diagnose" in line)
    looked = type_in(home, f". ~/slb/bin/activate && {look} --list-tasks", {"HOME": str(home)})
    looked.assert_ok()
    assert "play #1 (engines)" in looked.output


def test_checkout_is_installed_by_one_command(home, tmp_path):
    subprocess.run(["git", "clone", "--quiet", ROOT, tmp_path / "checkout"], check=True)
    # In a home without the release, whose version is that of the checkout.
    command = f". {home}/slb/bin/activate && ansible-galaxy collection install --offline ."
    type_in(tmp_path / "checkout", command, {"HOME": str(tmp_path)}).assert_ok()
    assert (tmp_path / PLACE / "plugins" / "modules" / "engine.py").is_file()


def test_execution_environment_has_the_files_of_its_page(home, artifact):
    copies = [line for line in block("docs/awx.md", "ansible-builder build").splitlines() if line.startswith("cp ")]
    type_in(artifact.parent, "\n".join(copies), {"HOME": str(home)}).assert_ok()
    definition = artifact.with_name("execution-environment.yml")
    assert definition.read_bytes() == packed(artifact)[Path(definition.name)]
    assert f"src: {artifact.name.replace('-1.0.0', '')}" in definition.read_text()
