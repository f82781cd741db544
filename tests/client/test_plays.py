"""The modules in real plays: options, check mode, delegation, and the files that they write."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fake_node import INSTALL, LICENSE, LICENSE_TEXT, LOGIN, PASSWORD, answer, message, raw
from scenarios import ENGINE_LIST, LIST

ROOT = Path(__file__).resolve().parents[2]
ENGINES = {
    "items": [{"n": "edge-1", "ip": "192.0.2.1/24", "st": "up"}, {"n": "edge-2", "ip": "192.0.2.2", "st": "odd"}]
}
Play = "Callable[..., subprocess.CompletedProcess[str]]"


@pytest.fixture
def play(tmp_path):
    """Run tasks on hosts that cannot be reached, and return the process."""

    def run(tasks, variables, *options, hosts=1):
        names = {f"edge-{number}": {} for number in range(1, hosts + 1)} if isinstance(hosts, int) else hosts
        unreachable = {"ansible_connection": "ssh", "ansible_host": "192.0.2.1"}
        inventory = {"all": {"hosts": names, "vars": {**unreachable, **variables}}}
        (tmp_path / "hosts.json").write_text(json.dumps(inventory))
        (tmp_path / "play.json").write_text(json.dumps([{"hosts": "all", "gather_facts": False, "tasks": tasks}]))
        return command(tmp_path, "ansible.cli.playbook", "-i", "hosts.json", "play.json", *options)

    return run


def command(folder, module, *arguments, **environment):
    home = {"HOME": str(folder), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "ANSIBLE_NOCOLOR": "1"}
    collections = {"ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".cache" / "dev"), "ANSIBLE_LOCAL_TEMP": f"{folder}/tmp"}
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=folder,
        env={**home, **collections, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def of(node, **more):
    pin = node.certificate.fingerprint
    connection = {"base_url": node.base_url, "username": "admin", "password": PASSWORD, "tls_fingerprint": pin}
    return {**{f"slb_{option}": value for option, value in connection.items()}, **more}


ENGINE = {"slb.fleet.engine": {"name": "{{ inventory_hostname }}", "manage_ip": "192.0.2.1"}}


def test_hosts_share_one_login(start, play):
    node = start()
    run = play([ENGINE], of(node), "--forks", "10", "-vvvv", hosts=40)
    assert run.returncode == 0, run.stdout
    assert node.seen == {LOGIN: 1, INSTALL: 40}
    assert PASSWORD not in run.stdout
    assert f"of{node.port}" not in run.stdout


def test_check_mode_sends_no_install(start, play, tmp_path):
    node = start({LIST: [answer(200, json.dumps(ENGINES))]})
    tasks = [
        ENGINE,
        {"slb.fleet.login": {}},
        {"slb.fleet.license": {"dest": str(tmp_path / "license")}},
        {"slb.fleet.engine_info": {"engine_list": ENGINE_LIST}},
    ]
    run = play(tasks, of(node), "--check")
    assert run.returncode == 0, run.stdout
    assert [request.path for request in node.requests if request.method == "POST"] == [LOGIN]
    assert not (tmp_path / "license").exists()


def test_value_that_is_no_text_is_rejected(start, play):
    node = start()
    reference = {"slb_password": "{{ secret }}", "secret": 1.1}
    wrong = [{"slb_password": 342391}, {"slb_password": True}, {"slb_username": 83}, reference, {"engine_name": 83}]
    hosts = {f"wrong-{number}": variables for number, variables in enumerate(wrong)}
    task = {"slb.fleet.engine": {"name": "{{ engine_name }}", "manage_ip": "192.0.2.1"}}
    run = play([task], of(node, engine_name="edge-1"), hosts=hosts)
    assert run.stdout.count('"code": "invalid_option"') == len(wrong), run.stdout
    assert "342391" not in run.stdout
    assert node.connections == 0


def test_empty_variable_is_unset(start, play):
    node = start()
    empty = {"slb_ca_path": "", "slb_timeout": "", "slb_retries": None, "slb_validate_certs": ""}
    assert play([ENGINE], of(node, **empty)).returncode == 0


def test_fact_is_no_variable(start, play):
    node = start()
    fact = {"ansible.builtin.set_fact": {"slb_base_url": "https://other.example", "cacheable": True}}
    run = play([fact, ENGINE], of(node))
    assert run.returncode == 2
    assert "slb_base_url rejected" in run.stdout
    assert node.connections == 0


def test_refused_connection_fails_at_once(play):
    connection = {"base_url": "https://127.0.0.1:1", "username": "a", "password": "b", "retries": 0}
    run = play([{"slb.fleet.login": connection}], {})
    assert '"code": "management_node_unavailable"' in run.stdout


def test_delegated_engine_runs_as_a_module(start, play):
    node = start()
    here = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable, "ansible_host": "127.0.0.1"}
    elsewhere = {"ansible.builtin.add_host": {"name": "bastion", **here, "ansible_connection": "elsewhere"}}
    run = play([elsewhere, {**ENGINE, "delegate_to": "localhost", "vars": here}], of(node))
    assert run.returncode == 0, run.stdout
    assert node.seen == {LOGIN: 1, INSTALL: 1}


def test_license_is_written_on_the_controller(start, play, tmp_path):
    node, dest = start(), tmp_path / "license"
    download = {"slb.fleet.license": {"dest": str(dest), "backup": True}}
    here = {"vars": {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}}
    tasks = [
        {**download, "register": "first"},
        {**download, "register": "second"},
        {"ansible.builtin.copy": {"content": "old", "dest": str(dest)}, "diff": False, **here},
        {**download, "register": "third"},
        {"ansible.builtin.debug": {"msg": "{{ [first, second, third] | to_json }}"}},
    ]
    run = play(tasks, of(node), "--diff")
    assert run.returncode == 0, run.stdout
    first, second, third = json.loads(json.loads(re.search(r'"msg": (".*")', run.stdout)[1]))
    assert (first["changed"], second["changed"], third["changed"]) == (True, False, True)
    assert first["checksum"] == hashlib.sha256(LICENSE_TEXT).hexdigest()
    assert dest.read_bytes() == LICENSE_TEXT
    assert dest.stat().st_mode & 0o777 == 0o600
    assert Path(third["backup_file"]).read_text() == "old"
    assert "BEGIN LICENSE" not in run.stdout


def test_unusable_license_changes_no_file(start, play, tmp_path):
    node, dest = start({LICENSE: [answer(200, '{"code":500,"msg":"no license"}')]}), tmp_path / "license"
    dest.write_text("old")
    run = play([{"slb.fleet.license": {"dest": str(dest)}}], of(node))
    assert '"code": "license_unusable"' in run.stdout
    assert dest.read_text() == "old"


def test_license_without_length_is_a_warning(start, play, tmp_path):
    node = start({LICENSE: [raw(message(200, LICENSE_TEXT, length=-1))]})
    run = play([{"slb.fleet.license": {"dest": str(tmp_path / "license")}}], of(node))
    assert run.returncode == 0, run.stdout
    assert "License without length" in run.stdout + run.stderr


def test_playbook_downloads_once_per_management_node(start, play, tmp_path):
    node = start()
    play([], of(node, slb_license_dest=str(tmp_path / "license")), hosts=20)
    run = command(
        tmp_path, "ansible.cli.playbook", "-i", "hosts.json", "slb.fleet.download_license", "-e", "slb_hosts=all"
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert node.seen == {LOGIN: 1, LICENSE: 1}
    assert (tmp_path / "license").read_bytes() == LICENSE_TEXT
