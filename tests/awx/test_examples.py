"""The examples of the documentation that need an AWX, run as they stand."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import yaml
from operators import ROOT

if TYPE_CHECKING:
    from operators import Operator


def run(operator: Operator, plays: list[Any]) -> None:
    (operator.folder / "example.yml").write_text(yaml.safe_dump(plays))
    known = {"vault_slb_password": "a secret of the console", "ansible_python_interpreter": sys.executable}
    done = operator.run(str(operator.folder / "example.yml"), known, "--connection", "local")
    assert done.status == 0, done.output


def test_the_example_of_the_module(operator: Operator) -> None:
    source = (ROOT / "plugins" / "modules" / "awx_object.py").read_text()
    tasks = yaml.safe_load(source.partition('EXAMPLES = r"""')[2].partition('"""')[0])
    run(operator, [{"hosts": "localhost", "gather_facts": False, "tasks": tasks}])
    assert "slb.fleet" in operator.awx.names("labels")


def test_the_example_of_the_role(operator: Operator) -> None:
    page = (ROOT / "roles" / "awx_content" / "README.md").read_text()
    run(operator, yaml.safe_load(re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)[0]))
    assert len(operator.awx.names("job_templates")) == 6 + 1
