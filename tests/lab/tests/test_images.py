"""What the hosts' images are made of is signed by Debian's keys, or it is not used."""

from pathlib import Path

import pytest
from slb_lab.errors import LabError
from slb_lab.hosts import images


def test_an_archive_that_is_signed_by_other_keys_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    others = Path("/usr/share/keyrings/debian-archive-bullseye-automatic.gpg")
    monkeypatch.setattr(images, "_KEYRING", others)
    with pytest.raises(LabError, match="signed by unknown key"):
        images._bootstrap("trixie", "slb-lab-base:never")


def test_without_the_keys_nothing_is_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(images, "_KEYRING", tmp_path / "missing.gpg")
    with pytest.raises(LabError, match="Install debian-archive-keyring"):
        images._bootstrap("trixie", "slb-lab-base:never")
