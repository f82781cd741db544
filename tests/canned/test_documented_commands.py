"""The commands, plays and settings of the pages can be typed: Ansible runs each, without a host."""

import configparser
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Where Ansible finds the collection: in a checkout, or where ansible-test has it.
COLLECTIONS = next(path for path in (ROOT / ".cache" / "dev", *ROOT.parents) if (path / "ansible_collections").is_dir())
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = ROOT / "examples"
BLOCK = re.compile(r"^ *```([a-z]*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)


def blocks(language: str = "") -> dict[str, str]:
    """Every block of the pages, or of this language, by page and number."""
    found = ((page, number, block) for page in PAGES for number, block in enumerate(BLOCK.findall(page.read_text()), 1))
    return {f"{page.relative_to(ROOT)}-{number}": text for page, number, (of, text) in found if language in ("", of)}


def commands(program: str) -> list[str]:
    """Every command of a page that begins with it; one that ends in a backslash goes on."""
    lines = [line for text in blocks().values() for line in re.sub(r"\\\n\s*", "", text).splitlines()]
    typed = {line.strip().removeprefix("$ ") for line in lines}
    return sorted(line for line in typed if line.startswith(f"{program} ") and "…" not in line)


AUDIT_SERVICE = (EXAMPLES / "systemd" / "slb-audit.service").read_text()
PLAYED = {
    *commands("ansible-playbook"),
    *re.findall(r"^ExecStart=\S+/(ansible-playbook .*)$", AUDIT_SERVICE, re.MULTILINE),
}


def environment() -> dict[str, str]:
    """Without the configuration of its own that ansible-test names, which would count for more than a folder's."""
    return {name: value for name, value in os.environ.items() if name != "ANSIBLE_CONFIG"}


def of_ansible(folder: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", f"ansible.cli.{program}", *words],
        cwd=folder,
        env={
            **environment(),
            "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
            "ANSIBLE_HOME": str(folder),
            "ANSIBLE_CALLBACKS_ENABLED": "slb.fleet.report",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("typed", sorted(PLAYED))
def test_each_playbook_command_can_be_typed(typed, tmp_path):
    """As far as Ansible gets without a host: playbook, options, limit and variables are understood."""
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "retry").write_text("edge-7\n")
    (tmp_path / "awx.yml").write_text("slb_awx_organization: Default\n")
    inventory = "[engines]\nedge-1\nedge-7\nedge-8\nedge-40\n"
    for name in re.findall(r"-i (\S+)", typed):
        typed = typed.replace(name, "inventory.ini")
    (tmp_path / "inventory.ini").write_text(inventory)
    words = shlex.split(typed.replace("HOST", "edge-7"), comments=True)
    done = of_ansible(tmp_path, "playbook", *words[1:], "--list-tasks", "--list-tags")
    assert done.returncode == 0, done.stderr
    assert "play #1" in done.stdout


@pytest.mark.parametrize("typed", [*commands("ansible"), *commands("ansible-inventory")])
def test_each_command_for_one_host_can_be_typed(typed, tmp_path):
    """The module, or the inventory, is found: it is the host that is none."""
    program, *words = shlex.split(typed, comments=True)
    (tmp_path / "inventory").mkdir()
    for name in ("inventory.yml", "inventory/a_slb_engines.yml"):
        (tmp_path / name).write_text("engines: {hosts: {edge-3: , edge-7: {ansible_connection: local}}}")
    if program == "ansible":
        done = of_ansible(tmp_path, "adhoc", *words, "--check", "-e", "ansible_python_interpreter=/no/python")
        assert "host_not_checked" in done.stdout + done.stderr, done.stdout + done.stderr
    else:
        done = of_ansible(tmp_path, "inventory", *words)
        assert done.returncode == 0, done.stderr


SETTINGS = blocks("ini")


@pytest.mark.parametrize("name", SETTINGS)
def test_a_run_begins_and_ends_with_each_ansible_cfg(name, tmp_path):
    """Ansible takes `;` alone for a comment behind a value: what follows a `#` there belongs to the value."""
    read = configparser.ConfigParser(inline_comment_prefixes=(";",), interpolation=None)
    read.read_string(SETTINGS[name])
    assert set(read.sections()) <= {"defaults", "inventory", "slb_fleet", "ssh_connection"}, "it is not an ansible.cfg"
    for section in read.sections():
        for key, value in read.items(section):
            assert " #" not in value, f"{section}.{key}"
    (tmp_path / "ansible.cfg").write_text(SETTINGS[name])
    (tmp_path / "inventory.ini").write_text("localhost ansible_connection=local\n")
    (tmp_path / "play.yml").write_text("[{hosts: localhost, gather_facts: false, tasks: [{debug: {msg: here}}]}]")
    done = of_ansible(tmp_path, "playbook", "-i", "inventory.ini", "play.yml")
    assert done.returncode == 0, done.stderr
    assert "callback" not in done.stderr
    if folder := read.get("slb_fleet", "report_dir", fallback=""):
        # A report is made of a playbook of this collection alone, also where no host matches.
        assert not (tmp_path / folder).exists()
        (tmp_path / "inventory.ini").write_text("[engines]\n")
        of_ansible(tmp_path, "playbook", "-i", "inventory.ini", "slb.fleet.diagnose")
        said = (ROOT / "docs" / "report.md").read_text().split("## Files")[1].split("\n## ")[0]
        written = {path.name for path in (tmp_path / folder).iterdir()}
        # The plan is that of a rollout in check mode that finds work.
        assert written == set(re.findall(r"^\| `([a-z_.]+)` \|", said, re.MULTILINE)) - {"plan.json"}


PLAYS = {name: text for name, text in blocks("yaml").items() if text.startswith(("- hosts:", "- name:"))}


@pytest.mark.parametrize("name", PLAYS)
def test_each_play_can_be_typed(name, tmp_path):
    (tmp_path / "play.yml").write_text(PLAYS[name])
    done = of_ansible(tmp_path, "playbook", "-i", "engines,", "play.yml", "--list-tasks")
    assert done.returncode == 0, done.stderr
    assert "play #1" in done.stdout


def test_the_connection_of_a_play_reaches_its_tasks(tmp_path):
    """The management node is the loopback's discard port, where nothing is: each call names what it has tried."""
    play = (EXAMPLES / "own_play.yml").read_text()
    assert play.removeprefix("---\n") in PLAYS.values()
    (tmp_path / "play.yml").write_text(play.replace("console.example", "127.0.0.1:9"))
    known = {"vault_slb_username": "u", "vault_slb_password": "p", "slb_retries": 0}
    done = of_ansible(tmp_path, "playbook", "-i", "localhost,", "play.yml", "-e", json.dumps(known))
    assert done.returncode == 2, done.stderr
    assert "127.0.0.1:9" in done.stdout


def test_password_vaulted_by_the_command_is_read(tmp_path):
    """The whole way: what is typed prints a variable, which the group of the page takes for its node's password."""
    (typed,) = (each for each in commands("read") if "ansible-vault" in each)
    (tmp_path / "vault-password").write_text("of the vault\n")
    (tmp_path / "ansible.cfg").write_text("[defaults]\nvault_password_file = vault-password\n")
    (tmp_path / "group_vars").mkdir()
    vault = f'ansible-vault() {{ {sys.executable} -m ansible.cli.vault "$@"; }}'
    made = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f"{vault}\n{typed}"],
        cwd=tmp_path,
        env=environment(),
        input="of the north\n",
        capture_output=True,
        text=True,
        check=True,
    )
    (tmp_path / "group_vars" / "all.yml").write_text(made.stdout)
    (tmp_path / "inventory.yml").write_text((EXAMPLES / "several_nodes" / "inventory.yml").read_text())
    shown = of_ansible(tmp_path, "adhoc", "north", "-i", "inventory.yml", "-m", "debug", "-a", "var=slb_password")
    assert '"slb_password": "of the north"' in shown.stdout, shown.stdout + shown.stderr


@pytest.mark.parametrize("path", ["inventory.yml", "several_nodes/inventory.yml"])
def test_inventory_of_the_examples_has_an_address_for_each_host(path, tmp_path):
    (tmp_path / "inventory.yml").write_text((EXAMPLES / path).read_text())
    known = ["-e", "vault_north_password=n", "-e", "vault_south_password=s"]
    done = of_ansible(tmp_path, "inventory", "-i", "inventory.yml", "--list", *known)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)["_meta"]["hostvars"]
    assert len(shown) == 2
    assert all(host["slb_base_url"].startswith("https://") and host["ansible_host"] for host in shown.values())
