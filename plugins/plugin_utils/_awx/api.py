# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads AWX's API, with what the modules of awx.awx do it with, in one login."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from ansible.module_utils.errors import AnsibleFallbackNotFound
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.utils.display import Display

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._awx.trouble import meaning

_MOST_PAGES = 10_000


class Awx:
    """``client``: the ``ControllerAPIModule`` of the collection, which takes the address and who logs in from the
    environment.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    @classmethod
    @contextlib.contextmanager
    def opened(cls, collection: str) -> Iterator[Awx]:
        """Its lookup plugin would leave a token behind for each question."""
        try:
            module = importlib.import_module(f"ansible_collections.{collection}.plugins.module_utils.controller_api")
        except ImportError:
            raise FleetError(
                f"The collection {collection} is not installed where this runs.",
                "Install it (ansible-galaxy collection install awx.awx; the PyPI package ansible 13 has it, too), or "
                "name the other one with slb_awx_collection: awx.awx or ansible.controller.",
            ) from None
        kind = module.ControllerAPIModule
        client = kind(
            argument_spec={},
            direct_params=_from_environment(kind.AUTH_ARGSPEC),
            error_callback=_refuse,
            warn_callback=Display().warning,
        )
        try:
            yield cls(client)
        finally:
            client.logout()

    def one(self, place: str) -> dict[str, Any]:
        found: dict[str, Any] = self._client.get_endpoint(place)["json"]
        return found

    def all(self, endpoint: str, query: Mapping[str, Any]) -> list[dict[str, Any]]:
        answer = self._client.get_endpoint(endpoint, data=dict(query))
        found: list[dict[str, Any]] = []
        for _page in range(_MOST_PAGES):
            if answer["status_code"] != 200:
                _refuse(msg=f"{endpoint} answered {answer.get('json', answer)}")
            page = answer.get("json")
            if not isinstance(page, Mapping) or not {"results", "next"} <= page.keys():
                _refuse(msg=f"{endpoint} answered something else than a list")
            found += page["results"]
            if not page["next"]:
                return found
            answer = self._client.get_endpoint(page["next"])
        return _refuse(msg=f"{endpoint} is a list that does not end")


def _from_environment(spec: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for option, rules in spec.items():
        look_up, names = rules.get("fallback", (None, ()))
        if look_up is not None:
            with contextlib.suppress(AnsibleFallbackNotFound):
                given[option] = look_up(*names)
    if "validate_certs" in given:
        given["validate_certs"] = boolean(given["validate_certs"])
    if "request_timeout" in given:
        given["request_timeout"] = float(given["request_timeout"])
    return given


def _refuse(msg: Any = "", **_more: Any) -> NoReturn:
    said = str(msg).rstrip(". ")
    raise FleetError(f"AWX cannot be read: {said}.", f"{meaning(said)} Nothing was changed.")
