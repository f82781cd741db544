"""The module engine_container on real containers in every state that Docker knows."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from fleet import ROOT, Fleet
from runs import wait_until

HOST = "box"
RUN = ["docker", "run", "--detach", "--name", "slb", "--network", "host"]
FACT = "/etc/ansible/facts.d/slb_engine.fact"
SERVE = ["slb:1", "/bin/httpd", "-f", "-p", "8000"]


@pytest.fixture(scope="module")
def fleet(make_fleet: Callable[[str, dict], Fleet]) -> Fleet:
    return make_fleet("containers", {"hosts": {HOST: {"release": "bookworm"}}})


@pytest.fixture
def docker(fleet: Fleet) -> Iterator[Callable[..., str]]:
    """Runs docker on the host; all its containers are removed afterwards."""
    host = fleet.lab.host(HOST)

    def docker(*arguments: str) -> str:
        return host.exec(["docker", *arguments]).stdout.strip()

    yield docker
    host.exec(["sh", "-c", "docker ps -aq | xargs -r docker rm --force"])


def names(docker: Callable[..., str]) -> dict[str, str]:
    """State by name, of all containers on the host."""
    lines = docker("ps", "--all", "--format", "{{.Names}} {{.State}}").splitlines()
    return dict(line.split() for line in lines)


def state(fleet: Fleet) -> dict[str, Any]:
    return fleet.module(HOST, "host_info", subset=["engine_container"])["slb_host"]["engine_container"]


def look(fleet: Fleet) -> dict[str, Any]:
    return fleet.module(HOST, "host_info", subset=["engine_container", "record"])["slb_host"]


def requested(fleet: Fleet) -> None:
    """Notes a request, as it is done right before one is made."""
    engine = {"name": "edge-1", "manage_ip": "192.0.2.11", "base_url": "https://node.example.com"}
    assert fleet.module(HOST, "engine_record", state="requested", **engine)["changed"]


def state_once(fleet: Fleet, wanted: str) -> dict[str, Any]:
    """As ``state``, once it is ``wanted``: a container that restarts again and again runs for moments in between."""
    seen: dict[str, Any] = {}

    def is_seen() -> bool:
        seen.update(state(fleet))
        return bool(seen["state"] == wanted)

    wait_until(is_seen, lambda: str(seen), 60)
    return seen


def in_state(docker: Callable[..., str], wanted: str) -> None:
    if wanted == "created":
        docker("create", "--name", "slb", "--restart", "always", *SERVE)
    elif wanted == "restarting":
        docker(*RUN[1:], "--restart", "always", "slb:1", "/bin/false")
    else:
        docker(*RUN[1:], "--restart", "always", *SERVE)
    if wanted == "paused":
        docker("pause", "slb")
    if wanted == "exited":
        docker("kill", "slb")
    if wanted == "restarting":
        status = ("inspect", "--format", "{{.State.Status}}", "slb")
        wait_until(lambda: docker(*status) == "restarting", "it restarts", 20)


@pytest.mark.parametrize("wanted", ["created", "running", "restarting", "paused", "exited"])
def test_a_leftover_in_any_state_is_seen_and_taken_out_of_the_way(
    fleet: Fleet, docker: Callable[..., str], wanted: str
) -> None:
    in_state(docker, wanted)
    identity = docker("inspect", "--format", "{{.Id}}", "slb")
    seen = state_once(fleet, wanted)
    assert (seen["id"], seen["restart_policy"]) == (identity, "always")

    checked = fleet.module(HOST, "engine_container", check=True, state="set_aside")
    assert checked["changed"]
    assert list(names(docker)) == ["slb"]

    result = fleet.module(HOST, "engine_container", state="set_aside", container_id=identity, stop_timeout=1)
    assert result["changed"], result
    name = result["set_aside_as"]
    assert name.startswith("slb-leftover-2")
    assert names(docker) == {name: "created" if wanted == "created" else "exited"}
    assert json.loads(docker("inspect", name))[0]["HostConfig"]["RestartPolicy"]["Name"] == "no"

    assert not fleet.module(HOST, "engine_container", state="set_aside")["changed"]


def test_two_leftovers_in_one_second_keep_two_names(fleet: Fleet, docker: Callable[..., str]) -> None:
    for _ in range(2):
        in_state(docker, "created")
        fleet.module(HOST, "engine_container", state="set_aside")
    assert len(names(docker)) == 2


def test_a_leftover_is_removed_where_that_is_asked_for(fleet: Fleet, docker: Callable[..., str]) -> None:
    in_state(docker, "exited")
    assert fleet.module(HOST, "engine_container", state="set_aside", remove=True)["set_aside_as"] is None
    assert names(docker) == {}


def test_another_container_than_the_one_decided_about_is_not_stopped(fleet: Fleet, docker: Callable[..., str]) -> None:
    in_state(docker, "running")
    result = fleet.module(HOST, "engine_container", state="set_aside", container_id="f00d")
    assert result["failed"]
    assert "run again to look anew" in result["msg"]
    assert names(docker) == {"slb": "running"}


def test_a_container_that_was_started_since_it_was_decided_about_is_not_stopped(
    fleet: Fleet, docker: Callable[..., str]
) -> None:
    in_state(docker, "running")
    result = fleet.module(HOST, "engine_container", state="set_aside", container_state="exited")
    assert result["failed"]
    assert "Somebody has started it since" in result["msg"]
    assert names(docker) == {"slb": "running"}


@pytest.mark.parametrize("network", ["host", "published"])
def test_an_engine_with_established_connections_is_refused(
    fleet: Fleet, docker: Callable[..., str], network: str
) -> None:
    options = ["--network", "host"] if network == "host" else ["--publish", "8000:8000"]
    docker("run", "--detach", "--name", "slb", *options, *SERVE)
    host = fleet.lab.host(HOST)
    client = "import socket, time; s = socket.create_connection(('127.0.0.1', 8000)); s.send(b'GET /'); time.sleep(60)"
    host.exec(["systemd-run", "--unit", f"client-{network}", "python3", "-c", client])
    wait_until(lambda: state(fleet)["established"], "a connection", 10)

    refused = fleet.module(HOST, "engine_container", state="set_aside")
    assert refused["failed"]
    assert refused["established"] >= 1
    assert " allow_established: true" in refused["msg"]
    assert names(docker) == {"slb": "running"}

    assert fleet.module(HOST, "engine_container", state="set_aside", allow_established=True, stop_timeout=1)["changed"]
    assert "slb" not in names(docker)
    host.exec(["systemctl", "stop", f"client-{network}"])


def as_user(fleet: Fleet, folder: Path, name: str, options: str = "") -> Fleet:
    """The same host, by another user."""
    make = f"useradd -m {options} {name} && cp -r /root/.ssh /home/{name}/ && chown -R {name}: /home/{name}"
    fleet.lab.host(HOST).exec(["sh", "-c", f"id {name} || ({make})"])
    other = Fleet(fleet.lab, folder)
    inventory = yaml.safe_load(other.inventory.read_text())
    inventory["engines"]["vars"]["ansible_user"] = name
    other.inventory.write_text(yaml.safe_dump(inventory))
    return other


@pytest.fixture
def as_member_of_docker(fleet: Fleet, tmp_path: Path) -> Fleet:
    """By a user who may use Docker but is not root."""
    return as_user(fleet, tmp_path, "ops", "-G docker")


def test_an_engine_whose_connections_cannot_be_seen_is_refused(
    as_member_of_docker: Fleet, docker: Callable[..., str]
) -> None:
    docker(*RUN[1:], *SERVE)
    seen = state(as_member_of_docker)
    assert (seen["state"], seen["established"]) == ("running", None)

    refused = as_member_of_docker.module(HOST, "engine_container", state="set_aside")
    assert refused["failed"]
    assert refused["established"] is None
    assert "become: true" in refused["msg"]
    assert " allow_established: true" in refused["msg"]
    assert names(docker) == {"slb": "running"}

    seen = as_member_of_docker.module(HOST, "host_info", subset=["record"])["slb_host"]
    assert seen["root"] is False
    assert "no permission" in seen["record"]["unwritable"]
    allowed = as_member_of_docker.module(HOST, "engine_container", state="set_aside", allow_established=True)
    assert "become: true" in allowed["msg"]
    assert names(docker) == {"slb": "running"}, "it could neither be noted nor recorded"


def test_a_user_who_may_not_use_docker_is_told_so(fleet: Fleet, docker: Callable[..., str], tmp_path: Path) -> None:
    docker(*RUN[1:], *SERVE)
    stranger = as_user(fleet, tmp_path, "stranger")
    seen = state(stranger)
    assert seen["state"] == "unknown"
    assert seen["why"].startswith("permission denied")
    assert "become: true" in stranger.module(HOST, "engine_container", state="set_aside")["msg"]


def test_an_engine_that_comes_up_is_seen_in_time(fleet: Fleet, docker: Callable[..., str]) -> None:
    requested(fleet)
    host = fleet.lab.host(HOST)
    # systemd's timers may be a minute late unless told otherwise.
    host.exec(["systemd-run", "--on-active", "3", "--timer-property", "AccuracySec=100ms", *RUN, *SERVE])
    result = fleet.module(HOST, "engine_container", state="running", timeout=30, settle=0, after_request=True)
    assert result["after"]["state"] == "running", result
    assert not result["changed"]
    seen_at = time.time()
    assert seen_at - result["after"]["started_at"] < 10, "the wait lasts 30 seconds"


@pytest.mark.parametrize(
    ("wanted", "words"), [("exited", "the container is exited"), ("restarting", "restart"), ("paused", "paused")]
)
def test_a_wait_that_ends_in_vain_says_what_it_saw(
    fleet: Fleet, docker: Callable[..., str], wanted: str, words: str
) -> None:
    in_state(docker, wanted)
    begin = time.monotonic()
    result = fleet.module(HOST, "engine_container", state="running", timeout=2, settle=3)
    assert result["failed"]
    assert "within 2 seconds" in result["msg"]
    assert words in result["msg"]
    assert time.monotonic() - begin < 10


def test_an_engine_from_before_the_request_does_not_count(fleet: Fleet, docker: Callable[..., str]) -> None:
    in_state(docker, "running")
    requested(fleet)
    result = fleet.module(HOST, "engine_container", state="running", timeout=1, after_request=True)
    assert "running before the request" in result["msg"]
    assert look(fleet)["engine_container"]["after_request"] is False
    assert fleet.module(HOST, "engine_container", state="running", timeout=5, settle=0)["after"]["state"] == "running"

    docker("restart", "--time", "1", "slb")
    assert look(fleet)["engine_container"]["after_request"] is True
    result = fleet.module(HOST, "engine_container", state="running", timeout=5, settle=0, after_request=True)
    assert not result["failed"], result


@pytest.mark.parametrize("clock_was_set", [-7200, 7200])
def test_a_clock_that_was_set_since_the_request_changes_nothing(
    fleet: Fleet, docker: Callable[..., str], clock_was_set: int
) -> None:
    """Setting the clock of a lab host would set that of the whole machine: the note's time is moved instead."""

    def move() -> None:
        script = (
            "import json, sys; p, s = sys.argv[1], int(sys.argv[2]); r = json.load(open(p)); "
            "r['requested_at'] -= s; json.dump(r, open(p, 'w'))"
        )
        fleet.lab.host(HOST).exec(["python3", "-c", script, FACT, str(clock_was_set)])

    in_state(docker, "running")
    requested(fleet)
    move()
    assert look(fleet)["engine_container"]["after_request"] is False
    docker("rm", "--force", "slb")
    requested(fleet)
    move()
    in_state(docker, "running")
    assert look(fleet)["engine_container"]["after_request"] is True


def test_a_wait_for_an_engine_that_nobody_asked_for_ends_at_once(fleet: Fleet, docker: Callable[..., str]) -> None:
    fleet.module(HOST, "engine_record", state="absent")
    begin = time.monotonic()
    result = fleet.module(HOST, "engine_container", state="running", timeout=60, after_request=True)
    assert "the record is none" in result["msg"]
    assert time.monotonic() - begin < 30


def test_a_stopped_daemon_is_unknown_and_nothing_is_done(fleet: Fleet, docker: Callable[..., str]) -> None:
    host = fleet.lab.host(HOST)
    host.exec(["systemctl", "stop", "docker.socket", "docker.service"])
    try:
        assert state(fleet)["state"] == "unknown"
        result = fleet.module(HOST, "engine_container", state="set_aside")
        assert result["failed"]
        assert "Bring the container runtime on the host back" in result["msg"]
    finally:
        host.exec(["systemctl", "start", "docker.service"])


def test_bad_options_are_named(fleet: Fleet) -> None:
    result = fleet.module(HOST, "engine_container", state="running", timeout=-1)
    assert "'timeout' has the value -1" in result["msg"]


def test_a_long_wait_shows_that_it_is_alive_and_what_it_waits_for(fleet: Fleet, tmp_path: Path) -> None:
    waiting = {"slb.fleet.engine_container": {"state": "running", "timeout": 17}}
    playbook = tmp_path / "wait.json"
    playbook.write_text(json.dumps([{"hosts": HOST, "gather_facts": False, "tasks": [waiting]}]))
    run = fleet.play(str(playbook), "-v")
    assert re.search(rf"\[{HOST}\]: waiting for the container slb to run steadily, 1[5-7] s of 17 s", run.output), (
        run.output
    )
    assert "last seen: the container is absent" in run.words


def test_a_host_is_forgotten_as_the_documentation_says(fleet: Fleet, docker: Callable[..., str]) -> None:
    docker(*RUN[1:], *SERVE)
    fleet.module(HOST, "engine_container", state="set_aside", allow_established=True)
    requested(fleet)
    docker(*RUN[1:], *SERVE)
    host = fleet.lab.host(HOST)
    recipe = re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / "operations.md").read_text(), re.DOTALL)
    assert ours(fleet), "there is nothing to forget"
    shown = host.exec(["sh", "-e", "-c", "\n".join(recipe)]).stdout
    assert ours(fleet) == []
    assert names(docker)["slb"] == "running"
    leftover = next(name for name in names(docker) if name != "slb")
    assert leftover in shown
    docker("rm", leftover)


def ours(fleet: Fleet) -> list[str]:
    """Files and folders that bear the collection's name."""
    places = ["/etc", "/var", "/run", "/root", "/home", "/usr/local", "/opt"]
    command = ["find", *places, "-xdev", "-regex", r".*\(slb[-_]fleet\|slb_engine\).*"]
    return fleet.lab.host(HOST).exec(command).stdout.split()
