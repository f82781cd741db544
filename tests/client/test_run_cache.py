"""One login and one fetch per run: worker processes that share a session, an engine list, and failures."""

import errno
import fcntl
import multiprocessing
import os
import random
import stat
import threading
import time
from concurrent.futures import ProcessPoolExecutor

import pytest
from fake_node import INSTALL, LOGIN, PASSWORD, answer, for_session, new_session
from scenarios import ENGINE_LIST, LIST, START_PAGE, run

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node import client
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Session
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import EngineList
from ansible_collections.slb.fleet.plugins.plugin_utils import _run_cache
from ansible_collections.slb.fleet.plugins.plugin_utils._run_cache import RunCache

WORKERS = 8
GOOD_LIST = for_session(answer(200, '{"items":[{"n":"edge-1","ip":"192.0.2.1","st":"up"}]}'))


def options_of(node):
    pin = node.certificate.fingerprint
    return {"base_url": node.base_url, "username": "admin", "password": PASSWORD, "tls_fingerprint": pin}


def call_once(folder, options, call, max_age):
    cache = RunCache(Connection.from_options(options), folder)
    if call != "list":
        return run(call, options, cache)
    try:
        return {"engines": cache.engines(EngineList.from_option(ENGINE_LIST), max_age).engines}
    except FleetError as error:
        return error.as_result()


def call_at_once(*call):
    """Make a call in several processes, which are forked as ansible-core forks its workers."""
    fork = multiprocessing.get_context("fork")
    results = fork.SimpleQueue()
    workers = [fork.Process(target=lambda: results.put(call_once(*call))) for _ in range(WORKERS)]
    for worker in workers:
        worker.start()
    found = [results.get() for _ in workers]
    for worker in workers:
        worker.join()
    return found


@pytest.fixture(scope="module")
def forker():
    """A process without threads, unlike this one, whose threads may hold locks of OpenSSL during a fork."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        yield process


@pytest.fixture
def work(tmp_path, forker):
    def all_at_once(node, call="engine", max_age=None, **more):
        return forker.submit(call_at_once, tmp_path, {**options_of(node), **more}, call, max_age).result()

    return all_at_once


def forget_lists(folder):
    """Let the time be over for which fetches are shared."""
    for entry in folder.glob("slb-fleet-engines-*[0-9a-f]"):
        entry.unlink()


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
    for number in range(1, 4):
        assert codes(work(node)) == {""}
        assert node.seen[LOGIN] == number
        node.sessions.clear()


@pytest.mark.usefixtures("short_pauses")
def test_session_that_ends_after_each_call_is_renewed(start, tmp_path):
    node = start()
    for number in range(1, 9):
        cache = RunCache(Connection.from_options(options_of(node)), tmp_path)
        assert run("engine", options_of(node), cache)["outcome"] == "requested"
        assert node.seen[LOGIN] == number, "renewals of sessions that have served are not limited"
        node.sessions.clear()


@pytest.mark.usefixtures("short_pauses")
def test_session_that_never_serves_again_is_an_error(start, tmp_path):
    """The password was accepted: it is not blamed, and no more logins are made than one call may make."""
    node = start()
    options = options_of(node)
    caches = [RunCache(Connection.from_options(options), tmp_path) for _number in range(3)]
    assert run("engine", options, caches[0])["outcome"] == "requested"
    node.routes[INSTALL] = [answer(401)]
    assert [run("engine", options, cache)["code"] for cache in caches] == ["session_replaced"] * 3
    assert node.seen[LOGIN] == 1 + 5


def test_late_answer_does_not_bring_an_ended_session_back(start, tmp_path):
    cache = RunCache(Connection.from_options(options_of(start())), tmp_path)
    sessions = [Session({"sessionid": name}) for name in ("first", "second")]
    cache.update(sessions[0])
    assert not list(tmp_path.glob("slb-fleet-session-*[0-9a-f]")), "a run that has no session gets none"
    first = cache.session(lambda: sessions[0])
    assert cache.session(lambda: sessions[1], ended=first).id == "second"
    cache.update(first)
    assert cache.session(lambda: pytest.fail("there is a session")).id == "second"


def test_account_that_is_locked_is_tried_once(start, work):
    node = start()
    assert codes(work(node)) == {""}
    node.sessions.clear()
    node.routes[LOGIN] = [answer(401, '{"msg":"account locked"}')]
    assert codes(work(node) + work(node)) == {"session_replaced"}
    assert node.seen[LOGIN] == 2


def test_runs_of_one_user_that_end_each_others_session(start, tmp_path, monkeypatch):
    """The console keeps the newest session only. Three runs wait for their deployments side by side."""

    def log_in(exchange):
        exchange.server.sessions.clear()
        new_session()(exchange)

    monkeypatch.setattr(client, "_FIRST_PAUSE", 0.5)
    node = start({LOGIN: [log_in], LIST: [GOOD_LIST]})
    results = []

    def wait(number):
        folder = tmp_path / str(number)
        folder.mkdir()
        time.sleep(number * 0.1)
        cache = RunCache(Connection.from_options(options_of(node)), folder)
        for poll in range(8):
            call = "engine" if poll == 1 else "list"
            results.append(run(call, options_of(node), cache).get("code", ""))
            time.sleep(random.uniform(0.02, 0.1))

    runs = [threading.Thread(target=wait, args=(number,)) for number in range(3)]
    for each in runs:
        each.start()
    for each in runs:
        each.join()
    assert results == [""] * 24
    assert node.seen[LOGIN] > 6


@pytest.mark.parametrize(
    "routes",
    [
        {LOGIN: [answer(401)]},
        {LOGIN: [new_session(body='{"code":1,"msg":"wrong password"}')]},
        {LOGIN: [new_session(body=START_PAGE)], INSTALL: [answer(401)]},
    ],
)
def test_rejected_login_is_tried_once(start, work, routes):
    node = start(routes)
    assert codes(work(node)) == {"login_rejected"}
    requests = node.seen[INSTALL]
    assert bool(requests) == (INSTALL in routes)
    assert codes(work(node)) == {"login_rejected"}
    assert node.seen == {LOGIN: 1, **({INSTALL: requests} if requests else {})}


def test_refused_login_is_tried_once(start, tmp_path, monkeypatch):
    monkeypatch.setattr(_run_cache, "_FAILURE_SECONDS", -1.0)  # the time is over for which failures are shared
    node = start({LOGIN: [answer(200, '{"code":1,"msg":"this node is standby"}')]})
    options = options_of(node)
    for _call in range(2):
        assert (
            run("engine", options, RunCache(Connection.from_options(options), tmp_path))["code"] == "unexpected_answer"
        )
    assert node.seen == {LOGIN: 1}


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
    node = start()
    options = {**options_of(node), "timeout": 1, "retries": 0}
    caches = [RunCache(Connection.from_options(options), tmp_path) for _number in range(2)]
    begin = time.monotonic()
    with caches[0]._locked(caches[0]._session_file):
        assert run("engine", options, caches[1])["outcome"] == "requested"
    assert time.monotonic() - begin >= 1
    assert node.seen == {LOGIN: 1, INSTALL: 1}
    for _call in range(2):
        assert run("engine", options, caches[0])["outcome"] == "requested"
    assert node.seen == {LOGIN: 2, INSTALL: 3}, "the session of a worker that did not get the lock is its own"


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS])
def test_file_system_without_locks_still_shares(start, tmp_path, monkeypatch, number):
    def refuse(_descriptor, _operation):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    node = start({LIST: [GOOD_LIST]})
    options = options_of(node)
    caches = [RunCache(Connection.from_options(options), tmp_path) for _number in range(2)]
    assert [run("engine", options, cache)["outcome"] for cache in caches] == ["requested"] * 2
    assert [len(cache.engines(EngineList.from_option(ENGINE_LIST)).engines) for cache in caches] == [1, 1]
    assert node.seen == {LOGIN: 1, INSTALL: 2, LIST: 1}
    node.sessions.clear()
    assert [run("engine", options, cache)["outcome"] for cache in caches] == ["requested"] * 2
    assert node.seen[LOGIN] == 2


@pytest.mark.parametrize(
    ("reply", "code"),
    [(answer(500), "engine_list_unavailable"), (answer(200, '{"items":{}}'), "engine_list_not_as_configured")],
)
def test_failed_fetch_is_an_error_and_tried_again(start, work, tmp_path, reply, code):
    """A fetch that fails shows no engine, and is never an empty list."""
    node = start({LIST: [reply]})
    assert codes(work(node, "list")) == {code}
    fetches = node.seen[LIST]
    assert fetches < WORKERS
    assert codes(work(node, "list")) == {code}
    assert node.seen[LIST] == fetches, "a failure is shared for 10 s"
    forget_lists(tmp_path)
    assert codes(work(node, "list")) == {code}
    assert fetches < node.seen[LIST] < fetches + WORKERS
    forget_lists(tmp_path)
    node.routes[LIST] = [GOOD_LIST]
    assert {len(result["engines"]) for result in work(node, "list")} == {1}
