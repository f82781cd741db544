"""The rows of the table, one by one, as an operator would put them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils._decision.decide import decide
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import Evidence, Policy, SetAside
from ansible_collections.slb.fleet.plugins.plugin_utils._progress import Progress
from ansible_collections.slb.fleet.tests.unit.decision.space import ENGINE

RUNNING = {"container": "running", "container_id": "c1", "after_request": True, "uptime": 60.0}
YOUNG = {"record": "requested", "record_age": 60.0}
OVER = {"record": "requested", "record_age": 200.0}
CONFIRMED = {"record": "verified"}
OF_ANOTHER = {"record": "verified", "differences": ("it is of the engine west-2, not edge-1",)}
SHAKY = RUNNING | CONFIRMED | {"uptime": 1.0, "restarts": 9}
LISTED, GONE, FAILED = {"console": "running"}, {"console": "not_listed"}, {"console": "failed"}
SILENT = {"console": "unknown", "console_words": "it calls the engine's state 'Up'", "console_is_about_it": True}
EMPTY = {"console": "empty", "console_words": "it shows no engine at all"}
DAMAGED = {"record": "invalid", "record_why": "the file is not JSON"}
UNREAD = {"console": "unavailable", "console_words": "it answered HTTP 503."}
LAST = {"progress": Progress(asked=3, answer="unknown", answer_words="(its words)", has_replaced=True)}
WAITED = {"progress": Progress(waited=10.0)}

AGAIN = {"running_leftovers": ("slb-leftover-1",), "ports": ({"port": 8000, "pid": 1, "process": "httpd"},)}
HALF_GONE = {"is_half_gone": True, "set_aside": SetAside("c1", "slb", "running", "list", exists=True)}


def answered(answer: str, **more: object) -> dict:
    return {"progress": Progress(asked=int(answer != "none"), answer=answer, answer_words="(its words)", **more)}


def aside(because: str = "list", state: str = "running", **more: bool) -> dict:
    return {"set_aside": SetAside("c1", "slb-leftover-1", state, because, exists=True, **more)}


ROWS = [
    ("verified, no list", RUNNING | CONFIRMED, "none", "that the record names."),
    ("verified and listed", RUNNING | CONFIRMED | LISTED, "none", "the console lists it as running"),
    (
        "noted as verified by the host, when the list was late",
        RUNNING | CONFIRMED | LISTED | {"record_verified_by": "host", "progress": Progress(rounds=2, confirmed=1)},
        "record",
        "now the console lists it as running too",
    ),
    (
        "verified by the host in an earlier run, and listed",
        RUNNING | CONFIRMED | LISTED | {"record_verified_by": "host"},
        "none",
        "the console lists it as running",
    ),
    ("the record is of another engine", RUNNING | OF_ANOTHER, "fail", "it is of the engine west-2"),
    ("of another engine, and listed", RUNNING | OF_ANOTHER | LISTED, "record", "lists the engine as running"),
    ("of another engine, not listed", RUNNING | OF_ANOTHER | GONE, "replace", "it is of the engine west-2"),
    ("verified, and gone from the list", RUNNING | CONFIRMED | GONE, "fail", "slb.fleet.remediate"),
    ("verified, and failed in the list", RUNNING | CONFIRMED | FAILED, "fail", "as failed the engine edge-1"),
    ("verified, and stopped by a person", CONFIRMED | {"container": "exited"}, "fail", "docker start slb"),
    ("verified, and paused by a person", CONFIRMED | {"container": "paused"}, "fail", "docker unpause slb"),
    ("verified, and the list says nothing clear", RUNNING | CONFIRMED | SILENT, "fail", "'Up'"),
    ("verified, and the list is empty", RUNNING | CONFIRMED | EMPTY, "fail", "slb_engine_list_may_be_empty"),
    ("verified, and the front end is stuck", RUNNING | CONFIRMED | {"console": "deploying"}, "wait", "deploying"),
    ("console says running", RUNNING | LISTED, "record", "lists the engine as running"),
    ("console says deploying", {"console": "deploying"}, "wait", "deploying"),
    ("our request is young", YOUNG, "wait", "may still be running"),
    ("it came up, no list", RUNNING | YOUNG, "record", "has finished"),
    ("stuck front end after the wait", RUNNING | OVER | {"console": "deploying"}, "record", "was not updated"),
    (
        "still deploying after the wait",
        {"console": "deploying", "progress": Progress(waited=180.0)},
        "fail",
        "after a wait of 180 seconds",
    ),
    ("it came up just as the wait ended", RUNNING | OVER | {"uptime": 1.0}, "wait", "whether it stays up"),
    ("ours lives, and was restarted just now", RUNNING | OVER | {"uptime": 1.0, "restarts": 1}, "wait", "stays up"),
    ("ours restarts just now", RUNNING | OVER | {"container": "restarting"}, "wait", "stays up"),
    (
        "our attempt crashes again and again",
        RUNNING | OVER | WAITED | {"uptime": 1.0, "restarts": 9},
        "replace",
        "failed",
    ),
    (
        "our attempt crashes again and again, and the runtime does not count it",
        RUNNING | OVER | WAITED | {"uptime": 1.0, "record_age": 900.0},
        "replace",
        "failed",
    ),
    (
        "it came up as the wait ended, for which this run has waited",
        RUNNING | OVER | WAITED | {"uptime": 1.0, "record_age": 185.0},
        "wait",
        "stays up",
    ),
    (
        "another run put back what this run took away, and its note with it",
        RUNNING | GONE | {"progress": Progress(has_replaced=True, replaced_id="c1")},
        "fail",
        "somebody has put it back",
    ),
    ("ours is up, the console not yet", RUNNING | OVER | GONE | {"uptime": 1.0}, "wait", "stays up"),
    ("our attempt left nothing", OVER, "install", "left no container"),
    ("our attempt left a dead container", OVER | {"container": "exited"}, "replace", "left the container exited"),
    ("it ran before our request", RUNNING | OVER | {"after_request": False}, "fail", "could be live"),
    ("ours, and the console does not list it", RUNNING | OVER | GONE, "replace", "leftover of a failed"),
    ("ours came up, and somebody paused it", RUNNING | OVER | {"container": "paused"}, "fail", "could be live"),
    ("dead container", {"container": "exited"}, "replace", "leftover"),
    ("dead container, of a list that is empty", {"container": "exited"} | EMPTY, "replace", "leftover"),
    ("never started", {"container": "created"}, "replace", "leftover"),
    ("stopped, in a word that is not described", {"container": "exited"} | SILENT, "fail", "'Up'"),
    ("running, unrecorded", RUNNING, "fail", "slb_unverified_engine: adopt"),
    ("running, console lists no such engine", RUNNING | GONE, "replace", "does not list"),
    ("running, console says failed", RUNNING | FAILED, "replace", "as failed the engine"),
    ("running, the list is empty", RUNNING | EMPTY, "fail", "no engine at all"),
    ("absent", {}, "install", "no engine"),
    ("absent, the first of its console", EMPTY, "install", "no engine"),
    ("absent, record of a lost container", {"record": "verified", "differences": ("gone",)}, "install", "no engine"),
    ("listed at another host", {"console": "elsewhere"}, "fail", "contradicts the inventory"),
    ("another engine listed here", RUNNING | CONFIRMED | {"console": "other_name"}, "fail", "slb_engine_name"),
    ("it is another machine", RUNNING | LISTED | {"addresses": ("192.0.2.99",)}, "fail", "may be another machine"),
    (
        "its addresses are words",
        {"addresses": ("1. Verified", "a'; b")},
        "fail",
        "addresses '1. Verified', 'a\"; b', and",
    ),
    ("it has that address", RUNNING | LISTED | {"addresses": ("192.0.2.99", "192.0.2.11")}, "record", "lists"),
    ("two hosts want it", {"disputed": "edge-1 and edge-9 want it."}, "fail", "edge-9"),
    (
        "the list cannot be read",
        RUNNING | CONFIRMED | {"console": "unavailable"},
        "fail",
        "could not be read",
    ),
    ("listed_but_not_running", LISTED, "fail", "who is right"),
    ("verified once, now restarting", {"container": "restarting"} | CONFIRMED, "fail", "again and again"),
    ("verified once, now just restarted", SHAKY, "wait", "whether it stays up"),
    ("restarted again in the meantime", SHAKY | WAITED, "fail", "restarts it again and again"),
    ("restarted long ago", SHAKY | {"uptime": 60.0}, "none", "that the record names"),
    ("somebody paused it", {"container": "paused"}, "fail", "could be live"),
    ("runtime down", {"container": "unknown", "container_why": "no daemon"}, "fail", "runtime on the host back"),
    (
        "two of its name",
        {"container": "unknown", "container_why": "Docker and Podman both have a container of this name"},
        "fail",
        "this name. Remove or rename one of the two",
    ),
    ("no root", {"container": "unknown", "container_why": "denied", "as_root": False}, "fail", "become: true"),
    ("damaged record", DAMAGED, "fail", "the file is not JSON"),
    ("it exists, they say, but not here", OVER | answered("exists"), "fail", "remove the engine there"),
    ("rejected", answered("rejected"), "fail", "(its words)"),
    ("the list was wrong", aside() | answered("exists"), "restore", "goes back as it was"),
    (
        "the list cannot be read after the stop",
        aside() | answered("none", has_replaced=True) | UNREAD,
        "restore",
        "HTTP 503",
    ),
    ("no engine ever came up", OVER | aside() | LAST, "restore", "asked for 3 times"),
    ("a run was ended while it put it back", aside(going_back=True), "restore", "about to be put back"),
    ("somebody renamed the verified container", {"recorded_as": "slb-x"}, "fail", "docker rename slb-x slb"),
    ("the list shows what was taken away", LISTED | aside(), "restore", "lists the engine as running"),
    ("it is back, and listed", RUNNING | LISTED | aside() | answered("exists", has_put_back=True), "record", "lists"),
    ("nothing was begun, and it had run", aside() | answered("rejected"), "restore", "goes back"),
    ("nothing was begun, and it was dead", aside("ended", "exited") | answered("rejected"), "fail", "not begun"),
    ("the operator took it away in an earlier run", aside("operator") | answered("rejected"), "fail", "not begun"),
    (
        "it is of a record that the list shows",
        RUNNING | GONE | {"is_listed_as_recorded": True},
        "fail",
        "that may be this one",
    ),
    (
        "it is verified for another management node",
        RUNNING | GONE | {"is_of_this_container": True, "is_of_another_node": True},
        "fail",
        "Correct slb_base_url",
    ),
    ("it was put back before", RUNNING | GONE | aside(mistaken=True), "fail", "put back, because"),
    ("running, and the record is damaged", RUNNING | DAMAGED | GONE, "fail", "the file is not JSON"),
    ("running and listed, and the record is damaged", RUNNING | DAMAGED | LISTED, "record", "lists the engine"),
    ("it was put back", RUNNING | aside() | answered("exists", has_put_back=True), "fail", "was put back"),
    (
        "somebody put back what this run took away",
        RUNNING | GONE | aside() | {"progress": Progress(has_replaced=True, replaced_id="c1")},
        "fail",
        "who works on this host",
    ),
    ("half gone, and listed", RUNNING | LISTED | HALF_GONE, "restore", "restart policy"),
    (
        "half gone and stopped, and listed",
        {"container": "exited", "container_id": "c1"} | LISTED | HALF_GONE,
        "restore",
        "lists the engine as running",
    ),
    (
        "what was to be put back is gone",
        answered("exists", has_replaced=True) | {"set_aside": SetAside("c1", "slb-x", "running", "list", exists=False)},
        "fail",
        "cannot be put back",
    ),
    (
        "somebody has begun it since the list was read",
        aside() | answered("exists") | {"console": "deploying"},
        "wait",
        "deploying",
    ),
    ("half gone, and verified all the same", RUNNING | CONFIRMED | HALF_GONE, "restore", "not yet all that it was"),
    ("half gone, and still a leftover", RUNNING | GONE | HALF_GONE, "replace", "does not list"),
    (
        "its record is of another engine, which is listed, too",
        RUNNING | OF_ANOTHER | LISTED | {"is_of_this_container": True, "is_listed_as_recorded": True},
        "fail",
        "may be swapped",
    ),
    ("another container has taken its name", RUNNING | GONE | {"recorded_as": "slb-x"}, "fail", "docker rename slb-x"),
    ("renamed, and listed", LISTED | {"recorded_as": "slb-x"}, "fail", "docker rename slb-x slb"),
    (
        "what it needs went wrong after the stop",
        {"unwritable": "the file system is full"} | aside() | {"progress": Progress(has_replaced=True)},
        "restore",
        "goes back as it was",
    ),
    (
        "the list contradicts itself after the stop",
        {"console": "other_name"} | aside(),
        "restore",
        "goes back as it was",
    ),
    (
        "it is back, for that reason",
        RUNNING | {"progress": Progress(has_put_back=True, put_back_words="The disk is full. It goes back.")},
        "fail",
        "The disk is full. It goes back. It is running now.",
    ),
    (
        "what an operator gave up stays away",
        {"console": "other_name"} | aside("operator"),
        "fail",
        "contradicts",
    ),
    (
        "noted twice, and the record says otherwise",
        RUNNING | LISTED | {"progress": Progress(confirmed=2)},
        "fail",
        "Find out who else writes it",
    ),
    ("no root to note it", {"unwritable": "no permission", "as_root": False}, "fail", "become: true"),
    ("it would be lost", RUNNING | GONE | {"auto_remove": True}, "fail", "slb_remove_leftovers: true"),
    ("a leftover runs again, and has its port", SHAKY | WAITED | AGAIN, "fail", "`docker stop slb-leftover-1`"),
    ("listed, and a leftover runs instead", LISTED | {"container": "exited"} | AGAIN, "fail", "`docker stop slb-left"),
    (
        "a leftover runs in its place",
        CONFIRMED | {"container": "exited"} | AGAIN,
        "fail",
        "`docker stop slb-leftover-1`",
    ),
    ("a leftover holds the port", answered("port_in_use") | AGAIN, "fail", "`docker stop slb-leftover-1`"),
    (
        "systemd makes it",
        {"container": "exited", "runtime": "podman", "systemd_unit": "slb.service"},
        "fail",
        "`systemctl disable --now slb.service`",
    ),
    ("the list was wrong", RUNNING | GONE | {"distrusted": "edge-9"}, "fail", "edge-9"),
    ("it could not be noted", {"unwritable": "the disk is full"}, "fail", "the disk is full"),
    ("nobody may see who is connected", RUNNING | GONE | {"established": None}, "fail", "become: true"),
]


@pytest.mark.parametrize(("evidence", "action", "reason"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_row(evidence: dict, action: str, reason: str) -> None:
    decided = decide(Evidence(engine=ENGINE, **evidence), Policy())
    assert (decided.action, reason in decided.reason) == (action, True), decided


def test_the_operator_says_what_an_unrecorded_engine_is() -> None:
    unrecorded = Evidence(engine=ENGINE, **RUNNING)
    assert decide(unrecorded, Policy(unrecorded="adopt")).action == "record"
    assert decide(unrecorded, Policy(unrecorded="replace")).because == "operator"
    assert decide(replace(unrecorded, uptime=1.0), Policy(unrecorded="adopt")).action == "wait"
    assert decide(replace(unrecorded, container="restarting"), Policy(unrecorded="adopt")).action == "fail"


def test_adopting_what_the_list_does_not_show_is_a_contradiction() -> None:
    for console in ("not_listed", "failed", "empty"):
        decided = decide(Evidence(engine=ENGINE, console=console, **RUNNING), Policy(unrecorded="adopt"))
        assert decided.action == "fail", decided


def test_remediate_overrides_every_proof_of_the_past_but_not_what_the_list_shows_now() -> None:
    remediate = Policy(unrecorded="replace", unlisted=True, installs=False)
    verified = Evidence(engine=ENGINE, **RUNNING | CONFIRMED)
    assert decide(verified, remediate).action == "replace"
    assert decide(replace(verified, console="not_listed"), remediate).action == "replace"
    assert decide(replace(verified, container="exited"), remediate).action == "replace"
    assert decide(replace(verified, console="elsewhere"), remediate).action == "replace"
    assert decide(replace(verified, established=1), remediate).action == "fail"
    assert decide(replace(verified, console="unavailable"), remediate).action == "fail"
    assert decide(replace(verified, console="other_name"), remediate).action == "fail"
    listed = decide(replace(verified, console="running"), remediate)
    assert (listed.action, listed.verified_by) == ("none", "engine_list")


def test_who_remediates_an_engine_that_was_proven_is_told_that_it_was() -> None:
    remediate = Policy(unrecorded="replace", unlisted=True, installs=False)
    reasons = [decide(Evidence(ENGINE, **RUNNING, **record), remediate).reason for record in (CONFIRMED, {})]
    assert ["although it was verified to run here" in reason for reason in reasons] == [True, False]


def test_an_install_that_cannot_be_asked_for_is_known_before_anything_is_touched() -> None:
    trouble = replace(ENGINE, trouble="'edge-1.example' is not an IP address.")
    nameless = replace(ENGINE, base_url="")
    for evidence in ({}, {"container": "exited"}, RUNNING | GONE, RUNNING | CONFIRMED):
        assert "is not an IP address" in decide(Evidence(engine=trouble, **evidence), Policy()).reason
        assert "slb_base_url" in decide(Evidence(engine=nameless, **evidence), Policy()).reason
    for evidence in ({}, {"container": "exited"}, RUNNING | GONE):
        assert decide(Evidence(engine=trouble, **evidence), Policy(installs=False)).action != "fail"


def test_an_occupied_port_is_traced_to_its_holder() -> None:
    ports = (
        {"port": 22, "pid": 101, "process": "sshd"},
        {"port": 8000, "pid": 217, "process": "python3"},
    )
    named = Progress(answer="port_in_use", answer_words="Port 8000 is occupied on 192.0.2.22")
    decided = decide(Evidence(engine=ENGINE, progress=named, ports=ports), Policy())
    assert "held by: port 8000 (python3, process 217)" in decided.reason
    unnamed = replace(named, answer_words="端口被占用")
    decided = decide(Evidence(engine=ENGINE, progress=unnamed, ports=ports), Policy())
    assert "port 22 (sshd, process 101), port 8000 (python3, process 217)" in decided.reason


def test_the_last_failure_says_what_was_tried_and_seen() -> None:
    tried = Progress(asked=3, answer="requested", answer_words="accepted")
    decided = decide(Evidence(engine=ENGINE, **OVER, progress=tried), Policy())
    assert decided.action == "fail"
    assert "3 times" in decided.reason
    assert "accepted" in decided.reason


def test_a_run_ends_although_the_host_never_comes_to_rest() -> None:
    decided = decide(Evidence(engine=ENGINE, **YOUNG, progress=Progress(rounds=21)), Policy())
    assert "not in a steady state after 21 rounds" in decided.reason


@pytest.mark.parametrize(
    ("because", "has_replaced", "goes_back"),
    [("list", False, True), ("operator", True, True), ("operator", False, False), ("record", True, False)],
)
def test_what_goes_back_where_the_request_cannot_be_made(because: str, has_replaced: bool, goes_back: bool) -> None:
    evidence = Evidence(engine=ENGINE, **aside(because), progress=Progress(has_replaced=has_replaced))
    decided = decide(evidence, Policy())
    assert (decided.action, decided.undo) == ("install", goes_back)


def test_who_holds_the_port_is_stopped_as_what_it_is() -> None:
    answer = Progress(asked=1, answer="port_in_use", answer_words="port 8000 is occupied")
    holder = {"port": 8000, "pid": 155, "process": "httpd"}
    reasons = [
        decide(Evidence(ENGINE, ports=(holder,), progress=answer, running_leftovers=again), Policy()).reason
        for again in ((), ("slb-leftover-1",))
    ]
    assert "(httpd, process 155). Stop that, then run again." in reasons[0]
    assert "What was taken out of the way runs again (slb-leftover-1): run `docker stop slb-leftover-1`" in reasons[1]
    assert "Stop that" not in reasons[1]


def test_who_has_podman_is_told_that_a_users_own_is_not_looked_into() -> None:
    answer = Progress(asked=1, answer="port_in_use", answer_words="port 8000 is occupied")
    seen = Evidence(ENGINE, ports=({"port": 8000, "pid": 155, "process": "httpd"},), progress=answer)
    assert "a user's own Podman" in decide(replace(seen, runtime="podman"), Policy()).reason
    assert "Podman" not in decide(seen, Policy()).reason
