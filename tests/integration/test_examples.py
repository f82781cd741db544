"""The examples of the documentation, run as they stand, in check mode, against a lab.

Only what an example cannot know is put in: the lab's management node for console.example, its secrets, and a folder
that is there.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import runs
import yaml
from fleet import BIN, ROOT, Fleet

pytestmark = pytest.mark.long
HOST = "trixie"
# Where an AWX is: tests/awx and tests/hostile run these.
ABOUT_AWX = ("merge_reports", "awx_content")
MODULES = sorted({path.stem for path in (ROOT / "plugins" / "modules").glob("[!_]*.py")} - {*ABOUT_AWX})
LIST = {"path": "/api/engines", "name": "name", "address": "ip", "state": "status", "running": ["running"]}
ROLES = sorted(path.name for path in (ROOT / "roles").iterdir() if path.name not in ABOUT_AWX)


@pytest.fixture(scope="module")
def fleet(lab, tmp_path_factory):
    return Fleet(lab, tmp_path_factory.mktemp("examples"), HOST)


def run(fleet: Fleet, folder: Path, play: dict[str, Any], **more: Any) -> None:
    node = fleet.lab.management_node
    variables = fleet.lab.inventory()["engines"]["vars"]
    connection = {
        "base_url": node.base_url,
        "username": "admin",
        "password": node.password,
        "tls_fingerprint": variables["slb_tls_fingerprint"],
    }
    defaults = {"group/slb.fleet.management_node": connection}
    text = json.dumps([{**play, "module_defaults": defaults}]).replace("https://console.example", node.base_url)
    for place in ("/etc/slb", "/var/lib/slb"):
        text = text.replace(place, str(folder))
    address = fleet.shell(HOST, "cat /sys/class/net/ens9/address")
    for example, real in (("52:54:00:*", f"{address[:8]}:*"), ('"owner": "slb"', '"owner": "root"')):
        text = text.replace(example, real)
    (folder / "example.yml").write_text(text)
    local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    others = dict.fromkeys(("backup.example", "license-server"), local)
    (folder / "hosts.yml").write_text(yaml.safe_dump({"all": {"hosts": others}}))
    known = {"vault_slb_password": node.password, **more, **{f"slb_{key}": value for key, value in connection.items()}}
    done = fleet.play(str(folder / "example.yml"), "-i", str(folder / "hosts.yml"), "--check", variables=known)
    assert done.status == 0, done.output


def documentation(kind: str, name: str) -> dict[str, Any]:
    command = [BIN / "ansible-doc", "--json", "--type", kind, f"slb.fleet.{name}"]
    output = subprocess.run(command, env=Fleet.environment(), capture_output=True, text=True, check=True).stdout
    return json.loads(output)[f"slb.fleet.{name}"]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(fleet, tmp_path, name):
    tasks = yaml.safe_load(documentation("module", name)["examples"])
    fleet.shell(HOST, "docker rm --force slb; docker run --detach --name slb slb:1 /bin/httpd -f -p 8000")
    if name == "engine_container":  # it starts only what the record verifies
        known = {"name": "edge-1", "manage_ip": "192.0.2.11", "base_url": "https://node.example.com"}
        identity = fleet.shell(HOST, "docker ps --quiet --no-trunc --filter name=slb")
        fleet.module(HOST, "engine_record", state="verified", container_id=identity, **known)
    assert any(f"slb.fleet.{name}" in json.dumps(task) for task in tasks)
    run(fleet, tmp_path, {"hosts": "engines", "gather_facts": False, "tasks": tasks}, slb_engine_list=LIST)
    fleet.shell(HOST, "docker rm --force slb")


def blocks(path: Path) -> Iterator[Any]:
    for block in re.findall(r"```ya?ml\n(.*?)```", path.read_text(), re.DOTALL):
        yield yaml.safe_load(block)


@pytest.mark.parametrize("role", ROLES)
def test_the_examples_of_a_role_run(fleet, tmp_path, role):
    fleet.shell(HOST, "docker rm --force slb")
    plays = [play for block in blocks(ROOT / "roles" / role / "README.md") if isinstance(block, list) for play in block]
    assert plays
    for play in plays:
        run(fleet, tmp_path, play)


@pytest.fixture(params=["ansible.builtin.default", "slb.fleet.fleet"])
def output_callback(request, monkeypatch):
    """What a playbook is for is shown with Ansible's own output, and with that which the docs recommend."""
    monkeypatch.setenv("ANSIBLE_STDOUT_CALLBACK", request.param)


@pytest.mark.usefixtures("output_callback")
def test_the_plan_of_an_adoption_is_told_interface_by_interface(fleet):
    assert "slb.fleet.adopt_interfaces --check --diff\n" in (ROOT / "docs" / "interfaces.md").read_text()
    done = fleet.play("slb.fleet.adopt_interfaces", "--check", "--diff")
    assert done.status == 0, done.output
    for interface, is_shown in {"ens10": True, "ens11": True, "eth0": True, "lo": False}.items():
        assert bool(re.search(rf"\b{interface}: \w", done.output)) is is_shown, done.output
    assert "All items completed" not in done.output


@pytest.mark.usefixtures("output_callback")
def test_engine_list_of_the_docs_fits_the_lab(fleet, tmp_path):
    described = yaml.safe_load((ROOT / "examples" / "group_vars" / "engines.yml").read_text())
    done = fleet.play("slb.fleet.show_engine_list", variables=described)
    assert done.status == 0, done.output
    assert "Engine list empty" in done.output


def test_own_play_runs(fleet, tmp_path):
    (play,) = yaml.safe_load((ROOT / "examples" / "own_play.yml").read_text())
    play.pop("module_defaults")
    run(fleet, tmp_path, play)


@pytest.fixture(scope="module")
def listed_fleet(fleet):
    """After the tests above, which want a console that lists no engine."""
    done = fleet.play("slb.fleet.rollout", variables={"slb_settle": 1})
    assert done.status == 0, done.output
    return fleet


def source(fleet: Fleet, folder: Path, example: str) -> Path:
    """Write an inventory file for the engine list, and the variables of the hosts in its folder."""
    text = example.replace("https://console.example", fleet.lab.management_node.base_url)
    path = folder / "a_slb_engines.yml"
    path.write_text(text.replace("/var/lib/slb", str(folder)))
    variables = fleet.lab.inventory()["engines"]["vars"]
    (folder / "group_vars").mkdir(exist_ok=True)
    described = {"slb_engine_list": yaml.safe_load(example)["engine_list"]}
    (folder / "group_vars" / "engines.yml").write_text(yaml.safe_dump({**variables, **described}))
    return path


def credentials(fleet: Fleet) -> dict[str, str]:
    node = fleet.lab.management_node
    return {"SLB_USERNAME": node.username, "SLB_PASSWORD": node.password, "SLB_TLS_FINGERPRINT": node.tls_fingerprint}


def test_the_example_of_the_inventory_runs(listed_fleet, tmp_path):
    path = source(listed_fleet, tmp_path, documentation("inventory", "engines")["examples"])
    command = [BIN / "ansible-inventory", "-i", path, "--list"]
    environment = {**Fleet.environment(), **credentials(listed_fleet)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    shown = json.loads(done.stdout)
    assert done.stderr == ""
    variables = shown["_meta"]["hostvars"][HOST]
    network = "net_" + re.sub(r"\.[0-9]+$", "", variables["slb_manage_ip"]).replace(".", "_")
    for group in ("engines", "console_running", network):
        assert shown[group]["hosts"] == [HOST], shown
    assert "to_check" not in shown
    assert variables["slb_engine_state"] == "running"
    assert str(variables["slb_user_credential_id"]) == "1"
    assert list((tmp_path / "inventory").iterdir())  # its cache


def test_a_rollout_takes_its_hosts_from_the_console(listed_fleet, tmp_path, monkeypatch):
    example = (ROOT / "examples" / "dynamic" / "a_slb_engines.yml").read_text()
    for name, value in credentials(listed_fleet).items():
        monkeypatch.setenv(name, value)
    from_console = Fleet(listed_fleet.lab, tmp_path, HOST)
    from_console.inventory = source(listed_fleet, tmp_path, example)
    node = listed_fleet.lab.management_node
    node.reset_counters()
    for arguments in ("--check",), ():
        done = from_console.play("slb.fleet.rollout", *arguments)
        assert done.status == 0, done.output
        assert done.of("ok") == {HOST: 1}, done.output
        assert done.verified_by.get(HOST) == "engine_list", done.output
    asked = {name: number for name, number in node.state()["counters"].items() if number}
    # Of each run, one for the hosts and one for what is true now.
    assert asked == {"login": 2, "engines": 4}


def recipes(page: str) -> list[str]:
    """What is to be typed on a host as root."""
    return re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)


@pytest.fixture
def shell(listed_fleet):
    return lambda line: listed_fleet.shell(HOST, line)


def test_the_line_for_sudo_is_enough_for_a_user(listed_fleet, shell):
    """The user of the line has no rights without it: then the plan names the missing rights."""
    page = (ROOT / "docs" / "operations.md").read_text()
    (line,) = re.findall(r"^\S+ ALL=.*$", page, re.MULTILINE)
    user = line.split()[0]
    shell(f"useradd --create-home --shell /bin/bash {user}")
    shell(f"cp -r /root/.ssh /home/{user}/ && chown -R {user} /home/{user}/.ssh")
    as_user = {"ansible_user": user, "ansible_become": False}
    without = listed_fleet.play("slb.fleet.diagnose", variables=as_user)
    assert without.status == 2, without.output
    assert "permission_denied" in without.report[HOST]
    assert "become: true" in without.output, without.output
    shell(f"echo '{line}' >/etc/sudoers.d/{user} && chmod 0440 /etc/sudoers.d/{user} && visudo --check")
    done = listed_fleet.play("slb.fleet.audit", variables={**as_user, "ansible_become": True})
    assert done.status == 0, done.output


def test_the_recipes_bring_a_leftover_back(listed_fleet, shell):
    engine = shell("docker inspect --format '{{.Id}}' slb")
    by_module = next(
        line for line in (ROOT / "docs" / "operations.md").read_text().splitlines() if "engine_container" in line
    )
    stopped = listed_fleet.module(HOST, "engine_container", state="set_aside", stop_timeout=1)
    assert stopped["set_aside_as"].startswith("slb-leftover-")
    typed = by_module.replace("edge-7", HOST).replace("inventory.yml", str(listed_fleet.inventory)).split()
    runs.run([BIN / typed[0], *typed[1:]], env=Fleet.environment()).assert_ok()
    assert shell("docker inspect --format '{{.Id}} {{.State.Running}}' slb") == f"{engine} true"

    listed_fleet.module(HOST, "engine_container", state="set_aside", stop_timeout=1)
    shell("docker run --detach --name slb --network host slb:1 /bin/httpd -f -p 8000")
    by_hand = next(recipe for recipe in recipes("operations.md") if "slb-instead" in recipe)
    shell(by_hand)
    assert shell("docker inspect --format '{{.Id}} {{.State.Running}}' slb") == f"{engine} true"
    assert shell("docker inspect --format '{{.State.Running}}' slb-instead") == "false"
    shell("systemctl restart docker")
    assert shell("docker ps --format '{{.Names}}'") == "slb", "what was taken away stays away when the host is booted"
    assert listed_fleet.module(HOST, "host_info")["slb_host"]["record"]["state"] == "none"
