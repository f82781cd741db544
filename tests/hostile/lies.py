"""What engine hosts that were taken over answer. A lie takes what was asked and the honest reply, and gives its own."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from engine_host import Ask, Reply, result

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from engine_host import Lie, Process

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
            "slb_plan": {"plan": {"action": "none", "verified_by": "engine_list", "evidence": ["I say so"]}},
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
    kept = ("state", "name", "manage_ip", "base_url", "id", "container_id", "verified_by", "addresses", "requested")

    def change(said: Any) -> Any:
        if isinstance(said, dict):
            return {key: each if key in kept else change(each) for key, each in said.items()} | {text: text}
        return [change(each) for each in said] if isinstance(said, list) else with_every_text(said, text)

    return answering(change)


# Lies that are made of time and size.


async def endless(process: Process, block: bytes = b"x" * 65536) -> None:
    while True:
        process.stdout.write(block)
        await process.stdout.drain()


async def endless_errors(process: Process) -> None:
    while True:
        process.stderr.write(b"{" * 65536)
        await process.stderr.drain()


async def slow(process: Process) -> None:
    for byte in b'{"slb_host": {"engine_container": {"state": "absent", "why": "' + b"x" * 1_000_000:
        process.stdout.write(bytes([byte]))
        await asyncio.sleep(1)


async def silent(process: Process) -> None:
    await asyncio.Event().wait()


def going_on(how: Any) -> Lie:
    return when(lambda ask: bool(ask.module), replying(stdout=b"", then=how))


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
            host_plan={"action": "none", "verified_by": "engine_list", "evidence": 5},
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
        "set-aside": looking(set_aside={"id": "x"}),
    }


def other_streams(trap: Trap) -> Lies:
    """What is no module's result at all, or one in a heap of other things."""
    noise = f"{ESCAPES}{_FORGED_LINES}\n".encode(errors="surrogatepass")
    levels = 100_000
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
        "infinity": printing(lambda said: re.sub(rb'"observed_at": [\d.]+', b'"observed_at": Infinity', said)),
        "deep": printing(lambda said: b'{"slb_host": ' + b'{"a":' * levels + b"1" + b"}" * levels + b"}"),
        "deep-lists": printing(lambda said: b'{"slb_host": ' + b"[" * levels + b"]" * levels + b"}"),
        "huge": printing(lambda said: b'{"msg": "' + b"x" * 30_000_000 + b'", ' + said[1:]),
        "many": printing(lambda said: b'{"msg": [' + b"[]," * 8_000_000 + b"1], " + said[1:]),
        "digits": printing(lambda said: b'{"rc": ' + b"9" * 5000 + b", " + said[1:]),
        "surrogates": answering(lambda said: {**said, SURROGATE: SURROGATE}),
        "errors": replying(stderr=noise),
        "cut": replying(stdout=noise, stderr=noise, status=255),
        "no-python": replying(stdout=b"", stderr=noise + b"/usr/bin/python3: not found\n", status=127),
        "killed": replying(stdout=b'{"slb_host"', signal="KILL"),
        "failed": when(lambda ask: bool(ask.module), lambda ask, honest: replace(honest, status=1)),
    }


def later_lies(trap: Trap) -> Lies:
    """Honest at the first look, and not when something is done about the host."""
    evil = {"ansible_facts": trap.variables, "add_group": "slb_license", "plan": 5}

    def one(module: str, **values: Any) -> Lie:
        return answering(lambda said: {**said, **evil, **values}, module)

    def of_record(**values: Any) -> Lie:
        return answering(lambda said: {**said, **evil, "record": {**said["record"], **values}}, "engine_record")

    return {
        "record": one("engine_record", record=None),
        "record-of-another": of_record(name="edge-1", manage_ip="192.0.2.1", requested_at=1e300),
        "record-in-templates": of_record(requested_at=trap.template),
        "container": one("engine_container", before=trap.template, after=[trap.template], overtaken=trap.template),
        "container-in-keys": one("engine_container", before={trap.template: trap.template}, after={"\x1b[2J": "\x1b"}),
        "message": one("motd", moved="yes", backup_file=f"{trap.folder}/authorized_keys"),
        "second-look": when(lambda ask: ask.number > 2, looking(engine_container={"state": trap.template})),
        "interface": one("interface", adopted=[trap.template], pending=[ESCAPES]),
        "interface-words": one("interface", remarks=["x" * 75 + f" {FORGED} ", trap.template], state=ESCAPES),
        "interface-never": answering(
            lambda said: {**said, "requested": ["ens9"], "failed": True, "msg": _FORGED_LINES, "state": "restored"},
            "interface",
        ),
    }


def false_notes(trap: Trap, state: str) -> Lies:
    """Where the host is to note a request (``requested``), and where it is to take the note away (``absent``).

    Those in capitals leave no note by which it could be known what to take away.
    """
    answered = {"outcome": "requested", "status_code": 200, "answer": "installation started"}

    def one(lie: Lie) -> Lie:
        return when(lambda ask: ask.module == "engine_record" and ask.arguments.get("state") == state, lie)

    def saying(**values: Any) -> Lie:
        return one(adding(**values))

    def of_record(**values: Any) -> Lie:
        return one(answering(lambda said: {**said, "record": {**said["record"], **values}}))

    return {
        "NOTHING": one(answering(lambda said: {})),
        "NO RECORD": saying(record=None),
        "RECORD OF TEXT": saying(record=trap.template),
        "NO TIME": of_record(requested_at=None),
        "WITHOUT A TIME": one(answering(lambda said: {**said, "record": {"state": state}})),
        "TEXT": of_record(requested_at=trap.template),
        "BOOLEAN": of_record(requested_at=True),
        "LIST": of_record(requested_at=[1795000000.5]),
        "MAPPING": of_record(requested_at={"__ansible_unsafe": trap.template}),
        "LARGE": of_record(requested_at=1e300),
        "LARGER": of_record(requested_at=10**400),
        "NO NUMBER": of_record(requested_at=float("nan")),
        "ANOTHER STATE": of_record(state="invalid"),
        "HUGE": of_record(why="x" * 30_000_000),
        "DEEP": one(printing(lambda said: b'{"record": ' + b"[" * 100_000 + b"]" * 100_000 + b"}")),
        "ENDLESS": one(going_on(endless)),
        "before the epoch": of_record(requested_at=-1.0),
        "of another": of_record(name="edge-1", manage_ip="192.0.2.1"),
        "answered": saying(**answered, failed=False, skipped=False),
        "answered in the record": of_record(**answered),
        "exists": saying(**{**answered, "outcome": "exists"}, ansible_facts=trap.variables),
        "skipped": saying(skipped=True, msg="Skipped"),
        "unreachable": saying(unreachable=True, results=[answered]),
        "facts": saying(ansible_facts={**trap.variables, "slb_plan": answered}),
        "FAILED": saying(**answered, failed=True, msg=_FORGED_LINES + ESCAPES),
        "FAILED, EXISTS": saying(**{**answered, "outcome": "exists"}, failed=True, container=answered),
        "FAILED, REFUSED": saying(**{**answered, "outcome": "rejected"}, failed=True, skipped=True),
    }


def false_interpreters(trap: Trap) -> Lies:
    """Where the host is asked for its Python, its home and a temporary folder."""

    def found(*lines: str) -> Lie:
        def lie(ask: Ask, honest: Reply) -> Reply:
            if "command -v" not in ask.command:
                return honest
            platform = f"PLATFORM\n{ESCAPES}{FORGED}\n" if "PLATFORM" in ask.command else ""
            said = "\n".join([f"{platform}FOUND", *lines, "ENDFOUND\n"])
            return Reply(said.encode(errors="surrogatepass"))

        return lie

    def of_platform(info: Any, *pythons: str) -> Lie:
        said, other = result(info), found(*(pythons or ["/usr/bin/python3"]))
        return lambda ask, honest: said if b"platform_dist_result" in honest.stdout else other(ask, honest)

    return {
        "platform": of_platform(
            {"platform_dist_result": ["debian", f"12{ESCAPES}\n{FORGED}", ""]}, "/usr/bin/python3.9"
        ),
        "other-platform": of_platform({"platform_dist_result": [ESCAPES, trap.template, ""]}),
        "no-platform": of_platform({"platform_dist_result": {"debian": 5}, "osrelease_content": [5]}),
        "command": found(f"/usr/bin/python3; {trap.touch}", f"/usr/bin/$({trap.touch})"),
        "template": found(f"/usr/bin/{trap.template}"),
        "escapes": found(f"/usr/bin/{ESCAPES}", FORGED),
        "long": found("/" + "x" * 300_000),
        "nothing": found(),
        "noise": lambda ask, honest: (
            honest if ask.module else Reply(f"{ESCAPES}{_FORGED_LINES}".encode(errors="replace"))
        ),
    }


def false_folders(trap: Trap) -> Lies:
    """Without pipelining: where modules are put before they are run."""

    def folder(line: str) -> Lie:
        def lie(ask: Ask, honest: Reply) -> Reply:
            if "umask 77" not in ask.command and "echo ~" not in ask.command:
                return honest
            return Reply(honest.stdout.split(b"=")[0] + b"=" + line.encode(errors="surrogatepass") + b"\n")

        return lie

    return {
        "elsewhere": folder(f"{trap.folder}/remote"),
        "command": folder(f"/tmp/x; {trap.touch}; `{trap.touch}`"),
        "template": folder(f"/tmp/{trap.template}"),
        "escapes": folder(f"/tmp/{ESCAPES}"),
        "root": folder("/"),
        "lines": lambda ask, honest: (
            honest if ask.module else Reply(f"{ESCAPES}{_FORGED_LINES}".encode(errors="replace"))
        ),
    }
