"""What an operator of AWX meets: a job without requests or credentials; and what is touched then: nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from fleets import Account, Fleet

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CHANGES = ("motd", "engine_container", "engine_record", "interface")


@pytest.fixture
def fleet(tmp_path: Path, start: Callable[..., Any]) -> Fleet:
    return Fleet(tmp_path, start)


def assert_nothing_was_touched(account: Account) -> None:
    """On no host, and no installation was requested."""
    changed = [
        (host, task, how)
        for host, results in account.run.results.items()
        for task, how, result in results
        if result.get("changed")
    ]
    assert changed == []
    assert not any("add_slb_engine" in request for request in account.requests.elements())


def test_an_execution_environment_without_requests(fleet: Fleet) -> None:
    (fleet.folder / "sitecustomize.py").write_text(
        "import sys\nsys.modules['requests'] = sys.modules['urllib3'] = None\n"
    )
    account = fleet.run("rollout", {}, "-e", "slb_license_dest=", PYTHONPATH=str(fleet.folder))
    assert account.run.status != 0
    assert "Python package requests missing" in account.run.output
    assert_nothing_was_touched(account)


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"slb_password": ""}, "password"),
        ({"slb_base_url": "", "slb_username": "", "slb_password": ""}, "slb_base_url"),
    ],
)
def test_a_template_without_its_credential(fleet: Fleet, variables: dict[str, str], words: str) -> None:
    account = fleet.run("rollout", {}, "-e", json.dumps({**variables, "slb_license_dest": ""}))
    assert account.run.status != 0
    assert words in account.run.output
    assert_nothing_was_touched(account)
