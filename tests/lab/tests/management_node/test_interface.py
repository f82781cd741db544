# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The three documented endpoints."""

from http.cookies import SimpleCookie

import pytest
from slb_lab.management_node.sessions import MARK

from .node_process import LICENSE, PASSWORD, UNUSED


def test_login_sets_the_session_cookie(client):
    answer = client.login()

    assert answer.status_code == 200
    cookie = SimpleCookie(answer.headers["Set-Cookie"])["sessionid"]
    assert len(cookie.value.removeprefix(MARK)) == 32
    assert (cookie["path"], cookie["httponly"], cookie["secure"]) == ("/", True, True)


@pytest.mark.parametrize(("username", "password"), [("admin", "wrong"), ("root", PASSWORD), ("", "")])
def test_wrong_credentials_get_an_error_and_no_cookie(client, username, password):
    answer = client.login(username, password)

    assert answer.status_code == 401
    assert answer.json()["msg"] == "The username or the password is wrong."
    assert "Set-Cookie" not in answer.headers


def test_license_is_the_body(admin):
    answer = admin.license()

    assert answer.status_code == 200
    assert answer.content == LICENSE.encode()
    assert answer.headers["Content-Type"] == "application/octet-stream"


@pytest.mark.parametrize("path", ["/system/license/apply/", "/system/add_slb_engine/"])
def test_without_a_session_the_way_leads_to_the_login(client, path):
    answer = client.call("GET" if "license" in path else "POST", path)

    assert answer.status_code == 302
    assert answer.headers["Location"] == f"/account/login/?next={path}"


def test_an_install_is_accepted_and_seen_in_the_console(admin):
    answer = admin.install("edge-1", UNUSED)

    assert answer.status_code == 200
    assert answer.json() == {"code": 0, "msg": "The installation of the engine edge-1 has started."}
    item = admin.ended("edge-1")
    assert (item["ip"], item["status"]) == (UNUSED, "failed")
    assert item["message"].startswith(f"Cannot log in to {UNUSED} over SSH: ")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "a; reboot"),
        ("name", None),
        ("is_change_hostname", "no"),
        ("manage_ip", "10.0.0.300"),
        ("manage_ip", "$(reboot)"),
        ("user_credential_id", "1"),
        ("user_credential_id", True),
    ],
)
def test_an_unusable_install_request_is_refused_by_field(admin, field, value):
    body = {"name": "edge-1", "is_change_hostname": False, "manage_ip": UNUSED, "user_credential_id": 1}
    answer = admin.call("POST", "/system/add_slb_engine/", json=body | {field: value})

    assert answer.status_code == 400
    assert field in answer.json()["msg"]
    assert admin.engines() == {}


def test_an_unknown_credential_is_refused(admin):
    answer = admin.install("edge-1", UNUSED, credential=7)

    assert answer.status_code == 400
    assert answer.json()["msg"] == "No stored credential has the id 7."
