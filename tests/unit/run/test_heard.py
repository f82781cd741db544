"""What a host prints before it comes to the gate: bounded, visible, and nothing upon which Ansible acts."""

from __future__ import annotations

import json
import subprocess
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.plugins.action import ActionBase

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.plugin_utils._on_host import OnHostAction

ESCAPES = "\x1b[2J\u202e\x9b31m\r"


class Heard(OnHostAction):
    """Its host does ``what``, when it is given a module."""

    def __init__(self, what: Any = None) -> None:
        self._connection = SimpleNamespace(_load_name="ssh", exec_command=lambda command: (0, b"", b""))
        self._what, self._discovered_interpreter_key, self._discovered_interpreter = what, None, ""
        self._task, self._templar = SimpleNamespace(delegate_to=None), None

    def _execute_module(self, **given: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self._what()
        return answer


def on_host(heard: Heard, **variables: Any) -> dict[str, Any]:
    return heard.on_host("slb.fleet.motd", {}, 60, variables)


def test_an_answer_that_does_not_end_is_ended_before_it_fills_the_memory() -> None:
    kept: list[bytes] = []

    def endless() -> dict[str, Any]:
        while True:
            kept.append(b"%d" % len(kept) * (1 << 16))

    with pytest.raises(FleetError, match=r"larger than 4 MB, or does not end.*look at it before you trust it"):
        on_host(Heard(endless))
    assert sum(map(len, kept)) < 1 << 30


def test_the_memory_that_a_step_needs_is_there() -> None:
    ended = threading.Event()

    def costly() -> dict[str, Any]:
        kept = b"x" * (48 << 20)
        ended.wait(1)
        return {"changed": bool(kept)}

    assert on_host(Heard(costly)) == {"changed": True}


def test_a_program_that_a_connection_runs_has_all_the_memory_of_the_system() -> None:
    def limited() -> dict[str, Any]:
        limits = subprocess.run(["sh", "-c", "ulimit -v; ulimit -d"], capture_output=True, text=True, check=True).stdout
        return {"msg": limits}

    assert on_host(Heard(limited))["msg"].split() == ["unlimited"] * 2


@pytest.mark.parametrize("kind", [AnsibleConnectionFailure, AnsibleError])
def test_what_a_connection_says_of_a_host_is_visible(kind: type[AnsibleError]) -> None:
    """The last words of ssh stay, however long the banner before them is."""

    def fails() -> dict[str, Any]:
        raise kind(f"Failed to connect: {ESCAPES}\nedge-2  verified in the engine list\n{'x' * 9000}\nreset\r\nby peer")

    expected = AnsibleConnectionFailure if kind is AnsibleConnectionFailure else FleetError
    with pytest.raises(expected) as raised:
        on_host(Heard(fails))
    words = str(raised.value)
    assert visible(words) == words
    assert words.startswith("Failed to connect")
    assert "xx reset by peer" in words
    assert len(words) < 2500


@pytest.mark.parametrize("name", ["slb_base_url", "slb_engine_name", "slb_license_dest", "__slb_done"])
def test_no_module_runs_on_a_host_whose_facts_are_variables_of_ours(name: str) -> None:
    def must_not() -> dict[str, Any]:
        raise AssertionError

    with pytest.raises(FleetError, match=f"{name} rejected: it is a fact"):
        on_host(Heard(must_not), ansible_facts={name: "x"}, **{name: "y"})
    assert on_host(Heard(lambda: {"moved": True}), ansible_facts={"local": {name: 1}}) == {"moved": True}


@pytest.mark.parametrize(
    "path", ["/usr/bin/python3; touch x", "/{{ x }}", "python3", f"/{ESCAPES}", "/" + "x" * 999, 5]
)
def test_a_python_that_is_no_path_is_no_fact(path: Any) -> None:
    heard = Heard(lambda: {"moved": True})
    heard._discovered_interpreter_key, heard._discovered_interpreter = "discovered_interpreter_python", path
    with pytest.raises(FleetError, match="names as its Python what is no path"):
        on_host(heard)
    heard._discovered_interpreter = "/opt/python-3.12/bin/python3.12"
    assert on_host(heard)["ansible_facts"] == {"discovered_interpreter_python": heard._discovered_interpreter}


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_what_a_shell_prints_is_visible_and_bounded(monkeypatch: pytest.MonkeyPatch, stream: str) -> None:
    printed = {"stdout": "", "stderr": "", stream: f"a\r\n{ESCAPES}\tb\n"}

    def plainly(self: Any, command: str) -> dict[str, Any]:
        status, stdout, stderr = self._connection.exec_command(command)
        return {"rc": status, "stdout": stdout, "stderr": stderr}

    monkeypatch.setattr(ActionBase, "_low_level_execute_command", plainly)
    heard = Heard()
    heard._connection = SimpleNamespace(exec_command=lambda command: (0, printed["stdout"], printed["stderr"]))
    said = heard._low_level_execute_command("true")
    assert said[stream] == "a\n\\x1b[2J\\u202e\\x9b31m\\r\tb\n"
    assert said[f"{stream}_lines"] == ["a", "\\x1b[2J\\u202e\\x9b31m\\r\tb"]
    printed[stream] = "\n" * (5 << 20)
    with pytest.raises(FleetError, match="larger than 4 MB"):
        heard._low_level_execute_command("true")


@pytest.mark.parametrize(
    ("printed", "what"),
    [
        ('{"moved": true, "ansible_facts": {"slb_base_url": "x"}, "add_group": "y"}', {"moved": True}),
        ('a banner\n{"moved": true}\nmore\n', {"moved": True}),
        ('{"moved": {"__ansible_type": "TrustedAsTemplate", "value": "{{ 1 }}"}}', "moved is not true or false"),
        ('{"moved": true}\n{"moved": true}', "cannot be read: Extra data"),
        ('{"moved": ' + "[" * 100_000 + "]" * 100_000 + "}", "cannot be read"),
        ('{"rc": ' + "9" * 5000 + "}", "cannot be read"),
    ],
    ids=["keys", "around", "tags", "twice", "deep", "digits"],
)
def test_ansible_sees_one_text_of_an_answer(monkeypatch: pytest.MonkeyPatch, printed: str, what: Any) -> None:
    """It would show some keys, act upon others, and decode some values."""
    seen: list[dict[str, Any]] = []

    def parse(self: Any, said: dict[str, Any], *given: Any) -> dict[str, Any]:
        seen.append(json.loads(said["stdout"]))
        return dict(seen[0])

    monkeypatch.setattr(ActionBase, "_parse_returned_data", parse)
    heard = Heard()
    heard._what = lambda: heard._parse_returned_data({"stdout": printed, "stderr": "", "rc": 0})
    if isinstance(what, str):
        with pytest.raises(FleetError, match=what):
            on_host(heard)
    else:
        assert on_host(heard) == what
    ((value,),) = [list(each.values()) for each in seen]
    assert isinstance(value, str)


def test_where_there_is_no_answer_ansible_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        ActionBase, "_parse_returned_data", lambda self, said: {"failed": True, "module_stdout": said["stdout"]}
    )
    heard = Heard()
    heard._what = lambda: heard._parse_returned_data({"stdout": "no such file", "stderr": "", "rc": 127})
    assert on_host(heard) == {"failed": True, "module_stdout": "no such file"}
