"""The record on a host whose file system is really full."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fleet import Fleet

HOST = "box"
FACTS = "/etc/ansible/facts.d"
ENGINE = {"name": "edge-1", "manage_ip": "192.0.2.11", "base_url": "https://node.example.com"}


@pytest.fixture(scope="module")
def fleet(make_fleet: Callable[[str, dict], Fleet]) -> Fleet:
    return make_fleet("records", {"hosts": {HOST: {"release": "bullseye"}}})


@pytest.fixture
def fill(fleet: Fleet) -> Iterator[Callable[[], None]]:
    """Gives the record a small file system of its own, which the call fills to the last byte."""
    host = fleet.lab.host(HOST)
    host.exec(["sh", "-c", f"mkdir -p {FACTS} && mount -t tmpfs -o size=64k,mode=0755 none {FACTS}"])

    def fill() -> None:
        filled = host.exec(["sh", "-c", f"cat /dev/zero > {FACTS}/filler"], check=False)
        assert "No space left on device" in filled.stderr

    yield fill
    host.exec(["umount", FACTS])


def noted(fleet: Fleet) -> dict[str, Any]:
    return fleet.module(HOST, "host_info", subset=["record"])["slb_host"]["record"]


def files(fleet: Fleet) -> dict[str, str]:
    """What lies beside the filler, by name."""
    host = fleet.lab.host(HOST)
    names = host.exec(["ls", "-A", "--ignore=filler", FACTS]).stdout.split()
    return {name: host.exec(["cat", f"{FACTS}/{name}"]).stdout for name in names}


def test_a_full_disk_keeps_the_old_record(fleet: Fleet, fill: Callable[[], None]) -> None:
    fleet.module(HOST, "engine_record", state="verified", container_id="c1", **ENGINE)
    before = files(fleet)
    fill()
    result = fleet.module(HOST, "engine_record", state="requested", **ENGINE)
    assert result["failed"]
    assert "No space left on device" in result["msg"]
    assert files(fleet) == before
    assert noted(fleet)["container_id"] == "c1"
    assert "is full" in noted(fleet)["unwritable"]


def test_a_full_disk_has_no_half_record(fleet: Fleet, fill: Callable[[], None]) -> None:
    fill()
    assert fleet.module(HOST, "engine_record", state="requested", **ENGINE)["failed"]
    assert files(fleet) == {}


def test_a_fifo_in_its_place_does_not_hang_the_look(fleet: Fleet) -> None:
    host = fleet.lab.host(HOST)
    host.exec(["sh", "-c", f"mkdir -p {FACTS} && mkfifo {FACTS}/slb_engine.fact"])
    try:
        seen = noted(fleet)
        assert seen["state"] == "invalid"
        assert "no regular file" in seen["why"]
        assert "no regular file" in seen["unwritable"]
        assert fleet.module(HOST, "engine_record", state="requested", **ENGINE)["failed"]
        host.exec(["test", "-p", f"{FACTS}/slb_engine.fact"])
    finally:
        host.exec(["rm", f"{FACTS}/slb_engine.fact"])


def test_nobody_asks_where_a_container_is_there_by_now(fleet: Fleet) -> None:
    host = fleet.lab.host(HOST)
    host.exec(["docker", "create", "--name", "slb", "slb:1", "/bin/true"])
    refused = fleet.module(HOST, "engine_record", state="requested", container_absent=True, **ENGINE)
    assert refused["failed"]
    assert "Nobody asked; run again to look anew" in refused["msg"]
    assert noted(fleet)["state"] == "none"
    host.exec(["docker", "rm", "slb"])
    assert fleet.module(HOST, "engine_record", state="requested", container_absent=True, **ENGINE)["changed"]
    assert (noted(fleet)["base_url"], noted(fleet)["unwritable"]) == (ENGINE["base_url"], None)


def test_the_management_node_has_to_be_named(fleet: Fleet) -> None:
    engine = {key: value for key, value in ENGINE.items() if key != "base_url"}
    assert "base_url" in fleet.module(HOST, "engine_record", state="requested", **engine)["msg"]
