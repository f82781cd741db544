"""The record on a host whose file system is really full."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from fleet import Fleet

HOST = "box"
FACTS = "/etc/ansible/facts.d"
ENGINE = {"name": "edge-1", "manage_ip": "192.0.2.11"}


@pytest.fixture(scope="module")
def fleet(make_fleet: Callable[[str, dict], Fleet]) -> Fleet:
    return make_fleet("records", {"hosts": {HOST: {"release": "bullseye"}}})


@pytest.fixture
def fill(fleet: Fleet) -> Iterator[Callable[[], None]]:
    """Gives the record a small file system of its own, which the call fills to the last byte."""
    host = fleet.lab.host(HOST)
    host.exec(["sh", "-c", f"mkdir -p {FACTS} && mount -t tmpfs -o size=64k none {FACTS}"])

    def fill() -> None:
        filled = host.exec(["sh", "-c", f"cat /dev/zero > {FACTS}/filler"], check=False)
        assert "No space left on device" in filled.stderr

    yield fill
    host.exec(["umount", FACTS])


def files(fleet: Fleet) -> dict[str, str]:
    """What lies beside the filler, by name."""
    host = fleet.lab.host(HOST)
    names = host.exec(["ls", "-A", "--ignore=filler", FACTS]).stdout.split()
    return {name: host.exec(["cat", f"{FACTS}/{name}"]).stdout for name in names}


def test_a_full_disk_keeps_the_old_record(fleet: Fleet, fill: Callable[[], None]) -> None:
    fleet.module(HOST, "engine_record", state="confirmed", container_id="c1", **ENGINE)
    before = files(fleet)
    fill()
    result = fleet.module(HOST, "engine_record", state="pending", **ENGINE)
    assert result["failed"]
    assert "No space left on device" in result["msg"]
    assert files(fleet) == before
    assert fleet.module(HOST, "host_info", subset=["record"])["slb_host"]["record"]["container_id"] == "c1"


def test_a_full_disk_has_no_half_record(fleet: Fleet, fill: Callable[[], None]) -> None:
    fill()
    assert fleet.module(HOST, "engine_record", state="pending", **ENGINE)["failed"]
    assert files(fleet) == {}
