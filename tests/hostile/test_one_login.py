"""One login a run, counted by the server, in real runs with many hosts, forks, batches and plays."""

import json
import os

from fake_node import INSTALL, LOGIN, PASSWORD, answer, for_session

from playbooks import defaults, engine_task, fleet, play

# A thousand take a minute: set SLB_TEST_HOSTS=1000.
HOSTS = int(os.environ.get("SLB_TEST_HOSTS", "120"))


def test_a_fleet_in_batches_and_plays(start, controller):
    server = start()
    batches = play(engine_task(), serial=["10%", "30%", "100%"], module_defaults=defaults(server, password=PASSWORD))
    again = play(engine_task(), module_defaults=defaults(server, password=PASSWORD))
    controller.run([batches, again], fleet(HOSTS), "--forks", "50").assert_ok()
    assert server.seen == {LOGIN: 1, INSTALL: 2 * HOSTS}
    assert list((controller.folder / "local-tmp").iterdir()) == []


def test_two_management_nodes(start, controller):
    servers = [start(), start()]
    inventory = fleet(40)
    for number, variables in enumerate(inventory["all"]["hosts"].values()):
        server = servers[number % 2]
        variables.update(url=server.base_url)
    options = defaults(servers[0], base_url="{{ url }}", password=PASSWORD)
    controller.run([play(engine_task(), module_defaults=options)], inventory, "--forks", "20").assert_ok()
    assert [server.seen for server in servers] == [{LOGIN: 1, INSTALL: 20}] * 2


def test_sessions_that_end_in_the_middle(start, controller):
    """One more login for the run, and not one for each worker."""
    good = for_session(answer(200, '{"code":0}'))

    def end_once(exchange):
        if exchange.number == 50:
            exchange.server.sessions.clear()
        good(exchange)

    server = start({INSTALL: [end_once]})
    plays = [play(engine_task(), module_defaults=defaults(server, password=PASSWORD))]
    controller.run(plays, fleet(150), "--forks", "25").assert_ok()
    assert server.seen[LOGIN] == 2
    accepted = {json.loads(request.body)["name"] for request in server.to(INSTALL)}
    assert len(accepted) == 150


def test_wrong_credentials_are_one_attempt(start, controller):
    server = start({LOGIN: [answer(200, '{"code":1,"msg":"bad password"}')]})
    plays = [play(engine_task(ignore_errors=True), module_defaults=defaults(server, password=PASSWORD))] * 2
    run = controller.run(plays, fleet(60), "--forks", "20")
    assert server.seen == {LOGIN: 1}
    assert run.output.count('"code": "login_rejected"') == 120
