"""A license that a host of the inventory keeps: what is written there, what is not, and what a job is told before."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hostile_server import LICENSE, LICENSE_TEXT, LOGIN, answer, for_session
from launches import sent, with_variables

from ansible_collections.slb.fleet.plugins.plugin_utils._job_container import lost_with_job
from playbooks import fleet, of

if TYPE_CHECKING:
    from collections.abc import Callable

    from runs import Run

    from playbooks import Controller

PLAYBOOK = {"ansible.builtin.import_playbook": "slb.fleet.download_license"}
PLUGINS = str(Path(__file__).parent / "connection_plugins")
PASSWORD = "a-password-that-is-nowhere"


def keep(
    controller: Controller, server: Any, *options: str, host: str = "store", quiet: bool = False, **environment: str
) -> Run:
    inventory = fleet(
        2,
        **of(server, PASSWORD),
        slb_license_dest=str(controller.folder / "kept" / "license"),
        slb_license_host=host,
    )
    # This machine, but not as Ansible's own; where Ansible leaves its modules, they can be looked at.
    inventory["all"]["hosts"]["store"] = {
        "ansible_connection": "elsewhere",
        "ansible_python_interpreter": "/usr/bin/python3",
    }
    kept = {"ANSIBLE_CONNECTION_PLUGINS": PLUGINS, "ANSIBLE_KEEP_REMOTE_FILES": "1", **environment}
    more = (*([] if quiet else ["-vvv"]), *options)
    return controller.run([PLAYBOOK], inventory, "-e", "slb_hosts=edge-*", *more, **kept)


def test_it_is_kept_once_and_left_where_it_is_the_same(start: Callable[..., Any], controller: Controller) -> None:
    server = start()
    kept = controller.folder / "kept" / "license"
    kept.parent.mkdir()

    keep(controller, server, "--check").assert_ok()
    assert not kept.exists()

    first = keep(controller, server)
    first.assert_ok()
    assert kept.read_bytes() == LICENSE_TEXT
    assert kept.stat().st_mode & 0o777 == 0o600
    assert hashlib.sha256(LICENSE_TEXT).hexdigest() in first.output
    assert PASSWORD not in first.output

    before = kept.stat()
    second = keep(controller, server)
    second.assert_ok()
    recap = second.output.rpartition("PLAY RECAP")[2]
    assert set(re.findall(r"changed=(\d+)", recap)) == {"0"}, recap
    assert kept.stat().st_ino == before.st_ino

    kept.write_text("an older license")
    keep(controller, server).assert_ok()
    assert kept.read_bytes() == LICENSE_TEXT
    assert [each.read_text() for each in kept.parent.glob("license.*~")] == ["an older license"]
    assert sorted(each.name.split(".")[0] for each in kept.parent.iterdir()) == ["license", "license"]


def test_the_report_names_where_it_is_kept(start: Callable[..., Any], controller: Controller) -> None:
    server = start()
    kept = controller.folder / "kept" / "license"
    kept.parent.mkdir()
    reports = controller.folder / "reports"
    environment = {"ANSIBLE_CALLBACKS_ENABLED": "slb.fleet.report", "ANSIBLE_STDOUT_CALLBACK": "slb.fleet.fleet"}

    def deeds(*options: str) -> tuple[list[dict[str, str]], list[dict[str, str]], list[str]]:
        run = keep(controller, server, *options, quiet=True, SLB_REPORT_DIR=str(reports), **environment)
        run.assert_ok()
        hosts = json.loads((reports / "report.json").read_text())["hosts"]
        assert [host["name"] for host in hosts] == ["edge-1", "edge-2"]
        would_do, done = ([deed for host in hosts for deed in host[key]] for key in ("would_do", "done"))
        return would_do, done, re.findall(r"^\[edge-\d\]: (.*license.*)$", run.output, re.MULTILINE)

    would, did = f"download the license to store:{kept}", f"downloaded the license to store:{kept}"
    assert deeds("--check") == ([{"code": "license_downloaded", "sentence": would}], [], [f"would {would}"])
    assert deeds() == ([], [{"code": "license_downloaded", "sentence": did}], [did])
    assert deeds() == ([], [], [])


@pytest.mark.parametrize("backup", [None, "true", "false"])
def test_the_answers_of_its_survey(start: Callable[..., Any], controller: Controller, backup: str | None) -> None:
    kept = controller.folder / "kept" / "license"
    kept.parent.mkdir()
    kept.write_text("an older license")
    answers = {"slb_license_dest": str(kept), "slb_license_host": "store", "slb_license_backup": backup}
    variables = sent("download_license", {name: value for name, value in answers.items() if value})
    keep(controller, start(), *with_variables(controller.folder, variables)).assert_ok()
    assert kept.read_bytes() == LICENSE_TEXT
    assert len(list(kept.parent.glob("license.*~"))) == (0 if backup == "false" else 1)


def test_no_credential_and_no_session_reaches_the_host(start: Callable[..., Any], controller: Controller) -> None:
    server = start()
    (controller.folder / "kept").mkdir()
    keep(controller, server, **{"ANSIBLE_REMOTE_TEMP": str(controller.folder / "remote")}).assert_ok()
    session = re.search(rb"sessionid=([\w-]+)", b"".join(str(each.headers).encode() for each in server.to(LICENSE)))
    left = [each.read_bytes() for each in (controller.folder / "remote").rglob("*") if each.is_file()]
    assert left, "the modules that were sent are there to be looked at"
    for secret in (PASSWORD.encode(), *([session[1]] if session else [])):
        assert not any(secret in content for content in left)


def test_what_is_no_license_leaves_what_was_there(start: Callable[..., Any], controller: Controller) -> None:
    server = start({LICENSE: [for_session(answer(200, "<html>Please log in</html>", kind="text/html"))]})
    kept = controller.folder / "kept" / "license"
    kept.parent.mkdir()
    kept.write_text("a good license")
    run = keep(controller, server)
    assert run.status == 2
    assert "or it could not be kept" in run.output
    assert kept.read_text() == "a good license"


def test_a_host_that_is_not_there_is_told_before_anything(start: Callable[..., Any], controller: Controller) -> None:
    server = start()
    run = keep(controller, server, host="stroe")
    assert run.status == 2
    assert "There is no host stroe in the inventory" in run.output
    assert server.connections == 0


def test_a_folder_that_is_not_there_is_told(start: Callable[..., Any], controller: Controller) -> None:
    run = keep(controller, start())
    assert run.status == 2
    assert "there is no folder" in run.output


# --- a container that goes with its job


def container(tmp_path: Path, *marks: str) -> Path:
    for mark in marks:
        (tmp_path / mark).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / mark).touch()
    return tmp_path


@pytest.mark.parametrize("variable", ["JOB_ID", "AWX_JOB_ID"])
@pytest.mark.parametrize("mark", [".dockerenv", "run/.containerenv"])
def test_a_file_in_the_container_of_a_job_is_lost(tmp_path: Path, variable: str, mark: str) -> None:
    root = container(tmp_path, mark)
    assert lost_with_job(str(root / "tmp" / "license"), {variable: "7"}, root)
    assert lost_with_job(str(root / "runner" / "project" / "license"), {variable: "7"}, root)


def test_elsewhere_it_is_not(tmp_path: Path) -> None:
    root = container(tmp_path / "in", ".dockerenv")
    assert not lost_with_job(str(root / "license"), {}, root), "a container that is no job's"
    assert not lost_with_job("/tmp/license", {"JOB_ID": "7"}, tmp_path / "out"), "no container"
    assert not lost_with_job("/dev/shm/license", {"JOB_ID": "7"}, root), "a file system that was mounted"


@pytest.mark.parametrize("kept_on", ["", "localhost", "edge-1"])
def test_a_job_that_would_lose_it_says_so_before_it_downloads(
    start: Callable[..., Any], controller: Controller, kept_on: str
) -> None:
    """``AWX_PRIVATE_DATA_DIR`` lies here; the mark of a container is made where there is none."""
    server = start()
    dest = controller.folder / "license"
    place = {"slb_license_dest": str(dest), "slb_license_host": kept_on, "ansible_connection": "local"}
    inventory = fleet(1, **of(server, PASSWORD), **place)
    pretend = controller.folder / "sitecustomize.py"
    pretend.write_text(
        "import pathlib\nreal = pathlib.Path.exists\n"
        "pathlib.Path.exists = lambda path, **more: str(path) == '/.dockerenv' or real(path, **more)\n"
    )
    in_a_job = {"AWX_PRIVATE_DATA_DIR": str(controller.folder), "PYTHONPATH": str(controller.folder)}
    run = controller.run([PLAYBOOK], inventory, "-e", "slb_hosts=all", **in_a_job)
    assert run.status == 2
    assert "would be gone with it. Nothing was downloaded." in run.output
    assert "slb_license_host" in run.output
    assert (server.connections, server.seen.get(LOGIN, 0), dest.exists()) == (0, 0, False)


# --- two management nodes with one file


def of_two(controller: Controller, one: Any, two: Any, first: dict[str, str], second: dict[str, str]) -> dict[str, Any]:
    """An engine host of each node; ``store`` and ``keeper`` are one machine."""
    inventory = fleet(0)
    machine = {"ansible_connection": "elsewhere", "ansible_python_interpreter": "/usr/bin/python3"}
    inventory["all"]["hosts"] = {
        "edge-1": {**of(one, PASSWORD), **first},
        "edge-2": {**of(two, PASSWORD), **second},
        "store": machine,
        "keeper": machine,
    }
    return inventory


WAYS = {
    "two names of a machine": ({"slb_license_host": "store"}, {"slb_license_host": "keeper"}, "kept", "kept"),
    "a linked folder": ({"slb_license_host": "store"}, {"slb_license_host": "store"}, "kept", "linked"),
    "a folder above that is linked": (
        {"slb_license_host": "store"},
        {"slb_license_host": "keeper"},
        "kept/in",
        "linked/in",
    ),
    "the controller by a name": ({}, {"slb_license_host": "keeper"}, "kept", "kept"),
}


@pytest.mark.parametrize("is_check", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_two_nodes_with_one_file_are_refused_before_either_writes(
    start: Callable[..., Any], controller: Controller, way: str, is_check: bool
) -> None:
    first, second, folder, other_folder = WAYS[way]
    (controller.folder / "kept" / "in").mkdir(parents=True)
    (controller.folder / "linked").symlink_to("kept")
    kept = controller.folder / folder / "license"
    kept.write_text("a good license")
    one, two = start(), start()
    inventory = of_two(
        *(controller, one, two),
        {**first, "slb_license_dest": str(kept)},
        {**second, "slb_license_dest": str(controller.folder / other_folder / "license")},
    )
    options = ["-e", "slb_hosts=edge-*", *(["--check"] if is_check else [])]
    run = controller.run([PLAYBOOK], inventory, *options, ANSIBLE_CONNECTION_PLUGINS=PLUGINS)
    assert run.status == 2, run.output
    assert run.output.count("Several management nodes have the same slb_license_dest: ") >= 2, run.output
    assert (
        f"as have those of edge-2 ({second['slb_license_host']}:{controller.folder / other_folder}/license)"
        in run.output
    )
    assert kept.read_text() == "a good license"
    assert one.connections == two.connections == 0


def test_a_host_that_cannot_be_looked_at_keeps_no_other_from_its_license(
    start: Callable[..., Any], controller: Controller
) -> None:
    one, two = start(), start()
    (controller.folder / "kept").mkdir()
    kept = str(controller.folder / "kept" / "license")
    lost = {"slb_license_host": "edge-2", "slb_license_dest": kept}
    inventory = of_two(controller, one, two, {"slb_license_host": "store", "slb_license_dest": kept}, lost)
    run = controller.run([PLAYBOOK], inventory, "-e", "slb_hosts=edge-*", ANSIBLE_CONNECTION_PLUGINS=PLUGINS)
    assert run.status == 2, run.output
    assert "or it could not be kept on edge-2." in run.output
    assert (one.seen.get(LICENSE), two.connections) == (1, 0)
    assert Path(kept).read_bytes() == LICENSE_TEXT
