"""The rows of the table, one by one, as an operator would put them."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.slb.fleet.plugins.filter.decision import decision
from ansible_collections.slb.fleet.plugins.plugin_utils._decision import decide
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import Evidence, Policy

RUNNING = {"container": "running", "container_id": "c1", "started_at": 1050.0, "uptime": 60.0}
YOUNG = {"record": "pending", "record_age": 60.0, "requested_at": 1000.0}
OVER = {"record": "pending", "record_age": 200.0, "requested_at": 1000.0}
CONFIRMED = {"record": "confirmed", "record_container": "c1", "record_verified_by": "host"}
SHAKY = RUNNING | CONFIRMED | {"uptime": 1.0, "restarts": 9}
DEAD = RUNNING | {"console": "failed"}

ROWS = [
    ("proven", RUNNING | CONFIRMED, "nothing", "the record names its container"),
    ("console says running", RUNNING | {"console": "running"}, "confirm", "lists the engine as running"),
    ("console says deploying", {"console": "deploying"}, "wait", "deploying"),
    ("our request is young", YOUNG, "wait", "may still be running"),
    ("it came up, front end not updated", RUNNING | YOUNG, "confirm", "has finished"),
    (
        "stuck front end after the wait",
        RUNNING | OVER | {"console": "deploying"},
        "confirm",
        "front end was not updated",
    ),
    (
        "still deploying after the wait",
        {"console": "deploying", "waited": 180.0},
        "fail",
        "after a wait of 180 seconds",
    ),
    ("it came up just as the wait ended", RUNNING | OVER | {"uptime": 1.0}, "wait", "whether it stays up"),
    ("ours lives, and was restarted just now", RUNNING | OVER | {"uptime": 1.0, "restarts": 1}, "wait", "stays up"),
    ("ours restarts just now", RUNNING | OVER | {"container": "restarting"}, "wait", "stays up"),
    (
        "our attempt crashes again and again",
        RUNNING | OVER | {"uptime": 1.0, "restarts": 9, "waited": 10.0},
        "replace",
        "failed",
    ),
    ("ours is up, the console not yet", RUNNING | OVER | {"uptime": 1.0, "console": "not_listed"}, "wait", "stays up"),
    ("no address to ask with", {"manage_ip": "edge-1.example"}, "fail", "'edge-1.example', which is no IP address"),
    ("nobody may see who is connected", DEAD | {"established": None}, "fail", "become: true"),
    ("our attempt left nothing", OVER, "add", "left no container"),
    ("our attempt left a dead container", OVER | {"container": "exited"}, "replace", "left the container exited"),
    ("it ran before our request", RUNNING | OVER | {"started_at": 900.0}, "fail", "could be live"),
    ("ours, and the console does not list it", RUNNING | OVER | {"console": "not_listed"}, "replace", "failed"),
    ("ours came up, and somebody paused it", RUNNING | OVER | {"container": "paused"}, "fail", "could be live"),
    ("dead container", {"container": "exited"}, "replace", "leftover"),
    ("never started", {"container": "created"}, "replace", "leftover"),
    ("running, unrecorded", RUNNING, "fail", "slb_unrecorded_engine: adopt"),
    ("running, of another record", RUNNING | CONFIRMED | {"record_container": "c0"}, "fail", "could be live"),
    ("running, console lists no such engine", RUNNING | {"console": "not_listed"}, "replace", "does not list"),
    ("running, console says failed", RUNNING | {"console": "failed"}, "replace", "as failed"),
    ("absent", {}, "add", "no engine"),
    ("absent, record of a lost container", CONFIRMED, "add", "no engine"),
    ("drift", {"console": "running"}, "fail", "who is right"),
    ("proven once, now restarting", {"container": "restarting", "container_id": "c1"} | CONFIRMED, "fail", "proven"),
    ("proven once, now just restarted", SHAKY, "wait", "whether it stays up"),
    ("restarted again in the meantime", SHAKY | {"waited": 10.0}, "fail", "restarts it again and again"),
    ("restarted long ago", SHAKY | {"uptime": 60.0}, "nothing", "the record names its container"),
    ("somebody paused it", {"container": "paused"}, "fail", "could be live"),
    ("runtime down", {"container": "unknown", "container_why": "no daemon"}, "fail", "no daemon"),
    ("damaged record", {"record": "invalid", "record_why": "the file is not JSON"}, "fail", "the file is not JSON"),
    ("it exists, they say, but not here", OVER | {"answer": "exists"}, "fail", "Remove the engine in the web console"),
    ("refused", {"answer": "refused", "answer_words": "No such credential."}, "fail", "No such credential."),
]


@pytest.mark.parametrize(("evidence", "action", "reason"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_row(evidence: dict, action: str, reason: str) -> None:
    decided = decide(Evidence(**evidence), Policy())
    assert (decided.action, reason in decided.reason) == (action, True), decided


def test_the_operator_says_what_an_unrecorded_engine_is() -> None:
    assert decide(Evidence(**RUNNING), Policy(unrecorded="adopt")).action == "confirm"
    assert decide(Evidence(**RUNNING), Policy(unrecorded="replace")).action == "replace"
    assert decide(Evidence(**RUNNING | {"uptime": 1.0}), Policy(unrecorded="adopt")).action == "wait"
    assert decide(Evidence(container="restarting"), Policy(unrecorded="adopt")).action == "fail"


def test_remediate_may_take_an_engine_away_that_the_host_alone_has_proven() -> None:
    """That the console does not list it is what the host cannot know."""
    remediate = Policy(unrecorded="replace", unlisted=True)
    assert decide(Evidence(**RUNNING | CONFIRMED), remediate).action == "replace"
    assert decide(Evidence(**RUNNING | CONFIRMED, established=1), remediate).action == "fail"
    by_console = CONFIRMED | {"record_verified_by": "console"}
    assert decide(Evidence(**RUNNING | by_console), remediate).action == "nothing"
    assert decide(Evidence(**RUNNING | CONFIRMED, console="running"), remediate).action == "confirm"


def test_an_occupied_port_is_traced_to_its_holder() -> None:
    ports = (
        {"port": 22, "pid": 101, "process": "sshd"},
        {"port": 8000, "pid": 217, "process": "python3"},
    )
    answered = Evidence(answer="port_occupied", answer_words="Port 8000 is occupied on 192.0.2.22", ports=ports)
    assert "held by: port 8000 (python3, process 217)" in decide(answered, Policy()).reason
    unnamed = Evidence(answer="port_occupied", answer_words="端口被占用", ports=ports)
    assert "port 22 (sshd, process 101), port 8000 (python3, process 217)" in decide(unnamed, Policy()).reason


def test_the_last_failure_says_what_was_tried_and_seen() -> None:
    tried = Evidence(**OVER, asked=3, answer="requested", answer_words="accepted")
    decided = decide(tried, Policy())
    assert decided.action == "fail"
    assert "3 times" in decided.reason
    assert "accepted" in decided.reason


def test_a_wrong_policy_is_named_with_its_value_and_the_remedy() -> None:
    look = {"engine_container": {"state": "absent"}, "record": {"state": "none"}}
    with pytest.raises(AnsibleFilterError, match=r"slb_unrecorded_engine.*'destroy'.*fail, adopt, replace"):
        decision(look, {"unrecorded": "destroy"})
    with pytest.raises(AnsibleFilterError, match=r"slb_wait_timeout.*'soon'.*not a number"):
        decision(look, {"wait": "soon"})
    with pytest.raises(AnsibleFilterError, match=r"slb_allow_established.*'perhaps'.*not a boolean"):
        decision(look, {"allow_established": "perhaps"})
    with pytest.raises(AnsibleFilterError, match=r"slb_attempts.*0.*from 1 upwards"):
        decision(look, {"attempts": 0})


def test_a_policy_of_texts_is_the_same_policy() -> None:
    """ansible-core before 2.19 hands over the values of a templated dictionary as text."""
    look = {"engine_container": {"state": "exited", "established": 3}, "record": {"state": "none"}}
    texts = {"unrecorded": "fail", "wait": "180", "settle": "5.0", "attempts": "3", "allow_established": "True"}
    assert decision(look, texts)["action"] == "replace"
    assert decision(look, {**texts, "allow_established": "False"})["action"] == "fail"
