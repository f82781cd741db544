"""The connection stated once, as variables of the hosts; what is empty; and what is told of what cannot be used."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hostile_server import INSTALL, LICENSE, LOGIN
from operations import PASSWORD
from runs import Run
from test_any_place import ELSEWHERE, PLUGINS

from ansible_collections.slb.fleet.plugins.module_utils._console.options import CONNECTION_ARGUMENTS
from playbooks import engine_task, fleet, of, play

if TYPE_CHECKING:
    from collections.abc import Callable

    from playbooks import Controller


def words(run: Run) -> str:
    return " ".join(run.output.replace("\\n", " ").replace("\\", "").split())


def test_each_host_has_its_own_connection(start: Callable[..., Any], controller: Controller) -> None:
    servers = [start(), start()]
    inventory = fleet(4)
    for number, variables in enumerate(inventory["all"]["hosts"].values()):
        variables.update(of(servers[number % 2], PASSWORD), secret=f"pass-{number % 2}", slb_password="{{ secret }}")
    tasks = [
        {"slb.fleet.login": {}},
        {"slb.fleet.license": {"dest": f"{controller.folder}/{{{{ inventory_hostname }}}}"}},
        engine_task(),
    ]
    controller.run([play(*tasks)], inventory).assert_ok()
    assert [server.seen for server in servers] == [{LOGIN: 1, LICENSE: 2, INSTALL: 2}] * 2
    for number, server in enumerate(servers):
        assert json.loads(server.to(LOGIN)[0].body)["password"] == f"pass-{number}"


def test_an_empty_option_is_not_given(start: Callable[..., Any], controller: Controller) -> None:
    inventory, plays, servers = fleet(3), [], []
    for (host, own), empty in zip(inventory["all"]["hosts"].items(), [None, "", "  "], strict=True):
        servers.append(start())
        own.update(of(servers[-1], PASSWORD, slb_timeout=empty, slb_validate_certs=empty, slb_ca_path=empty))
        options = {"group/slb.fleet.management_node": dict.fromkeys(CONNECTION_ARGUMENTS, empty)}
        task = engine_task()
        task["slb.fleet.engine"].update(
            dict.fromkeys(("user_credential_id", "is_change_hostname", "exists_patterns"), empty)
        )
        plays.append(play(task, module_defaults=options, hosts=host))
    controller.run(plays, inventory, SLB_CA_PATH="").assert_ok()
    for server in servers:
        assert json.loads(server.to(INSTALL)[0].body)["user_credential_id"] == 1


def test_the_variables_are_sent_along_where_a_task_is_delegated(
    start: Callable[..., Any], controller: Controller
) -> None:
    server = start()
    inventory = fleet(1, **of(server, PASSWORD, slb_timeout="", slb_ca_path=None))
    inventory["other"] = {"hosts": {"another.example": ELSEWHERE}}
    task = engine_task(delegate_to="another.example")
    run = controller.run([play(task, hosts="edge-1")], inventory, "-vvvv", **PLUGINS)
    run.assert_ok()
    assert server.seen == {LOGIN: 1, INSTALL: 1}
    assert PASSWORD not in run.output


UNUSABLE: list[tuple[str, dict[str, Any], str]] = [
    ("engine", {"manage_ip": "192.0.2.1", "name": None}, "The option 'name' is missing. Set 'name'."),
    ("engine", {"name": "a", "manage_ip": ""}, "The option 'manage_ip' is missing."),
    ("license", {"dest": " "}, "The option 'dest' is missing."),
    ("engine_info", {"listing": None}, "The option 'listing' is missing."),
    ("engine_info", {"listing": ["a"]}, "The option 'listing' has the value ['a']: it is not a mapping."),
    ("engine_info", {"listing": {"path": "/e"}}, "The option 'listing.name' is missing."),
    ("login", {"timeout": "soon"}, "The option 'timeout' has the value 'soon': it is not a whole number."),
    ("login", {"retires": 3}, "There is no option 'retires'. Did you mean 'retries'?"),
    (
        "login",
        {"base_url": ""},
        "The option 'base_url' is missing. Set 'base_url', the variable slb_base_url or the environment variable",
    ),
]


@pytest.mark.parametrize("place", ["here", "elsewhere"])
def test_what_cannot_be_used_is_told_in_words(start: Callable[..., Any], controller: Controller, place: str) -> None:
    """Each by a host of its own, whose only task it is."""
    server = start()
    inventory = fleet(len(UNUSABLE))
    inventory["other"] = {"hosts": {"another.example": ELSEWHERE}}
    delegated = {"delegate_to": "another.example"} if place == "elsewhere" else {}
    tasks = []
    for (host, own), (module, options, _message) in zip(inventory["all"]["hosts"].items(), UNUSABLE, strict=True):
        own.update(of(server, PASSWORD))
        if "base_url" in options:
            del own["slb_base_url"]
        tasks.append({f"slb.fleet.{module}": options, **delegated, "when": f"inventory_hostname == '{host}'"})
    run = controller.run([play(*tasks, hosts="edge-*")], inventory, **PLUGINS)
    assert run.status == 2
    for host, (_module, _options, message) in zip(inventory["all"]["hosts"], UNUSABLE, strict=True):
        (told,) = [line for line in run.output.splitlines() if line.startswith(f"fatal: [{host}")]
        assert message in words(Run(run.status, told)), run.output
        assert run.of("failed")[host] == 1
    assert "Traceback" not in run.output
    assert server.connections == 0


def test_a_variable_is_named_where_it_gave_the_value(start: Callable[..., Any], controller: Controller) -> None:
    server = start()
    run = controller.run([play({"slb.fleet.login": {}})], fleet(1, **of(server, PASSWORD, slb_timeout="soon")))
    assert "The variable slb_timeout has the value 'soon': it is not a whole number." in words(run)
    run = controller.run([play({"slb.fleet.login": {}})], fleet(1, **of(server, PASSWORD)), SLB_VALIDATE_CERTS="maybe")
    assert "The variable SLB_VALIDATE_CERTS has the value 'maybe'" in words(run)
    pinned = of(server, PASSWORD, slb_tls_fingerprint="0" * 64)
    run = controller.run([play({"slb.fleet.login": {}})], fleet(1, **pinned))
    assert f"but slb_tls_fingerprint is {'0' * 64}" in words(run)
    assert f"set slb_tls_fingerprint: {server.certificate.fingerprint}" in words(run)
    assert server.seen == {}


def test_the_collections_own_tasks_name_variables(start: Callable[..., Any], controller: Controller) -> None:
    variables = of(start(), PASSWORD, slb_license_dest="license", slb_engine_list={"path": "/engines", "nmae": "x"})
    del variables["slb_password"]
    imported = {"ansible.builtin.import_playbook": "slb.fleet.download_license"}
    run = controller.run([imported], fleet(1, **variables), "-e", "slb_hosts=all")
    assert "The variable slb_password is missing. Set slb_password or the environment variable SLB_PASSWORD." in words(
        run
    )
    imported = {"ansible.builtin.import_playbook": "slb.fleet.show_engine_list"}
    run = controller.run([imported], fleet(1, **variables), "-e", "slb_hosts=all")
    assert "The description of the list, slb_engine_list, has the key 'nmae'" in words(run)


def test_a_fact_of_a_host_is_no_connection(start: Callable[..., Any], controller: Controller) -> None:
    """Any module's answer may hold facts, and facts outrank the inventory."""
    good, evil = start(), start()
    lie = {"ansible.builtin.set_fact": {"slb_base_url": evil.base_url, "cacheable": True}}
    run = controller.run([play(lie), play(engine_task())], fleet(1, **of(good, PASSWORD)))
    assert run.status == 2
    assert "no host decides where credentials go" in words(run)
    assert evil.connections == good.connections == 0


def test_a_password_in_a_vault(start: Callable[..., Any], controller: Controller) -> None:
    """Encrypted by itself, as a variable of the inventory: it is no text before somebody asks for it."""
    server = start()
    (controller.folder / "vault-password").write_text("open sesame")
    (controller.folder / "encrypt.py").write_text(
        "import sys\n"
        "from ansible.parsing.vault import VaultLib, VaultSecret\n"
        "secret = VaultSecret(b'open sesame')\n"
        "print(VaultLib([('default', secret)]).encrypt(sys.argv[1], secret, vault_id='default').decode(), end='')\n"
    )
    program = [sys.executable, str(controller.folder / "encrypt.py"), PASSWORD]
    encrypted = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    variables = of(server, PASSWORD)
    del variables["slb_password"]
    group_vars = controller.folder / "group_vars"
    group_vars.mkdir()
    body = "".join(f"  {line}\n" for line in encrypted.splitlines())
    (group_vars / "all.yml").write_text(f"slb_password: !vault |\n{body}")
    options = ["--vault-password-file", str(controller.folder / "vault-password")]
    run = controller.run([play(engine_task())], fleet(2, **variables), *options)
    run.assert_ok()
    assert json.loads(server.to(LOGIN)[0].body)["password"] == PASSWORD


@pytest.mark.parametrize("place", ["here", "elsewhere"])
def test_a_python_without_requests(start: Callable[..., Any], controller: Controller, place: str) -> None:
    """The actions load all the same, and say which Python needs it."""
    (controller.folder / "sitecustomize.py").write_text(
        "import sys\nsys.modules['requests'] = None\nsys.modules['urllib3'] = None\n"
    )
    server = start()
    inventory = fleet(1, **of(server, PASSWORD))
    inventory["other"] = {"hosts": {"another.example": ELSEWHERE}}
    delegated = {"delegate_to": "another.example"} if place == "elsewhere" else {}
    tasks = [
        {"slb.fleet.login": {}},
        {"slb.fleet.license": {"dest": f"{controller.folder}/license"}},
        {"slb.fleet.engine": {"name": "edge-1", "manage_ip": "192.0.2.1"}},
        {"slb.fleet.engine_info": {"listing": {**_LISTING}}},
    ]
    tasks = [{**task, **delegated, "ignore_errors": True} for task in tasks]
    run = controller.run([play(*tasks, hosts="edge-1")], inventory, PYTHONPATH=str(controller.folder), **PLUGINS)
    run.assert_ok()
    python = sys.executable if place == "here" else ELSEWHERE["ansible_python_interpreter"]
    said = f'"msg": "The Python that runs this task, {python}, has no usable package requests'
    assert words(run).count(said) == 4, run.output
    assert f"Install it there: {python} -m pip install requests" in words(run)
    assert "Traceback" not in run.output
    assert server.connections == 0


_LISTING = {"path": "/engines", "name": "n", "address": "a", "state": "s", "running": "up"}
