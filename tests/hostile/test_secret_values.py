"""Secret values that are templates, or vaulted: used or refused, and never shown, with each ansible-core."""

import json
from textwrap import indent

import pytest
from ansible.parsing.vault import VaultLib, VaultSecret
from fake_node import LOGIN, answer
from rollouts import inventory, rollout
from scenarios import ENGINE_LIST, LIST
from test_secrets import assert_without

from playbooks import engine_task, fleet, of, play

SECRET = "Tr0ub4dor"
BROKEN, VALID = f"{SECRET}{{{{ %}} x", f"{SECRET}{{{{ nosuch }}}}"
VAULTED = f'{SECRET} "&<3>'
SHOWN = {"ANSIBLE_DISPLAY_TRACEBACK": "always"}


@pytest.fixture
def vaulted(tmp_path):
    """Return a text as YAML has it after ``!vault``, and the options of a run that decrypt it."""
    (tmp_path / "vault-password").write_text("correct horse")
    vault = VaultLib([("default", VaultSecret(b"correct horse"))])

    def encrypt(text):
        return vault.encrypt(text).decode()

    return encrypt, ("--vault-password-file", str(tmp_path / "vault-password"))


def logged_in_with(node):
    return [json.loads(request.body)["password"] for request in node.to(LOGIN)]


@pytest.mark.parametrize("password", [BROKEN, VALID], ids=["broken", "undefined"])
@pytest.mark.parametrize("place", ["inventory", "headers", "environment", "file"])
def test_password_with_braces_is_never_shown(start, controller, place, password):
    """In a task, Ansible shows such a template before the action begins."""
    node = start({LOGIN: [answer(401, '{"msg":"wrong password"}')]})
    variables, environment = of(node, password), dict(SHOWN)
    if place == "headers":
        variables.update(slb_password="another", slb_headers={"X-Access": password})
    if place in ("environment", "file"):
        del variables["slb_password"]
        environment["SLB_PASSWORD"] = password if place == "environment" else "of another node"
    if place == "file":
        (controller.folder / "password").write_text(f"{password}\n")
        environment["SLB_PASSWORD_FILE"] = "~/password"
    done = controller.run([play(engine_task())], fleet(1, **variables), "-vvvvv", "--diff", **environment)
    assert done.status != 0
    assert_without(done.output, [SECRET])
    assert logged_in_with(node) == ([password] if place in ("environment", "file") else [])


@pytest.mark.parametrize("password", [BROKEN, VALID], ids=["broken", "undefined"])
def test_password_with_braces_is_in_no_report(start, controller, tmp_path, password):
    hosts = inventory(start(), tmp_path / "hosts", 2)
    hosts["engines"]["vars"]["slb_password"] = password
    done = rollout(controller, hosts, "-vvvvv", "--diff", **SHOWN)
    assert done.counts["failed"] == 2, done.run.output
    assert_without(done.run.output, [SECRET])
    for path in (controller.folder / "reports").iterdir():
        assert_without(path.read_text(), [SECRET])


@pytest.mark.parametrize("place", ["task", "reference", "inventory"])
def test_vaulted_password_is_used(start, controller, tmp_path, vaulted, place):
    node, (encrypt, options) = start(), vaulted
    variables = of(node, "")
    del variables["slb_password"]
    in_vars = {"inventory": "slb_password", "reference": "secret"}
    in_task = {"task": f"!vault |\n{indent(encrypt(VAULTED), ' ' * 12)}", "reference": '"{{ secret }}"'}
    lines = ["- hosts: all", "  gather_facts: false"]
    if place in in_vars:
        lines += ["  vars:", f"    {in_vars[place]}: !vault |", indent(encrypt(VAULTED), " " * 6)]
    lines += ["  tasks:", "    - slb.fleet.engine:", "        name: edge-1", "        manage_ip: 192.0.2.1"]
    lines += [f"        password: {in_task[place]}"] if place in in_task else []
    playbook = tmp_path / "vaulted.yml"
    playbook.write_text("\n".join([*lines, ""]))
    imported = {"ansible.builtin.import_playbook": str(playbook)}
    done = controller.run([imported], fleet(1, **variables), "-vvvvv", "--diff", *options, **SHOWN)
    done.assert_ok()
    assert logged_in_with(node) == [VAULTED]
    assert_without(done.output, [SECRET])


@pytest.mark.parametrize("kind", ["vault", "vault-without-password", "broken"])
def test_password_of_the_inventory_plugin_is_not_shown(start, controller, tmp_path, vaulted, kind):
    items = {"items": [{"n": "edge-1", "ip": "192.0.2.1", "st": "up"}]}
    node, (encrypt, options) = start({LIST: [answer(200, json.dumps(items))]}), vaulted
    source = tmp_path / "a_slb_engines.yml"
    plugin = {"plugin": "slb.fleet.engines", "engine_list": ENGINE_LIST, "base_url": node.base_url}
    plugin.update(username="admin", tls_fingerprint=node.certificate.fingerprint)
    password = json.dumps(BROKEN)
    if kind != "broken":
        password = "!vault |\n" + indent(encrypt(VAULTED), "  ")
    lines = [f"{name}: {json.dumps(value)}" for name, value in plugin.items()]
    source.write_text("\n".join([*lines, f"password: {password}", ""]))
    given = [*(options if kind == "vault" else ()), "-i", str(source), "-vvvvv"]
    plays = [play({"ansible.builtin.debug": {"msg": "engine {{ slb_engine_name | default('-') }}"}})]
    done = controller.run(plays, {"all": {"hosts": {"other": {}}}}, *given, **SHOWN)
    assert_without(done.output, [SECRET])
    if kind == "vault":
        assert "engine edge-1" in done.output, done.output[-3000:]
        assert logged_in_with(node) == [VAULTED]
