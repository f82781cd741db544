"""What an operator of AWX meets: a job without requests or credentials; and what is touched then: nothing."""

import json

import pytest
from fake_node import INSTALL
from rollouts import inventory, rollout


def test_an_execution_environment_without_requests(start, controller):
    (controller.folder / "sitecustomize.py").write_text(
        "import sys\nsys.modules['requests'] = sys.modules['urllib3'] = None\n"
    )
    server = start()
    hosts = inventory(server, controller.folder / "hosts", 2)
    seen = rollout(controller, hosts, PYTHONPATH=str(controller.folder))
    assert seen.run.status != 0
    assert "Python package requests missing" in seen.run.words
    assert (seen.run.changed, server.seen[INSTALL]) == (0, 0)


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"slb_password": ""}, "slb_password"),
        ({"slb_base_url": "", "slb_username": "", "slb_password": ""}, "slb_base_url"),
    ],
)
def test_a_template_without_its_credential(start, controller, variables, words):
    server = start()
    seen = rollout(controller, inventory(server, controller.folder / "hosts", 2), "-e", json.dumps(variables))
    assert seen.run.status != 0
    assert words in seen.run.output
    assert (seen.run.changed, server.seen[INSTALL]) == (0, 0)
