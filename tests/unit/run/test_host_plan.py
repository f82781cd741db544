"""One plan of a host in the light of the others: what two want, how many may be stopped, and a list that was wrong."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.slb.fleet.plugins.plugin_utils._decision.decision import Decision
from ansible_collections.slb.fleet.plugins.plugin_utils._evidence import EngineIdentity, Policy
from ansible_collections.slb.fleet.plugins.plugin_utils._host_plan import host_plan
from ansible_collections.slb.fleet.plugins.plugin_utils._progress import Progress
from ansible_collections.slb.fleet.plugins.plugin_utils._run_store import RunStore

NODE = "https://console.example"
OTHER = {"name": "far-away", "address": "198.51.100.1", "state": "running", "console_state": "up"}
FRESH = {"state": "none", "unwritable": None}


def engine(host: str) -> EngineIdentity:
    return EngineIdentity(host, f"192.0.2.{host.rpartition('-')[2]}", NODE)


def look(record: dict[str, Any] = FRESH, **container: Any) -> dict[str, Any]:
    running = {"state": "running", "id": "c1", "uptime": 900.0, "established": 0, "after_request": None}
    return {"engine_container": {**running, **container}, "record": record, "ports": [], "set_aside": None}


class Run:
    """Several hosts, one list that shows another engine."""

    def __init__(self, **policy: Any) -> None:
        self.store = RunStore.in_memory()
        self.policy = Policy(**policy)

    def decide(self, host: str, seen: dict[str, Any], progress: Progress | None = None, **other: Any) -> Decision:
        wanted = other.get("engine", engine(host))
        reading = other.get("reading", [OTHER])
        counts_only = other.get("counts_only", False)
        return host_plan(
            host, seen, wanted, reading, self.policy, progress or Progress(), self.store, None, counts_only
        )


@pytest.mark.parametrize(
    ("most", "fleet", "allowed"), [("10%", 4, 1), ("10%", 40, 4), ("0%", 40, 0), (2, 40, 2), ("100%", 3, 3)]
)
def test_the_budget(most: int | str, fleet: int, allowed: int) -> None:
    assert Policy(max_replaced=most, fleet=fleet).replacements == allowed


def test_running_containers_beyond_the_budget_are_all_left_alone_and_named_together() -> None:
    run, hosts = Run(max_replaced=2, fleet=30), ["edge-1", "edge-2", "edge-3"]
    counted = [run.decide(host, look(), counts_only=True).action for host in hosts]
    assert counted == ["replace"] * 3, "they are counted first"
    for host in hosts:
        decided = run.decide(host, look())
        assert decided.action == "fail"
        assert "edge-1, edge-2, edge-3" in decided.reason


@pytest.mark.parametrize(("runtime", "command"), [("podman", "podman"), ("docker", "docker"), (None, "docker")])
def test_the_operator_is_told_the_command_that_the_host_has(runtime: str | None, command: str) -> None:
    record = {"name": "edge-1", "manage_ip": "192.0.2.1", "base_url": NODE, "container_id": "c0"}
    renamed = look({**FRESH, **record, "state": "verified", "container_name": "slb-x"}, state="absent", id=None)
    renamed["engine_container"]["runtime"] = runtime
    decided = Run().decide("edge-1", renamed, reading=None)
    assert f"`{command} rename slb-x slb`" in decided.reason


def test_within_the_budget_and_for_what_does_not_run_they_go() -> None:
    run = Run(max_replaced=1, fleet=30)
    for _ in range(2):
        assert run.decide("edge-1", look()).action == "replace"
        assert run.decide("edge-2", look(state="exited", uptime=None)).action == "replace"
    named = Run(max_replaced=0, unlisted=True, unrecorded="replace", installs=False)
    for _ in range(2):
        assert named.decide("edge-1", look()).action == "replace", "hosts that were named do not count"


def test_a_host_that_was_healed_meanwhile_does_not_count() -> None:
    run = Run(max_replaced=1, fleet=30)
    for host in ("edge-1", "edge-2"):
        run.decide(host, look(), counts_only=True)
    listed = {"name": "edge-1", "address": "192.0.2.1", "state": "running", "console_state": "up"}
    assert run.decide("edge-1", look(), reading=[OTHER, listed]).action == "record"
    assert run.decide("edge-2", look()).action == "replace"


def pending(age: float) -> dict[str, Any]:
    engine_of = {"name": "edge-1", "manage_ip": "192.0.2.1", "base_url": NODE}
    return {"state": "requested", "age": age, "unwritable": None, "requested_at": 1.0, **engine_of}


def test_those_that_are_waited_for_count_before_the_first_wait_ends() -> None:
    """Else the host whose wait ends first would be the only one, and be stopped; and so on, one by one."""
    run = Run(max_replaced=1, fleet=30, wait=180.0)
    for number in (1, 2, 3):
        young = {**pending(150.0), "name": f"edge-{number}", "manage_ip": f"192.0.2.{number}"}
        assert run.decide(f"edge-{number}", look(young, after_request=True), counts_only=True).action == "wait"
    over = look(pending(190.0), after_request=True)
    decided = run.decide("edge-1", over)
    assert decided.action == "fail"
    assert "edge-1, edge-2, edge-3. Nothing was touched on any of them" in decided.reason


def test_what_this_run_has_asked_for_itself_is_expected_to_be_listed() -> None:
    run = Run(max_replaced=1, fleet=30, wait=180.0)
    asked = Progress(asked=1, asked_at=0.0, answer="requested")
    young = {**pending(10.0), "name": "edge-2", "manage_ip": "192.0.2.2"}
    assert run.decide("edge-2", look(young, after_request=True), asked).action == "wait"
    assert run.decide("edge-1", look()).action == "replace"


def test_a_second_container_on_one_host_is_not_stopped_on_the_first_ones_account() -> None:
    run = Run(max_replaced=1, fleet=30)
    assert run.decide("edge-1", look()).action == "replace"
    again = run.decide("edge-1", look(id="c2"), Progress(asked=1, answer="port_in_use", has_replaced=True))
    assert again.action == "fail"
    assert "edge-1 had their turn; nothing was touched on the others" in again.reason


def test_a_list_that_has_proven_wrong_stops_no_other() -> None:
    run = Run(max_replaced="100%", fleet=2)
    aside = {"id": "c0", "name": "slb-leftover-1", "state": "running", "because": "list", "exists": True}
    gone = {**look(state="absent", id=None, uptime=None), "set_aside": aside}
    exists = Progress(asked=1, answer="exists", answer_words="It exists.", has_replaced=True)
    assert run.decide("edge-1", gone, exists).action == "restore"
    decided = run.decide("edge-2", look())
    assert (decided.action, "edge-1" in decided.reason) == ("fail", True)


def test_two_hosts_that_want_one_address_are_both_told_before_anything_is_asked_for() -> None:
    run, absent = Run(), look(state="absent", id=None, uptime=None)
    run.decide("edge-1", absent)
    copied = EngineIdentity("edge-2", "192.0.2.1", NODE)
    for host, wanted in (("edge-2", copied), ("edge-1", engine("edge-1"))):
        decided = run.decide(host, absent, engine=wanted)
        assert (decided.action, "edge-1" in decided.reason, "edge-2" in decided.reason) == ("fail", True, True)


def test_a_list_that_could_not_be_read_is_not_an_empty_one() -> None:
    decided = Run().decide("edge-1", look(state="absent", id=None, uptime=None), reading="it answered HTTP 503.")
    assert (decided.action, "HTTP 503" in decided.reason) == ("fail", True)


def test_a_clone_is_told_from_a_host_whose_line_was_mistyped() -> None:
    """Both have a record of an engine that the list shows as running: only one of them has that engine's address."""
    record = {"state": "verified", "name": "edge-9", "manage_ip": "192.0.2.9", "base_url": NODE, "container_id": "c1"}
    listed = {"name": "edge-9", "address": "192.0.2.9", "state": "running", "console_state": "up"}
    for addresses, action in ((["192.0.2.1"], "replace"), (["192.0.2.9"], "fail"), (None, "fail")):
        seen = {**look(record), "addresses": addresses}
        assert Run().decide("edge-1", seen, reading=[listed]).action == action, addresses


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "west-2"}, "it is of the engine west-2, not edge-1"),
        ({"manage_ip": "192.0.2.99"}, "it is of the address 192.0.2.99, not 192.0.2.1"),
        ({"base_url": "https://other.example"}, "it is of https://other.example, not https://console.example"),
        ({"container_id": "c0"}, "it is of another container"),
    ],
)
def test_a_record_proves_only_what_it_names(change: dict[str, Any], words: str) -> None:
    record = {
        **{"state": "verified", "name": "edge-1", "manage_ip": "192.0.2.1", "base_url": NODE},
        **{"container_id": "c1", "verified_by": "engine_list"},
    }
    silent = {"reading": None}
    assert Run().decide("edge-1", look(record), **silent).verified_by == "host", "this run has seen no list"
    decided = Run().decide("edge-1", look({**record, **change}), **silent)
    assert (decided.action, words in decided.reason) == ("fail", True), decided
    listed = {"name": "edge-1", "address": "192.0.2.1", "state": "running", "console_state": "up"}
    assert Run().decide("edge-1", look({**record, **change}), reading=[listed]).action == "record"
