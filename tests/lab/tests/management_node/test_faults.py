# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults that show without an engine host, sessions, and the controls that set them."""

from __future__ import annotations

import socket
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import requests

from .client import Client
from .node_process import NOBODY, PASSWORD, SILENT, NodeProcess

if TYPE_CHECKING:
    from pathlib import Path


def test_all_faults_are_off_at_first(client: Client) -> None:
    assert client.call("GET", "/_lab/faults").json() == {
        "stuck_front_end": False,
        "fail_half_way": "",
        "slow_accept_seconds": 0,
        "session_seconds": None,
        "errors_5xx": 0,
        "retry_after": None,
        "language": None,
        "errors": "at_once",
        "install_answer_lost": False,
        "slow_start_seconds": 0,
        "engine_crashes": False,
        "pages_shift": 0,
    }


def test_setting_faults_replaces_all_of_them(client: Client) -> None:
    client.faults(errors_5xx=2, language="zh")
    client.faults(slow_start_seconds=1)

    faults = client.call("GET", "/_lab/faults").json()
    assert (faults["errors_5xx"], faults["language"], faults["slow_start_seconds"]) == (0, None, 1)


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        ({"slow_acept": 1}, "slow_acept"),
        ({"errors_5xx": -1}, "errors_5xx"),
        ({"errors_5xx": "3"}, "errors_5xx"),
        ({"errors": "never"}, "'at_once' or 'later'"),
        ({"fail_half_way": True}, "fail_half_way"),
        ({"stuck_front_end": "yes"}, "stuck_front_end"),
        ({"language": "fr"}, "language"),
    ],
)
def test_a_fault_that_there_is_not_is_refused_with_the_known_ones(
    client: Client, faults: dict[str, object], said: str
) -> None:
    client.faults(errors_5xx=1)
    answer = client.faults(**faults)

    assert answer.status_code == 400
    assert said in answer.json()["error"]
    assert "slow_accept_seconds" in answer.json()["error"]
    assert client.call("GET", "/_lab/faults").json()["errors_5xx"] == 1


def test_so_many_requests_are_answered_503(client: Client) -> None:
    client.faults(errors_5xx=2, retry_after=7)

    answers = [client.login() for _ in range(3)]

    assert [answer.status_code for answer in answers] == [503, 503, 200]
    assert answers[0].headers["Retry-After"] == "7"


def test_without_retry_after_there_is_no_such_header(client: Client) -> None:
    client.faults(errors_5xx=1)

    assert "Retry-After" not in client.login().headers


def test_sessions_expire(admin: Client) -> None:
    admin.faults(session_seconds=0.5)
    assert admin.license().status_code == 200

    time.sleep(0.6)

    assert admin.license().status_code == 302
    assert admin.call("GET", "/console/engines").status_code == 401
    assert admin.state()["sessions"] == 0


def test_the_configured_lifetime_counts_as_well(tmp_path: Path) -> None:
    node = NodeProcess(tmp_path, session_seconds=0.5)
    node.start()
    try:
        client = node.client()
        client.login()
        assert client.license().status_code == 200
        time.sleep(0.6)
        assert client.license().status_code == 302
    finally:
        node.kill()


def test_all_sessions_can_be_ended(node: NodeProcess, admin: Client) -> None:
    second = node.client()
    second.login()

    assert admin.call("POST", "/_lab/expire-sessions").json() == {"expired": 2}

    assert (admin.license().status_code, second.license().status_code) == (302, 302)


def test_slow_accept_delays_the_request_and_its_answer(admin: Client) -> None:
    admin.faults(slow_accept_seconds=1.5)
    started = time.monotonic()

    with pytest.raises(requests.exceptions.ReadTimeout):
        admin.call(
            "POST",
            "/system/add_slb_engine/",
            json={"name": "edge-1", "is_change_hostname": False, "manage_ip": NOBODY, "user_credential_id": 1},
            timeout=0.3,
        )
    assert admin.engines() == {}

    # The client is gone; the request is carried out all the same.
    admin.engine_when("edge-1", lambda item: item["status"] == "failed", seconds=10)
    assert time.monotonic() - started >= 1.5


def test_a_lost_answer_cuts_the_connection_after_the_request_was_carried_out(admin: Client) -> None:
    admin.faults(install_answer_lost=True)

    with pytest.raises(requests.exceptions.ConnectionError):
        admin.install("edge-1", NOBODY)

    assert admin.ended("edge-1")["status"] == "failed"
    assert admin.state()["counters"]["install"] == 1


@pytest.mark.parametrize(
    ("language", "wrong_password", "failed"),
    [("en", "The username or the password is wrong.", "over SSH"), ("zh", "用户名或密码错误。", "无法通过 SSH 登录")],
)
def test_it_speaks_english_and_chinese(admin: Client, language: str, wrong_password: str, failed: str) -> None:
    admin.faults(language=language)

    assert admin.login(password="wrong").json()["msg"] == wrong_password
    admin.install("edge-1", NOBODY)
    assert failed in admin.ended("edge-1")["message"]


def test_requests_are_counted_by_route(admin: Client) -> None:
    admin.login(password="wrong")
    admin.license()
    admin.license()
    admin.install("edge-1", NOBODY)

    counters = admin.state()["counters"]
    assert {name: counters[name] for name in ("login", "license", "install", "engines")} == {
        "login": 2,
        "license": 2,
        "install": 1,
        "engines": 0,
    }

    admin.call("POST", "/_lab/counters/reset")
    assert set(admin.state()["counters"].values()) == {0}


def test_an_engine_can_be_forgotten(admin: Client) -> None:
    admin.install("edge-1", NOBODY)
    admin.ended("edge-1")

    assert admin.call("DELETE", "/_lab/engines/edge-1").status_code == 200
    assert admin.engines() == {}
    assert admin.call("DELETE", "/_lab/engines/edge-1").status_code == 404


def test_forgetting_ends_the_deployment(admin: Client, silent: socket.socket) -> None:
    admin.faults(errors="later")
    admin.install("edge-1", "127.0.0.1", credential=SILENT)
    connection, _ = silent.accept()

    admin.call("DELETE", "/_lab/engines/edge-1")

    assert admin.state()["engines"] == []
    connection.settimeout(3)
    while connection.recv(4096):
        pass
    connection.close()


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
def test_the_controls_answer_this_machine_alone(tmp_path: Path) -> None:
    node = NodeProcess(tmp_path, listen="0.0.0.0")
    node.start()
    try:
        port = node.ready()["base_url"].rpartition(":")[2]
        client = Client(f"https://{_own_address()}:{port}", tmp_path / "tls.crt", PASSWORD)
        # The certificate names loopback addresses only.
        assert client.call("GET", "/", verify=False).status_code == 200
        for method, path in [("GET", "state"), ("GET", "faults"), ("PUT", "faults"), ("POST", "expire-sessions")]:
            answer = client.call(method, f"/_lab/{path}", verify=False)
            assert answer.status_code == 403
            assert "from this machine alone" in answer.json()["error"]
    finally:
        node.kill()


def test_200_requests_at_once_all_get_an_answer_and_one_install_wins(node: NodeProcess) -> None:
    clients = [node.client() for _ in range(20)]
    for client in clients:
        client.login()
    clients[0].faults(errors="later")

    def ask(number: int) -> str:
        client = clients[number % 20]
        answer = client.install("edge-1", "127.0.0.1", credential=SILENT) if number % 2 else client.call("GET", "/")
        return f"{answer.status_code} {answer.json()['code']}" if number % 2 else f"{answer.status_code}"

    with ThreadPoolExecutor(max_workers=200) as pool:
        answers = list(pool.map(ask, range(200)))

    assert Counter(answers) == {"200": 100, "200 0": 1, "200 2002": 99}


def _own_address() -> str:
    """An address of this machine that is not a loopback one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        address: str = probe.getsockname()[0]
        return address


def test_an_engine_moves_to_a_page_that_was_read_already(admin: Client) -> None:
    admin.install("edge-1", NOBODY)
    admin.install("edge-2", SILENT)

    def shown(page: int) -> list[str]:
        answer = admin.call("GET", f"/console/engines?page_size=1&page={page}")
        return [item["engine_name"] for item in answer.json()["data"]["items"]]

    assert [shown(page) for page in (1, 2, 3)] == [["edge-1"], ["edge-2"], []]
    admin.faults(pages_shift=1)
    assert [shown(page) for page in (1, 2, 3)] == [["edge-1"], [], []]
    assert [shown(page) for page in (1, 2)] == [["edge-1"], ["edge-2"]]
    assert admin.call("GET", "/console/engines?page=second").status_code == 400
