"""The file that is written with the proposal, and the result of the task."""

import json
from types import SimpleNamespace

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.action import ActionBase
from ansible.template import Templar

from ansible_collections.slb.fleet.plugins.action import engine_list_proposal
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import EngineList
from ansible_collections.slb.fleet.tests.unit.plugins.plugin_utils.hars import BASE, SECRETS, entry, har, rows

CERTAIN = entry("/console/engines", {"data": rows(1, 2), "total": 2})
DOUBTFUL = entry("/console/list", {"data": rows(1, 2), "total": 2})
HOSTS = {f"edge-{number}": [f"edge-{number}", f"192.0.2.{number}"] for number in (1, 2)}


class Action(engine_list_proposal.ActionModule):
    def __init__(self, args, check_mode):
        self._task = SimpleNamespace(
            args=args, check_mode=check_mode, async_val=0, get_ds=dict, action="", resolved_action=""
        )
        self._templar = Templar(loader=DataLoader())
        self._connection = SimpleNamespace(_load_name="local")
        self._discovered_interpreter_key = None


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return the result of the task for these requests."""
    monkeypatch.setattr(ActionBase, "run", lambda *_arguments: {})

    def run_task(*entries, check_mode=False, dest=tmp_path / "group_vars" / "engines.yml", **options):
        source = tmp_path / "console.har"
        source.write_text(json.dumps(har(*entries)))
        given = {"src": str(source), "dest": str(dest), "base_urls": [f"{BASE}/"], "hosts": HOSTS, **options}
        result = Action(given, check_mode).run(None, {})
        assert sorted(tmp_path.glob("**/.*")) == []
        assert not any(secret in json.dumps(result) for secret in SECRETS)
        return result

    return run_task


def test_proposal_is_written_once(run, tmp_path):
    dest = tmp_path / "group_vars" / "engines.yml"
    first, second = run(CERTAIN), run(CERTAIN)
    assert (first["changed"], second["changed"]) == (True, False)
    assert first["dest"] == str(dest)
    assert first["is_certain"]
    written = yaml.safe_load(dest.read_text())["slb_engine_list"]
    assert EngineList.from_option(written) == EngineList.from_option(first["engine_list"])
    assert first["diff"]["after"] == dest.read_text()


def test_proposal_is_not_written_in_check_mode(run, tmp_path):
    result = run(CERTAIN, check_mode=True)
    assert result["changed"]
    assert not (tmp_path / "group_vars").exists()


@pytest.mark.parametrize(
    ("entries", "end"),
    [([DOUBTFUL], "the proposal has doubts."), ([entry("/console/x", {})], "there is no proposal.")],
)
def test_doubtful_proposal_is_not_written(run, tmp_path, entries, end):
    result = run(*entries)
    assert not result["changed"]
    assert not result["is_certain"]
    assert result["report"][-1].endswith(end)
    assert not (tmp_path / "group_vars").exists()


def test_nothing_is_written_without_dest(run):
    result = run(CERTAIN, dest="")
    assert (result["changed"], result["dest"]) == (False, "")


@pytest.mark.parametrize(
    "content", ["slb_username: admin\nslb_engine_list: {}\n", "- 1\n", "a: [\n", "!vault |\n  31\n"]
)
def test_file_with_other_content_is_kept(run, tmp_path, content):
    dest = tmp_path / "engines.yml"
    dest.write_text(content)
    assert run(CERTAIN, dest=dest)["code"] == "file_not_written"
    assert dest.read_text() == content


def test_file_that_cannot_be_written_is_an_error(run, tmp_path):
    assert run(CERTAIN, dest=tmp_path)["code"] == "file_not_written"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"src": ""}, "missing_option"),
        ({"base_urls": []}, "missing_option"),
        ({"base_urls": ["http://console.example"]}, "invalid_option"),
        ({"base_urls": ["https://other.example"]}, "recording_unusable"),
        ({"hosts": {"edge-1": "edge-1"}}, "invalid_option"),
        ({"hosts": {"edge-1": ["edge-1", 1]}}, "invalid_option"),
        ({"hosts": {}}, "invalid_option"),
        ({"exists_patterns": ["("]}, "invalid_option"),
        ({"sources": "x"}, "invalid_option"),
    ],
)
def test_invalid_option_has_a_code(run, options, code):
    result = run(CERTAIN, **options)
    assert result["failed"]
    assert result["code"] == code


def test_answers_use_the_given_patterns(run):
    install = entry("/system/add_slb_engine/", {"code": 9, "msg": "E-77"}, method="POST")
    assert run(install)["answers"][0]["outcome"] == "rejected"
    assert run(install, exists_patterns=["E-77"])["answers"][0]["outcome"] == "exists"
