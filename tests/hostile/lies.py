"""What engine hosts that were taken over answer. A lie takes what was asked and the honest reply, and gives its own."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from engine_host import Ask, Reply, result

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from engine_host import Lie

    Lies = dict[str, Lie]

HONEST = ("edge-1", "edge-2")
FORGED = "edge-2  verified in the engine list     3 s  container slb: running"
ESCAPES = "\x1b[2J\x1b[1;1H\x9b31m\r\u202egnp.\u2066\u2028\u200f\x07"
SURROGATE = "\ud800"
_FORGED_LINES = f"\n{FORGED}\r\nok: [edge-2] => {{}}\n{FORGED}"


@dataclass(frozen=True)
class Trap:
    """Where lies would lead: an address that nobody may ask, and a folder in which nothing may appear or change."""

    base_url: str
    fingerprint: str
    folder: Path

    @property
    def touch(self) -> str:
        return f"touch {self.folder}/touched"

    @property
    def template(self) -> str:
        return f"{{{{ lookup('ansible.builtin.pipe', '{self.touch}') }}}}"

    @property
    def variables(self) -> dict[str, Any]:
        """Every variable that says where credentials go, which file is written, and what Ansible runs."""
        program = f"{self.folder}/program"
        return {
            "slb_base_url": self.base_url,
            "slb_tls_fingerprint": self.fingerprint,
            "slb_validate_certs": False,
            "slb_ca_path": f"{self.folder}/authorized_keys",
            "slb_username": "evil",
            "slb_password": "evil",
            "slb_license_dest": f"{self.folder}/authorized_keys",
            "slb_license_backup": False,
            "slb_engine_name": "edge-1",
            "slb_manage_ip": "192.0.2.1",
            "slb_unverified_engine": "replace",
            "slb_max_replaced": "100%",
            "slb_plan": {"plan": {"action": "none", "verified_by": "engine_list", "seen": ["I say so"]}},
            "ansible_connection": "local",
            "ansible_host": "127.0.0.1",
            "ansible_ssh_executable": program,
            "ansible_sftp_executable": program,
            "ansible_scp_executable": program,
            "ansible_ssh_common_args": f"-o ProxyCommand={program}",
            "ansible_python_interpreter": program,
            "ansible_become": True,
            "ansible_become_exe": program,
            "ansible_shell_executable": program,
            "ansible_remote_tmp": f"{self.folder}/remote",
            "discovered_interpreter_python": program,
        }


# Lies that are made of an honest answer.


def answering(change: Callable[[dict[str, Any]], Any], *modules: str) -> Lie:
    """Says what ``change`` makes of the honest result of a module; of ``modules`` alone, if some are given."""

    def lie(ask: Ask, honest: Reply) -> Reply:
        if not ask.module or (modules and ask.module not in modules):
            return honest
        return result(change(json.loads(honest.stdout)))

    return lie


def adding(**values: Any) -> Lie:
    return answering(lambda said: {**said, **values})


def looking(**values: Any) -> Lie:
    """In the look at the host, in the place of what is so."""

    def change(said: dict[str, Any]) -> dict[str, Any]:
        seen = said["slb_host"]
        merged = {
            key: {**seen.get(key, {}), **value} if isinstance(value, dict) else value for key, value in values.items()
        }
        return {**said, "slb_host": {**seen, **merged}}

    return answering(change, "host_info")


def printing(change: Callable[[bytes], bytes]) -> Lie:
    """Puts other bytes in the place of those that a module prints."""
    return lambda ask, honest: replace(honest, stdout=change(honest.stdout)) if ask.module else honest


def replying(**fields: Any) -> Lie:
    return lambda ask, honest: replace(honest, **fields)


def when(is_now: Callable[[Ask], bool], lie: Lie) -> Lie:
    return lambda ask, honest: lie(ask, honest) if is_now(ask) else honest


def with_every_text(value: Any, text: str) -> Any:
    """``value`` with ``text`` in the place of every text that is not understood by the collection, and in keys."""
    if isinstance(value, dict):
        words = {key: with_every_text(each, text) for key, each in value.items()}
        return {**words, text: text}
    if isinstance(value, list):
        return [with_every_text(each, text) for each in value]
    return text if isinstance(value, str) else value


def texts(text: str) -> Lie:
    """In every text, but for the words by which the run goes on."""
    kept = ("state", "name", "manage_ip", "base_url", "id", "request_id", "verified_by", "addresses", "requested")

    def change(said: Any) -> Any:
        if isinstance(said, dict):
            return {key: each if key in kept else change(each) for key, each in said.items()} | {text: text}
        return [change(each) for each in said] if isinstance(said, list) else with_every_text(said, text)

    return answering(change)


# The families.


def extra_keys(trap: Trap) -> Lies:
    """Keys upon which Ansible itself acts."""
    evil = trap.variables
    twice = {**evil, **{f"ansible_{name}": "nothing" for name in evil}}
    return {
        "facts": adding(ansible_facts=evil),
        "facts-twice": adding(ansible_facts=twice, ansible_facts_cacheable=True, _ansible_facts_gathered=True),
        "groups": adding(
            add_host={"host_name": "edge-1", "groups": ["engines", "evil"], "host_vars": evil},
            add_group="slb_license",
            parent_groups=["all"],
        ),
        "shown-keys": adding(add_host=_FORGED_LINES, add_group=ESCAPES, _ansible_x=ESCAPES + _FORGED_LINES),
        "shown-facts": adding(ansible_facts={"ansible_ssh_" + ESCAPES: 1, "discovered_interpreter_x" + ESCAPES: 1}),
        "facts-of-no-kind": adding(ansible_facts="ansible_facts"),
        "internal": adding(
            _ansible_no_log=True,
            _ansible_item_result=True,
            _ansible_notify=["all"],
            _ansible_delegated_vars={
                "ansible_host": "edge-1",
                "ansible_facts": evil,
                "ansible_delegated_host": "edge-1",
            },
            _ansible_verbose_always=True,
            _ansible_suppress_tmpdir_delete=True,
            ansible_stats={"data": evil, "per_host": False, "aggregate": False},
            ansible_included_var_files=[f"{trap.folder}/authorized_keys"],
            include=f"{trap.folder}/program",
            include_variables=evil,
            include_args=evil,
        ),
        "outcomes": adding(
            skipped=True,
            unreachable=True,
            results=[{"failed": True, "ansible_facts": evil}],
            failed_when_result=False,
            retries=9,
            attempts=9,
            delegated="edge-1",
            ansible_job_id="1.1",
            finished=0,
            started=1,
            host_plan={"action": "none", "verified_by": "engine_list", "seen": 5},
        ),
        "words": adding(
            warnings=[ESCAPES, _FORGED_LINES, 5],
            deprecations=[{"msg": _FORGED_LINES, "version": ESCAPES}, 5],
            exception=_FORGED_LINES + ESCAPES,
            invocation={"module_args": {"password": ESCAPES}},
            diff={"before": ESCAPES, "after": _FORGED_LINES, "before_header": _FORGED_LINES},
            msg=_FORGED_LINES + ESCAPES + "x" * 60 + FORGED,
            stdout=_FORGED_LINES,
            stdout_lines=[ESCAPES],
        ),
        "tags": looking(
            engine_container={
                "image": {"__ansible_type": "TrustedAsTemplate", "value": trap.template},
                "why": {"__ansible_unsafe": trap.template},
                "restart_policy": {"__ansible_vault": "$ANSIBLE_VAULT;1.1;AES256\n00"},
            }
        ),
    }


def words(trap: Trap) -> Lies:
    """In every text and key of every answer."""
    return {
        "template": texts(trap.template),
        "block-template": texts(f"{{% set x = lookup('ansible.builtin.pipe', '{trap.touch}') %}}#jinja2: x"),
        "escapes": texts(ESCAPES),
        "lines": texts(_FORGED_LINES),
        "wrapped": texts("x" * 75 + f" {FORGED} " + "y" * 66),
        "others": texts("edge-1"),
        "surrogates": texts(SURROGATE),
    }


def wrong_values(trap: Trap) -> Lies:
    """Where the look has to have its form: each of them is the end of that host, and in words."""
    deep: list[Any] = []
    for _level in range(200):
        deep = [deep]
    return {
        "nothing": answering(lambda said: {}),
        "null": answering(lambda said: {"slb_host": None}, "host_info"),
        "list": answering(lambda said: {"slb_host": [said]}, "host_info"),
        "text": answering(lambda said: {"slb_host": "{}"}, "host_info"),
        "no-container": looking(engine_container=None),
        "empty-container": answering(
            lambda said: {"slb_host": {**said["slb_host"], "engine_container": {}}}, "host_info"
        ),
        "state": looking(engine_container={"state": "sleeping"}),
        "state-of-record": looking(record={"state": "confirmed by edge-1"}),
        "no-record": looking(record=None),
        "record-of-nothing": looking(record={"state": "verified", "name": None, "manage_ip": None}),
        "record-without-age": looking(record={"state": "requested", "name": "edge-1", "manage_ip": "x", "age": None}),
        "uptime": looking(engine_container={"uptime": "{{ 1 }}"}),
        "large": looking(engine_container={"restart_count": 10**400}),
        "ports": looking(ports=["22"]),
        "deep": looking(addresses=[deep]),
        "set-aside": looking(record={"set_aside": {"id": "x"}}),
    }


def other_streams(trap: Trap) -> Lies:
    """What is no module's result at all, or one in a heap of other things."""
    noise = f"{ESCAPES}{_FORGED_LINES}\n".encode(errors="surrogatepass")
    return {
        "before": printing(lambda said: noise + said),
        "after": printing(lambda said: said + noise),
        "twice": printing(lambda said: said + said),
        "second": printing(lambda said: said + json.dumps({"ansible_facts": trap.variables}).encode() + b"\n"),
        "empty": replying(stdout=b""),
        "noise": printing(lambda said: noise),
        "list": printing(lambda said: b"[" + said.strip() + b"]"),
        "bytes": printing(lambda said: said.replace(b"docker", b"\xff\xfe\x9b31m\xed\xa0\x80")),
        "duplicates": printing(lambda said: said.strip()[:-1] + b', "slb_host": null, "slb_host": 5}'),
        "surrogates": answering(lambda said: {**said, SURROGATE: SURROGATE}),
        "errors": replying(stderr=noise),
        "cut": replying(stdout=noise, stderr=noise, status=255),
        "no-python": replying(stdout=b"", stderr=noise + b"/usr/bin/python3: not found\n", status=127),
        "killed": replying(stdout=b'{"slb_host"', signal="KILL"),
        "failed": when(lambda ask: bool(ask.module), lambda ask, honest: replace(honest, status=1)),
    }


def later_lies(trap: Trap) -> Lies:
    """Honest in the first check, and not when the host is changed."""
    evil = {"ansible_facts": trap.variables, "add_group": "slb_license", "plan": 5}

    def one(module: str, **values: Any) -> Lie:
        return answering(lambda said: {**said, **evil, **values}, module)

    def of_record(**values: Any) -> Lie:
        return answering(lambda said: {**said, **evil, "record": {**said["record"], **values}}, "engine_install")

    return {
        "record": one("engine_install", record=None),
        "record-of-another": of_record(name="edge-1", manage_ip="192.0.2.1", request_id="x"),
        "record-in-templates": of_record(request_id=trap.template),
        "container": one("engine_install", before=trap.template, after=[trap.template], set_aside_as=trap.template),
        "container-in-keys": one("engine_install", before={trap.template: trap.template}, after={"\x1b[2J": "\x1b"}),
        "answered": one("engine_install", outcome="exists", status_code=200, failed=False, skipped=False),
        "verified": one("engine_record", record=trap.template),
        "message": one("motd", moved="yes", backup_file=f"{trap.folder}/authorized_keys"),
        "second-check": when(lambda ask: ask.number > 2, looking(engine_container={"state": trap.template})),
        "interface": one("interface", adopted=[trap.template], pending=[ESCAPES]),
        "interface-words": one("interface", undone=["x" * 75 + f" {FORGED} ", trap.template]),
    }
