"""An AWX double for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from awx_double import Awx, served
from operators import PLAYBOOKS, REPOSITORY, Operator


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[Operator]:
    awx = Awx()
    awx.repositories[REPOSITORY] = PLAYBOOKS
    with served(awx) as one:
        yield Operator(awx, one, tmp_path)
