"""The example inventory of a project in AWX."""

import os
import re
import shutil
import sys

import pytest

from ansible_collections.slb.fleet.tests.awx.launches import ROOT
from ansible_collections.slb.fleet.tests.tools.runs import run


@pytest.mark.parametrize(("folder", "option"), [(".", ()), ("..", ("--playbook-dir", "awx/inventory"))])
def test_example_inventory_finds_engine_list(tmp_path, folder, option):
    """AWX names the folder of the inventory file, and the command line runs in the folder of the project."""
    project = tmp_path / "awx"
    shutil.copytree(ROOT / "examples" / "awx", project)
    source = (project / "inventory" / "slb_engines.yml.example").rename(project / "inventory" / "slb_engines.yml")
    variables = project / "inventory" / "group_vars" / "engines.yml"
    variables.write_text(re.sub(r"^# (slb_engine_list|  )", r"\1", variables.read_text(), flags=re.MULTILINE))
    program = "from ansible.cli.inventory import main; main()"
    done = run(
        [sys.executable, "-c", program, "-i", source, "--list", *option],
        cwd=project / folder,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "LC_ALL": "C.UTF-8",
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".cache" / "dev"),
            "SLB_BASE_URL": "https://127.0.0.1:9",
            "SLB_USERNAME": "u",
            "SLB_PASSWORD": "p",
            "SLB_RETRIES": "0",
        },
    )
    # With the engine list, the plugin contacts the management node.
    assert "Management node unavailable: https://127.0.0.1:9" in done.words
