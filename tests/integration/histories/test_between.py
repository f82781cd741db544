"""Between the stop of a leftover and the request for an engine something fails: the host is left as it was."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from estate import Estate, History, Member, as_node_of
from runs import Run
from slb_lab.management import ManagementNode

STOP = "Take the leftover container out of the way"
LOOK = "look again, decide again"
ASK = "ask the management node to install the engine"
FACTS = "/etc/ansible/facts.d"
# What fails on which host: the first three before the look after the stop, the others before the request.
READ_ONLY, NODE_GONE, LIST_GONE, IMMUTABLE, NO_LOGIN, GOOD = "h1", "h2", "h3", "h4", "h5", "h6"
FAILING = (READ_ONLY, NODE_GONE, LIST_GONE, IMMUTABLE, NO_LOGIN)
# The list says nothing of the containers, and a try that fails fails at once.
LEFTOVER: dict[str, Any] = {"slb_engine_list_may_be_empty": True, "slb_max_replaced": "100%", "slb_retries": 0}


def make_read_only(member: Member) -> None:
    member.host.exec(["sh", "-c", f"mkdir -p {FACTS} && mount --bind {FACTS} {FACTS}"])
    member.host.exec(["mount", "-o", "remount,bind,ro", FACTS])


def make_immutable(member: Member) -> None:
    member.host.exec(["sh", "-c", f"mkdir -p {FACTS} && chattr +i {FACTS}"])


def is_as_it_was(history: History, host: str) -> bool:
    """The same container runs under its name with its restart policy, and nothing else is otherwise."""
    before, after = history.touched[host]
    ((_, container),) = after.containers.items()
    runs = (container["name"], container["state"], container["policy"]) == ("slb", "running", "always")
    return runs and after.is_back_from(before)


@dataclass(frozen=True)
class Between:
    """``nodes``: those of the hosts whose node fails. ``engines``: what each knows after the run, by host."""

    history: History
    nodes: dict[str, ManagementNode]
    engines: dict[str, list[Any]]
    hosts: dict[str, dict[str, Any]]

    @property
    def run(self) -> Run:
        return self.history.run


@pytest.fixture(scope="module")
def between(estate: Estate) -> Iterator[Between]:
    estate.make_leftover()
    nodes = {host: estate.another_node(f"of-{host}") for host in (NODE_GONE, LIST_GONE, NO_LOGIN)}
    hosts = {host: as_node_of(node) for host, node in nodes.items()}
    before = estate.dump()
    try:
        with estate.stepping("slb.fleet.rollout", hosts=hosts, **LEFTOVER, slb_wait_timeout=12) as steps:
            steps.go_on_until(STOP)
            steps.go_on()
            steps.go_on_until(LOOK)
            for member in estate:
                assert member.leftovers == ["exited"], "else nothing is shown"
            make_read_only(estate[READ_ONLY])
            nodes[NODE_GONE].kill()
            nodes[LIST_GONE].set_faults({"errors_5xx": 1000})
            # A reading of the list may be this old.
            time.sleep(10)
            steps.go_on()
            steps.go_on_until(ASK)
            make_immutable(estate[IMMUTABLE])
            estate.reconfigure(nodes[NO_LOGIN], password="another one")
            run = steps.go_on_to_the_end()
        nodes[NODE_GONE].start()
        engines = {host: node.state()["engines"] for host, node in nodes.items()}
        yield Between(History(run, before, estate.dump()), nodes, engines, hosts)
    finally:
        for node in nodes.values():
            node.stop()


@pytest.mark.parametrize("host", FAILING)
def test_whatever_fails_leaves_the_host_as_it_was(between: Between, host: str) -> None:
    assert is_as_it_was(between.history, host), between.run.output


@pytest.mark.parametrize(
    ("host", "words"),
    [
        (READ_ONLY, f"{FACTS} is read-only"),
        (NODE_GONE, "connection refused"),
        (LIST_GONE, "503"),
        (IMMUTABLE, "slb_engine.fact"),
        (NO_LOGIN, "Check username and password"),
    ],
)
def test_the_run_says_what_failed_and_that_the_container_is_back(between: Between, host: str, words: str) -> None:
    said = between.history.said(host)
    assert words in said, between.run.output
    assert "back as it was" in said


def test_the_run_fails_for_these_alone_and_nothing_was_asked_for_them(estate: Estate, between: Between) -> None:
    assert between.history.failed(*FAILING), between.run.output
    assert between.engines == {host: [] for host in between.nodes}
    assert between.history.requests["install"] == 1, "of the host where all went well"
    assert estate[GOOD].is_verified(by="engine_list")


def test_when_all_is_mended_the_next_run_replaces_them(estate: Estate, between: Between) -> None:
    estate[READ_ONLY].host.exec(["umount", FACTS])
    estate[IMMUTABLE].host.exec(["chattr", "-i", FACTS])
    between.nodes[LIST_GONE].set_faults({})
    estate.reconfigure(between.nodes[NO_LOGIN], password=between.hosts[NO_LOGIN]["slb_password"])
    again = estate.history("slb.fleet.rollout", hosts=between.hosts, elsewhere=between.nodes, **LEFTOVER)
    assert again.run.status == 0, again.run.output
    assert again.verified_by_console(*estate.names)
    for host in FAILING:
        assert estate[host].is_verified(by="engine_list")
        assert estate[host].leftovers == ["exited"]
