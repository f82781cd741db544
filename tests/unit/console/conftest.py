"""A loaded machine is slow, which is no fault of the code: hypothesis sets no deadline here."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")


@pytest.fixture
def closed_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that the test, which is nobody while it runs, may not search."""
    folder = tmp_path / "closed"
    folder.mkdir(mode=0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    yield folder
    os.seteuid(user)
    folder.chmod(0o700)
