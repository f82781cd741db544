"""The same tasks in the controller's process, on another host, in check mode, with the environment of the task."""

import sys
from pathlib import Path

import pytest
from fake_node import INSTALL, LICENSE, LICENSE_TEXT, LOGIN, PASSWORD
from proxy import Proxy

from playbooks import defaults, engine_task, fleet, play

PLUGINS = {"ANSIBLE_CONNECTION_PLUGINS": str(Path(__file__).parent / "connection_plugins")}
ELSEWHERE = {"ansible_connection": "elsewhere", "ansible_python_interpreter": sys.executable}


def with_another_host():
    inventory = fleet(2)
    inventory["other"] = {"hosts": {"another.example": ELSEWHERE}}
    return inventory


def all_three(dest, **keywords):
    return [
        {"slb.fleet.login": {}, "register": "seen", **keywords},
        {"slb.fleet.license": {"dest": str(dest)}, "run_once": True, **keywords},
        engine_task(**keywords),
        {
            "ansible.builtin.assert": {"that": "seen.sessionid is match('session\\d+of')"},
            "when": "not ansible_check_mode",
        },
    ]


def test_in_the_controllers_process(start, controller):
    server = start()
    dest = controller.folder / "license"
    options = defaults(server, password=PASSWORD)
    controller.run([play(*all_three(dest), module_defaults=options)], fleet(2)).assert_ok()
    assert dest.read_bytes() == LICENSE_TEXT
    assert server.seen == {LOGIN: 1, LICENSE: 1, INSTALL: 2}


@pytest.mark.parametrize("place", ["localhost", "127.0.0.1"])
def test_delegated_to_the_controller(start, controller, place):
    server = start()
    tasks = all_three(controller.folder / "license", delegate_to=place)
    controller.run([play(*tasks, module_defaults=defaults(server, password=PASSWORD))], fleet(2)).assert_ok()
    assert server.seen == {LOGIN: 1, LICENSE: 1, INSTALL: 2}


def test_delegated_to_another_host(start, controller):
    """Delegated, the plain modules run: each logs in, or uses the session of its option."""
    server = start()
    dest = controller.folder / "license"
    here = {"slb.fleet.login": {"password": PASSWORD}, "register": "here", "run_once": True}
    given = engine_task(delegate_to="another.example")
    given["slb.fleet.engine"]["sessionid"] = "{{ here.sessionid }}"
    options = defaults(server)
    tasks = [
        here,
        given,
        {"block": all_three(dest, delegate_to="another.example"), "environment": {"SLB_PASSWORD": PASSWORD}},
    ]
    playbook = [play(*tasks, hosts="edge-1", module_defaults=options)]
    controller.run(playbook, with_another_host(), **PLUGINS).assert_ok()
    assert dest.read_bytes() == LICENSE_TEXT
    assert server.seen == {LOGIN: 1 + 2, LICENSE: 1, INSTALL: 2}


def test_check_mode(start, controller):
    server = start()
    dest = controller.folder / "license"
    tasks = [*all_three(dest), *all_three(dest, delegate_to="another.example")]
    options = defaults(server, password=PASSWORD)
    run = controller.run(
        [play(*tasks, hosts="edge-1", module_defaults=options)], with_another_host(), "--check", **PLUGINS
    )
    run.assert_ok()
    assert not dest.exists()
    assert server.seen == {LOGIN: 1 + 2, LICENSE: 2}
    assert run.output.count("changed: [edge-1") == 4


def test_options_from_the_environment(start, controller):
    server = start()
    injected = {
        "SLB_BASE_URL": server.base_url,
        "SLB_USERNAME": "admin",
        "SLB_PASSWORD": PASSWORD,
        "SLB_TLS_FINGERPRINT": server.certificate.fingerprint,
    }
    controller.run([play(engine_task())], fleet(2), **injected).assert_ok()
    omitted = {"group/slb.fleet.management_node": dict.fromkeys(("base_url", "password", "timeout"), "{{ omit }}")}
    controller.run([play(engine_task(environment=injected), module_defaults=omitted)], fleet(2)).assert_ok()
    assert server.seen == {LOGIN: 2, INSTALL: 4}


def test_a_proxy_in_the_environment_of_the_task(start, controller):
    server = start()
    with Proxy() as proxy:
        task = engine_task(environment={"https_proxy": f"http://127.0.0.1:{proxy.port}"})
        controller.run([play(task, module_defaults=defaults(server, password=PASSWORD))], fleet(1)).assert_ok()
        assert len(proxy.heads) == 2


def test_bad_options_name_the_option_and_the_remedy(start, controller):
    server = start()
    options = defaults(server, password=PASSWORD, timeout="soon")
    run = controller.run([play(engine_task(), module_defaults=options)], fleet(1))
    assert run.status == 2
    assert "timeout" in run.output
    assert server.connections == 0
