"""What the pages say can be typed: playbooks, options, targets, variables and files are there."""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from ansible_collections.slb.fleet.plugins.module_utils.engine_host import adoption, motd, record

ROOT = Path(__file__).resolve().parents[2]
# Where Ansible finds the collection: in a checkout, or where ansible-test has it.
COLLECTIONS = next(path for path in (ROOT / ".cache" / "dev", *ROOT.parents) if (path / "ansible_collections").is_dir())
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = ROOT / "examples"
PLUGINS = ROOT / "plugins"


def commands(program: str) -> Iterator[tuple[str, str]]:
    """Every line of a block that begins with it, with its page; one that ends in a backslash goes on."""
    for page in PAGES:
        for block in re.findall(r"^ *```[a-z]*\n(.*?)^ *```", page.read_text(), re.DOTALL | re.MULTILINE):
            for line in re.sub(r"\\\n\s*", "", block).splitlines():
                typed = line.strip().removeprefix("$ ")
                if typed.startswith(f"{program} ") and "…" not in typed:
                    yield page.name, typed


def test_each_part_of_the_collection_is_named_in_the_readme():
    readme = (ROOT / "README.md").read_text()
    for module in (ROOT / "plugins" / "modules").glob("*.py"):
        assert f"`{module.stem}`" in readme, module.stem
    for playbook in (ROOT / "playbooks").glob("*.yml"):
        assert f"`slb.fleet.{playbook.stem}`" in readme, playbook.stem
    for role in (ROOT / "roles").iterdir():
        assert f"[{role.name}]" in readme


@pytest.mark.parametrize("section", ["Requirements", "Included content", "Use", "Support", "Release notes", "License"])
def test_the_readme_has_what_a_certification_asks_for(section):
    assert f"\n## {section}\n" in (ROOT / "README.md").read_text()


PLAYED = sorted({typed for _page, typed in commands("ansible-playbook")})


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


@pytest.mark.parametrize("typed", PLAYED)
def test_each_playbook_command_can_be_typed(typed, tmp_path):
    """As far as Ansible gets without a host: playbook, options, limit and variables are understood."""
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "retry").write_text("edge-7\n")
    (tmp_path / "awx.yml").write_text("slb_awx_organization: Default\n")
    inventory = "[engines]\nedge-1\nedge-7\n"
    for name in re.findall(r"-i (\S+)", typed):
        typed = typed.replace(name, "inventory.ini")
    (tmp_path / "inventory.ini").write_text(inventory)
    words = shlex.split(typed.replace("HOST", "edge-7"), comments=True)
    done = of_ansible(tmp_path, "playbook", *words[1:], "--list-tasks")
    assert done.returncode == 0, done.stderr
    assert "play #1" in done.stdout


@pytest.mark.parametrize(
    "typed",
    sorted({typed for program in ("ansible", "ansible-inventory") for _page, typed in commands(program)}),
)
def test_each_command_for_one_host_can_be_typed(typed, tmp_path):
    """The module, or the inventory, is found: it is the host that is none."""
    program, *words = shlex.split(typed, comments=True)
    (tmp_path / "inventory").mkdir()
    for name in ("inventory.yml", "inventory/a_slb_engines.yml"):
        (tmp_path / name).write_text("engines: {hosts: {edge-3: , edge-7: {ansible_connection: local}}}")
    if program == "ansible":
        done = of_ansible(tmp_path, "adhoc", *words, "--check", "-e", "ansible_python_interpreter=/no/python")
        assert "/no/python" in done.stdout + done.stderr, done.stdout + done.stderr
    else:
        done = of_ansible(tmp_path, "inventory", *words)
        assert done.returncode == 0, done.stderr


def settings() -> Iterator[tuple[str, str]]:
    """Every block in INI form, with its page and number."""
    for page in PAGES:
        blocks = re.findall(r"^```ini\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
        yield from ((f"{page.name}-{number}", block) for number, block in enumerate(blocks, 1))


SETTINGS = dict(settings())


@pytest.mark.parametrize("name", SETTINGS)
def test_a_run_begins_and_ends_with_each_ansible_cfg(name, tmp_path):
    """Ansible takes `;` alone for a comment behind a value: what follows a `#` there belongs to the value."""
    read = configparser.ConfigParser(inline_comment_prefixes=(";",), interpolation=None)
    read.read_string(SETTINGS[name])
    assert set(read.sections()) <= {"defaults", "inventory", "slb_fleet", "ssh_connection"}, "it is no ansible.cfg"
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
        (tmp_path / "inventory.ini").write_text("[engines]\n")
        of_ansible(tmp_path, "playbook", "-i", "inventory.ini", "slb.fleet.diagnose")
        said = (ROOT / "docs" / "report.md").read_text().split("## Files")[1].split("\n## ")[0]
        written = {path.name for path in (tmp_path / folder).iterdir()}
        assert written == set(re.findall(r"^\| `([a-z_.]+)` \|", said, re.MULTILINE))


def plays() -> Iterator[tuple[str, str]]:
    """Every block of a page that is a playbook, with its page and number."""
    for page in PAGES:
        for number, block in enumerate(re.findall(r"^```yaml\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)):
            if block.startswith(("- hosts:", "- name:")):
                yield f"{page.name}-{number}", block


PLAYS = dict(plays())


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


def test_a_password_is_vaulted_by_the_command_and_read_by_the_variables_of_its_node(tmp_path):
    """The whole way: what is typed prints a variable, which the group of the page takes for its node's password."""
    ((_page, typed),) = ((page, typed) for page, typed in commands("read") if "ansible-vault" in typed)
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


def run_audit_service(folder: Path, installed: Path) -> subprocess.CompletedProcess[str]:
    """Run the command of the systemd unit in its environment. ``installed``: the virtual environment."""
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(EXAMPLES / "systemd" / "slb-audit.service")
    service = unit["Service"]
    assert service["WorkingDirectory"] == "/srv/fleet"
    page = (ROOT / "docs" / "operations.md").read_text()
    (credentials,) = re.findall(r"^```\n((?:SLB_\w+=.*\n)+)```", page, re.MULTILINE)
    home = folder / "home"
    (home / ".ansible").mkdir(parents=True)
    (home / ".ansible" / "collections").symlink_to(COLLECTIONS)
    (folder / "venv").symlink_to(installed)
    words = shlex.split(service["ExecStart"].replace("/srv/fleet", str(folder)))
    surroundings = ["env", "-i", "PATH=/usr/bin:/bin", f"HOME={home}", *credentials.splitlines()]
    return subprocess.run([*surroundings, *words], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.skipif(
    not (Path(sys.prefix) / "bin" / "ansible-playbook").exists(), reason="Ansible is not installed in this environment."
)
def test_audit_service_fails_without_a_management_node(tmp_path):
    listing = yaml.safe_load((EXAMPLES / "group_vars" / "engines.yml").read_text())
    host = {
        "ansible_connection": "local",
        "ansible_python_interpreter": sys.executable,
        "slb_manage_ip": "192.0.2.11",
        "slb_manage_ip_translated": True,
    }
    node = {"slb_base_url": "https://127.0.0.1:9", "slb_retries": 0}
    engines = {"hosts": {"edge-1": host}, "vars": {**node, **listing}}
    (tmp_path / "inventory.yml").write_text(json.dumps({"engines": engines}))
    done = run_audit_service(tmp_path, Path(sys.prefix))
    assert done.returncode != 0
    assert "edge-1" in done.stdout, done.stdout + done.stderr
    assert "127.0.0.1:9" in done.stdout
    assert "slb_password" not in done.stdout


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed.")
def test_systemd_accepts_the_units(tmp_path):
    for unit in (EXAMPLES / "systemd").iterdir():
        (tmp_path / unit.name).write_text(unit.read_text().replace("/srv/fleet/venv/bin/ansible-playbook", "/bin/true"))
    names = sorted(str(path) for path in tmp_path.iterdir())
    done = subprocess.run(["systemd-analyze", "verify", *names], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_alerts_use_metrics_that_a_report_has():
    rules = yaml.safe_load((EXAMPLES / "prometheus" / "slb_fleet.yml").read_text())["groups"][0]["rules"]
    text = (PLUGINS / "plugin_utils" / "report" / "metrics.py").read_text()
    known = {f"slb_fleet_{name}" for name in re.findall(r'_gauge\("(\w+)"', text)}
    used = {name for rule in rules for name in re.findall(r"\bslb_fleet_\w+", rule["expr"])}
    assert used
    assert used <= known
    page = (ROOT / "docs" / "report.md").read_text()
    assert not {name for name in known if f"`{name}`" not in page}


@pytest.mark.parametrize("path", ["inventory.yml", "several_nodes/inventory.yml"])
def test_inventory_of_the_examples_has_an_address_for_each_host(path, tmp_path):
    (tmp_path / "inventory.yml").write_text((EXAMPLES / path).read_text())
    known = ["-e", "vault_north_password=n", "-e", "vault_south_password=s"]
    done = of_ansible(tmp_path, "inventory", "-i", "inventory.yml", "--list", *known)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)["_meta"]["hostvars"]
    assert len(shown) == 2
    assert all(host["slb_base_url"].startswith("https://") and host["ansible_host"] for host in shown.values())


def test_configurations_of_the_engine_list_are_the_same():
    of_group = yaml.safe_load((EXAMPLES / "group_vars" / "engines.yml").read_text())["slb_engine_list"]
    assert yaml.safe_load((EXAMPLES / "dynamic" / "a_slb_engines.yml").read_text())["engine_list"] == of_group


def test_each_target_of_make_is_there():
    targets = {typed.split()[1] for _page, typed in commands("make")}
    assert targets
    for target in targets:
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE), target


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_programs_of_the_tests_are_started_by_what_finds_their_modules(page):
    assert re.findall(r"(?<!tests/tools/)\bpython3? tests/\S*", page.read_text()) == []


def test_what_each_stage_proves_is_said():
    stages = re.findall(r'Stage\(\s*"([a-z0-9.-]+)"', (ROOT / "tests" / "run.py").read_text())
    assert len(stages) > 20
    table = (ROOT / "CONTRIBUTING.md").read_text().split("| stage | checks | seconds |")[1].split("\n\n")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert sorted(stages) == sorted(name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1]))


def test_what_is_left_on_a_host_is_said_and_goes_by_the_recipe():
    page = (ROOT / "docs" / "operations.md").read_text()
    table, forget = page.split("## Files on engine hosts")[1].split("## Restoring")[0].split("## Removing a host")
    deleted = re.findall(r"^rm -r?f (.*)$", forget, re.MULTILINE)
    for path in (record.PATH, motd._note(motd.PATH), adoption.ADOPTED, adoption.CHANGES):
        parents = [str(parent) for parent in (Path(path), *Path(path).parents[:-2])]
        assert any(f"`{each}`" in table for each in parents), path
        assert any(each in parents for line in deleted for each in line.split()), path
    for path in (f"{motd.PATH}.bak", f"{motd.PATH}.bak.<UTC time>"):
        assert f"`{path}`" in table, path


def test_the_first_page_leads_to_every_other():
    first = (ROOT / "docs" / "README.md").read_text()
    not_installed = yaml.safe_load((ROOT / "galaxy.yml").read_text())["build_ignore"]
    assert "docs/dev" in not_installed
    for page in (ROOT / "docs").rglob("[!R]*.md"):
        path = page.relative_to(ROOT / "docs").as_posix()
        assert (f"`docs/{path}`" if path.startswith("dev/") else f"]({path})") in first, path


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


LINKED = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", EXAMPLES / "README.md"]


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_each_link_leads_somewhere(page):
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", page.read_text()):
        linked = page.parent / target if target else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), f"{target}#{anchor}"


def test_each_example_is_shown_in_a_page():
    shown = {path for page in PAGES for path in re.findall(r"<!-- (examples/\S+) -->", page.read_text())}
    files = {path.relative_to(ROOT).as_posix() for path in EXAMPLES.rglob("*") if path.is_file()}
    assert shown == {file for file in files if not file.startswith("examples/awx/")} - {"examples/README.md"}


@pytest.mark.parametrize(
    ("page", "most"), [("README.md", 900), ("docs/interfaces.md", 1200), ("docs/large-fleets.md", 500)]
)
def test_page_is_short(page, most):
    assert len((ROOT / page).read_text().split()) <= most


USER_PAGES = [page for page in (ROOT / "docs").glob("*.md") if page.name != "awx.md"]


@pytest.mark.parametrize("page", USER_PAGES, ids=lambda page: page.name)
def test_page_starts_with_its_purpose_and_a_command(page):
    heading, purpose, *_rest = page.read_text().split("\n\n")
    assert heading.startswith("# ")
    assert re.match(r"[A-Z]\w+s ", purpose), purpose
    assert "```" in page.read_text().split("\n## ")[0]
