# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A client of the management node over real, verified TLS."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import requests

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Client:
    """A browser's worth of state: a cookie jar, the certificate that is trusted, credentials."""

    def __init__(self, base_url: str, certificate: Path, password: str) -> None:
        self.base_url = base_url
        self.session = requests.Session()
        self.session.trust_env = False
        self._certificate = str(certificate)
        self._password = password

    def call(self, method: str, path: str, **options: Any) -> requests.Response:
        defaults: dict[str, Any] = {"timeout": 60, "allow_redirects": False, "verify": self._certificate}
        return self.session.request(method, self.base_url + path, **(defaults | options))

    def login(self, username: str = "admin", password: str | None = None) -> requests.Response:
        body = {"username": username, "password": self._password if password is None else password}
        return self.call("POST", "/account/login/", json=body)

    def license(self) -> requests.Response:
        return self.call("GET", "/system/license/apply/")

    def install(
        self, name: str, address: str, *, change_hostname: bool = False, credential: int = 1
    ) -> requests.Response:
        body = {
            "name": name,
            "is_change_hostname": change_hostname,
            "manage_ip": address,
            "user_credential_id": credential,
        }
        return self.call("POST", "/system/add_slb_engine/", json=body)

    def engines(self) -> dict[str, dict[str, Any]]:
        """What the console lists, by name."""
        answer = self.call("GET", "/console/engines")
        answer.raise_for_status()
        return {item["engine_name"]: item for item in answer.json()["data"]["items"]}

    def ended(self, name: str, seconds: float = 40) -> dict[str, Any]:
        """The console's item of an engine once its deployment has ended."""
        return self.engine_when(name, lambda item: item["status"] != "deploying", seconds)

    def wait_for_message(self, name: str, message: str) -> None:
        self.engine_when(name, lambda item: item["message"] == message)

    def engine_when(self, name: str, holds: Callable[[dict[str, Any]], bool], seconds: float = 40) -> dict[str, Any]:
        deadline = time.monotonic() + seconds
        seen: dict[str, Any] | None = None
        while time.monotonic() < deadline:
            seen = self.engines().get(name)
            if seen is not None and holds(seen):
                return seen
            time.sleep(0.1)
        raise AssertionError(f"not within {seconds} s; last seen: {seen}")

    def offered(self, address: str) -> list[str]:
        answer = self.call("GET", f"/console/hosts/{address}/interfaces")
        assert answer.status_code == 200, answer.text
        items: list[str] = answer.json()["items"]
        return items

    def faults(self, **faults: Any) -> requests.Response:
        """Switch on exactly these."""
        return self.call("PUT", "/_lab/faults", json=faults)

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = self.call("GET", "/_lab/state").json()
        return state
