"""The commands of the README are understood: each is there, with the options and arguments that it is given."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from slb_lab.cli import main

README = (Path(__file__).resolve().parents[1] / "README.md").read_text()
TYPED = re.findall(r"^\$ slb-lab (.*)$", README, re.MULTILINE)


@pytest.mark.parametrize("typed", TYPED)
def test_a_command_is_understood(typed: str) -> None:
    """Without being done: wrong usage ends before."""
    name, *words = shlex.split(typed, comments=True)
    main.commands[name].make_context(name, words)


def test_the_table_has_each_command() -> None:
    assert TYPED
    assert set(main.commands) == set(re.findall(r"^\| `(\w+)", README.split("## Topology")[0], re.MULTILINE))
