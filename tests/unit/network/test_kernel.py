"""The kernel's interfaces, which come and go while they are looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._network import kernel


def test_settings_that_are_not_there_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "_SETTINGS", str(tmp_path / "{}-{}"))
    (tmp_path / "ipv6-ens9").mkdir()
    kernel.set_setting("ens9", "ipv6", "accept_ra", "2")
    (tmp_path / "ipv6-ens9" / "mtu").write_text("1500")
    assert kernel.settings("ens9", "ipv6") == {"accept_ra": "2"}
    assert kernel.settings("ens9", "ipv4") == kernel.settings("ens10", "ipv6") == {}


def test_tokens_are_the_same_however_they_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    said = [{"token": "::", "ifname": "a"}, {"token": "::0:1", "ifname": "b"}, {}]
    monkeypatch.setattr(kernel, "ip_json", lambda *_: said)
    assert kernel.tokens() == {"b": "::1"}


def test_an_interface_that_vanishes_while_it_is_looked_at_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ens9").mkdir()
    (tmp_path / "ens9" / "lower_ens1").touch()
    (tmp_path / "veth7").mkdir()
    monkeypatch.setattr(kernel, "_CLASS", str(tmp_path))
    monkeypatch.setattr(kernel, "ip_json", lambda *_: [])
    listed = kernel.os.listdir

    def listdir(folder: str) -> list[str]:
        if folder.endswith("veth7"):
            raise FileNotFoundError(folder)
        return listed(folder)

    monkeypatch.setattr(kernel.os, "listdir", listdir)
    assert {nic.name: nic.lower for nic in kernel.nics()} == {"ens9": ["ens1"], "veth7": []}
