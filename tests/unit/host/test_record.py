"""The record survives what a host can do to it, and says so where it did not."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._host import record


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "facts.d" / "slb_engine.fact"
    monkeypatch.setattr(record, "PATH", str(path))
    return path


def test_a_request_and_its_proof(path: Path) -> None:
    assert record.read() == {"state": "none"}
    record.pending("edge-1", "192.0.2.11", 1, False)
    pending = record.read()
    assert (pending["state"], pending["name"], pending["manage_ip"]) == ("pending", "edge-1", "192.0.2.11")
    assert 0 <= pending["age"] < 5
    record.confirmed("edge-1", "192.0.2.11", "c1", "host", False)
    confirmed = record.read()
    assert (confirmed["state"], confirmed["container_id"], confirmed["verified_by"]) == ("confirmed", "c1", "host")
    assert confirmed["requested_at"] == pending["requested_at"]
    assert not record.confirmed("edge-1", "192.0.2.11", "c1", "host", False).changed
    assert record.absent(False).changed
    assert not record.absent(False).changed


def test_an_engine_that_was_never_asked_for_can_be_recorded(path: Path) -> None:
    record.confirmed("edge-1", "192.0.2.11", "c1", "console", False)
    assert record.read()["verified_by"] == "console"


def test_check_mode_writes_nothing(path: Path) -> None:
    assert record.pending("edge-1", "192.0.2.11", 1, True).changed
    assert record.confirmed("edge-1", "192.0.2.11", "c1", "host", True).changed
    assert not path.parent.exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"state": "pending"}', '{"state": "lost"}', "\x00\x01"])
def test_a_damaged_record_is_invalid_not_none(path: Path, content: str) -> None:
    path.parent.mkdir()
    path.write_text(content)
    damaged = record.read()
    assert damaged["state"] == "invalid"
    assert str(path) in damaged["why"]


def test_a_full_disk_keeps_the_old_record(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record.confirmed("edge-1", "192.0.2.11", "c1", "host", False)
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(HostError, match="No space left"):
        record.pending("edge-1", "192.0.2.11", 1, False)
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_the_age_outlives_a_boot_and_a_clock_that_was_set_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record.pending("edge-1", "192.0.2.11", 1, False)
    noted = json.loads(path.read_text())
    path.write_text(json.dumps(dict(noted, requested_at=noted["requested_at"] + 10_000)))
    assert record.read()["age"] < 5
    monkeypatch.setattr(record, "_uptime", lambda: 300.0)
    path.write_text(json.dumps(dict(noted, boot_id="another boot", requested_at=noted["requested_at"] - 500)))
    assert 499 < record.read()["age"] < 600
    path.write_text(json.dumps(dict(noted, boot_id="another boot", requested_at=noted["requested_at"] + 10_000)))
    assert record.read()["age"] == 300.0, "it was asked for before this boot"


def test_a_note_that_somebody_else_has_written_since_is_neither_replaced_nor_taken_away(path: Path) -> None:
    first = record.pending("edge-1", "192.0.2.11", 1, False, decided_about=0).values["record"]
    before = path.read_bytes()
    with pytest.raises(HostError, match="run again to look anew"):
        record.pending("edge-1", "192.0.2.11", 1, False, decided_about=0)
    assert not record.absent(False, decided_about=first["requested_at"] - 1).changed
    assert path.read_bytes() == before
    assert record.absent(False, decided_about=first["requested_at"]).changed
    assert not path.exists()
