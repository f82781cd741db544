"""One login and one fetch per run: worker processes that share a session, an engine list, and failures."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import pytest
from fake_node import INSTALL, LOGIN, PASSWORD, answer, for_session, new_session
from scenarios import LIST, START_PAGE, run

from ansible_collections.slb.fleet.plugins.module_utils.management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.plugin_utils.run_cache import RunCache

WORKERS = 8
GOOD_LIST = for_session(answer(200, '{"items":[{"n":"edge-1","ip":"192.0.2.1","st":"up"}]}'))


def options_of(node):
    pin = node.certificate.fingerprint
    return {"base_url": node.base_url, "username": "admin", "password": PASSWORD, "tls_fingerprint": pin}


@pytest.fixture(scope="module")
def workers():
    """A process that forks workers: not this one, whose threads may hold locks of OpenSSL at that moment."""
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    command = [sys.executable, str(Path(__file__).with_name("workers.py"))]
    environment = {**os.environ, "PYTHONPATH": path}
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True, env=environment) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def work(tmp_path, workers):
    """Make a call in several processes at once, and return their results."""

    def all_at_once(node, call="engine", max_age=None, **more):
        job = {
            "options": {**options_of(node), **more},
            "call": call,
            "folder": str(tmp_path),
            "max_age": max_age,
            "workers": WORKERS,
        }
        print(json.dumps(job), file=workers.stdin, flush=True)
        return json.loads(workers.stdout.readline())

    return all_at_once


def codes(results):
    return {result.get("code", "") for result in results}


def test_workers_share_one_login(start, work, tmp_path):
    node = start()
    assert codes(work(node) + work(node)) == {""}
    assert node.seen == {LOGIN: 1, INSTALL: 2 * WORKERS}
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
    assert PASSWORD not in "".join(path.read_text() for path in tmp_path.iterdir())


def test_workers_share_a_renewed_session(start, work):
    node = start()
    work(node)
    node.sessions.clear()
    assert codes(work(node)) == {""}
    assert node.seen[LOGIN] == 2


def test_session_that_ends_again_and_again_is_an_error(start, work):
    node = start()
    for _ in range(4):
        assert codes(work(node)) == {""}
        node.sessions.clear()
    assert codes(work(node)) == {"session_replaced"}
    assert node.seen[LOGIN] == 4


@pytest.mark.parametrize("reply", [answer(401), new_session(body='{"code":1,"msg":"wrong password"}')])
def test_rejected_login_is_tried_once(start, work, reply):
    node = start({LOGIN: [reply]})
    assert codes(work(node) + work(node)) == {"login_rejected"}
    assert node.seen == {LOGIN: 1}


def test_session_that_never_serves_is_one_login(start, work):
    node = start({LOGIN: [new_session(body=START_PAGE)], INSTALL: [answer(401)]})
    assert codes(work(node) + work(node)) == {"login_rejected"}
    assert node.seen[LOGIN] == 1


def test_workers_share_a_failed_login(start, work):
    def slow(exchange):
        exchange.server.wait_for_the_end(2)
        answer(500, "")(exchange)

    node = start({LOGIN: [slow]})
    assert codes(work(node, retries=0)) == {"management_node_unavailable"}
    assert node.seen[LOGIN] < WORKERS


def test_other_password_is_another_login(start, work):
    node = start()
    work(node)
    work(node, password="another")
    assert node.seen[LOGIN] == 2


def test_workers_share_one_fetch(start, work):
    node = start({LIST: [GOOD_LIST]})
    results = work(node, "list") + work(node, "list")
    assert {len(result["engines"]) for result in results} == {1}
    assert node.seen == {LOGIN: 1, LIST: 1}


def test_older_fetch_than_max_age_is_repeated(start, work):
    node = start({LIST: [GOOD_LIST]})
    work(node, "list")
    work(node, "list", max_age=1000)
    assert node.seen[LIST] == 1
    work(node, "list", max_age=0)
    assert node.seen[LIST] >= 2


def test_lock_that_is_held_too_long_means_no_sharing(start, tmp_path):
    options = {**options_of(start()), "timeout": 1, "retries": 0}
    caches = [RunCache(Connection.from_options(options), tmp_path) for _number in range(2)]
    with caches[0]._locked(caches[0]._session_file):
        assert run("engine", options, caches[1])["outcome"] == "requested"
