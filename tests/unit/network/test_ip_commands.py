"""Many commands run as few processes, and what one of them is refused keeps no other from being run."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._network import ip_commands

# As iproute2 does it: what the kernel refuses does not end it, a word that it does not know does.
IP = """#!/bin/sh
echo "$@" >> {log}
refuse() {{
    case "$1" in *refused*) echo "RTNETLINK answers: No such device" >&2; return 1;; *misspelt*) return 2;; esac
}}
case "$*" in
*-batch*) number=0; failed=0
    while read -r line; do
        number=$((number + 1)); echo "  $line" >> {log}; refuse "$line"
        case $? in 1) failed=1; echo "Command failed -:$number" >&2;; 2) echo "Error: what?" >&2; exit 1;; esac
    done
    exit $failed;;
*) refuse "$*"; case $? in 1) exit 2;; 2) echo "Error: what?" >&2; exit 1;; esac;;
esac
exit 0
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    log = tmp_path / "log"
    program = tmp_path / "ip"
    program.write_text(IP.format(log=log))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return log


def run(*lines: str) -> list[str]:
    return ip_commands.run([line.split() for line in lines])


def test_those_of_one_family_run_in_one_process_and_in_their_order(log: Path) -> None:
    assert (
        run("link set dev a up", "address replace 10.0.0.1/24 dev a", "-4 route append x dev a", "-6 route del y") == []
    )
    assert log.read_text().splitlines() == [
        "-force -batch -",
        "  link set dev a up",
        "  address replace 10.0.0.1/24 dev a",
        "-4 -force -batch -",
        "  route append x dev a",
        "-6 -force -batch -",
        "  route del y",
    ]


def test_what_one_is_refused_is_said_of_that_one_and_the_others_are_run(log: Path) -> None:
    assert run("link set dev a up", "link set dev refused up", "link set dev b up") == [
        "link set dev refused up: RTNETLINK answers: No such device"
    ]
    assert log.read_text().count("\n") == 4


def test_a_word_that_ip_does_not_know_keeps_no_other_from_being_run(log: Path) -> None:
    assert run("link set dev a misspelt", "link set dev b up") == ["link set dev a misspelt: Error: what?"]
    assert log.read_text().splitlines()[-1] == "link set dev b up"


def test_a_name_that_a_batch_would_not_read_is_given_as_a_word_of_its_own(log: Path) -> None:
    assert run("-4 route append x dev a#1", "-4 route append x dev b") == []
    assert log.read_text().splitlines() == ["-4 route append x dev a#1", "-4 -force -batch -", "  route append x dev b"]


def test_nothing_to_do_starts_nothing(log: Path) -> None:
    assert run() == []
    assert not log.exists()
