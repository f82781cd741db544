"""One login a run, counted by the server, in real runs with many hosts, forks, batches and plays."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from hostile_server import INSTALL, LICENSE, LOGIN, answer, cut, for_session, new_session
from operations import PASSWORD

from playbooks import defaults, engine_task, fleet, play

if TYPE_CHECKING:
    from collections.abc import Callable

    from playbooks import Controller

# A thousand take a minute: set SLB_TEST_HOSTS=1000.
HOSTS = int(os.environ.get("SLB_TEST_HOSTS", "120"))


def test_a_fleet_in_batches_and_plays(start: Callable[..., Any], controller: Controller) -> None:
    server = start()
    batches = play(engine_task(), serial=["10%", "30%", "100%"], module_defaults=defaults(server, password=PASSWORD))
    again = play(engine_task(), module_defaults=defaults(server, password=PASSWORD))
    controller.run([batches, again], fleet(HOSTS), "--forks", "50").assert_ok()
    assert server.seen == {LOGIN: 1, INSTALL: 2 * HOSTS}
    assert list((controller.folder / "local-tmp").iterdir()) == []


def test_two_management_nodes(start: Callable[..., Any], controller: Controller) -> None:
    servers = [start(), start()]
    inventory = fleet(40)
    for number, variables in enumerate(inventory["all"]["hosts"].values()):
        server = servers[number % 2]
        variables.update(url=server.base_url)
    options = defaults(servers[0], base_url="{{ url }}", password=PASSWORD)
    controller.run([play(engine_task(), module_defaults=options)], inventory, "--forks", "20").assert_ok()
    assert [server.seen for server in servers] == [{LOGIN: 1, INSTALL: 20}] * 2


def test_sessions_that_end_in_the_middle(start: Callable[..., Any], controller: Controller) -> None:
    """One more login for the run, and not one for each worker."""
    good = for_session(answer(200, '{"code":0}'))

    def end_once(exchange: Any) -> None:
        if exchange.number == 50:
            exchange.server.sessions.clear()
        good(exchange)

    server = start({INSTALL: [end_once]})
    plays = [play(engine_task(), module_defaults=defaults(server, password=PASSWORD))]
    controller.run(plays, fleet(150), "--forks", "25").assert_ok()
    assert server.seen[LOGIN] == 2
    accepted = {json.loads(request.body)["name"] for request in server.to(INSTALL)}
    assert len(accepted) == 150


def test_wrong_credentials_are_one_attempt(start: Callable[..., Any], controller: Controller) -> None:
    server = start({LOGIN: [answer(200, '{"code":1,"msg":"bad password"}')]})
    plays = [play(engine_task(ignore_errors=True), module_defaults=defaults(server, password=PASSWORD))] * 2
    run = controller.run(plays, fleet(60), "--forks", "20")
    assert server.seen == {LOGIN: 1}
    assert run.output.count("refused the login of 'admin'") >= 120


def test_another_password_is_not_tried(start: Callable[..., Any], controller: Controller) -> None:
    server = start()
    inventory = fleet(20)
    inventory["all"]["hosts"]["edge-7"]["secret"] = "n0t-the-same"
    options = defaults(server, password="{{ secret }}")
    inventory["all"]["vars"]["secret"] = PASSWORD
    first = play(engine_task(), hosts="edge-1", module_defaults=options)
    rest = play(engine_task(), module_defaults=options)
    run = controller.run([first, rest], inventory, "--forks", "5")
    failures = [line for line in run.output.splitlines() if line.startswith("fatal: ")]
    assert len(failures) == 1
    assert failures[0].startswith("fatal: [edge-7]")
    assert "another password was used already" in failures[0]
    assert server.seen == {LOGIN: 1, INSTALL: 20}


def test_a_user_that_may_not_install(start: Callable[..., Any], controller: Controller) -> None:
    """The session is renewed once in the run, and not once for each host."""
    server = start({INSTALL: [answer(403, '{"detail":"no permission"}')]})
    plays = [play(engine_task(ignore_errors=True), module_defaults=defaults(server, password=PASSWORD))]
    run = controller.run(plays, fleet(40), "--forks", "10")
    assert server.seen[LOGIN] == 2
    assert run.output.count('"outcome": "rejected"') == 40


def test_a_user_that_may_do_nothing(start: Callable[..., Any], controller: Controller) -> None:
    """The session is renewed once for each path, and not in turns."""
    forbidden = answer(403, '{"detail":"no permission"}')
    server = start({INSTALL: [forbidden], LICENSE: [forbidden]})
    tasks = [engine_task(), {"slb.fleet.license": {"dest": f"{controller.folder}/license"}}]
    options = defaults(server, password=PASSWORD)
    plays = [play(*tasks, ignore_errors=True, serial=1, module_defaults=options)]
    run = controller.run(plays, fleet(6), "--forks", "1")
    assert server.seen[LOGIN] == 3, run.output[-3000:]
    assert server.seen[INSTALL] >= 6
    assert server.seen[LICENSE] >= 6


def test_a_login_that_fails_is_shared_by_those_who_wait_for_it(
    start: Callable[..., Any], controller: Controller
) -> None:
    """Otherwise 20 workers would wait for 20 logins, one after another."""
    server = start({LOGIN: [cut()]})
    options = defaults(server, password=PASSWORD, timeout=2, retries=2)
    run = controller.run([play(engine_task(ignore_errors=True), module_defaults=options)], fleet(20), "--forks", "20")
    assert run.output.count("account/login/ was sent, but") >= 20
    assert 3 <= server.seen[LOGIN] <= 9


def test_a_management_node_that_comes_back(start: Callable[..., Any], controller: Controller) -> None:
    """It is waited for, and the install is asked for once."""
    server = start({LOGIN: [answer(503), answer(503), new_session()]})
    options = defaults(server, password=PASSWORD, retries=1)
    plays = [play(engine_task(), module_defaults=options)]
    controller.run(plays, fleet(1, slb_outage_timeout=60)).assert_ok()
    assert [request.method for request in server.to(LOGIN)] == ["POST", "GET", "GET", "POST"]
    assert server.seen[INSTALL] == 1
