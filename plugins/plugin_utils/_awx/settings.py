# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables ``slb_awx_*``: what each may be, checked before anything is made in AWX."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._settings import KNOWN
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import is_empty

PREFIX = "slb_awx_"
_NAME = re.compile(r"(?!\d+$)(?=\S)[^,+\x00-\x1f]{0,99}[^\s,+\x00-\x1f]")
_RRULE = re.compile(r"DTSTART;TZID=[^\s:]+:\d{8}T\d{6} RRULE:(?=\S*FREQ=)(?=\S*INTERVAL=\d)\S+")


class AwxVariableError(FleetError):
    """What was set cannot be used; nothing has been made."""

    def __init__(self, name: str, value: object, wanted: str) -> None:
        super().__init__(
            f"The variable {PREFIX}{name} has the value {value!r:.200}: it is not {wanted}.",
            "Correct it. Nothing was changed in AWX.",
        )


Reader = Callable[[Any], Any]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text")
    return value


def _name(value: Any) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        # The modules take a number for an id, and a plus sign for a part of a path; AWX takes spaces off.
        raise ValueError("a name: at most 100 characters, no commas or plus signs, no spaces around, no mere number")
    return value


def _url(*schemes: str) -> Reader:
    def read(value: Any) -> str:
        if not isinstance(value, str) or not value.startswith(schemes):
            raise ValueError(f"an address that begins with {' or '.join(schemes)}")
        return value

    return read


def _path(value: Any) -> str:
    if not isinstance(value, str) or value.startswith("/") or ".." in value.split("/"):
        raise ValueError("the path of a file within the project")
    return value


def _truth(value: Any) -> bool:
    try:
        return boolean(value)  # type: ignore[no-any-return]
    except TypeError:
        raise ValueError("a boolean, such as true or false") from None


def _whole(least: int, most: int) -> Reader:
    def read(value: Any) -> int:
        if isinstance(value, bool) or not str(value).strip().isdecimal() or not least <= int(value) <= most:
            raise ValueError(f"a whole number from {least} to {most}")
        return int(value)

    return read


def _one_of(*choices: str) -> Reader:
    def read(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"one of: {', '.join(choices)}")
        return str(value)

    return read


def _texts(value: Any) -> list[str]:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) and part.strip() for part in parts):
        raise ValueError("a list of texts")
    return [str(part).strip() for part in parts]


def _headers(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(each, str) for pair in value.items() for each in pair):
        raise ValueError("a mapping of texts")
    return {str(name): str(each) for name, each in value.items()}


def _rrule(value: Any) -> str:
    if not isinstance(value, str) or not _RRULE.fullmatch(value):
        raise ValueError(
            "a rule with a time zone and an interval, as AWX wants it, such as "
            "DTSTART;TZID=Europe/Berlin:20270101T030000 RRULE:FREQ=DAILY;INTERVAL=1"
        )
    return value


VARIABLES: Mapping[str, tuple[Reader, Any]] = {
    "state": (_one_of("present", "absent"), "present"),
    "collection": (_one_of("awx.awx", "ansible.controller"), "awx.awx"),
    "name": (_name, "slb.fleet"),
    "label": (_name, "slb.fleet"),
    "organization": (_name, "Default"),
    "image": (_text, ""),
    "pull": (_one_of("always", "missing", "never"), "missing"),
    "execution_environment": (_name, ""),
    "project_url": (_text, ""),
    "project_branch": (_text, ""),
    "project_credential": (_name, ""),
    "inventory_source": (_path, "inventory/hosts.yml"),
    "machine_credential": (_name, ""),
    "credential": (_name, ""),
    "base_url": (_url("https://"), ""),
    "username": (_text, ""),
    "password": (_text, ""),
    "update_secrets": (_truth, False),
    "ca": (_text, ""),
    "tls_fingerprint": (_text, ""),
    "become": (_truth, True),
    "slices": (_whole(1, 1000), 1),
    "approvers": (_texts, []),
    "approval_timeout": (_whole(60, 10_000_000), 86_400),
    "audit_schedule": (_rrule, ""),
    "webhook_url": (_url("https://", "http://"), ""),
    "webhook_headers": (_headers, {}),
    "mail_to": (_texts, []),
    "mail_from": (_text, ""),
    "mail_host": (_text, ""),
    "mail_port": (_whole(1, 65_535), 25),
    "dest": (_text, ""),
    "collection_source": (_text, ""),
    "collection_version": (_text, ""),
}
"""By their names without ``slb_awx_``: what reads them, and what an empty one is."""

SECRETS = ("password", "webhook_url", "webhook_headers")


def settings_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """``given``: every variable that begins with ``slb_awx_``, by its whole name. Raises FleetError."""
    for name in given:
        if name.removeprefix(PREFIX) not in VARIABLES and name not in KNOWN:
            near = difflib.get_close_matches(name, [f"{PREFIX}{known}" for known in VARIABLES], 1)
            raise FleetError(
                f"There is no variable {name}.",
                f"Did you mean {near[0]}?" if near else "docs/awx.md names those that there are.",
            )
    settings: dict[str, Any] = {}
    for name, (read, default) in VARIABLES.items():
        value = given.get(f"{PREFIX}{name}")
        try:
            settings[name] = default if is_empty(value) or value in ([], {}) else read(value)
        except ValueError as error:
            shown = "(a secret)" if name in SECRETS else value
            raise AwxVariableError(name, shown, str(error)) from None
    return settings


def check_for_content(settings: Mapping[str, Any]) -> None:
    """Whether there is all that the content needs. Raises FleetError that names everything that is missing."""
    missing = [
        needed
        for needed, is_there in (
            ("image (of the execution environment), or execution_environment (the name of one that AWX has)",
             settings["image"] or settings["execution_environment"]),
            ("project_url (of the git repository that AWX syncs)", settings["project_url"]),
            ("base_url and username of the management node, or credential (the name of one that AWX has)",
             settings["credential"] or (settings["base_url"] and settings["username"])),
            ("mail_from and mail_host, without which AWX sends no mail",
             not settings["mail_to"] or (settings["mail_from"] and settings["mail_host"])),
        )
        if not is_there
    ]  # fmt: skip
    if missing:
        raise FleetError(
            f"Not all variables are set that AWX's content needs: {'; '.join(PREFIX + each for each in missing)}.",
            "Set them; docs/awx.md shows an example. Nothing was changed in AWX.",
        )
