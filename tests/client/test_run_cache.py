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
from scenarios import ENGINE_LIST, LIST, START_PAGE, options_of, run

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node import client
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import Connection
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Session
from ansible_collections.slb.fleet.plugins.module_utils._management_node.engine_list import EngineList
from ansible_collections.slb.fleet.plugins.plugin_utils import _run_cache
from ansible_collections.slb.fleet.plugins.plugin_utils._run_cache import RunCache

WORKERS = 10
GOOD_LIST = for_session(answer(200, '{"items":[{"n":"edge-1","ip":"192.0.2.1","st":"up"}]}'))


def cache_of(node, folder):
    return RunCache(Connection.from_options(options_of(node)), folder)


def call_once(folder, options, call, not_before):
    cache = RunCache(Connection.from_options(options), folder)
    if call != "list":
        return run(call, options, cache)
    try:
        return {"engines": cache.engines(EngineList.from_option(ENGINE_LIST), not_before).engines}
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
    def all_at_once(node, call="engine", not_before=0.0, **more):
        return forker.submit(call_at_once, tmp_path, {**options_of(node), **more}, call, not_before).result()

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
        assert run("engine", options_of(node), cache_of(node, tmp_path))["outcome"] == "requested"
        assert node.seen[LOGIN] == number, "renewals of sessions that have served are not limited"
        node.sessions.clear()


@pytest.mark.usefixtures("short_pauses")
def test_session_that_never_serves_again_is_an_error(start, tmp_path):
    """The password was accepted: it is not blamed, and no more logins are made than one call may make."""
    node = start()
    options, caches = options_of(node), [cache_of(node, tmp_path) for _number in range(3)]
    assert run("engine", options, caches[0])["outcome"] == "requested"
    node.routes[INSTALL] = [answer(401)]
    assert [run("engine", options, cache)["code"] for cache in caches] == ["session_replaced"] * 3
    assert node.seen[LOGIN] == 1 + 3


def test_late_answer_does_not_bring_an_ended_session_back(start, tmp_path):
    cache = cache_of(start(), tmp_path)
    sessions = [Session({"sessionid": name}, login=name) for name in ("first", "second")]
    cache.change_cookies(sessions[0], {"sessionid": "newer"}, 1.0, has_served=True)
    assert not list(tmp_path.glob("slb-fleet-session-*[0-9a-f]")), "a run that has no session gets none"
    first = cache.session(lambda: sessions[0])
    assert cache.session(lambda: sessions[1], ended=first).id == "second"
    cache.change_cookies(first, {"sessionid": "newer"}, 1.0, has_served=True)
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

    monkeypatch.setattr(client, "_LOGIN_PAUSE", (0.2, 0.6))
    node = start({LOGIN: [log_in], LIST: [GOOD_LIST]})
    results = []

    def wait(number):
        folder = tmp_path / str(number)
        folder.mkdir()
        time.sleep(number * 0.1)
        cache = cache_of(node, folder)
        for poll in range(8):
            call = "engine" if poll == 1 else "list"
            code = run(call, options_of(node), cache).get("code", "")
            # An install request that meets two logins of other runs is not sent.
            results.append("" if call == "engine" and code == "session_replaced" else code)
            time.sleep(random.uniform(0.5, 1.5))

    runs = [threading.Thread(target=wait, args=(number,)) for number in range(3)]
    for each in runs:
        each.start()
    for each in runs:
        each.join()
    assert results == [""] * 24
    assert node.seen[LOGIN] > 6


@pytest.mark.parametrize("routes", [{LOGIN: [answer(401)]}, {LOGIN: [answer(200, '{"code":1,"msg":"standby"}')]}])
def test_rejected_login_is_tried_once(start, work, routes, monkeypatch):
    monkeypatch.setattr(_run_cache, "_FAILURE_SECONDS", -1.0)  # the time is over for which failures are shared
    node = start(routes)
    assert codes(work(node) + work(node)) == {"login_rejected"}
    assert node.seen == {LOGIN: 1}


@pytest.mark.usefixtures("short_pauses")
def test_session_that_serves_no_list_ends_the_logins_of_the_run(start, tmp_path):
    """The login states nothing. After three logins of the run, no worker makes another one."""
    node = start({LOGIN: [new_session(body=START_PAGE)], LIST: [answer(401)]})
    caches = [cache_of(node, tmp_path) for _number in range(3)]
    assert [run("list", options_of(node), cache)["code"] for cache in caches] == ["login_rejected"] * 3
    assert node.seen[LOGIN] == 3


class Consoles:
    """What consoles do with the session id after the login, for ``WORKERS`` that call at the same time."""

    @staticmethod
    def changes_once(server, sent):
        """Change the id that the login gave, at its first call (Spring)."""
        if sent in server.sessions and not getattr(server, "changed", False):
            server.changed, server.sessions = True, {server.new_session()}
            return next(iter(server.sessions))
        return ""

    @staticmethod
    def changes_always(server, sent):
        if sent in server.sessions:
            server.sessions = {server.new_session()}
            return next(iter(server.sessions))
        return ""

    @staticmethod
    def changes_with_grace(server, sent):
        """The ids before stay valid (PHP with a delayed deletion)."""
        return server.new_session() if sent in server.sessions else ""

    @staticmethod
    def names_a_stranger(server, sent):
        """Give an id without a login together with 401 (PHP, Rails)."""
        return "" if sent in server.sessions else f"stranger{len(server.requests)}"


@pytest.mark.parametrize("console", ["changes_once", "changes_always", "changes_with_grace", "names_a_stranger"])
def test_session_id_that_changes_serves_all_workers(start, work, console):
    """Each engine is installed with one request that is accepted, and one login serves the run."""

    def install(exchange):
        with lock:
            is_alive = exchange.cookie("sessionid") in exchange.server.sessions
            newest = getattr(Consoles, console)(exchange.server, exchange.cookie("sessionid"))
        headers = [f"Set-Cookie: sessionid={newest}; Path=/"] if newest else []
        accepted.append(is_alive)
        (answer(200, '{"code":0}', *headers) if is_alive else answer(401, "", *headers))(exchange)

    lock, accepted = threading.Lock(), []
    node = start({INSTALL: [install]})
    assert codes(work(node) + work(node)) == {""}
    assert (accepted.count(True), node.seen[LOGIN]) == (2 * WORKERS, 1)


@pytest.mark.usefixtures("short_pauses")
def test_two_nodes_without_shared_sessions_blame_no_password(start, tmp_path):
    """A balancer sends each second call to the node that does not know the session."""
    node = start({LIST: [answer(401), GOOD_LIST, answer(401), answer(401)]})
    options = options_of(node)
    assert run("list", options, cache_of(node, tmp_path)).get("code", "") == ""
    node.routes[LIST] = [answer(401)]
    failed = run("list", options, cache_of(node, tmp_path))
    assert (failed["code"], "password" in failed["fix"]) == ("session_replaced", False)


def test_newest_token_of_the_run_is_sent(start, work):
    """The console accepts the newest CSRF token only, and gives another one with each answer."""

    def install(exchange):
        with lock:
            is_newest = exchange.request.headers.get("x-csrftoken") == tokens[-1]
            tokens.append(f"t0ken-{len(tokens):04}")
            cookie = f"Set-Cookie: csrftoken={tokens[-1]}; Path=/"
        (answer(200, '{"code":0}', cookie) if is_newest else answer(403, "CSRF failed", cookie))(exchange)

    lock, tokens = threading.Lock(), ["t0ken-0000"]
    node = start({LOGIN: [new_session("Set-Cookie: csrftoken=t0ken-0000; Path=/")], INSTALL: [install]})
    assert [run("engine", options_of(node))["outcome"] for _number in range(2)] == ["requested"] * 2
    results = [result.get("code", "") for result in work(node)]
    # Answers that come at once do not show which token is the newest: one may meet an older one twice.
    assert results.count("") >= WORKERS - 2, results


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


def test_older_fetch_than_wanted_is_repeated(start, work):
    node = start({LIST: [GOOD_LIST]})
    before = time.monotonic()
    work(node, "list")
    work(node, "list", not_before=before)
    assert node.seen[LIST] == 1
    work(node, "list", not_before=time.monotonic())
    assert node.seen[LIST] == 2


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
    options, caches = options_of(node), [cache_of(node, tmp_path) for _number in range(2)]
    assert [run("engine", options, cache)["outcome"] for cache in caches] == ["requested"] * 2
    assert [len(cache.engines(EngineList.from_option(ENGINE_LIST)).engines) for cache in caches] == [1, 1]
    assert node.seen == {LOGIN: 1, INSTALL: 2, LIST: 1}
    node.sessions.clear()
    assert [run("engine", options, cache)["outcome"] for cache in caches] == ["requested"] * 2
    assert node.seen[LOGIN] == 2


@pytest.mark.parametrize(
    ("reply", "code"),
    [(answer(500), "engine_list_unavailable"), (answer(200, '{"rows":[1]}'), "engine_list_not_as_configured")],
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
