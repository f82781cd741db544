"""The inventory from the console's list: what hosts it makes, and what a console that lies can make of it."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hostile_server import LOGIN, answer, for_session, new_session, silence
from test_engine_list import pages_of
from test_secrets import ESCAPED_PASSWORDS, PASSWORD, echo

from playbooks import fleet, play

if TYPE_CHECKING:
    from collections.abc import Callable

    from playbooks import Controller

LIST = "/console/engines"
LISTING = {
    "path": LIST,
    "items": "data.items",
    "name": "name",
    "address": "ip",
    "state": "status",
    "running": "running",
    "failed": ["failed", "broken"],
}
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]")


def listed(name: Any, ip: Any, status: Any = "running", **more: Any) -> dict[str, Any]:
    return {"name": name, "ip": ip, "status": status, **more}


def routes(*engines: dict[str, Any]) -> dict[str, Any]:
    return {LIST: [for_session(answer(200, json.dumps({"code": 0, "data": {"items": engines}})))]}


THREE = routes(listed("edge-1", "192.0.2.1"), listed("edge-2", "192.0.2.2", "broken"), listed("边缘_3", "2001:DB8::3"))


@dataclass(frozen=True)
class Seen:
    """What ``ansible-inventory`` shows. ``words``: its warnings and errors, in one line. ``raw``: all of it."""

    status: int
    tree: dict[str, Any]
    words: str
    raw: str

    @property
    def hosts(self) -> dict[str, dict[str, Any]]:
        return self.tree.get("_meta", {}).get("hostvars", {})

    def members(self, group: str) -> set[str]:
        return set(self.tree.get(group, {}).get("hosts", ()))


@dataclass(frozen=True)
class Source:
    """A file of the plugin in a folder of its own, and Ansible's own command over it."""

    controller: Controller
    server: Any
    file: str = "a_slb_engines.yml"

    @property
    def path(self) -> Path:
        return self.controller.folder / "inventory" / self.file

    def write(self, **options: Any) -> Path:
        connection = {"base_url": self.server.base_url, "tls_fingerprint": self.server.certificate.fingerprint}
        config = {"plugin": "slb.fleet.engines", **connection, "listing": LISTING, **options}
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(json.dumps({key: value for key, value in config.items() if value is not None}))
        return self.path

    def show(self, *arguments: str, command: str = "--list", cli: str = "inventory", **environment: str) -> Seen:
        """With the credentials in the environment, as AWX sets them; empty ones are not set."""
        sources = arguments if "-i" in arguments else ("-i", str(self.path), *arguments)
        done = subprocess.run(
            [self.controller.python, "-c", f"from ansible.cli.{cli} import main; main()", command, *sources],
            env=self.controller.environment(**{"SLB_USERNAME": "admin", "SLB_PASSWORD": PASSWORD, **environment}),
            cwd=self.controller.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        # With -v there are lines before it.
        found = re.search(r"^{$.*", done.stdout, re.MULTILINE | re.DOTALL) if command == "--list" else None
        tree = json.loads(found.group()) if found else {}
        return Seen(done.returncode, tree, " ".join(done.stderr.split()), done.stdout + done.stderr)

    @property
    def asked(self) -> tuple[int, int]:
        """How many logins, and readings of the list."""
        seen = self.server.seen
        return seen[LOGIN], sum(number for path, number in seen.items() if path.startswith(LIST))


@pytest.fixture
def source(start: Callable[..., Any], controller: Controller) -> Callable[..., Source]:
    def make(list_of: dict[str, Any], **options: Any) -> Source:
        made = Source(controller, start(list_of))
        made.write(**options)
        return made

    return make


def test_hosts_of_a_list(source: Callable[..., Source]) -> None:
    console = source(THREE)
    seen = console.show()
    assert seen.members("engines") == {"edge-1", "edge-2", "边缘_3"}
    assert seen.hosts["edge-2"] == {
        "slb_engine_name": "edge-2",
        "slb_manage_ip": "192.0.2.2",
        "ansible_host": "192.0.2.2",
        "slb_console_state": "failed",
    }
    assert seen.hosts["边缘_3"]["ansible_host"] == "2001:db8::3"
    assert seen.words == ""
    assert console.asked == (1, 1)


def test_pages_are_read_once_each(start: Callable[..., Any], controller: Controller) -> None:
    console = Source(controller, start(pages_of("running", "running", "asleep", "running", "running")))
    console.write(listing={**LISTING, "path": f"{LIST}?size=2", "page_parameter": "page"})
    seen = console.show()
    assert len(seen.members("engines")) == 5
    assert seen.hosts["edge-3"]["slb_console_state"] == "unknown"
    assert "words that the option 'listing' does not describe: asleep." in seen.words
    assert console.asked == (1, 3)


def test_groups_and_variables_of_the_operator(source: Callable[..., Source]) -> None:
    console = source(
        THREE,
        group="fleet",
        strict=True,
        compose={"slb_user_credential_id": "2 if slb_engine_name == 'edge-1' else 1", "ansible_host": "'gate.example'"},
        groups={"to_look_at": "slb_console_state != 'running'"},
        keyed_groups=[{"prefix": "console", "key": "slb_console_state", "parent_group": "states"}],
    )
    seen = console.show()
    assert seen.members("fleet") == {"edge-1", "edge-2", "边缘_3"}
    assert seen.members("to_look_at") == seen.members("console_failed") == {"edge-2"}
    assert set(seen.tree["states"]["children"]) == {"console_running", "console_failed"}
    assert str(seen.hosts["edge-1"]["slb_user_credential_id"]) == "2"
    # A text that an expression gave is an object here with an ansible-core that trusts no such text, and it serves.
    assert json.dumps(seen.hosts["edge-1"]["ansible_host"]) in (
        '"gate.example"',
        '{"__ansible_unsafe": "gate.example"}',
    )
    graph = console.show(command="--graph").raw
    assert "  |--@fleet:\n  |  |--edge-1\n" in graph
    exported = console.show("--export").hosts["edge-1"]
    assert exported["slb_manage_ip"] == "192.0.2.1"


def test_a_strict_error_leaves_no_half_made_hosts(source: Callable[..., Source]) -> None:
    console = source(THREE, strict=True, compose={"slb_serial": "no_such_variable"})
    # Beside a source that is read: Ansible goes on with whatever is there then.
    seen = console.show("-i", "other.example,", "-i", str(console.path))
    assert seen.tree["all"]["children"] == ["ungrouped", "engines"]
    assert "engines" not in seen.tree
    assert "Could not set slb_serial for host edge-1" in seen.words
    assert console.asked == (1, 1)
    console.write(compose={"slb_serial": "no_such_variable"})
    assert len(console.show().hosts) == 3


LIES = {
    "template": "{{ lookup('pipe', 'touch owned') }}",
    "statement": "{% set x = 1 %}",
    "range": "edge-[1:90000]",
    "pattern": "*",
    "limit": "!edge-1,all",
    "path": "../../etc/passwd",
    "hidden file": ".ssh",
    "option": "-oProxyCommand=touch owned",
    "port": "edge-9:2222",
    "escape": "edge\x1b[2J\x1b]0;owned\x07",
    "bidi": "edge-\u202e1",
    "line": "edge-7\nansible_connection=local",
    "blank": "edge 8",
    "empty": "",
    "huge": "e" * 100_000,
    "all": "all",
    "ungrouped": "ungrouped",
    "our group": "engines",
    "a group of the operator": "to_look_at",
    "localhost": "localhost",
    "loopback": "127.0.0.1",
}


def test_no_name_can_do_more_than_name_a_host(source: Callable[..., Source]) -> None:
    wrong = [listed(name, f"192.0.2.{number}") for number, name in enumerate(LIES.values(), 100)]
    console = source(
        routes(*wrong, listed("edge-1", "192.0.2.1")),
        groups={"to_look_at": "slb_console_state != 'running'"},
        keyed_groups=[{"prefix": "", "separator": "", "key": "slb_engine_name"}],
    )
    seen = console.show("-vv")
    assert set(seen.hosts) == {"edge-1"}
    assert seen.tree["all"].keys() == {"children"}
    assert not (console.controller.folder / "owned").exists()
    assert not HIDDEN.search(seen.raw)
    assert len(seen.raw) < 10_000
    for shown in ("edge-[1:90000]", r"edge-\\u202e1", "edge 8", "127.0.0.1", "to_look_at", "ungrouped", "e" * 60 + "…"):
        assert shown in seen.words
    assert "Rename the engine, or give its host in an inventory of your own, with slb_engine_name." in seen.words


def test_no_name_makes_a_group_that_means_another_thing(source: Callable[..., Source]) -> None:
    """By a key that is a part of it: whoever limits a run to one host would have others in it."""
    names = ["all-1", "ungrouped-1", "localhost-1", "engines-1", "to_look_at-1", "host_a-1", "site-1"]
    console = source(
        routes(*(listed(name, f"192.0.2.{number}") for number, name in enumerate([*names, "host_a"], 1))),
        groups={"to_look_at": "slb_console_state != 'running'"},
        keyed_groups=[
            {"prefix": "", "separator": "", "key": "slb_engine_name.split('-')[0]", "parent_group": "all"},
            {"prefix": "at", "key": "'[' ~ slb_manage_ip ~ ':{{ 1 }}]'"},
        ],
    )
    seen = console.show()
    assert seen.status == 0, seen.words
    assert set(seen.hosts) == {"site-1", "host_a"}, seen.words
    assert seen.members("site") == {"site-1"}
    assert seen.members("at__192_0_2_7____1____") == {"site-1"}
    assert "would put the engine into a group of another meaning: all-1 (all), ungrouped-1" in seen.words
    assert "Give the key a prefix, or rename the engine." in seen.words


def test_an_engine_that_is_named_like_a_group_of_the_file_keeps_no_other_out(source: Callable[..., Source]) -> None:
    names = ["edge-1", "console_running", "edge-2"]
    console = source(
        routes(*(listed(name, f"192.0.2.{number}") for number, name in enumerate(names, 1))),
        keyed_groups=[{"prefix": "console", "key": "slb_console_state"}],
    )
    seen = console.show()
    assert seen.status == 0, seen.words
    assert set(seen.hosts) == {"edge-1", "edge-2"}, seen.words
    assert seen.members("console_running") == {"edge-1", "edge-2"}
    assert "because a group has the engine's name: console_running" in seen.words


def test_no_address_leads_to_the_controller_or_is_a_template(source: Callable[..., Source]) -> None:
    wrong = [
        "",
        "127.0.0.1",
        "::1",
        "0.0.0.0",
        "::ffff:127.0.0.1",
        "224.0.0.1",
        "fe80::1%eth0",
        "{{ x }}",
        "db.example",
    ]
    wrong += ["2130706433", "192.0.2.1/x", "192.0.2.1\nansible_connection=local"]
    console = source(
        routes(
            *(listed(f"wrong-{number}", address) for number, address in enumerate(wrong)),
            *(listed("edge-1", "192.0.2.1/24"), listed("edge-2", " 192.0.2.2"), listed("edge-3", "::ffff:192.0.2.3")),
            listed("edge-4", 3232235777),
        )
    )
    seen = console.show()
    addresses = {name: host["ansible_host"] for name, host in seen.hosts.items()}
    assert addresses == {"edge-1": "192.0.2.1", "edge-2": "192.0.2.2", "edge-3": "192.0.2.3"}
    assert (
        "because the engine has no IP address under which a host can be reached: wrong-0 (''), wrong-1 (" in seen.words
    )
    for number in range(len(wrong)):
        assert f"wrong-{number} (" in seen.words


def test_what_is_listed_twice(source: Callable[..., Source]) -> None:
    console = source(
        routes(
            *(listed("same", "192.0.2.1"), listed("same", "192.0.2.1/24")),
            *(listed("moved", "192.0.2.2"), listed("moved", "192.0.2.3", "failed")),
            *(listed("retried", "192.0.2.4", "failed"), listed("retried", "192.0.2.4")),
            *(listed("this", "192.0.2.5"), listed("that", "::ffff:192.0.2.5")),
        )
    )
    seen = console.show()
    states = {name: host["slb_console_state"] for name, host in seen.hosts.items()}
    assert states == {"same": "running", "retried": "unknown", "this": "running", "that": "running"}
    assert "is listed at several addresses: moved (192.0.2.2 and 192.0.2.3)." in seen.words
    assert "in different states, so that slb_console_state is unknown: retried." in seen.words
    assert "listed at one address, and each has become a host: this and that at 192.0.2.5." in seen.words


def test_no_host_of_another_source_gets_an_address_from_the_console(source: Callable[..., Source]) -> None:
    console = source(THREE)
    before = console.controller.folder / "before.yml"
    before.write_text("databases: {hosts: {edge-1: {ansible_host: 192.0.2.99}, edge-9: {}}, vars: {x: 1}}")
    seen = console.show("-i", str(before), "-i", str(console.path))
    assert seen.members("engines") == {"edge-2", "边缘_3"}
    assert seen.hosts["edge-1"] == {"ansible_host": "192.0.2.99", "x": 1}
    assert (
        "another source of the inventory has a host of this name: edge-1. Take the host out of that source"
        in seen.words
    )
    # What the operator adds to hosts of the list is in host_vars and group_vars.
    (console.path.parent / "group_vars").mkdir()
    (console.path.parent / "group_vars" / "engines.yml").write_text("ansible_user: ops\n")
    assert console.show().hosts["edge-1"]["ansible_user"] == "ops"


UNREADABLE = {
    "a server in trouble": (answer(500, "{}"), "answered HTTP 500"),
    "no data": (answer(200, '{"code": 1, "msg": "not now", "data": {"items": []}}'), "gave no data"),
    "another shape": (answer(200, '{"code": 0, "data": {"rows": []}}'), "there is no 'items'"),
    "no address": (
        routes(listed("edge-1", None))[LIST][0],
        "'ip' of an item is null where text or a number is expected",
    ),
    "a part": (
        answer(200, json.dumps({"data": {"items": [listed("edge-1", "192.0.2.1")], "total": 70}})),
        "one page of several",
    ),
    "nothing": (routes()[LIST][0], "shows no engine at all. Check its path, the rights of the user and the filter"),
    "nothing usable": (
        routes(listed("a b", "192.0.2.1"))[LIST][0],
        "None of the 1 engines of the console's list is a host.",
    ),
}


def test_a_list_that_cannot_be_read_is_an_error(start: Callable[..., Any], controller: Controller) -> None:
    consoles = [
        Source(controller, start({LIST: [for_session(behaviour)]}), f"{number}_slb_engines.yml")
        for number, (behaviour, _words) in enumerate(UNREADABLE.values())
    ]
    for console in consoles:
        console.write(retries=0)
    seen = consoles[0].show(*(part for console in consoles for part in ("-i", str(console.path))))
    assert seen.hosts == {}
    for name, (_behaviour, words) in UNREADABLE.items():
        assert words in seen.words, f"{name}: {seen.raw}"
    assert "Traceback" not in seen.raw
    assert [console.asked[0] for console in consoles] == [1] * len(consoles)
    # As AWX sets it: then no run goes on without its hosts.
    assert consoles[0].show(ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED="true").status != 0


def test_a_list_that_may_be_empty(source: Callable[..., Source]) -> None:
    console = source(routes(), may_be_empty=True)
    seen = console.show(ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED="true")
    assert (seen.status, seen.hosts, seen.words) == (0, {}, "")


MISTAKES = {
    "keyed_group": ({"keyed_group": []}, "There is no option 'keyed_group'. Did you mean 'keyed_groups'?"),
    "listing": ({"listing": None}, "The option 'listing' is missing."),
    "a key of it": ({"listing": {**LISTING, "adress": "ip"}}, "has the key 'adress', which means nothing here."),
    "base_url": (
        {"base_url": None},
        "Set 'base_url', the variable slb_base_url or the environment variable SLB_BASE_URL.",
    ),
    "plain http": ({"base_url": "http://console.example"}, "it does not begin with https://"),
    "timeout": ({"timeout": "soon"}, "The option 'timeout' has the value 'soon': it is not a whole number."),
    "group": ({"group": "all"}, "it is no name for a group of these hosts"),
    "group that is a host": ({"group": "localhost"}, "it is no name for a group of these hosts"),
    "template": ({"username": "{{ nobody_set_this }}"}, "The option 'username' cannot be evaluated: "),
    "password": ({"password": ["Tr0ub4dor"]}, "The option 'password' has the value '(hidden)': it is not text."),
    "secret template": (
        {"password": "{{ Tr0ub4dor + }}"},
        "The option 'password' cannot be evaluated. Correct the template.",
    ),
}


def test_a_mistake_in_the_file_is_named_before_anything_is_asked(source: Callable[..., Source]) -> None:
    console = source(THREE)
    files = [replace(console, file=f"{number}_slb_engines.yml") for number in range(len(MISTAKES))]
    for file, (options, _words) in zip(files, MISTAKES.values(), strict=True):
        file.write(**options)
    other = console.path.with_name("engines.yml")
    console.path.rename(other)
    seen = console.show("-i", str(other), *(part for file in files for part in ("-i", str(file.path))))
    assert seen.hosts == {}
    for name, (_options, words) in MISTAKES.items():
        assert words in seen.words, f"{name}: {seen.raw}"
    assert "could not be verified by inventory plugin 'slb.fleet.engines'" in seen.words
    assert "Tr0ub4dor" not in seen.raw
    assert console.asked == (0, 0)


def test_options_may_be_templates_and_fall_back_to_the_environment(source: Callable[..., Source]) -> None:
    console = source(THREE)
    fingerprint = console.server.certificate.fingerprint
    kept = console.controller.folder / "described.json"
    kept.write_text(json.dumps({"slb_engine_list": LISTING}))
    console.write(
        base_url="",
        tls_fingerprint=None,
        username="{{ who }}",
        password="{{ lookup('ansible.builtin.env', 'FROM_ELSEWHERE') }}",
        timeout="{{ 2 + 3 }}",
        may_be_empty="{{ false }}",
        listing=f"{{{{ (lookup('ansible.builtin.file', '{kept}') | from_json).slb_engine_list }}}}",
    )
    environment = {"SLB_BASE_URL": console.server.base_url, "SLB_TLS_FINGERPRINT": fingerprint, "SLB_PASSWORD": ""}
    seen = console.show("-e", "who=ops", FROM_ELSEWHERE=PASSWORD, **environment)
    assert len(seen.hosts) == 3, seen.raw
    (login,) = console.server.to(LOGIN)
    assert json.loads(login.body) == {"username": "ops", "password": PASSWORD}


def test_tls_is_the_same_as_elsewhere(source: Callable[..., Source], authority: Any) -> None:
    console = source(THREE, tls_fingerprint=None)
    untrusted = console.show()
    assert untrusted.hosts == {}
    assert "tls_fingerprint" in untrusted.words
    assert console.server.certificate.fingerprint.upper()[:5] in untrusted.words.replace(":", "").upper()
    assert console.asked == (0, 0)
    assert len(console.show(SLB_CA_PATH=str(authority.path)).hosts) == 3
    assert console.show(SLB_TLS_FINGERPRINT="0" * 64).hosts == {}
    assert console.asked == (1, 1)


def test_a_refused_password_is_tried_once(start: Callable[..., Any], controller: Controller) -> None:
    console = Source(controller, start({LOGIN: [echo(401, "application/json")], **THREE}))
    console.write()
    # Two plugins that both try the file.
    seen = console.show("-vvvv", ANSIBLE_INVENTORY_ENABLED="slb.fleet.engines,auto")
    assert "refused the login of 'admin'" in seen.words
    assert console.asked == (1, 0)
    assert not [secret for secret in ESCAPED_PASSWORDS if secret in seen.raw]


def test_a_console_that_says_nothing_ends_in_bounded_time(source: Callable[..., Source]) -> None:
    console = source({LIST: [silence()]}, timeout=1, retries=0)
    assert "raise 'timeout' if it is only slow." in console.show().words


def test_no_secret_is_shown_or_left(start: Callable[..., Any], controller: Controller) -> None:
    """Also where the password stands in the file, and its server echoes what it was sent."""
    csrf = new_session("Set-Cookie: csrftoken=csrft0ken; Path=/")
    good, echoing = start({LOGIN: [csrf], **THREE}), start({LOGIN: [csrf], LIST: [echo(500), echo(200)]})
    for server in (good, echoing):
        console = Source(controller, server)
        for command in ("--list", "--graph"):
            console.write(password=PASSWORD, retries=0, cache=True)
            cache = {"ANSIBLE_CACHE_PLUGIN": "jsonfile", "ANSIBLE_CACHE_PLUGIN_CONNECTION": f"{controller.folder}/kept"}
            log = {"ANSIBLE_LOG_PATH": f"{controller.folder}/log", "ANSIBLE_DISPLAY_TRACEBACK": "always"}
            options = ("--export",) if command == "--list" else ("--vars",)
            seen = console.show("-vvvv", *options, command=command, SLB_PASSWORD="", **cache, **log)
            console.path.unlink()
            assert "slb_engines.yml" in seen.raw
            secrets = [*ESCAPED_PASSWORDS, "csrft0ken", *server.sessions]
            assert not [secret for secret in secrets if secret in seen.raw], seen.raw
            left = [path for path in controller.folder.rglob("*") if path.is_file()]
            assert controller.folder / "log" in left
            for path in left:
                assert not [secret for secret in secrets if secret in path.read_text(errors="replace")], path


def test_a_password_in_a_vault(source: Callable[..., Source]) -> None:
    console = source(THREE)
    key = console.controller.folder / "key"
    key.write_text("the key of the vault")
    encrypt = [console.controller.python, "-c", "from ansible.cli.vault import main; main()", "encrypt_string"]
    given = {"input": PASSWORD, "env": console.controller.environment(), "text": True, "stdout": subprocess.PIPE}
    vaulted = ["--vault-password-file", str(key)]
    shown = subprocess.run([*encrypt, *vaulted, "--stdin-name", "password"], check=True, **given).stdout
    config = yaml.safe_dump(json.loads(console.path.read_text()), allow_unicode=True)
    console.path.write_text(f"{config}{shown}")
    seen = console.show("-vvvv", *vaulted, SLB_PASSWORD="")
    assert len(seen.hosts) == 3, seen.raw
    assert not [secret for secret in ESCAPED_PASSWORDS if secret in seen.raw]
    (login,) = console.server.to(LOGIN)
    assert json.loads(login.body)["password"] == PASSWORD


def test_the_cache(source: Callable[..., Source]) -> None:
    console = source(THREE)
    folder = console.controller.folder / "kept"
    kept = {"cache": True, "cache_plugin": "ansible.builtin.jsonfile", "cache_connection": str(folder)}
    console.write(**kept)
    assert len(console.show().hosts) == 3
    assert console.asked == (1, 1)
    again = console.show()
    assert len(again.hosts) == 3
    assert again.hosts["edge-2"]["slb_console_state"] == "failed"
    assert console.asked == (1, 1)
    playbook = console.controller.folder / "playbook.yml"
    playbook.write_text(json.dumps([play()]))
    assert "hosts (3)" in console.show("--list-hosts", "--flush-cache", cli="playbook", command=str(playbook)).raw
    assert console.asked == (2, 2)
    # Another user may see another list, and another description reads it in another way.
    assert len(console.show(SLB_USERNAME="other").hosts) == 3
    console.write(**kept, listing={**LISTING, "failed": [], "deploying": "broken"})
    assert console.show().hosts["edge-2"]["slb_console_state"] == "deploying"
    assert console.asked == (4, 4)
    # Whoever can write there can lie no more than the console, and what is no list is read anew.
    files = sorted(folder.iterdir())
    assert len(files) == 3
    texts = [file.read_text() for file in files]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text.replace("edge-1", "{{ x }}").replace("edge-2", "all"))
    assert set(console.show().hosts) == {"边缘_3"}
    assert console.asked == (4, 4)
    for file, text in zip(files, texts, strict=True):
        file.write_text(text.replace("running", "{{ x }}"))
    assert len(console.show().hosts) == 3
    assert console.asked == (5, 5)


def payload(kept: Any) -> str:
    """As ansible.builtin.jsonfile writes it."""
    return json.dumps({"__payload__": json.dumps(kept)})


BROKEN = [{}, [], [None], None, 5, "x", {"a": []}, [{"name": "edge-1"}], [listed("edge-1", "192.0.2.1")]]


@pytest.mark.parametrize("text", ["[]", "null", "5", '{"__payload__": 5}', "{", *(payload(kept) for kept in BROKEN)])
def test_a_cache_that_somebody_has_broken_is_told_and_mended(source: Callable[..., Source], text: str) -> None:
    console = source(THREE)
    folder = console.controller.folder / "kept"
    console.write(cache=True, cache_plugin="ansible.builtin.jsonfile", cache_connection=str(folder))
    console.show()
    (file,) = folder.iterdir()
    file.write_text(text)
    seen = console.show()
    assert len(seen.hosts) == 3
    assert "What the cache holds of the console's list cannot be read" in seen.words
    assert file.name.endswith(re.search(r"it is the entry (\S+) of ansible.builtin.jsonfile", seen.words)[1])
    assert not re.search("indices|subscriptable|must be str", seen.words)
    assert console.asked == (2, 2)
    again = console.show()
    assert (len(again.hosts), again.words, console.asked) == (3, "", (2, 2))


def test_a_cache_that_is_rightly_empty_is_asked_for_again_without_a_word(source: Callable[..., Source]) -> None:
    console = source(routes(), may_be_empty=True, cache=True, cache_plugin="ansible.builtin.jsonfile")
    kept = {"ANSIBLE_CACHE_PLUGIN_CONNECTION": str(console.controller.folder / "kept")}
    assert [console.show(**kept).words for _ in range(2)] == ["", ""]
    assert console.asked == (2, 2)


def test_a_run_logs_in_once_for_the_inventory_and_its_tasks(source: Callable[..., Source]) -> None:
    console = source(THREE)
    connection = {
        f"slb_{key}": value for key, value in json.loads(console.path.read_text()).items() if "listing" not in key
    }
    variables = {**connection, "slb_username": "admin", "slb_password": PASSWORD}
    read = {"slb.fleet.engine_info": {"listing": LISTING}}
    said = {
        "ansible.builtin.debug": {"msg": "{{ inventory_hostname }} is {{ slb_console_state }} at {{ ansible_host }}"}
    }
    run = console.controller.run(
        [play(said, read, vars=variables)],
        fleet(0),
        "-i",
        str(console.path),
        SLB_USERNAME="admin",
        SLB_PASSWORD=PASSWORD,
    )
    run.assert_ok()
    assert "edge-2 is failed at 192.0.2.2" in run.output
    assert Counter(request.path for request in console.server.requests)[LOGIN] == 1


def test_the_page_shows_what_its_example_shows(start: Callable[..., Any], controller: Controller) -> None:
    engines = [
        {"engine_name": f"edge-{number}", "ip": f"192.0.2.1{number}", "status": status}
        for number, status in enumerate(("running", "running", "failed"), 1)
    ]
    body = json.dumps({"code": 0, "data": {"items": engines}})
    console = Source(controller, start({LIST: [for_session(answer(200, body))]}))
    page = (Path(__file__).parents[2] / "docs" / "inventory.md").read_text()
    example, variables = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    shown = re.search(r"--graph\n(.*?)\$ .*? --host edge-3\n(.*?)\$ ", page, re.DOTALL)
    assert shown
    console.path.parent.mkdir()
    console.path.write_text(example.replace("https://console.example", console.server.base_url))
    pin = {"SLB_TLS_FINGERPRINT": console.server.certificate.fingerprint}
    assert console.show(command="--graph", **pin).raw == shown.group(1)
    assert json.loads(console.show(command="--host=edge-3", **pin).raw) == json.loads(shown.group(2))
    # The same, stated once.
    once = {"slb_base_url": console.server.base_url, "slb_engine_list": yaml.safe_load(example)["listing"]}
    (console.path.parent / "group_vars").mkdir()
    (console.path.parent / "group_vars" / "engines.yml").write_text(json.dumps(once))
    console.path.write_text(variables)
    assert console.show(**pin).members("engines") == {"edge-1", "edge-2", "edge-3"}
