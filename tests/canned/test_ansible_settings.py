"""Settings of Ansible change neither the report nor the outcome of a run."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.slb.fleet.tests.canned.canned import ROOT, Canned

pytestmark = pytest.mark.long

JSON_CALLBACK = """
import json
from ansible.plugins.callback import CallbackBase

class CallbackModule(CallbackBase):
    CALLBACK_VERSION, CALLBACK_TYPE, CALLBACK_NAME = 2.0, "stdout", "as_data"

    def v2_playbook_on_stats(self, stats):
        self._display.display(json.dumps({host: stats.summarize(host) for host in stats.processed}))
"""


def test_report_with_no_log_shows_each_host(tmp_path):
    fleet = Canned(tmp_path, edge_1="healthy", edge_2="work", edge_3="fails", edge_4="unreachable", edge_5="breaks")
    _status, output = fleet.run("slb.fleet.audit", ANSIBLE_NO_LOG="True")
    assert fleet.hosts["edge-1"]["status"] == "healthy", output
    status, output = fleet.run("slb.fleet.rollout", ANSIBLE_NO_LOG="True")
    expected = {
        "edge-1": "healthy",
        "edge-2": "healthy",
        "edge-3": "failed",
        "edge-4": "unreachable",
        "edge-5": "failed",
    }
    assert (status, fleet.statuses) == (4, expected), output
    assert fleet.hosts["edge-3"]["code"] == "unverified_container"
    assert "no space left" in fleet.hosts["edge-5"]["summary"]
    assert fleet.hosts["edge-2"]["changes"]


@pytest.mark.parametrize(
    ("other", "status", "words"), [("healthy", 0, ""), ("fails", 2, "Result:  FAILED   1 healthy, 1 failed")]
)
def test_crontab_prints_nothing_but_trouble(tmp_path, other, status, words):
    fleet = Canned(tmp_path, edge_1="healthy", edge_2=other)
    *settings, entry = (ROOT / "examples" / "cron" / "slb-audit").read_text().splitlines()[1:]
    variables = {**dict(line.split("=", 1) for line in settings), "SLB_PASSWORD_FILE": "inventory.yml"}
    command = entry.split(" ops ")[1]
    assert re.search(r"(?<!\\)%", command) is None, "cron would cut the command there"
    for example, own in (("\\%", "%"), ("/srv/fleet", str(tmp_path)), ("venv/bin", str(Path(sys.executable).parent))):
        assert example in command
        command = command.replace(example, own)
    ended, output = fleet.run(command=command, **variables)
    assert (ended, bool(output), words in output) == (status, bool(words), True), output
    assert json.loads((fleet.reports / "audit" / "report.json").read_text())["counts"]["healthy"] >= 1


@pytest.mark.parametrize(("name", "is_json"), [("as_data", True), ("minimal", False), ("default", False)])
def test_summary_with_json_callback_goes_to_stderr(tmp_path, name, is_json):
    fleet = Canned(tmp_path, edge_1="healthy")
    (tmp_path / "as_data.py").write_text(JSON_CALLBACK)
    settings = {"ANSIBLE_CALLBACK_PLUGINS": str(tmp_path), "ANSIBLE_STDOUT_CALLBACK": name}
    ended = subprocess.run(
        fleet.command("slb.fleet.rollout"),
        cwd=tmp_path,
        env={**fleet.environment(), **settings, "SLB_REPORT_EACH_HOST": "true"},
        capture_output=True,
        text=True,
        check=True,
    )
    summary = ended.stderr if is_json else ended.stdout
    assert "Result:  OK   1/1 healthy" in summary, ended
    assert "EACH HOST" in summary
    if is_json:
        assert json.loads(ended.stdout)["edge-1"]["failures"] == 0
