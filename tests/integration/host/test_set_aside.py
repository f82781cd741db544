"""A real container is taken out of the way and put back, with kills in between and disks that take nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from fleet import Fleet

HOST = "box"
SERVE = ["slb:1", "/bin/httpd", "-f", "-p", "8000"]
NOTES = "/var/lib/slb-fleet"
NOTE = f"{NOTES}/set-aside.json"
FACTS = "/etc/ansible/facts.d"

long = partial(pytest.param, marks=pytest.mark.long)


@pytest.fixture(scope="module")
def fleet(make_fleet: Callable[[str, dict], Fleet]) -> Fleet:
    return make_fleet("aside", {"hosts": {HOST: {"release": "trixie"}}})


@pytest.fixture
def shell(fleet: Fleet) -> Iterator[Callable[[str], str]]:
    """Runs a line on the host; its containers and our note are removed afterwards."""
    host = fleet.lab.host(HOST)

    def shell(line: str) -> str:
        return host.exec(["sh", "-c", line]).stdout.strip()

    yield shell
    shell(f"rm -f /usr/local/bin/docker; docker ps -aq | xargs -r docker rm --force; rm -rf {NOTE}*")


def engine(shell: Callable[[str], str], options: str = "--restart on-failure:3") -> str:
    """Starts one, and returns its id."""
    return shell(f"docker run --detach --name slb --network host {options} {' '.join(SERVE)}")


def seen(shell: Callable[[str], str], identity: str) -> tuple[str, str, str]:
    """Name, state and restart policy."""
    form = (
        "{{.Name}} {{.State.Status}} {{.HostConfig.RestartPolicy.Name}}:{{.HostConfig.RestartPolicy.MaximumRetryCount}}"
    )
    name, state, policy = shell(f"docker inspect --format '{form}' {identity}").split()
    return name.lstrip("/"), state, policy


def stop(fleet: Fleet, **options: Any) -> dict[str, Any]:
    return fleet.module(HOST, "engine_container", state="set_aside", stop_timeout=1, **options)


def restore(fleet: Fleet, **options: Any) -> dict[str, Any]:
    return fleet.module(HOST, "engine_container", state="restored", **options)


def set_aside(fleet: Fleet) -> dict[str, Any] | None:
    return fleet.module(HOST, "host_info", subset=["engine_container"])["slb_host"]["set_aside"]


def test_it_is_noted_before_and_comes_back_as_it_was(fleet: Fleet, shell: Callable[[str], str]) -> None:
    identity = engine(shell)
    assert set_aside(fleet) is None
    name = stop(fleet, because="list")["set_aside_as"]
    assert seen(shell, identity) == (name, "exited", "no:0")
    noted = json.loads(shell(f"cat {NOTE}"))
    expected = {"id": identity, "name": name, "state": "running", "restart_policy": "on-failure:3", "because": "list"}
    assert {key: noted[key] for key in expected} == expected
    assert shell(f"stat -c %a {NOTE} $(dirname {NOTE})").split() == ["600", "700"]
    looked = set_aside(fleet)
    assert looked is not None
    assert {key: looked[key] for key in expected} == expected
    assert looked["exists"] is True
    assert 0 <= looked["age"] < 60

    assert restore(fleet, check=True)["changed"]
    assert seen(shell, identity)[0] == name
    result = restore(fleet)
    assert (result["changed"], result["restored"], result["after"]["state"]) == (True, True, "running")
    assert seen(shell, identity) == ("slb", "running", "on-failure:3")
    assert set_aside(fleet) is None
    again = restore(fleet)
    assert (again["changed"], again["restored"]) == (False, False)


def test_one_that_nothing_is_noted_of_is_named_and_left_where_it_is(fleet: Fleet, shell: Callable[[str], str]) -> None:
    identity = engine(shell)
    name = stop(fleet)["set_aside_as"]
    shell(f"rm {NOTE}")
    result = restore(fleet)
    assert (result["changed"], result["restored"], result["leftovers"]) == (False, False, [name])
    assert seen(shell, identity) == (name, "exited", "no:0")


def test_a_paused_one_comes_back_paused(fleet: Fleet, shell: Callable[[str], str]) -> None:
    identity = engine(shell)
    shell("docker pause slb")
    stop(fleet)
    restore(fleet)
    assert seen(shell, identity) == ("slb", "paused", "on-failure:3")


def killed_at(shell: Callable[[str], str], verb: str) -> None:
    """From now on, whoever runs docker with this verb is killed before it does anything."""
    script = f'#!/bin/sh\\n[ "$1" = {verb} ] && kill -9 $PPID && exit 1\\nexec /usr/bin/docker "$@"\\n'
    shell(f"printf '{script}' > /usr/local/bin/docker; chmod 755 /usr/local/bin/docker")


@pytest.mark.parametrize("verb", [long("update"), long("stop"), "rename"])
def test_a_stop_that_was_killed_goes_on_and_can_be_undone(fleet: Fleet, shell: Callable[[str], str], verb: str) -> None:
    identity = engine(shell)
    killed_at(shell, verb)
    assert stop(fleet)["failed"]
    shell("rm /usr/local/bin/docker")
    looked = set_aside(fleet)
    assert looked is not None
    assert (looked["name"], looked["state"]) == ("slb", "running")
    assert stop(fleet)["set_aside_as"].startswith("slb-leftover-")
    assert not restore(fleet)["failed"]
    assert seen(shell, identity) == ("slb", "running", "on-failure:3")


@pytest.mark.parametrize("verb", ["rename", long("update"), long("start")])
def test_a_return_that_was_killed_goes_on(fleet: Fleet, shell: Callable[[str], str], verb: str) -> None:
    identity = engine(shell)
    stop(fleet)
    killed_at(shell, verb)
    assert restore(fleet)["failed"]
    shell("rm /usr/local/bin/docker")
    assert restore(fleet)["changed"]
    assert seen(shell, identity) == ("slb", "running", "on-failure:3")
    assert set_aside(fleet) is None


def test_it_is_not_put_back_in_the_place_of_another_nor_where_it_is_gone(
    fleet: Fleet, shell: Callable[[str], str]
) -> None:
    identity = engine(shell)
    stop(fleet)
    shell(f"docker create --name slb {' '.join(SERVE)}")
    refused = restore(fleet)
    assert refused["failed"]
    assert "taken by another one" in refused["msg"]
    shell(f"docker rm slb {identity}")
    assert "is gone" in restore(fleet)["msg"]
    looked = set_aside(fleet)
    assert looked is not None
    assert looked["exists"] is False


def test_of_two_that_take_it_away_at_once_one_does_it(fleet: Fleet, shell: Callable[[str], str]) -> None:
    identity = engine(shell)
    with ThreadPoolExecutor(2) as both:
        results = [each.result() for each in [both.submit(stop, fleet) for _ in range(2)]]
    assert sorted(result["changed"] for result in results) == [False, True], results
    name, state, policy = seen(shell, identity)
    assert (name[:13], state, policy) == ("slb-leftover-", "exited", "no:0")


def test_it_is_not_put_back_where_somebody_else_deploys_by_now(fleet: Fleet, shell: Callable[[str], str]) -> None:
    identity = engine(shell)
    stop(fleet)
    other = {"name": "edge-1", "manage_ip": "192.0.2.11", "base_url": "https://node.example.com"}
    assert fleet.module(HOST, "engine_record", state="requested", **other)["changed"]
    refused = restore(fleet, decided_about=0)
    assert refused["failed"]
    assert "Somebody else deploys on this host" in refused["msg"]
    assert seen(shell, identity)[0] != "slb"
    look = fleet.module(HOST, "host_info", subset=["record"])["slb_host"]["record"]
    assert look["state"] == "requested", "the other one's request is still noted"
    assert restore(fleet, decided_about=look["requested_at"])["restored"]


def test_one_that_deletes_itself_is_kept_unless_it_may_be_lost(fleet: Fleet, shell: Callable[[str], str]) -> None:
    identity = engine(shell, "--rm")
    look = fleet.module(HOST, "host_info", subset=["engine_container"])["slb_host"]["engine_container"]
    assert look["auto_remove"] is True
    refused = stop(fleet)
    assert refused["failed"]
    assert " remove: true" in refused["msg"]
    assert seen(shell, identity)[1] == "running"
    removed = stop(fleet, remove=True)
    assert removed["changed"], removed
    assert (removed["after"]["state"], removed["set_aside_as"]) == ("absent", None)
    assert shell("docker ps -aq") == ""
    assert set_aside(fleet) is None


@pytest.mark.parametrize(
    ("disk", "folder"), [("full", FACTS), ("read-only", NOTES), long("full", NOTES), long("read-only", FACTS)]
)
def test_a_disk_that_takes_nothing_stops_nothing(
    fleet: Fleet, shell: Callable[[str], str], folder: str, disk: str
) -> None:
    identity = engine(shell)
    shell(f"mkdir -p {folder}")
    if disk == "full":
        shell(f"mount -t tmpfs -o size=64k,mode=0755 none {folder}; cat /dev/zero > {folder}/filler || true")
    else:
        shell(f"mount --bind {folder} {folder} && mount -o remount,bind,ro {folder}")
    try:
        record = fleet.module(HOST, "host_info", subset=["record"])["slb_host"]["record"]
        assert (record["unwritable"] is None) == (folder != FACTS)
        assert stop(fleet)["failed"]
        assert seen(shell, identity) == ("slb", "running", "on-failure:3")
        assert set_aside(fleet) is None
    finally:
        shell(f"umount {folder}")
    assert stop(fleet)["changed"]


def test_a_note_that_cannot_be_used_does_not_hang_the_look_and_is_kept(
    fleet: Fleet, shell: Callable[[str], str]
) -> None:
    engine(shell)
    shell(f"mkdir -p $(dirname {NOTE}) && mkfifo {NOTE}")
    assert set_aside(fleet) is None
    assert "is not known" in restore(fleet)["msg"]
    assert stop(fleet)["changed"]
    looked = set_aside(fleet)
    assert looked is not None
    assert looked["exists"] is True
    assert shell(f"find {NOTE}.invalid-2* -type p") != ""
