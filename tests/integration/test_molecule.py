"""The molecule scenario, against the artifact that users install, on the lab of this folder."""

import os

import pytest
from fleet import ROOT
from runs import run


@pytest.mark.long
def test_scenario(lab):
    environment = {**os.environ, "SLB_TEST_LAB": lab.name}
    run([ROOT / "tests" / "tools" / "molecule", "--destroy=never"], 1200, env=environment).assert_ok()
