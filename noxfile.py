# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Test the collection with each supported ansible-core, with the oldest and the newest Python and requests of each.

All stages, unless some are named: ``nox --tags 2.16 2.21 -- unit client``.
"""

from __future__ import annotations

import tempfile

import nox

# The oldest and newest Python on the controller, and minor versions of the oldest and newest on engine hosts.
CORES = {
    "2.16": ("3.10", "3.12", 6, 12),
    "2.17": ("3.10", "3.12", 7, 12),
    "2.18": ("3.11", "3.13", 8, 13),
    "2.19": ("3.11", "3.13", 8, 13),
    "2.20": ("3.12", "3.14", 9, 14),
    "2.21": ("3.12", "3.14", 9, 14),
}
# The oldest requests is the one of meta/requirements.txt.
REQUESTS = {"oldest": ("requests==2.32.3", "urllib3==2.2.2"), "newest": ("requests",)}
# Where the longest stage runs: each ansible-core, and each Python with its requests, once.
CLIENT = {"2.16": "oldest", "2.17": "newest", "2.18": "oldest", "2.19": "newest", "2.20": "oldest", "2.21": "newest"}
PACKAGES = ("pytest", "pytest-xdist", "hypothesis", "jsonschema", "prometheus-client", "trustme")

nox.options.default_venv_backend = "uv"
nox.options.error_on_missing_interpreters = True
nox.options.envdir = ".cache/nox"
nox.options.reuse_venv = "yes"
nox.needs_version = ">=2025.2.9"


def parameters() -> list[object]:
    return [
        nox.param(pythons[age == "newest"], core, age, id=f"{core}-{age}", tags=[core])
        for core, pythons in CORES.items()
        for age in REQUESTS
    ]


@nox.session
@nox.parametrize(("python", "core", "age"), parameters())
def matrix(session: nox.Session, core: str, age: str) -> None:
    """Test one environment. ``sanity`` runs with the newest Python only, ``hosts`` and ``client`` once per core."""
    stages = session.posargs or ("sanity", "unit", "hosts", "client", "deployment")
    session.install(f"ansible-core~={core}.0", *REQUESTS[age], *PACKAGES)
    session.env.update(ANSIBLE_COLLECTIONS_PATH=".cache/dev", PYTHONPATH=".cache/dev", NO_COLOR="1")
    venv = session.virtualenv.location
    if "sanity" in stages and age == "newest":
        # The changelog does not depend on ansible-core, and on Python 3.14, the docutils that 2.21 pins warns.
        session.run("tests/tools/ansible-test", venv, "sanity", "--skip-test", "changelog", external=True)
    if "unit" in stages:
        session.run("tests/tools/ansible-test", venv, "units", "--num-workers", "2", external=True)
    if "hosts" in stages and age == "oldest":
        oldest, newest = CORES[core][2:]
        session.run("tests/tools/host-pythons", *(f"3.{minor}" for minor in range(oldest, newest + 1)), external=True)
    if "client" in stages and age == CLIENT[core]:
        # ansible-core 2.21 makes a socket in the folder, and its path may have 107 characters.
        with tempfile.TemporaryDirectory() as folder:
            parallel = ("--numprocesses", "2", "--dist", "loadfile", "--basetemp", f"{folder}/t")
            # test_inventory.py loads the collection by pytest-ansible.
            tests = ("tests/hostile", "tests/client", "tests/canned/test_refused_runs.py")
            tests += ("--ignore", "tests/client/test_inventory.py")
            session.run("pytest", "--override-ini", "addopts=", "--quiet", *parallel, *tests)
    if "deployment" in stages:
        # The lab and its tests keep their own Python: only Ansible's commands are of this environment.
        with tempfile.TemporaryDirectory() as folder:
            artifact = f"{folder}/slb-fleet.tar.gz"
            session.run("tests/tools/candidate", artifact, external=True)
            own = {"SLB_TEST_BIN": f"{venv}/bin", "SLB_TEST_LAB": "matrix", "ANSIBLE_COLLECTIONS_PATH": folder}
            # With --force: Ansible would find the checkout, which has the same version, and install nothing.
            session.run("ansible-galaxy", "collection", "install", "--force", "--collections-path", folder, artifact)
            test = (".venv/bin/pytest", "--quiet", "tests/integration/test_rollout.py")
            session.run(*test, env={**own, "PYTHONPATH": None}, external=True)
