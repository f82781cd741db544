"""Engine hosts that lie in whatever they answer, beside two that do not: they gain nothing, the others lose nothing."""

from __future__ import annotations

import base64
import html
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import lies
import pytest
from engine_host import Reply, result
from fake_node import PASSWORD
from fleets import LISTING, PLAYBOOKS, Fleet
from lies import HONEST

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine_host import Lie

    Family = Callable[[lies.Trap], lies.Lies]

ADOPTING = {"slb_adopt_interfaces": True}


@pytest.fixture
def fleet(tmp_path: Path, start: Callable[..., Any]) -> Fleet:
    return Fleet(tmp_path, start)


def test_no_playbook_for_hosts_is_forgotten() -> None:
    others = {"merge_reports", "awx_setup"}
    folder = Path(__file__).resolve().parents[2] / "playbooks"
    assert {path.stem for path in folder.glob("*.yml")} == {*PLAYBOOKS, *others}
    assert {playbook for playbook, _liars, _failing in TOLD} == set(PLAYBOOKS)
    assert all("hosts: localhost" in (folder / f"{name}.yml").read_text() for name in others)


def test_a_healthy_fleet(fleet: Fleet) -> None:
    """What the liars are compared with."""
    account = fleet.honest("rollout", host_variables=ADOPTING)
    assert [account.run.report[host][:16] for host in HONEST] == ["verified by host"] * 2
    assert sum("add_slb_engine" in request for request in account.requests.elements()) == 2
    assert account.license is not None


def told_by(trap: lies.Trap, families: Sequence[Family]) -> lies.Lies:
    """By a host for each lie, all of them in one run."""
    return {f"{name}, {family.__name__}": lie for family in families for name, lie in family(trap).items()}


def test_a_rollout(fleet: Fleet) -> None:
    told = told_by(fleet.trap, [lies.extra_keys, lies.words, lies.later_lies])
    cache = fleet.folder / "cache"
    kept = {"ANSIBLE_CACHE_PLUGIN": "jsonfile", "ANSIBLE_CACHE_PLUGIN_CONNECTION": str(cache)}
    account = fleet.run("rollout", told, host_variables=ADOPTING, **kept)
    fleet.assert_nothing_was_gained(account, fleet.honest("rollout", host_variables=ADOPTING))
    facts = [fact for file in cache.glob("*edge-*") for fact in json.loads(file.read_text())]
    assert not [fact for fact in facts if not fact.startswith("_")], "a result of the collection has left a fact"


KEYS = (lies.extra_keys, lies.words)
# For each run of a playbook, who lies to it; and of those who end as failed.
TOLD: list[tuple[str, Sequence[Family], Sequence[Family]]] = [
    ("rollout", (lies.wrong_values, lies.other_streams), (lies.wrong_values,)),
    ("diagnose", (lies.wrong_values, lies.other_streams, *KEYS), (lies.wrong_values, lies.other_streams)),
    # Whatever they say besides: their looks show no engine.
    ("audit", KEYS, KEYS),
    ("audit", (lies.wrong_values, lies.other_streams), (lies.wrong_values,)),
    ("remediate", (lies.other_streams, *KEYS), ()),
    ("adopt_interfaces", (lies.other_streams, *KEYS), ()),
    ("download_license", KEYS, ()),
    ("show_engine_list", KEYS, ()),
]
HARMLESS = {f"{name}, other_streams" for name in ("before", "errors", "bytes", "failed", "surrogates")} | {
    f"{name}, wrong_values"
    for name in ("record-of-nothing", "record-without-age", "uptime", "large", "ports", "deep", "set-aside")
}


@pytest.mark.parametrize(("playbook", "liars", "failing"), TOLD)
def test_what_cannot_be_used_fails_its_host_alone(
    fleet: Fleet, playbook: str, liars: Sequence[Family], failing: Sequence[Family]
) -> None:
    told = told_by(fleet.trap, liars)
    account = fleet.run(playbook, told)
    fleet.assert_nothing_was_gained(account, fleet.honest(playbook))
    if failing:
        others = told.keys() - told_by(fleet.trap, failing).keys()
        fleet.assert_each_liar_is_told(account, told, harmless=sorted(HARMLESS | others))
    if playbook == "audit" and liars == KEYS:
        assert account.run.status == 2


def test_a_task_that_somebody_delegates_to_one_of_them(fleet: Fleet) -> None:
    """A delegated host gets the password, but its result stays untrusted."""
    evil = lies.extra_keys(fleet.trap)
    told = {"facts": evil["facts"], "words": evil["words"], "silent": lies.replying(stdout=b"")}
    tasks = [
        {
            "name": f"Ask one that tells {name}",
            "slb.fleet.engine_info": {"engine_list": LISTING},
            "delegate_to": f"edge-{number}",
            "ignore_errors": True,
        }
        for number, name in enumerate(told, 3)
    ]
    plays = [{"hosts": ",".join(HONEST), "gather_facts": False, "tasks": tasks}]
    account = fleet.run("diagnose", told, before=plays)
    assert fleet.evil.connections == 0
    account.run.assert_visible()
    assert "Traceback" not in account.run.output
    for host in HONEST:
        asked, others = account.run.results[host][: len(told)], account.run.results[host][len(told) :]
        assert [how for _task, how, _result in asked] == ["ok", "ok", "failed"], asked
        for _task, _how, said in asked:
            taken = {key for key in said if not key.startswith("_ansible_")}
            assert taken <= {"msg", "changed", "engines", "unmapped", "failed", "diff", "code", "summary", "fix"}, asked
        assert others == fleet.honest("diagnose").run.results[host]


ECHOES: dict[str, Any] = {
    "words": lambda told, honest: result({"msg": f"I was told {told}", "engines": []}),
    "keys": lambda told, honest: result({"engines": [{f"{told}": 1, "name": told}], "unmapped": [told]}),
    "base64": lambda told, honest: result({"msg": base64.b64encode(told.encode()).decode()}),
    "escaped": lambda told, honest: result({"msg": html.escape(told) + json.dumps(told) + quote(told), "engines": []}),
    "failed": lambda told, honest: result({"msg": told, "failed": True, "module_stderr": told}),
    "wrong": lambda told, honest: result({"engines": told}),
    "before": lambda told, honest: replace(honest, stdout=told.encode() + b"\n" + honest.stdout),
    "no answer": lambda told, honest: Reply(stdout=told.encode(), stderr=told.encode(), status=1),
    "cut": lambda told, honest: Reply(stderr=told.encode() + b"\n", status=255),
}


@pytest.mark.parametrize("option", ["password", "sessionid"])
def test_one_of_them_that_sends_back_what_it_was_told(fleet: Fleet, option: str) -> None:
    secret = {"password": PASSWORD, "sessionid": "s3ss10n-that-is-nobodys"}[option]

    def echo(name: str) -> Lie:
        return lambda ask, honest: ECHOES[name](ask.arguments[option], honest) if option in ask.arguments else honest

    options = {"engine_list": LISTING, **({"sessionid": secret} if option == "sessionid" else {})}
    asks = [
        {"slb.fleet.engine_info": options, "delegate_to": f"edge-{number}", "register": f"told_{number}"}
        for number, _name in enumerate(ECHOES, 3)
    ]
    shown = [{"ansible.builtin.debug": {"var": f"told_{number}"}} for number, _name in enumerate(ECHOES, 3)]
    keywords = {"gather_facts": False, "ignore_unreachable": True, "ignore_errors": True}
    plays = [{"hosts": "edge-1", "tasks": [*asks, *shown], **keywords}]
    account = fleet.run("diagnose", {name: echo(name) for name in ECHOES}, "-v", before=plays)
    assert len(account.run.results["edge-1"]) >= len(asks) + len(shown)
    for words in (account.run.output, json.dumps(account.run.results, ensure_ascii=False)):
        assert "********" in words
        for form in (secret, html.escape(secret), json.dumps(secret)[1:-1], quote(secret), secret[:8]):
            assert form not in words, words[max(0, words.index(form) - 500) :][:800]
        assert base64.b64encode(secret.encode()).decode() not in words
