"""Engine hosts that lie in whatever they answer, beside two that do not: they gain nothing, the others lose nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import lies
import pytest
from fleets import PLAYBOOKS, Account, Fleet
from lies import HONEST

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ADOPTING = {"slb_adopt_interfaces": True}
_honest: dict[Any, Account] = {}


@pytest.fixture
def fleet(tmp_path: Path, start: Callable[..., Any]) -> Fleet:
    return Fleet(tmp_path, start)


def honest(fleet: Fleet, playbook: str, *options: str, **keywords: Any) -> Account:
    """The run without liars: the same for all tests of this module that want it."""
    which = repr((playbook, options, keywords))
    if which not in _honest:
        _honest[which] = fleet.run(playbook, {}, *options, **keywords)
        assert _honest[which].run.status == 0, _honest[which].run.output[-3000:]
    return _honest[which]


def test_a_healthy_fleet(fleet: Fleet) -> None:
    """What the liars are compared with."""
    account = honest(fleet, "rollout", host_variables=ADOPTING)
    assert [account.run.report[host][:16] for host in HONEST] == ["verified by host"] * 2
    assert sum("add_slb_engine" in request for request in account.requests.elements()) == 2
    assert account.license is not None


@pytest.mark.parametrize("family", [lies.extra_keys, lies.words, lies.later_lies], ids=lambda family: family.__name__)
def test_a_rollout(fleet: Fleet, family: Callable[[lies.Trap], lies.Lies]) -> None:
    told = family(fleet.trap)
    cache = fleet.folder / "cache"
    kept = {"ANSIBLE_CACHE_PLUGIN": "jsonfile", "ANSIBLE_CACHE_PLUGIN_CONNECTION": str(cache)}
    account = fleet.run("rollout", told, host_variables=ADOPTING, **kept)
    fleet.assert_nothing_was_gained(account, honest(fleet, "rollout", host_variables=ADOPTING))
    facts = [fact for file in cache.glob("*edge-*") for fact in json.loads(file.read_text())]
    assert not [fact for fact in facts if not fact.startswith("_")], "a result of the collection has left a fact"


@pytest.mark.parametrize("family", [lies.wrong_values, lies.other_streams], ids=lambda family: family.__name__)
def test_what_cannot_be_used_fails_its_host_alone(fleet: Fleet, family: Callable[[lies.Trap], lies.Lies]) -> None:
    told = family(fleet.trap)
    account = fleet.run("diagnose", told)
    fleet.assert_nothing_was_gained(account, honest(fleet, "diagnose"))
    fleet.assert_each_liar_is_told(account, told, harmless=("before", "errors", "bytes", "failed", "surrogates"))


@pytest.mark.parametrize("playbook", PLAYBOOKS[1:])
def test_the_other_playbooks(fleet: Fleet, playbook: str) -> None:
    told = {f"{name} in a key": lie for name, lie in lies.extra_keys(fleet.trap).items()} | lies.words(fleet.trap)
    account = fleet.run(playbook, told)
    fleet.assert_nothing_was_gained(account, honest(fleet, playbook))
