"""What the tests of what is said to a console share."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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
