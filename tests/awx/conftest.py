"""An AWX double for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from awx_double import served
from operators import Operator, empty_awx


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[Operator]:
    awx = empty_awx()
    with served(awx) as one:
        yield Operator(awx, one, tmp_path)
