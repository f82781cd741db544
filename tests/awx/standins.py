"""Collections that stand in for ``awx.awx`` and ``infra.aap_configuration``: the modules of ``awx.awx`` check their
arguments with their own specifications and record them, and no AWX is contacted.
"""

import json
import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from runs import Run, run

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = Path("ansible_collections", "awx", "awx", "plugins")
MODULES = ROOT / ".cache" / "awx" / PLUGINS / "modules"

MODULE_UTILS = """
import json
import os
from ansible.module_utils.basic import AnsibleModule

class ControllerAPIModule(AnsibleModule):
    def __init__(self, argument_spec, **more):
        super().__init__(argument_spec=argument_spec, supports_check_mode=True, **more)
        call = {key: value for key, value in self.params.items() if value is not None}
        call["module"], call["check_mode"] = self._name.rpartition(".")[2], self.check_mode
        with open(os.environ["STANDIN_CALLS"], "a") as calls:
            calls.write(json.dumps(call) + "\\n")
        if os.environ.get("STANDIN_FAILS") in (call.get("name"), call["module"]):
            self.fail_json(msg="Unable to create it: {'name': ['Too bad.']}")
        self.exit_json(changed=True)
"""

LOOKUP = """
import json
import os
from pathlib import Path
from ansible.plugins.lookup import LookupBase

DOCUMENTATION = '''
name: controller_api
short_description: Stand-in
description: Stand-in.
options:
  _terms: {description: Resource, required: true}
  query_params: {description: Query, type: dict, default: {}}
  return_all: {description: All, type: bool, default: false}
  max_objects: {description: Limit, type: int, default: 1000}
'''

class LookupModule(LookupBase):
    def run(self, terms, variables=None, **options):
        self.set_options(direct=options)
        found = json.loads(Path(os.environ["STANDIN_OBJECTS"]).read_text()).get(terms[0], [])
        for key, value in self.get_option("query_params").items():
            names = value.split(",") if key.endswith("__in") else [value]
            found = [each for each in found if each.get(key.removesuffix("__in")) in names]
        return found
"""

DISPATCH = [
    {
        "name": "Show the lists",
        "ansible.builtin.copy": {"content": "{{ q('vars', *q('varnames', '^controller_')) | to_json }}",
                                 "dest": "{{ lookup('env', 'STANDIN_CALLS') }}", "mode": "0600"},
        "no_log": True,
    }
]  # fmt: skip


@dataclass
class Standins:
    """``objects``: what AWX has, by resource. ``calls``: what the modules were called with, in this order."""

    folder: Path
    python: str = os.environ.get("SLB_AWX_TEST_PYTHON", sys.executable)
    objects: dict[str, list[dict[str, Any]]] = field(
        default_factory=lambda: {
            "me": [{"is_superuser": True}],
            "organizations": [{"name": "Default"}],
            "teams": [{"name": "ops"}],
        }
    )

    def __post_init__(self) -> None:
        plugins = self.folder / PLUGINS
        shutil.copytree(MODULES, plugins / "modules")
        for kind, text in (("module_utils", MODULE_UTILS), ("lookup", LOOKUP)):
            (plugins / kind).mkdir()
            (plugins / kind / "controller_api.py").write_text(text)
        dispatch = self.folder / "ansible_collections" / "infra" / "aap_configuration" / "roles" / "dispatch" / "tasks"
        dispatch.mkdir(parents=True)
        (dispatch / "main.yml").write_text(yaml.safe_dump(DISPATCH))

    def run(self, playbook: str, variables: dict[str, Any], *options: str, fails: str = "") -> Run:
        for name, value in (("variables", variables), ("objects", self.objects)):
            (self.folder / f"{name}.json").write_text(json.dumps(value))
        (self.folder / "calls").write_text("")
        program = "from ansible.cli.playbook import main; main()"
        return run(
            [self.python, "-c", program, "-i", "localhost,", playbook, "-e", "@variables.json", *options],
            cwd=self.folder,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.folder),
                "LC_ALL": "C.UTF-8",
                "ANSIBLE_NOCOLOR": "1",
                "ANSIBLE_PIPELINING": "1",
                "ANSIBLE_COLLECTIONS_PATH": f"{ROOT / '.cache' / 'dev'}:{self.folder}",
                "STANDIN_CALLS": str(self.folder / "calls"),
                "STANDIN_OBJECTS": str(self.folder / "objects.json"),
                "STANDIN_FAILS": fails,
            },
        )

    @property
    def calls(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "calls").read_text().splitlines()]
