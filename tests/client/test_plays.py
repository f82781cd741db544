"""The modules in real plays: options, check mode, delegation, and the files that they write."""

import hashlib
import itertools
import json
import re
import sys
from pathlib import Path

import pytest
from fake_node import INSTALL, LICENSE, LICENSE_TEXT, LOGIN, PASSWORD, answer, message, raw
from proxy import Proxy
from scenarios import ENGINE_LIST, LIST

from playbooks import engine_task, fleet, of, play

HERE = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
PLUGINS = {"ANSIBLE_CONNECTION_PLUGINS": str(Path(__file__).with_name("connection_plugins"))}


@pytest.fixture
def run(controller):
    """Run tasks on hosts that cannot be reached."""

    def run_tasks(tasks, variables, *options, hosts=1, **environment):
        return controller.run([play(*tasks)], fleet(hosts, **variables), *options, **environment)

    return run_tasks


def download(path, **options):
    return {"slb.fleet.license": {"dest": str(path), **options}}


def test_check_mode_sends_no_install(start, run, tmp_path):
    node = start({LIST: [answer(200, '{"items":[{"n":"edge-1","ip":"192.0.2.1/24","st":"odd"}]}')]})
    tasks = [
        engine_task(),
        {"slb.fleet.login": {}},
        download(tmp_path / "license"),
        {"slb.fleet.engine_info": {"engine_list": ENGINE_LIST}, "register": "info"},
        {"ansible.builtin.assert": {"that": ["info.engines[0].address == '192.0.2.1'", "info.unmapped == ['odd']"]}},
    ]
    run(tasks, of(node, PASSWORD), "--check").assert_ok()
    assert [request.path for request in node.requests if request.method == "POST"] == [LOGIN]
    assert not (tmp_path / "license").exists()


def test_empty_variable_is_unset(start, run):
    empty = {"slb_ca_path": "", "slb_timeout": "", "slb_retries": None, "slb_validate_certs": ""}
    run([engine_task()], of(start(), PASSWORD, **empty)).assert_ok()


def test_headers_and_client_certificate_are_variables(start, run, certificates, authority):
    def reply(exchange):
        is_right = exchange.request.headers.get("x-access") == "s3cret of the proxy"
        answer(200 if is_right else 400, '{"code":0}')(exchange)

    node, client = start({INSTALL: [reply]}, client_ca=str(authority.path)), certificates["client"]
    variables = {"slb_client_cert": str(client.chain), "slb_client_key": str(client.key)}
    headers = {"X-Access": "{{ key }} of the proxy"}
    done = run([engine_task()], of(node, PASSWORD, **variables, slb_headers=headers, key="s3cret"), "-vvv")
    done.assert_ok()
    assert "s3cret of" not in done.output
    assert node.seen == {LOGIN: 1, INSTALL: 1}


def test_fact_is_no_variable(start, run):
    node = start()
    fact = {"ansible.builtin.set_fact": {"slb_base_url": "https://other.example", "cacheable": True}}
    done = run([fact, engine_task()], of(node, PASSWORD))
    assert '"code": "variable_from_facts"' in done.output
    assert node.connections == 0


def test_environment_of_the_task_has_options_and_a_proxy(start, run):
    node = start()
    environment = {name.upper(): value for name, value in of(node, PASSWORD).items()}
    omitted = {"group/slb.fleet.management_node": dict.fromkeys(("base_url", "password", "timeout"), "{{ omit }}")}
    with Proxy() as proxy:
        environment["https_proxy"] = f"http://127.0.0.1:{proxy.port}"
        run([engine_task(environment=environment, module_defaults=omitted)], {}).assert_ok()
        assert len(proxy.heads) == 2
    assert node.seen == {LOGIN: 1, INSTALL: 1}


@pytest.mark.parametrize("place", ["localhost", "another.example"])
def test_delegated_tasks_run_there(start, controller, place):
    """On the controller, all tasks share one login. On another host, each logs in, or uses the session given."""
    node, dest, there = start(), controller.folder / "license", {"delegate_to": place}
    given = engine_task(**there)
    given["slb.fleet.engine"]["sessionid"] = "{{ session.sessionid }}"
    tasks = [{"slb.fleet.login": {}, "register": "session", **there}, {**download(dest), **there}, given]
    inventory = fleet(1, **of(node, PASSWORD))
    inventory["other"] = {"hosts": {"another.example": {**HERE, "ansible_connection": "elsewhere"}}}
    controller.run([play(*tasks, hosts="edge-1")], inventory, **PLUGINS).assert_ok()
    assert dest.read_bytes() == LICENSE_TEXT
    assert node.seen == {LOGIN: 1 if place == "localhost" else 2, LICENSE: 1, INSTALL: 1}


def test_license_is_written_on_the_controller(start, run, tmp_path):
    dest = tmp_path / "license"
    tasks = [
        {**download(dest, backup=True), "register": "first"},
        {**download(dest, backup=True), "register": "second"},
        {"ansible.builtin.copy": {"content": "old", "dest": str(dest)}, "diff": False, "vars": HERE},
        {**download(dest, backup=True), "register": "third"},
        {**download(dest, mode="0640"), "register": "fourth", "check_mode": True},
        {"ansible.builtin.debug": {"msg": "{{ [first, second, third, fourth] | to_json }}"}},
    ]
    done = run(tasks, of(start(), PASSWORD), "--diff")
    done.assert_ok()
    first, second, third, fourth = json.loads(json.loads(re.search(r'"msg": (".*")', done.output)[1]))
    assert [each["changed"] for each in (first, second, third, fourth)] == [True, False, True, True]
    assert first["checksum"] == hashlib.sha256(LICENSE_TEXT).hexdigest()
    assert (dest.read_bytes(), dest.stat().st_mode & 0o777) == (LICENSE_TEXT, 0o600)
    assert Path(third["backup_file"]).read_text() == "old"
    assert "BEGIN LICENSE" not in done.output


def test_licenses_of_one_file_are_all_kept(start, run, tmp_path):
    """Six tasks replace the file at once: each content is in one backup, or in the file."""
    numbers = itertools.count()

    def send(exchange):
        answer(200, f"license-{next(numbers)}")(exchange)

    node = start({LICENSE: [send]})
    dest = tmp_path / "license"
    dest.write_text("old")
    run([download(dest)], of(node, PASSWORD), "--forks", "6", hosts=6).assert_ok()
    contents = sorted(path.read_text() for path in tmp_path.iterdir() if path.name.startswith("license"))
    assert contents == [*(f"license-{number}" for number in range(6)), "old"]


@pytest.mark.parametrize(
    "setting", [{"ansible_become": True}, {"ansible_become": "true", "ansible_become_exe": "/nonexistent/sudo"}]
)
def test_license_needs_no_become_and_no_home(start, run, tmp_path, setting):
    """The file is written in the controller's process: without a connection, sudo, a home or a module's environment."""
    node, dest = start(), tmp_path / "license"
    task = {**download(dest), "delegate_to": "localhost", "environment": {"SLB_PASSWORD": PASSWORD}}
    extra = ("-e", json.dumps(setting), "-vvvv")
    done = run([task], {**of(node, ""), "slb_password": ""}, *extra, HOME="/", ANSIBLE_REMOTE_TEMP="/nonexistent")
    done.assert_ok()
    assert dest.read_bytes() == LICENSE_TEXT
    assert (PASSWORD in done.output, "AnsiballZ" in done.output) == (False, False)


@pytest.mark.parametrize(
    ("options", "words", "calls"),
    [
        ({}, '"code": "license_unusable"', 1),
        ({"dest": "/dev/null/slb/license"}, "its folder does not exist", 1),
        ({"dest": f"/{'a' * 300}/license"}, "File name too long", 1),
        ({"dest": "/proc/license"}, "License not written to /proc/license:", 1),
        *(({"dest": dest}, '"code": "license_not_written"', 0) for dest in ("/tmp", "/tmp/none/")),
        ({"mode": "u=rw"}, "'u=rw' is not an octal number", 0),
        ({"owner": "no-such-user"}, "'no-such-user' is unknown on the controller", 0),
    ],
)
def test_license_that_cannot_be_written_changes_no_file(start, run, tmp_path, options, words, calls):
    node = start({} if options else {LICENSE: [answer(200, '{"code":500,"msg":"no license"}')]})
    (tmp_path / "license").write_text("old")
    done = run([download(tmp_path / "license", **options)], of(node, PASSWORD))
    assert (done.status != 0, words in done.words) == (True, True), done.output
    assert (node.seen[LICENSE], (tmp_path / "license").read_text()) == (calls, "old")


def test_license_without_length_is_a_warning(start, run, tmp_path):
    node = start({LICENSE: [raw(message(200, LICENSE_TEXT, length=-1))]})
    done = run([download(tmp_path / "license")], of(node, PASSWORD))
    done.assert_ok()
    assert "License without length" in done.words


def test_playbook_downloads_once_per_management_node(start, controller):
    """A relative path is one of the folder of the command."""
    node, dest = start(), controller.folder / "license"
    playbook = {"ansible.builtin.import_playbook": "slb.fleet.download_license"}
    inventory = fleet(20, **of(node, PASSWORD, slb_license_dest="license"))
    controller.run([playbook], inventory, "-e", "slb_hosts=all").assert_ok()
    assert node.seen == {LOGIN: 1, LICENSE: 1}
    assert dest.read_bytes() == LICENSE_TEXT


def test_key_log_of_tls_is_ignored(start, run, tmp_path):
    """A file that cannot be written would end the run at its start; requests 2.32.3 makes a context when imported."""
    for path in ("/nonexistent/keys", tmp_path / "keys"):
        run([engine_task()], of(start(), PASSWORD), SSLKEYLOGFILE=str(path)).assert_ok()
    assert not (tmp_path / "keys").exists()


@pytest.mark.parametrize("variable", ["slb_ca_path", "slb_license_dest"])
def test_path_in_an_unknown_home_is_invalid(start, run, variable):
    path, node = "~no-such-user/file", start()
    variables = {**of(node, PASSWORD), variable: path}
    done = run([download("{{ slb_license_dest | default('license') }}")], variables)
    assert f"{path} has no home folder" in done.words
    assert "Set HOME, or use an absolute path" in done.words
    assert node.seen[LICENSE] == 0
