"""The playbook download_license: one download for each management node, with what that node's hosts say of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hostile_server import LICENSE, LICENSE_TEXT, LOGIN, answer

from playbooks import fleet

if TYPE_CHECKING:
    from collections.abc import Callable

    from runs import Run

    from playbooks import Controller

PLAYBOOK = {"ansible.builtin.import_playbook": "slb.fleet.download_license"}


def of(server: Any, **more: Any) -> dict[str, Any]:
    """The variables of the hosts of one management node; a password that no other node has."""
    return {
        "slb_base_url": server.base_url,
        "slb_username": "admin",
        "slb_password": f"pass-{server.port}",
        "slb_tls_fingerprint": server.certificate.fingerprint,
        **more,
    }


def two_sites(first: dict[str, Any], second: dict[str, Any], **common: Any) -> dict[str, Any]:
    """Four engine hosts, the odd ones of the first site, the even ones of the second."""
    inventory = fleet(4, **common)
    for number in (1, 2, 3, 4):
        inventory["all"]["hosts"][f"edge-{number}"] = first if number % 2 else second
    return inventory


def download(controller: Controller, inventory: dict[str, Any], *options: str, **keywords: Any) -> Run:
    return controller.run([{**PLAYBOOK, **keywords}], inventory, "-e", "slb_hosts=all", *options)


def passwords(server: Any) -> list[str]:
    return [json.loads(request.body)["password"] for request in server.to(LOGIN)]


@pytest.mark.parametrize("is_check", [False, True])
def test_each_node_is_asked_once(start: Callable[..., Any], controller: Controller, is_check: bool) -> None:
    one, two = start(), start()
    inventory = two_sites(of(one, slb_license_dest="./license-1"), of(two, slb_license_dest="./license-2"))
    run = download(controller, inventory, *(["--check", "-vvv"] if is_check else ["-vvv"]))
    run.assert_ok()
    for name, server in (("license-1", one), ("license-2", two)):
        assert server.seen == {LOGIN: 1, LICENSE: 1}
        assert passwords(server) == [f"pass-{server.port}"]
        assert f"(item={server.base_url})" in run.output
        assert passwords(server)[0] not in run.output
        assert (controller.folder / name).exists() is not is_check


def test_two_nodes_with_the_same_file_are_refused(start: Callable[..., Any], controller: Controller) -> None:
    one, two = start(), start()
    inventory = two_sites(of(one, slb_license_dest="license"), of(two, slb_license_dest="./license"))
    run = download(controller, inventory)
    assert run.status == 2
    assert "Several management nodes have the same slb_license_dest" in run.output
    assert one.base_url in run.output
    assert two.base_url in run.output
    assert one.connections == two.connections == 0


def test_the_same_extra_variable_for_two_nodes_is_refused(start: Callable[..., Any], controller: Controller) -> None:
    one, two = start(), start()
    run = download(controller, two_sites(of(one), of(two)), "-e", "slb_license_dest=license")
    assert "Several management nodes have the same slb_license_dest" in run.output
    assert one.connections == two.connections == 0


def test_a_node_that_fails_is_named_and_the_other_one_is_asked(
    start: Callable[..., Any], controller: Controller
) -> None:
    one, two = start({LICENSE: [answer(404)]}), start()
    inventory = two_sites(of(one), of(two), slb_license_dest="license-{{ slb_base_url | urlsplit('port') }}")
    run = controller.run([PLAYBOOK], inventory, "-e", "slb_hosts=all", ANSIBLE_CALLBACKS_ENABLED="slb.fleet.report")
    assert "2 done · 1 failed · 1 not started" in run.output
    assert run.status == 2
    assert f"failed: [edge-1] (item={one.base_url})" in run.output
    report = run.output.partition("FLEET REPORT")[2]
    assert f"failed: Not every management node gave its license. {one.base_url}: " in " ".join(report.split())
    assert "HTTP 404" in report
    assert two.base_url not in report
    assert not (controller.folder / "report.json").exists(), "nobody has named a folder for reports"
    assert (controller.folder / f"license-{two.port}").read_bytes() == LICENSE_TEXT


def test_what_one_host_says_of_its_node_goes_to_no_other(start: Callable[..., Any], controller: Controller) -> None:
    one, two = start(), start()
    second = {"slb_base_url": two.base_url, "slb_license_dest": "license-2"}
    run = download(controller, two_sites(of(one, slb_license_dest="license-1"), second))
    assert run.status == 2
    assert one.seen == {LOGIN: 1, LICENSE: 1}
    assert two.connections == 0


@pytest.mark.parametrize("place", ["extra", "group", "import"])
def test_one_node_of_all_hosts(start: Callable[..., Any], controller: Controller, place: str) -> None:
    server = start()
    variables = of(server, slb_license_dest=str(controller.folder / "license"), slb_timeout=20)
    inventory = fleet(3, **(variables if place == "group" else {}))
    options = ["-e", json.dumps(variables)] if place == "extra" else []
    download(controller, inventory, *options, **({"vars": variables} if place == "import" else {})).assert_ok()
    assert (controller.folder / "license").read_bytes() == LICENSE_TEXT
    assert server.seen == {LOGIN: 1, LICENSE: 1}


def test_the_environment_names_the_node_of_the_hosts_that_name_none(
    start: Callable[..., Any], controller: Controller
) -> None:
    one, two = start(), start()
    general = {name: value for name, value in of(two).items() if name != "slb_base_url"}
    inventory = two_sites(of(one, slb_license_dest="license-1"), {**general, "slb_license_dest": "license-2"})
    plays = [PLAYBOOK]
    controller.run(plays, inventory, "-e", "slb_hosts=all", SLB_BASE_URL=f"{two.base_url}/").assert_ok()
    assert one.seen == two.seen == {LOGIN: 1, LICENSE: 1}


def test_a_variable_that_is_misspelt_is_told_once(start: Callable[..., Any], controller: Controller) -> None:
    """Whoever misspells the host that is to keep the license has it on the controller."""
    one = start()
    run = download(controller, two_sites(of(one), of(one), slb_license_dest="./license", slb_licence_host="edge-1"))
    run.assert_ok()
    words = " ".join(run.output.split())
    assert words.count("The variable slb_licence_host (of") == 1, run.output
    assert "Is slb_license_host meant?" in words


def test_it_is_said_what_has_to_be_set(start: Callable[..., Any], controller: Controller) -> None:
    server = start()
    run = download(controller, fleet(2, **of(server)))
    assert run.status == 2
    assert "Set slb_license_dest" in run.output
    assert server.connections == 0


def test_it_is_skipped_where_it_is_imported_for_those_who_want_it(
    start: Callable[..., Any], controller: Controller
) -> None:
    """As rollout imports it."""
    server = start()
    run = download(controller, fleet(2, **of(server)), when="slb_license_dest is defined")
    run.assert_ok()
    assert "failed=0" in run.output
    assert "WARNING" not in run.output
    assert server.connections == 0


@pytest.mark.parametrize(("backup", "copies"), [("", 1), (False, 0), ("no", 0), (True, 1)])
def test_a_license_that_is_replaced(
    start: Callable[..., Any], controller: Controller, backup: Any, copies: int
) -> None:
    server, dest = start(), controller.folder / "license"
    dest.write_text("old")
    variables = of(server, slb_license_dest=str(dest), slb_license_backup=backup)
    download(controller, fleet(2, **variables)).assert_ok()
    assert dest.read_bytes() == LICENSE_TEXT
    assert len(list(controller.folder.glob("license.*~"))) == copies


@pytest.mark.parametrize("empty", [None, ""])
def test_an_empty_path_is_none(start: Callable[..., Any], controller: Controller, empty: str | None) -> None:
    server = start()
    run = download(controller, fleet(2, **of(server, slb_license_dest=empty)))
    assert run.status == 2
    assert "Set slb_license_dest" in run.output
    assert server.connections == 0


def test_those_whose_node_gave_none_go_no_further(start: Callable[..., Any], controller: Controller) -> None:
    """Rollout comes after it: no host is touched while a license is missing."""
    one, two = start({LICENSE: [answer(404)]}), start()
    inventory = two_sites(of(one, slb_license_dest="license-1"), of(two, slb_license_dest="license-2"))
    after = {"hosts": "all", "gather_facts": False, "tasks": [{"ansible.builtin.debug": {"msg": "we went on"}}]}
    run = controller.run([PLAYBOOK, after], inventory, "-e", "slb_hosts=all")
    assert run.status == 2
    assert "we went on" not in run.output
