# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page that people see."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from .node_process import NOBODY

if TYPE_CHECKING:
    from .client import Client


class _Text(HTMLParser):
    """Names of form fields, and all text outside of templates, scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.fields: set[str] = set()
        self.text = ""
        self._hidden = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("template", "script", "style")
        if name := dict(attrs).get("name"):
            self.fields.add(name)

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("template", "script", "style")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.text += data


@pytest.mark.parametrize("path", ["/", "/account/login/"])
def test_without_a_session_there_is_the_login_form(client: Client, path: str) -> None:
    page = client.call("GET", path)

    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert {"username", "password"} <= _Text(page.text).fields


def test_with_a_session_engines_are_shown_with_their_state_and_message(admin: Client) -> None:
    admin.install("edge-1", NOBODY)
    admin.ended("edge-1")

    page = _Text(admin.call("GET", "/").text)

    for shown in ("edge-1", NOBODY, "failed", "Cannot log in to"):
        assert shown in page.text
    assert {"name", "manage_ip", "user_credential_id", "is_change_hostname", "host", "interface"} <= page.fields
    assert "password" not in page.fields


def test_the_page_is_chinese_when_asked(admin: Client) -> None:
    admin.faults(language="zh")

    page = admin.call("GET", "/").text

    assert '<html lang="zh">' in page
    assert "转发引擎" in page
    assert "Forwarding engines" not in page


def test_interfaces_of_what_is_no_address_are_refused(admin: Client) -> None:
    answer = admin.call("GET", "/console/hosts/edge-1/interfaces")

    assert answer.status_code == 400
    assert "'edge-1'" in answer.json()["msg"]


def test_the_data_of_the_page_needs_a_session(client: Client) -> None:
    for path in ("/console/engines", "/console/hosts/127.0.0.1/interfaces"):
        answer = client.call("GET", path)
        assert (answer.status_code, answer.json()["msg"]) == (401, "Please log in again.")


def test_a_host_that_cannot_be_asked_is_said(admin: Client) -> None:
    answer = admin.call("GET", f"/console/hosts/{NOBODY}/interfaces")

    assert answer.status_code == 502
    assert answer.json()["msg"].startswith(f"Cannot log in to {NOBODY} over SSH: ")


def test_logout_ends_the_session(admin: Client) -> None:
    identifier = admin.session.cookies["sessionid"]

    assert admin.call("POST", "/console/logout").status_code == 303

    answer = admin.call("GET", "/system/license/apply/", headers={"Cookie": f"sessionid={identifier}"})
    assert answer.status_code == 302
