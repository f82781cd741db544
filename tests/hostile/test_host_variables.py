"""Every way in which Ansible lets a host set a variable, and what says where credentials go and which file is written.

What a host can do by itself is refused, or has no effect. What only an operator's own play can do for it is that play's
word, which nothing tells from the inventory's: those tests say so in their names, and SECURITY.md does.
"""

from __future__ import annotations

import json
import re
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
PLAYBOOKS = ("rollout", "adopt_interfaces", "download_license", "show_engine_list")
REFUSED = "rejected: it is a fact of this host"


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
        "under two names": one(ansible_facts={**ours, **{f"ansible_{name}": "none" for name in ours}}),
        "in the other order": one(ansible_facts={**{f"ansible_{name}": "none" for name in ours}, **ours}),
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
    "for all at once": before({"ansible.builtin.ping": {}, "run_once": True}),
}


def test_facts_are_refused_however_they_were_asked_for(fleet: Fleet) -> None:
    """Each way with two liars of its own."""
    told: lies.Lies = {}
    plays: list[dict[str, Any]] = []
    for way, asked in WAYS.items():
        own = f"edge-{len(told) + 3},edge-{len(told) + 4}"
        plays += [{**play, "hosts": own} for play in asked]
        facts = facts_of(fleet.trap)
        told |= {f"{name}, {way}": facts[name] for name in ("facts", "without facts")}
    account = fleet.run("diagnose", told, before=plays)
    assert fleet.evil.connections == 0
    for number, name in enumerate(told, 3):
        assert REFUSED in account.run.report[f"edge-{number}"], name


def test_what_a_delegated_task_brings_is_refused_for_the_host_for_which_it_asked(fleet: Fleet) -> None:
    """Ansible gives another host's facts to that one; they decide nothing for it either."""
    task = {"ansible.builtin.ping": {}, "delegate_to": "edge-3"}
    told = {"facts": facts_of(fleet.trap)["facts"]}
    account = fleet.run("show_engine_list", told, before=before(task, hosts="edge-1"))
    assert fleet.evil.connections == 0
    assert REFUSED in account.run.report["edge-1"]
    assert account.run.report["edge-2"] == fleet.honest("show_engine_list").run.report["edge-2"]


@pytest.mark.parametrize("playbook", PLAYBOOKS)
def test_facts_of_a_host_are_refused(fleet: Fleet, playbook: str) -> None:
    told = facts_of(fleet.trap)
    account = fleet.run(playbook, told, before=GATHER)
    fleet.assert_nothing_was_gained(account, fleet.honest(playbook, before=GATHER))
    fleet.assert_each_liar_is_told(account, told)
    assert all(REFUSED in account.run.report[f"edge-{number}"] for number, _ in enumerate(told, 3))


@pytest.mark.parametrize("playbook", PLAYBOOKS[2:])
def test_they_are_refused_where_the_liar_is_the_first(fleet: Fleet, playbook: str) -> None:
    """What is done once for all hosts is not done with its variables."""
    account = fleet.run(playbook, facts_of(fleet.trap), before=GATHER, liars_first=True)
    honest = fleet.honest(playbook, before=GATHER)
    assert fleet.evil.connections == 0
    assert account.license == honest.license
    for host in HONEST:
        assert account.run.report[host].split("|")[0] == honest.run.report[host].split("|")[0]


def test_what_is_not_a_fact_sets_no_variable(fleet: Fleet) -> None:
    told = harmless_ways(fleet.trap)
    account = fleet.run("diagnose", told, before=GATHER)
    fleet.assert_nothing_was_gained(account, fleet.honest("diagnose", before=GATHER))
    assert not any(account.run.report[f"edge-{number}"].startswith("verified") for number, _ in enumerate(told, 3))


def publishing(trap: lies.Trap, *modules: str) -> lies.Lies:
    stats = {"data": {"slb_base_url": trap.base_url}, "per_host": False, "aggregate": False}
    return {"stats": lies.answering(lambda said: {**said, "ansible_stats": stats}, *modules)}


def test_no_host_publishes_an_artifact(fleet: Fleet) -> None:
    """Which would be a variable of the next job in a workflow of AWX."""
    told = publishing(fleet.trap)
    account = fleet.run("rollout", told, ANSIBLE_SHOW_CUSTOM_STATS="1")
    assert account.run.report["edge-3"].startswith("verified"), account.run.report
    assert fleet.trap.base_url not in account.run.output


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
    honest = fleet.honest("diagnose", host_variables=unknown, ANSIBLE_PIPELINING=pipelining)
    fleet.assert_nothing_was_gained(account, honest)


def test_the_host_names_its_temporary_folder(fleet: Fleet) -> None:
    told = lies.false_folders(fleet.trap)
    account = fleet.run("diagnose", told, **TRANSFERRED)
    fleet.assert_nothing_was_gained(account, fleet.honest("diagnose", **TRANSFERRED))


def test_words_of_other_modules_are_shown_in_the_report_as_they_can_be(fleet: Fleet) -> None:
    """Ansible's own lines about somebody else's task are Ansible's; the report is not."""
    words = f"{lies.ESCAPES}\n{lies.FORGED}"
    host_plan = {"action": "none", "verified_by": "engine_list", "evidence": 5}

    def one(**values: Any) -> Any:
        return lies.answering(lambda said: {**said, **values}, "ping")

    told: lies.Lies = {
        "words": one(failed=True, msg=words),
        "mapping": one(failed=True, msg={words: [words]}),
        "long": one(failed=True, msg=words * 3000),
        "plan": one(host_plan=host_plan),
        "no host_plan": one(host_plan=5, slb_host=5),
        "healthy": one(host_plan={**host_plan, "evidence": ["I say so"]}),
    }
    plays = before({"ansible.builtin.ping": {}}, ignore_errors=False)
    account = fleet.run("diagnose", told, before=plays)
    report = account.run.output.partition("FLEET REPORT")[2]
    assert report
    honest = fleet.honest("diagnose", before=plays).run.report
    assert {host: account.run.report[host] for host in HONEST} == {host: honest[host] for host in HONEST}
    assert "console" not in account.run.report["edge-8"].split("  ")[0]
    for number in (3, 4, 5):
        # They failed in somebody else's play, and never came to ours.
        assert account.run.report[f"edge-{number}"].startswith(("failed", "not started"))


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


# Facts of names that are the operator's own, of which the variables that decide are made.

BEHIND = {
    "slb_base_url": "console_url",
    "slb_tls_fingerprint": "console_pin",
    "slb_validate_certs": "console_is_verified",
    "slb_ca_path": "console_authority",
    "slb_username": "console_user",
    "slb_password": "console_password",
    "slb_license_dest": "license_file",
}
BEHIND_ALL = {**BEHIND, "slb_engine_list": "console_list"}
WITH_EMPTY = {"slb_validate_certs": "", "slb_ca_path": ""}
SETUP = before({"ansible.builtin.setup": {}})
LISTED = {"path": "/engines", "name": "name", "address": "ip", "state": "status", "running": "running"}


def own_names(trap: lies.Trap, **more: Any) -> dict[str, Any]:
    facts = {name: trap.variables[variable] for variable, name in BEHIND.items()}
    # Without an authority, which would be in the way of a pin.
    others = {"console_authority": "", "console_list": {**LISTED, "path": "/stolen"}, "environment": [], "vars": facts}
    return {**facts, **others, **more}


def saying(**facts: Any) -> lies.Lie:
    return lies.answering(lambda said: {**said, "ansible_facts": facts}, "setup")


def words_of(account: Account) -> str:
    return " ".join(account.run.output.split())


def logins(account: Account) -> int:
    return sum(count for request, count in account.requests.items() if "login" in request)


@pytest.mark.parametrize("playbook", PLAYBOOKS)
def test_what_a_variable_is_made_of_is_no_fact(fleet: Fleet, playbook: str) -> None:
    """The liar's own run goes on as the inventory has it."""
    told: lies.Lies = {"own names": saying(**own_names(fleet.trap))}
    behind = BEHIND_ALL if playbook == "show_engine_list" else BEHIND
    keywords: dict[str, Any] = {"before": SETUP, "behind": behind, "host_variables": WITH_EMPTY}
    account = fleet.run(playbook, told, **keywords)
    fleet.assert_nothing_was_gained(account, fleet.honest(playbook, **keywords))
    assert not account.run.report["edge-3"].startswith(("failed", "unreachable"))


def test_nor_is_it_one_that_was_kept_from_an_earlier_run(fleet: Fleet) -> None:
    home = fleet.folder / "kept"
    home.mkdir()
    cache = {"ANSIBLE_CACHE_PLUGIN": "jsonfile", "ANSIBLE_CACHE_PLUGIN_CONNECTION": str(fleet.folder / "cache")}
    told: lies.Lies = {"own names": saying(**own_names(fleet.trap))}
    keywords: dict[str, Any] = {"behind": BEHIND_ALL, "host_variables": WITH_EMPTY, "controller": Controller(home)}
    fleet.run("show_engine_list", told, before=SETUP, **keywords, **cache)
    account = fleet.run("show_engine_list", told, **keywords, **cache)
    assert "license_file" in "".join(file.read_text() for file in (fleet.folder / "cache").iterdir())
    assert fleet.evil.connections == 0
    assert logins(account) == 1


def test_nor_is_it_a_fact_of_another_host(fleet: Fleet) -> None:
    told: lies.Lies = {"own names": saying(**own_names(fleet.trap))}
    made = {
        "slb_base_url": "{{ hostvars['edge-3'].console_url }}",
        "slb_tls_fingerprint": "{{ hostvars['edge-3'].console_pin }}",
    }
    ask = {"hosts": "edge-1", "gather_facts": False, "vars": made, "tasks": [{"slb.fleet.login": {}}]}
    account = fleet.run("diagnose", told, before=[*SETUP, ask], behind=BEHIND, host_variables=WITH_EMPTY)
    assert fleet.evil.connections == 0
    assert logins(account) == 1


def test_what_is_made_of_nothing_but_a_fact_is_refused_by_name(fleet: Fleet) -> None:
    told: lies.Lies = {"own names": saying(**own_names(fleet.trap))}
    made = {"slb_base_url": "{{ ansible_facts.console_url }}", "slb_tls_fingerprint": "{{ ansible_facts.console_pin }}"}
    account = fleet.run("show_engine_list", told, "--limit", "edge-3", before=SETUP, host_variables=made)
    assert fleet.evil.connections == 0
    assert "The variable slb_base_url of this host cannot be evaluated" in words_of(account)
    assert "What hosts say of themselves (facts) decides neither where credentials go" in words_of(account)


OPTIONS = {
    "base_url": "{{ console_url }}",
    "username": "{{ console_user }}",
    "password": "{{ console_password }}",
    "tls_fingerprint": "{{ console_pin }}",
}
GROUP = "group/slb.fleet.management_node"
TASKS: dict[str, dict[str, Any]] = {
    "options": {"slb.fleet.login": OPTIONS},
    "a variable of the task": {
        "slb.fleet.login": {**OPTIONS, "base_url": "{{ where }}"},
        "vars": {"where": "{{ console_url }}"},
    },
    "options from one variable": {"slb.fleet.login": "{{ all_of_it }}", "vars": {"all_of_it": OPTIONS}},
    "arguments": {"action": {"module": "slb.fleet.login", **OPTIONS}},
    "defaults": {"slb.fleet.login": {}, "module_defaults": {GROUP: OPTIONS}},
    "defaults of a block": {
        "block": [{"slb.fleet.login": {}, "name": "defaults of a block"}],
        "module_defaults": {"slb.fleet.login": OPTIONS},
    },
    "the environment": {
        "slb.fleet.login": {},
        "environment": {f"SLB_{option.upper()}": value for option, value in OPTIONS.items()},
    },
    "an option that a fact leaves out": {
        "slb.fleet.login": {
            **OPTIONS,
            "tls_fingerprint": "{{ console_pin if console_is_verified == '' else omit }}",
        }
    },
    "a loop over names": {
        "slb.fleet.login": {**OPTIONS, "base_url": "{{ console[item] }}"},
        "vars": {"console": {"first": "{{ console_url }}"}},
        "loop": ["first"],
    },
}


def test_options_of_ones_own_tasks_are_as_they_are_without_facts(fleet: Fleet) -> None:
    told: lies.Lies = {"own names": saying(**own_names(fleet.trap))}
    tasks = [{"name": name, **task} for name, task in TASKS.items()]
    plays = [*SETUP, {"hosts": "edge-3", "gather_facts": False, "ignore_errors": True, "tasks": tasks}]
    account = fleet.run("diagnose", told, before=plays, behind=BEHIND, host_variables=WITH_EMPTY)
    assert fleet.evil.connections == 0
    ended = {task: how for task, how, _result in account.run.results["edge-3"] if task in TASKS}
    assert ended == dict.fromkeys(TASKS, "ok")
    assert logins(account) == 1


def test_no_fact_chooses_the_file_of_variables_of_a_play(fleet: Fleet) -> None:
    """Its name could lead to a file that was fetched from that host."""
    node = {"slb_base_url": "{{ console_url }}", "slb_tls_fingerprint": "{{ console_pin }}"}
    evil = {"slb_base_url": fleet.evil.base_url, "slb_tls_fingerprint": fleet.trap.fingerprint, "slb_ca_path": ""}
    (fleet.folder / "fetched").mkdir()
    (fleet.folder / "fetched" / "site.json").write_text(json.dumps(evil))
    (fleet.folder / "north.json").write_text(json.dumps(node))
    asks = {"hosts": "edge-3", "gather_facts": False, "tasks": [{"slb.fleet.login": {}, "name": "ask"}]}
    files = [f"{fleet.folder}/{name}.json" for name in ("{{ site }}", "{{ ansible_facts.site }}")]
    plays = [*SETUP, *({**asks, "vars_files": file} for file in files)]
    account = fleet.run(
        "diagnose", {"site": saying(site="fetched/site")}, before=plays, behind=BEHIND, host_variables={"site": "north"}
    )
    assert fleet.evil.connections == 0
    ended = [how for task, how, _result in account.run.results["edge-3"] if task == "ask"]
    assert ended == ["ok", "ok"], account.run.results["edge-3"]


def test_a_lookup_in_a_variable_is_made_once_a_task(fleet: Fleet) -> None:
    """As SECURITY.md has it for what can be had only once."""
    codes = fleet.folder / "codes"
    given = {"slb_username": f"{{{{ lookup('ansible.builtin.pipe', 'echo x >> {codes}; echo admin') }}}}"}
    ask = {"hosts": "edge-3", "gather_facts": False, "tasks": [{"slb.fleet.login": {}, "name": "ask"}]}
    told: lies.Lies = {"own names": saying(**own_names(fleet.trap))}
    account = fleet.run("diagnose", told, "--limit", "edge-1,edge-3", before=[*SETUP, ask], own={"edge-3": given})
    ended = [how for task, how, _result in account.run.results["edge-3"] if task == "ask"]
    assert ended == ["ok"]
    # That task, and both of diagnose.
    assert codes.read_text() == "x\n" * 3


REFUSED_TASKS: dict[str, tuple[dict[str, Any], str]] = {
    "a loop": ({"slb.fleet.login": {**OPTIONS, "base_url": "{{ item }}"}, "loop": "{{ consoles }}"}, "base_url"),
    "its own word": ({"slb.fleet.login": {**OPTIONS, "base_url": "{{ ansible_facts.console_url }}"}}, "base_url"),
    "delegation": ({"slb.fleet.login": {}, "delegate_to": "{{ from_where }}"}, "delegate_to"),
    "delegation of a block": (
        {"block": [{"slb.fleet.login": {}, "name": "delegation of a block"}], "delegate_to": "{{ from_where }}"},
        "delegate_to",
    ),
    "the host that keeps the license": (
        {"slb.fleet.license": {"dest": "/nowhere/license"}, "delegate_to": "{{ from_where }}"},
        "delegate_to",
    ),
    "where a module acts": ({"slb.fleet.host_info": {}, "delegate_to": "{{ from_where }}"}, "delegate_to"),
    "whose container is meant": (
        {"slb.fleet.engine_container": {"state": "restored"}, "delegate_to": "{{ from_where }}"},
        "delegate_to",
    ),
    "whose message is moved": (
        {"slb.fleet.motd": {"state": "aside"}, "delegate_to": "{{ from_where }}"},
        "delegate_to",
    ),
    "whose interfaces are adopted": ({"slb.fleet.interface": {}, "delegate_to": "{{ from_where }}"}, "delegate_to"),
    "which host is decided about": ({"slb.fleet.engine_plan": {}, "delegate_to": "{{ from_where }}"}, "delegate_to"),
    "the environment of another host": (
        {"slb.fleet.login": {}, "delegate_to": "edge-1", "environment": {"HTTPS_PROXY": "{{ proxy_url }}"}},
        "HTTPS_PROXY",
    ),
}


def test_what_only_a_fact_decides_is_refused_by_name(fleet: Fleet) -> None:
    evil = own_names(fleet.trap, consoles=[fleet.trap.base_url], from_where="edge-3", proxy_url=fleet.trap.base_url)
    own = {"consoles": ["https://node.example"], "from_where": "edge-1", "proxy_url": "", **WITH_EMPTY}
    tasks = [{"name": name, **task} for name, (task, _what) in REFUSED_TASKS.items()]
    plays = [*SETUP, {"hosts": "edge-3", "gather_facts": False, "ignore_errors": True, "tasks": tasks}]
    account = fleet.run("diagnose", {"own": saying(**evil)}, before=plays, behind=BEHIND, host_variables=own)
    assert fleet.evil.connections == 0
    told = {task: json.dumps(result) for task, how, result in account.run.results["edge-3"] if how == "failed"}
    for name, (_task, what) in REFUSED_TASKS.items():
        assert f"{what} is made of what a host says of itself" in re.sub(r"\\*[\"']", "", told[name]), name


# What the inventory says of the way to a host, what its variable `jump` is there, and what the fact of that name is.
WAYS_TO_A_HOST: dict[str, tuple[str, str, Any, Any]] = {
    "arguments of ssh": ("ansible_ssh_common_args", "{{ jump }}", "-q", "-o ProxyCommand=PROGRAM"),
    "a part of them": ("ansible_ssh_extra_args", "-o SendEnv={{ jump }}", "LANG", "LANG -o ProxyCommand=PROGRAM"),
    "by way of another variable": ("ansible_ssh_common_args", "{{ of_all }}", "-q", "-o ProxyCommand=PROGRAM"),
    "the program": ("ansible_ssh_executable", "{{ jump }}", "ssh", "PROGRAM"),
    "the connection": ("ansible_connection", "{{ jump }}", "ssh", "local"),
    "the user who it becomes": ("ansible_become", "{{ jump }}", False, True),
    "the address": ("ansible_host", "{{ jump }}", "127.0.0.1", "127.0.0.2"),
    "the interpreter": ("ansible_python_interpreter", "{{ jump }}", "/usr/bin/python3", "PROGRAM"),
}


def test_no_fact_decides_how_a_host_is_reached(fleet: Fleet) -> None:
    """That is what Ansible runs on the controller to get there, and as whom."""
    told: lies.Lies = {}
    own: dict[str, dict[str, Any]] = {}
    for number, (name, (variable, stated, plain, lie)) in enumerate(WAYS_TO_A_HOST.items(), 3):
        evil = lie.replace("PROGRAM", f"{fleet.trap.folder}/program") if isinstance(lie, str) else lie
        told[name] = saying(jump=evil)
        own[f"edge-{number}"] = {variable: stated, "of_all": "{{ jump }}", "jump": plain}
    own |= {"edge-1": own["edge-3"], "edge-2": own["edge-6"]}
    account = fleet.run("diagnose", told, before=SETUP, own=own)
    assert not (fleet.trap.folder / "ran").exists()
    for number, (name, (variable, *_rest)) in enumerate(WAYS_TO_A_HOST.items(), 3):
        words = account.run.report[f"edge-{number}"]
        assert f"How this host is reached, {variable}, is made of what a host says of itself" in words, name
    for host in HONEST:
        assert not account.run.report[host].startswith(("failed", "unreachable"))


def test_nor_by_the_file_of_variables_that_it_chooses(fleet: Fleet) -> None:
    program = f"{fleet.trap.folder}/program"
    (fleet.folder / "fetched").mkdir()
    ways = {"ansible_ssh_common_args": f"-o ProxyCommand={program}", "ansible_ssh_executable": program}
    (fleet.folder / "fetched" / "site.json").write_text(json.dumps(ways))
    (fleet.folder / "north.json").write_text("{}")
    ask = {"slb.fleet.host_info": {"subset": ["record"]}, "name": "ask"}
    play = {"hosts": "edge-3", "gather_facts": False, "ignore_errors": True, "tasks": [ask]}
    plays = [*SETUP, {**play, "vars_files": f"{fleet.folder}/{{{{ site }}}}.json"}]
    account = fleet.run(
        "diagnose", {"site": saying(site="fetched/site")}, before=plays, host_variables={"site": "north"}
    )
    assert not (fleet.trap.folder / "ran").exists()
    told = [result["msg"] for task, how, result in account.run.results["edge-3"] if task == "ask"]
    assert "is made of what a host says of itself" in " ".join(told)


def test_nor_how_one_is_reached_to_which_a_task_is_delegated(fleet: Fleet) -> None:
    program = f"-o ProxyCommand={fleet.trap.folder}/program"
    own = {"edge-3": {"ansible_ssh_common_args": "{{ jump }}", "jump": "-q"}}
    ask = {"slb.fleet.login": {}, "delegate_to": "edge-3"}
    plays = [*SETUP, {"hosts": "edge-1", "gather_facts": False, "ignore_errors": True, "tasks": [ask]}]
    account = fleet.run("diagnose", {"way": saying(jump=program)}, before=plays, own=own)
    assert not (fleet.trap.folder / "ran").exists()
    told = [result["msg"] for _task, how, result in account.run.results["edge-1"] if how == "failed"]
    assert ["ansible_ssh_common_args, is made of what a host says" in words for words in told] == [True]


OTHER_FACTS = {
    "inventory_hostname": "edge-1",
    "inventory_dir": "/tmp",
    "group_names": ["all"],
    "awx_job_id": "7",
    "tower_job_id": "7",
}


def test_no_fact_says_which_host_is_meant_or_which_job(fleet: Fleet) -> None:
    told: lies.Lies = {fact: saying(**{fact: value}) for fact, value in OTHER_FACTS.items()}
    account = fleet.run("diagnose", told, before=SETUP)
    fleet.assert_nothing_was_gained(account, fleet.honest("diagnose", before=SETUP))
    assert all(REFUSED in account.run.report[f"edge-{number}"] for number, _ in enumerate(told, 3))


def test_a_play_may_make_an_address_of_facts(fleet: Fleet) -> None:
    """By their own names: that is the play's word."""
    told: lies.Lies = {"address": saying(ansible_default_ipv4={"address": "192.0.2.3"})}
    own = {"edge-3": {"slb_manage_ip": "{{ ansible_facts.default_ipv4.address }}"}}
    account = fleet.run("diagnose", told, "--limit", "edge-3", before=SETUP, own=own)
    assert "cannot be evaluated" not in words_of(account)
    assert not account.run.report["edge-3"].startswith("failed"), account.run.report


# The operator's own doing: nothing tells it from the inventory.


def test_include_vars_of_a_fetched_file_is_the_operators_word(fleet: Fleet) -> None:
    fetched = fleet.folder / "fetched.json"
    fetched.write_text(json.dumps({"slb_base_url": fleet.evil.base_url, "slb_tls_fingerprint": fleet.trap.fingerprint}))
    account = fleet.run("show_engine_list", before=before({"ansible.builtin.include_vars": str(fetched)}))
    assert fleet.evil.connections > 0
    assert not any("login" in request for request in account.requests)


def test_an_artifact_that_another_collections_task_lets_through_is_the_operators_word(fleet: Fleet) -> None:
    told = publishing(fleet.trap, "ping")
    plays = before({"ansible.builtin.ping": {}})
    account = fleet.run("diagnose", told, before=plays, ANSIBLE_SHOW_CUSTOM_STATS="1")
    assert fleet.evil.connections == 0
    assert f"slb_base_url: {fleet.trap.base_url}" in account.run.output.replace('"', "")


@pytest.mark.parametrize("how", ["set_fact", "add_host", "register"])
def test_a_play_that_makes_a_variable_of_what_a_host_said_is_the_operators_word(fleet: Fleet, how: str) -> None:
    url, pin = "{{ said.stdout.split()[0] }}", "{{ said.stdout.split()[1] }}"
    given = {"slb_base_url": url, "slb_tls_fingerprint": pin}
    tasks: dict[str, dict[str, Any]] = {
        "set_fact": {"ansible.builtin.set_fact": given},
        "add_host": {"ansible.builtin.add_host": {"name": "{{ inventory_hostname }}", **given}},
        # The inventory itself has made the variable of the result.
        "register": {"ansible.builtin.debug": {"msg": ""}},
    }
    words = f"{fleet.evil.base_url} {fleet.trap.fingerprint}"
    told = {"url": lies.answering(lambda said: {**said, "stdout": words}, "command")}
    plays = before({"ansible.builtin.command": "true", "register": "said"}, tasks[how])
    own = {"edge-3": given} if how == "register" else {}
    fleet.run("show_engine_list", told, "--limit", "edge-3", before=plays, own=own)
    assert fleet.evil.connections > 0
