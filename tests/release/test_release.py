"""A release is made of a fresh clone, and its pages say truly how to see that it is the one that was made."""

import os
import shutil
import subprocess

import pytest
from typed import ROOT, block, type_in

VERSION = "9.0.0"


@pytest.fixture
def signer(tmp_path):
    """The name of a GnuPG key, and the variable that names its key ring."""
    ring = tmp_path / "ring"
    ring.mkdir(mode=0o700)
    name, variables = "key@home.example", {"GNUPGHOME": str(ring)}
    environment = {**os.environ, **variables}
    make = ["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", name, "ed25519", "sign"]
    subprocess.run(make, env=environment, check=True)
    yield name, variables
    subprocess.run(["gpgconf", "--kill", "all"], env=environment, check=True)


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("gpg"), reason="there is no GnuPG")
def test_release_from_a_fresh_clone_is_as_its_page_says(tmp_path, signer):
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    # Right after a release there is nothing to tell; then this is.
    (clone / "changelogs" / "fragments" / "of_this_test.yml").write_text("bugfixes: [It was tried.]\n")
    git = ["git", "-C", clone, "-c", "user.name=a", "-c", "user.email=a@home.example"]
    subprocess.run([*git, "add", "--all"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--message=Something to tell"], check=True)
    key, surroundings = signer
    wanted = f"VERSION={VERSION} REPOSITORY=https://forge.example/team/slb-fleet KEY={key}"
    type_in(clone, f"make release {wanted}", surroundings).assert_ok()
    dist = clone / "dist" / VERSION
    names = {f"slb-fleet-{VERSION}.tar.gz", f"slb-fleet-{VERSION}.cdx.json", "SHA256SUMS", "SHA256SUMS.asc"}
    assert {path.name for path in dist.iterdir()} == names
    seen = type_in(dist, block("docs/operations.md", "sha256sum --check"), surroundings)
    seen.assert_ok()
    assert f'Good signature from "{key}"' in seen.output
    type_in(clone, f"git tag --verify v{VERSION}", surroundings).assert_ok()
    # Also if git changes line endings.
    git_of_another = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.autocrlf", "GIT_CONFIG_VALUE_0": "true"}
    again = block("docs/operations.md", "tests/tools/build-artifact").replace("v1.0.0", f"v{VERSION}")
    built = type_in(clone, f'PATH="$PWD/.venv/bin:$PATH"\n{again}', git_of_another)
    built.assert_ok()
    (checksum,) = (line.split()[0] for line in (dist / "SHA256SUMS").read_text().splitlines() if "tar.gz" in line)
    assert built.output.split()[-2] == checksum, built.output
