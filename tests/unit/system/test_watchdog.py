"""Whoever is watched gives signs of life, again and again, where systemd waits for them."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._system import watchdog


@pytest.mark.parametrize("has_a_file", [True, False])
def test_signs_come_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_a_file: bool) -> None:
    monkeypatch.setattr(watchdog, "SECONDS", 0.05)
    address = str(tmp_path / "notify") if has_a_file else f"\0test-watchdog-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(address)
        systemd.settimeout(30)
        monkeypatch.setenv("NOTIFY_SOCKET", address.replace("\0", "@"))
        watchdog.give_signs_of_life()
        assert [systemd.recv(100) for _ in range(3)] == [b"WATCHDOG=1"] * 3
    assert "NOTIFY_SOCKET" not in os.environ, "what it runs would be heard in its place"
