"""Every way in which Ansible lets a host set a variable, and what says where credentials go and which file is written.

What a host can do by itself is refused, or has no effect. What only an operator's own play can do for it is that play's
word, which nothing tells from the inventory's: those tests say so in their names, and SECURITY.md does.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import lies
import pytest
from fleets import Account, Fleet
from lies import HONEST

from playbooks import Controller

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TRANSFERRED = {"ANSIBLE_PIPELINING": "0"}
PLAYBOOKS = ("rollout", "adopt_interfaces", "download_license", "try_engine_listing")
REFUSED = "of this host is one of its facts, and no host decides where credentials go"


@pytest.fixture
def fleet(tmp_path: Path, start: Callable[..., Any]) -> Fleet:
    return Fleet(tmp_path, start)


def before(*tasks: dict[str, Any], **keywords: Any) -> list[dict[str, Any]]:
    """Somebody else's play."""
    named = [{"name": f"Somebody else's task {number}", **task} for number, task in enumerate(tasks, 1)]
    return [{"hosts": "engines", "gather_facts": False, "ignore_errors": True, "tasks": named, **keywords}]


def facts_of(trap: lies.Trap) -> lies.Lies:
    """Each in an answer to a module of Ansible's own."""
    evil = trap.variables
    ours = {name: value for name, value in evil.items() if name.startswith("slb_")}
    modules = ("setup", "ping", "command")

    def one(**values: Any) -> Any:
        return lies.answering(lambda said: {**said, **values}, *modules)

    return {
        "facts": one(ansible_facts=evil),
        "under two names": one(ansible_facts={**ours, **{f"ansible_{name}": "nothing" for name in ours}}),
        "in the other order": one(ansible_facts={**{f"ansible_{name}": "nothing" for name in ours}, **ours}),
        "the same as is so": one(ansible_facts={"slb_username": "admin", "slb_engine_name": "edge-1"}),
        "private": one(ansible_facts={"__slb_done": {"overtaken": "x"}, "__slb_dest": evil["slb_license_dest"]}),
        "without facts": one(ansible_facts={"ansible_facts": {}, **ours}),
    }


def harmless_ways(trap: lies.Trap) -> lies.Lies:
    """These set no variable of that name."""
    evil = trap.variables
    modules = ("setup", "ping", "command")

    def one(**values: Any) -> Any:
        return lies.answering(lambda said: {**said, **values}, *modules)

    return {
        "local facts": one(ansible_facts={"ansible_local": {**evil, "slb_engine": evil}}),
        "result": one(**{name: value for name, value in evil.items() if not name.startswith("ansible_")}),
        "stats": one(ansible_stats={"data": evil, "per_host": False, "aggregate": False}),
        "included": one(ansible_included_var_files=[f"{trap.folder}/authorized_keys"], include_variables=evil),
        "hosts": one(add_host={"host_name": "edge-1", "groups": ["engines"], "host_vars": evil}, add_group="engines"),
    }


GATHER = before({"ansible.builtin.setup": {}}, {"ansible.builtin.command": "true", "register": "said"})


WAYS: dict[str, list[dict[str, Any]]] = {
    "gathered by the play": before(gather_facts=True),
    "in a loop": before({"ansible.builtin.ping": {}, "loop": [1, 2]}),
    "after another try": before({"ansible.builtin.ping": {}, "until": "true", "retries": 2, "register": "said"}),
    "in a handler": before(
        {"ansible.builtin.debug": {"msg": ""}, "changed_when": True, "notify": "ask"},
        handlers=[{"name": "ask", "ansible.builtin.ping": {}}],
    ),
    "by its own name": before(
        {"ansible.builtin.ping": {}, "delegate_to": "{{ inventory_hostname }}", "delegate_facts": True}
    ),
    "for all at once": before({"ansible.builtin.ping": {}, "run_once": True}, hosts="edge-3,edge-4"),
}


@pytest.mark.parametrize("way", WAYS)
def test_facts_are_refused_however_they_were_asked_for(fleet: Fleet, way: str) -> None:
    told = {name: lie for name, lie in facts_of(fleet.trap).items() if name in ("facts", "without facts")}
    account = fleet.run("diagnose", told, before=WAYS[way])
    assert fleet.evil.connections == 0
    assert all(REFUSED in account.run.report[f"edge-{number}"] for number, _ in enumerate(told, 3))


def test_what_a_delegated_task_brings_is_refused_for_the_host_for_which_it_asked(fleet: Fleet) -> None:
    """Ansible gives another host's facts to that one; they decide nothing for it either."""
    task = {"ansible.builtin.ping": {}, "delegate_to": "edge-3"}
    told = {"facts": facts_of(fleet.trap)["facts"]}
    account = fleet.run("try_engine_listing", told, before=before(task, hosts="edge-1"))
    assert fleet.evil.connections == 0
    assert REFUSED in account.run.report["edge-1"]
    assert account.run.report["edge-2"] == fleet.run("try_engine_listing").run.report["edge-2"]


@pytest.mark.parametrize("playbook", PLAYBOOKS)
def test_facts_of_a_host_are_refused(fleet: Fleet, playbook: str) -> None:
    told = facts_of(fleet.trap)
    account = fleet.run(playbook, told, before=GATHER)
    fleet.assert_nothing_was_gained(account, fleet.run(playbook, before=GATHER))
    fleet.assert_each_liar_is_told(account, told)
    assert all(REFUSED in account.run.report[f"edge-{number}"] for number, _ in enumerate(told, 3))


@pytest.mark.parametrize("playbook", PLAYBOOKS[2:])
def test_they_are_refused_where_the_liar_is_the_first(fleet: Fleet, playbook: str) -> None:
    """What is done once for all hosts is not done with its variables."""
    account = fleet.run(playbook, facts_of(fleet.trap), before=GATHER, liars_first=True)
    honest = fleet.run(playbook, before=GATHER)
    assert fleet.evil.connections == 0
    assert account.license == honest.license
    for host in HONEST:
        assert account.run.report[host].split("|")[0] == honest.run.report[host].split("|")[0]


def test_what_is_not_a_fact_sets_no_variable(fleet: Fleet) -> None:
    told = harmless_ways(fleet.trap)
    account = fleet.run("diagnose", told, before=GATHER)
    fleet.assert_nothing_was_gained(account, fleet.run("diagnose", before=GATHER))
    assert not any(account.run.report[f"edge-{number}"].startswith("verified") for number, _ in enumerate(told, 3))


def test_a_fact_cache_keeps_no_lie(fleet: Fleet) -> None:
    """The second run gathers nothing; what the first one kept is refused, and is told."""

    def twice(told: lies.Lies, name: str) -> Account:
        home = fleet.folder / name
        home.mkdir()
        cache = {
            "ANSIBLE_CACHE_PLUGIN": "jsonfile",
            "ANSIBLE_CACHE_PLUGIN_CONNECTION": str(fleet.folder / f"{name}-cache"),
        }
        fleet.run("diagnose", told, before=GATHER, controller=Controller(home), **cache)
        return fleet.run("diagnose", told, controller=Controller(home), **cache)

    told = facts_of(fleet.trap)
    account = twice(told, "lied-to")
    fleet.assert_nothing_was_gained(account, twice({}, "honest"))
    fleet.assert_each_liar_is_told(account, told)
    assert account.run.output.count(REFUSED) >= len(told)


@pytest.mark.parametrize("pipelining", ["1", "0"])
def test_the_host_names_its_python(fleet: Fleet, pipelining: str) -> None:
    unknown = {"ansible_python_interpreter": "auto"}
    told = lies.false_interpreters(fleet.trap)
    account = fleet.run("diagnose", told, host_variables=unknown, ANSIBLE_PIPELINING=pipelining)
    honest = fleet.run("diagnose", host_variables=unknown, ANSIBLE_PIPELINING=pipelining)
    fleet.assert_nothing_was_gained(account, honest)


def test_the_host_names_its_temporary_folder(fleet: Fleet) -> None:
    told = lies.false_folders(fleet.trap)
    account = fleet.run("diagnose", told, **TRANSFERRED)
    fleet.assert_nothing_was_gained(account, fleet.run("diagnose", **TRANSFERRED))


def test_words_of_other_modules_are_shown_in_the_report_as_they_can_be(fleet: Fleet) -> None:
    """Ansible's own lines about somebody else's task are Ansible's; the report is not."""
    words = f"{lies.ESCAPES}\n{lies.FORGED}"
    fate = {"action": "nothing", "verified_by": "console", "evidence": 5}

    def one(**values: Any) -> Any:
        return lies.answering(lambda said: {**said, **values}, "ping")

    told: lies.Lies = {
        "words": one(failed=True, msg=words),
        "mapping": one(failed=True, msg={words: [words]}),
        "long": one(failed=True, msg=words * 3000),
        "fate": one(fate=fate),
        "no fate": one(fate=5, slb_host=5),
        "proven": one(fate={**fate, "evidence": ["I say so"]}),
    }
    plays = before({"ansible.builtin.ping": {}}, ignore_errors=False)
    account = fleet.run("diagnose", told, before=plays)
    report = account.run.output.partition("FLEET REPORT")[2]
    assert report
    honest = fleet.run("diagnose", before=plays).run.report
    assert {host: account.run.report[host] for host in HONEST} == {host: honest[host] for host in HONEST}
    assert "console" not in account.run.report["edge-8"].split("  ")[0]
    for number in (3, 4, 5):
        # They failed in somebody else's play, and never came to ours.
        assert account.run.report[f"edge-{number}"].startswith(("failed", "not attempted"))


def test_no_file_is_sent_by_a_program_that_the_host_has_named(fleet: Fleet) -> None:
    """Ansible takes away most variables of a connection that are facts, and not these."""
    program = f"{fleet.trap.folder}/program"
    facts = {"ansible_sftp_executable": program, "ansible_scp_executable": program}
    told: lies.Lies = {"programs": lies.answering(lambda said: {**said, "ansible_facts": facts}, "setup")}
    gather = before({"ansible.builtin.setup": {}}, vars={"ansible_pipelining": True})
    run = {**TRANSFERRED, "ANSIBLE_SSH_TRANSFER_METHOD": "smart"}
    account = fleet.run("diagnose", told, "--limit", "edge-3", before=gather, **run)
    assert REFUSED in account.run.report["edge-3"]
    assert not (fleet.trap.folder / "ran").exists()


# The operator's own doing: nothing tells it from the inventory.


def test_include_vars_of_a_fetched_file_is_the_operators_word(fleet: Fleet) -> None:
    fetched = fleet.folder / "fetched.json"
    fetched.write_text(json.dumps({"slb_base_url": fleet.evil.base_url, "slb_tls_fingerprint": fleet.trap.fingerprint}))
    account = fleet.run("try_engine_listing", before=before({"ansible.builtin.include_vars": str(fetched)}))
    assert fleet.evil.connections > 0
    assert not any("login" in request for request in account.requests)


@pytest.mark.parametrize("how", ["set_fact", "add_host"])
def test_a_play_that_makes_a_variable_of_what_a_host_said_is_the_operators_word(fleet: Fleet, how: str) -> None:
    url, pin = "{{ said.stdout.split()[0] }}", "{{ said.stdout.split()[1] }}"
    given = {"slb_base_url": url, "slb_tls_fingerprint": pin}
    tasks: dict[str, dict[str, Any]] = {
        "set_fact": {"ansible.builtin.set_fact": given},
        "add_host": {"ansible.builtin.add_host": {"name": "{{ inventory_hostname }}", **given}},
    }
    words = f"{fleet.evil.base_url} {fleet.trap.fingerprint}"
    told = {"url": lies.answering(lambda said: {**said, "stdout": words}, "command")}
    plays = before({"ansible.builtin.command": "true", "register": "said"}, tasks[how])
    fleet.run("try_engine_listing", told, "--limit", "edge-3", before=plays)
    assert fleet.evil.connections > 0
