"""A management node that counts: what one worker of a run meets there is heeded by all, in real runs."""

from __future__ import annotations

import json
import pickle
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from hostile_server import INSTALL, LOGIN, answer, cut, for_session, new_session
from operations import PASSWORD
from rollouts import environment, inventory, rollout

from playbooks import defaults, engine_task, fleet, play

if TYPE_CHECKING:
    from collections.abc import Callable

    from hostile_server import Exchange, HostileServer
    from runs import Run

    from playbooks import Controller

HOSTS, FORKS = 60, 20
STARTED = for_session(answer(200, '{"code":0,"msg":"installation started"}'))


def asked(server: HostileServer, path: str, method: str = "POST") -> int:
    return sum(1 for request in server.to(path) if request.method == method)


def installs(
    server: HostileServer, controller: Controller, patience: float, hosts: int = HOSTS, timeout: int = 5
) -> Run:
    options = defaults(server, password=PASSWORD, timeout=timeout)
    plays = [play(engine_task(), module_defaults=options, vars={"slb_outage_timeout": patience})]
    return controller.run(plays, fleet(hosts), "--forks", str(FORKS))


def test_a_node_that_restarts_is_waited_for_by_the_whole_run(start: Callable[..., Any], controller: Controller) -> None:
    def restart(exchange: Exchange) -> None:
        STARTED(exchange)
        if exchange.number == 10:
            exchange.server.stop_listening()
            threading.Timer(8, exchange.server.listen).start()

    server = start({INSTALL: [restart]})
    run = installs(server, controller, patience=120)
    run.assert_ok()
    names = [json.loads(request.body)["name"] for request in server.to(INSTALL)]
    assert sorted(names) == sorted({f"edge-{number}" for number in range(1, HOSTS + 1)}), "each once, none twice"
    assert asked(server, LOGIN) == 1
    words = " ".join(run.output.split())
    assert words.count("The management node does not answer:") == 1, run.output[-3000:]
    assert words.count("answers again after") == 1


def test_a_node_that_is_down_is_found_out_once_and_given_up(start: Callable[..., Any], controller: Controller) -> None:
    """Not 60 times four attempts: those that were under way at the same time, and one that asks whether it is back."""
    server = start({LOGIN: [answer(503)]})
    run = installs(server, controller, patience=4)
    assert run.status != 0
    assert asked(server, LOGIN) == 1
    assert 2 <= asked(server, LOGIN, "GET") <= 8
    assert server.seen[INSTALL] == 0
    words = " ".join(run.output.split())
    assert words.count("the run gives it up, and asks it nothing more") == 1
    assert words.count("The run has given up") >= HOSTS - FORKS


def test_a_node_that_fails_midway_is_asked_for_no_other_host(start: Callable[..., Any], controller: Controller) -> None:
    def fail_from_the_tenth(exchange: Exchange) -> None:
        (STARTED if exchange.number <= 10 else answer(502))(exchange)

    server = start({INSTALL: [fail_from_the_tenth], LOGIN: [new_session(), answer(502)]})
    run = installs(server, controller, patience=3)
    assert run.status != 0
    # What is under way when it goes down is under way; no further one is begun.
    assert server.seen[INSTALL] <= 10 + FORKS
    assert asked(server, LOGIN) == 1


def test_one_path_that_fails_is_no_outage(start: Callable[..., Any], controller: Controller) -> None:
    server = start({INSTALL: [answer(503, "no room")]})
    run = installs(server, controller, patience=60, hosts=6)
    assert server.seen[INSTALL] == 6
    assert "does not answer" not in run.output
    assert run.output.count('"outcome": "unknown"') == 6


def test_an_install_is_never_asked_for_twice(start: Callable[..., Any], controller: Controller) -> None:
    server = start({INSTALL: [cut()]})
    installs(server, controller, patience=60, hosts=12)
    names = [json.loads(request.body)["name"] for request in server.to(INSTALL)]
    assert len(names) == len(set(names)) == 12


def test_a_pause_that_one_is_asked_for_holds_for_all(start: Callable[..., Any], controller: Controller) -> None:
    pause, times, asked_for = 12, list[float](), threading.Event()

    def one_wants_a_pause(exchange: Exchange) -> None:
        times.append(time.monotonic())
        if exchange.number == 5:
            answer(429, "slow down", f"Retry-After: {pause}")(exchange)
            asked_for.set()
            return
        if exchange.number <= 5 + FORKS:
            # What is under way ends when the worker that was told has had time to say so: no other can begin
            # anything else until then.
            asked_for.wait(60)
            exchange.server.wait_for_the_end(pause / 2)
        STARTED(exchange)

    server = start({INSTALL: [one_wants_a_pause]})
    run = installs(server, controller, patience=60, timeout=60)
    times.sort()
    before = [moment for moment in times if moment < times[4] + pause - 0.5]
    assert len(before) < 5 + FORKS, "only what was under way"
    assert len(times) == HOSTS
    assert run.output.count('"outcome": "rejected"') == 1
    assert f"wants to be left alone for {pause} s" in " ".join(run.output.split())


def test_a_host_that_is_put_off_is_asked_for_again_when_the_pause_is_over(
    start: Callable[..., Any], controller: Controller
) -> None:
    times: list[float] = []

    def busy_at_first(exchange: Exchange) -> None:
        times.append(time.monotonic())
        (answer(429, "slow down", "Retry-After: 4") if exchange.number == 1 else STARTED)(exchange)

    server = start({INSTALL: [busy_at_first]})
    hosts = inventory(server, controller.folder / "hosts", 3, slb_outage_timeout=60, slb_throttle=1)
    done = rollout(controller, hosts, "-e", "slb_serial=3")
    done.run.assert_ok()
    assert done.counts == {"healthy": 3}
    names = [json.loads(request.body)["name"] for request in server.to(INSTALL)]
    assert sorted(names[1:]) == ["edge-1", "edge-2", "edge-3"], "each is begun once"
    assert times[1] - times[0] >= 4


def test_a_request_that_was_held_up_for_longer_than_its_note_is_waited_for_is_decided_about_anew(
    start: Callable[..., Any], controller: Controller
) -> None:
    """Whoever else has found the note may have asked meanwhile."""
    wait, away, ages = 3, 8, []
    folder = controller.folder / "hosts"

    def go_away(exchange: Exchange) -> None:
        new_session()(exchange)
        exchange.server.stop_listening()
        threading.Timer(away, exchange.server.listen).start()

    def note_its_age(exchange: Exchange) -> None:
        ages.append(time.monotonic() - pickle.loads((folder / "edge-1").read_bytes()).asked_at)
        STARTED(exchange)

    server = start({LOGIN: [go_away, new_session()], INSTALL: [note_its_age]})
    hosts = inventory(server, folder, 1, slb_outage_timeout=60, slb_wait_timeout=wait)
    done = rollout(controller, hosts)
    done.run.assert_ok()
    assert done.counts == {"healthy": 1}
    assert len(ages) == 1
    assert ages[0] < wait, ages


def test_a_node_that_is_busy_for_ever_is_not_asked_for_ever(start: Callable[..., Any], controller: Controller) -> None:
    server = start({INSTALL: [answer(429, "slow down", "Retry-After: 1")]})
    hosts = inventory(server, controller.folder / "hosts", 1, slb_outage_timeout=60)
    done = rollout(controller, hosts)
    assert done.run.status != 0
    assert server.seen[INSTALL] == 4
    assert done.counts == {"failed": 1}
    assert "slow down" in json.dumps(done.document)


def test_a_pause_of_hours_is_not_waited_for(start: Callable[..., Any], controller: Controller) -> None:
    server = start({LOGIN: [answer(429, "tomorrow", "Retry-After: 86400")]})
    run = installs(server, controller, patience=5)
    assert run.status != 0
    assert asked(server, LOGIN) == 1
    assert server.seen[INSTALL] == 0
    assert run.output.count("longer than slb_outage_timeout allows") >= HOSTS


def test_hosts_in_each_others_way_fail_before_the_canary_is_chosen(
    start: Callable[..., Any], controller: Controller
) -> None:
    server = start()
    hosts = inventory(server, controller.folder / "hosts", 5)
    members = hosts["engines"]["hosts"]
    members["edge-1"]["slb_manage_ip"] = members["edge-5"]["slb_manage_ip"]
    # One after the other: when the first is looked at, nobody has claimed the address.
    seen = rollout(controller, hosts, ANSIBLE_FORKS="1")
    assert seen.counts == {"failed": 2, "healthy": 3}, seen.run.output[-4000:]
    assert {seen.status("edge-1"), seen.status("edge-5")} == {"failed"}


@pytest.mark.parametrize("since", ["late", "brief"])
def test_one_whose_engine_has_come_up_since_the_first_look_is_left_alone(
    start: Callable[..., Any], controller: Controller, since: str
) -> None:
    """The play for hosts that need work comes to it, and nothing is asked for: not even where a third look would show
    something else, about which nobody was asked.
    """
    server = start({INSTALL: [answer(500, "nobody should ask")]})
    hosts = inventory(server, controller.folder / "hosts", 1, {"edge-1": since})
    seen = rollout(controller, hosts, "-e", "slb_motd_after=restored")
    assert seen.counts == {"healthy": 1}, seen.run.output[-4000:]
    assert server.seen[INSTALL] == 0


def test_the_role_by_itself_deploys_and_leaves_alone_what_is_verified(
    start: Callable[..., Any], controller: Controller
) -> None:
    server = start()
    hosts = inventory(server, controller.folder / "hosts", 2)
    plays = [{"hosts": "all", "gather_facts": False, "roles": ["slb.fleet.engine_deployment"]}]
    first, second = (controller.run(plays, hosts, **environment(controller.folder / "reports")) for _ in range(2))
    first.assert_ok()
    second.assert_ok()
    assert (server.seen[INSTALL], second.changed) == (2, 0)
