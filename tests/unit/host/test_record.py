"""The record survives what a host can do to it, and says so where it did not."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._host import containers, record
from ansible_collections.slb.fleet.plugins.module_utils._host.containers import Container
from ansible_collections.slb.fleet.plugins.module_utils._system import clock, processes

NODE = "https://node.example.com"
ENGINE = ("edge-1", "192.0.2.11", NODE)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "facts.d" / "slb_engine.fact"
    monkeypatch.setattr(record, "PATH", str(path))
    return path


def test_a_request_and_its_proof(path: Path) -> None:
    assert record.read() == {"state": "none"}
    record.pending(*ENGINE, 1, False)
    pending = record.read()
    assert pending["state"] == "requested"
    assert (pending["name"], pending["manage_ip"], pending["base_url"]) == ENGINE
    assert 0 <= pending["age"] < 5
    record.confirmed(*ENGINE, "c1", "host", False)
    confirmed = record.read()
    assert (confirmed["state"], confirmed["container_id"], confirmed["verified_by"]) == ("verified", "c1", "host")
    assert confirmed["requested_at"] == pending["requested_at"]
    assert not record.confirmed(*ENGINE, "c1", "host", False).changed
    assert record.absent(False).changed
    assert not record.absent(False).changed


def test_a_request_keeps_in_mind_that_the_engine_had_been_proven_until_it_is_proven_anew(path: Path) -> None:
    record.pending(*ENGINE, 1, False)
    assert not record.read().get("verified_before")
    record.confirmed(*ENGINE, "c1", "host", False)
    for attempt in (1, 2):
        record.pending(*ENGINE, attempt, False)
        assert record.read()["verified_before"] is True
    record.confirmed(*ENGINE, "c2", "host", False)
    assert "verified_before" not in record.read()
    record.pending("edge-2", *ENGINE[1:], 1, False)
    assert not record.read().get("verified_before")


def test_an_engine_that_was_never_asked_for_can_be_recorded(path: Path) -> None:
    record.confirmed(*ENGINE, "c1", "engine_list", False)
    assert record.read()["verified_by"] == "engine_list"


def test_check_mode_writes_nothing(path: Path) -> None:
    assert record.pending(*ENGINE, 1, True).changed
    assert record.confirmed(*ENGINE, "c1", "host", True).changed
    assert not path.parent.exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"state": "requested"}', '{"state": "lost"}', "\x00\x01"])
def test_a_damaged_record_is_invalid_not_none(path: Path, content: str) -> None:
    path.parent.mkdir()
    path.write_text(content)
    damaged = record.read()
    assert damaged["state"] == "invalid"
    assert str(path) in damaged["why"]


def test_a_full_disk_keeps_the_old_record(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record.confirmed(*ENGINE, "c1", "host", False)
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(HostError, match="No space left"):
        record.pending(*ENGINE, 1, False)
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_the_age_outlives_a_boot_and_a_clock_that_was_set_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record.pending(*ENGINE, 1, False)
    noted = json.loads(path.read_text())
    path.write_text(json.dumps(dict(noted, requested_at=noted["requested_at"] + 10_000)))
    assert record.read()["age"] < 5
    monkeypatch.setattr(clock, "uptime", lambda: 300.0)
    path.write_text(json.dumps(dict(noted, boot_id="another boot", requested_at=noted["requested_at"] - 500)))
    assert 499 < record.read()["age"] < 600
    path.write_text(json.dumps(dict(noted, boot_id="another boot", requested_at=noted["requested_at"] + 10_000)))
    assert record.read()["age"] == 300.0, "it was asked for before this boot"


def test_a_note_that_somebody_else_has_written_since_is_neither_replaced_nor_taken_away(path: Path) -> None:
    first = record.pending(*ENGINE, 1, False, decided_about=0).values["record"]
    before = path.read_bytes()
    with pytest.raises(HostError, match="run again to look anew") as refused:
        record.pending(*ENGINE, 1, False, decided_about=0)
    assert refused.value.values["overtaken"]
    assert not record.absent(False, decided_about=first["requested_at"] - 1).changed
    assert path.read_bytes() == before
    assert record.absent(False, decided_about=first["requested_at"]).changed
    assert not path.exists()


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_proof_of_another_engine_is_written_and_is_not_of_the_old_request(path: Path, place: int) -> None:
    asked = record.pending(*ENGINE, 3, False).values["record"]
    other = list(ENGINE)
    other[place] = "other"
    proof = record.confirmed(*other, "c1", "host", False)
    assert proof.changed
    assert record.read()["requested_at"] > asked["requested_at"]
    assert "attempt" not in record.read()
    assert record.confirmed(*ENGINE, "c1", "host", False).changed, "what it names differs"
    assert not record.confirmed(*ENGINE, "c1", "host", False).changed


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("state", ["requested"]),
        ("name", 7),
        ("manage_ip", None),
        ("base_url", {"a": 1}),
        ("attempt", "1"),
        ("attempt", True),
        ("requested_at", float("nan")),
        ("requested_at", True),
        ("uptime", float("inf")),
        ("uptime", 10**400),
        ("uptime", -1),
        ("container_id", 5),
        ("container_id", None),
        ("verified_by", "hearsay"),
        ("verified_by", ["host"]),
        ("verified_at", "yesterday"),
        ("name", "\ud800"),
    ],
)
def test_a_field_of_a_wrong_type_makes_it_invalid(path: Path, field: str, value: object) -> None:
    noted = record.confirmed(*ENGINE, "c1", "host", False).values["record"]
    path.write_text(json.dumps(dict(noted, **{field: value})))
    damaged = record.read()
    assert damaged["state"] == "invalid"
    assert f"({field})" in damaged["why"]


def test_what_is_not_ours_in_the_file_is_not_read(path: Path) -> None:
    noted = record.confirmed(*ENGINE, "c1", "host", False).values["record"]
    path.write_text(json.dumps(dict(noted, unwritable="so they say", ansible_host="192.0.2.66")))
    assert not {"unwritable", "ansible_host"} & set(record.read())


def test_a_file_that_is_too_large_or_too_deep_is_invalid(path: Path) -> None:
    noted = record.confirmed(*ENGINE, "c1", "host", False).values["record"]
    path.write_text(json.dumps(dict(noted, name="x" * 65536)))
    assert "larger than 65536 bytes" in record.read()["why"]
    path.write_text("[" * 60000)
    assert record.read()["state"] == "invalid"


@pytest.mark.parametrize("kind", ["fifo", "folder", "link"])
def test_what_is_no_regular_file_is_invalid_at_once_and_is_not_replaced(path: Path, kind: str) -> None:
    path.parent.mkdir()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(path.parent / "elsewhere")
    assert record.read()["state"] == "invalid"
    assert "no regular file" in str(record.unwritable())
    with pytest.raises(HostError, match="no regular file"):
        record.pending(*ENGINE, 1, False)
    with pytest.raises(HostError, match="no regular file"):
        record.require_writable(False)
    assert os.path.lexists(path)
    assert not path.is_file()


def test_that_it_could_be_written_is_told_without_writing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert record.unwritable() is None
    assert not path.parent.exists()
    real = os.statvfs(path.parents[1])

    class Statvfs:
        f_flag = real.f_flag
        f_frsize = 4096
        f_blocks = f_files = f_bfree = f_bavail = f_ffree = 100

    def says(**values: int) -> str | None:
        monkeypatch.setattr(os, "statvfs", lambda folder: type("It", (Statvfs,), values))
        return record.unwritable()

    assert says() is None
    assert "is full" in str(says(f_bfree=0, f_bavail=0))
    assert "too few inodes" in str(says(f_ffree=0))
    assert "read-only" in str(says(f_flag=real.f_flag | os.ST_RDONLY))
    assert says(f_blocks=0, f_bfree=0, f_bavail=0, f_files=0, f_ffree=0) is None, "some file systems count nothing"
    monkeypatch.setattr(os, "access", lambda folder, mode: False)
    assert "no permission" in str(says())


def test_check_mode_says_that_it_could_not_be_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda folder, mode: False)
    with pytest.raises(HostError, match="no permission"):
        record.pending(*ENGINE, 1, True)


def test_a_trial_leaves_nothing_behind_and_finds_the_full_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record.require_writable(False)
    assert list(path.parent.iterdir()) == []

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(HostError, match="No space left"):
        record.require_writable(False)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("state", ["running", "exited", "unknown"])
def test_nobody_asks_where_a_container_is_there_by_now(path: Path, monkeypatch: pytest.MonkeyPatch, state: str) -> None:
    monkeypatch.setattr(containers, "look", lambda: Container(state))
    with pytest.raises(HostError, match="Nobody asked; run again to look anew"):
        record.pending(*ENGINE, 1, False, container_absent=True)
    assert record.read() == {"state": "none"}
    monkeypatch.setattr(containers, "look", lambda: Container("absent"))
    assert record.pending(*ENGINE, 1, False, container_absent=True).changed


def test_whether_it_is_newer_than_the_request_does_not_follow_a_clock_that_is_set(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our own process stands for the container's: it began at a known uptime, whatever the clock says."""
    process = processes.look(os.getpid())
    assert process is not None
    began = process.began
    record.pending(*ENGINE, 1, False)
    noted = record.read()
    for clock_was_set in (-7200, 0, 7200):
        mine = Container("running", pid=os.getpid(), started_at=noted["requested_at"] + clock_was_set)
        assert record.after_request(dict(noted, uptime=began - 1), mine) is True
        assert record.after_request(dict(noted, uptime=began + 1), mine) is False
    # The kernel rounds the beginning down by up to a tick.
    assert record.after_request(dict(noted, uptime=began + 0.009), mine) is True
    assert record.after_request(dict(noted, uptime=began + 0.011), mine) is False


def test_the_clock_serves_where_the_uptime_cannot(path: Path) -> None:
    record.pending(*ENGINE, 1, False)
    noted = record.read()
    asked = noted["requested_at"]
    other_boot = dict(noted, boot_id="another boot")
    for case, container in (
        (other_boot, Container("running", pid=os.getpid())),
        (noted, Container("running", pid=2**22 + 1)),
        (noted, Container("exited")),
    ):
        assert record.after_request(case, container._replace(started_at=asked + 1)) is True
        assert record.after_request(case, container._replace(started_at=asked - 1)) is False


def test_without_a_record_or_a_start_there_is_no_answer(path: Path) -> None:
    running = Container("running", pid=os.getpid(), started_at=5.0)
    assert record.after_request(record.read(), running) is None
    path.parent.mkdir()
    path.write_text("{}")
    assert record.after_request(record.read(), running) is None
    record.pending(*ENGINE, 1, False)
    assert record.after_request(record.read(), Container("created")) is None
