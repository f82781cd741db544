# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables ``slb_awx_*``: what each may be, checked before anything is made in AWX."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from zoneinfo import available_timezones

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._nearest import nearest
from ansible_collections.slb.fleet.plugins.module_utils.errors import FleetError as InvalidError
from ansible_collections.slb.fleet.plugins.module_utils.management_node.arguments import (
    normalize_base_url,
    normalize_fingerprint,
)
from ansible_collections.slb.fleet.plugins.plugin_utils.variables import KNOWN, is_empty, one_of, read_boolean

PREFIX = "slb_awx_"
_NOTHING_CHANGED = "Nothing was changed in AWX."
_NAME = re.compile(r"(?!\d+$)(?=\S)[^,+\x00-\x1f]{0,99}[^\s,+\x00-\x1f]")
_RRULE = re.compile(r"DTSTART;TZID=([^\s:]+):([0-9]{8}T[0-9]{6}) RRULE:(\S+)")
_FREQUENCIES = ("MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY")
_MOST_TIMES = 999
_LONGEST_NAME = 512
_DIGITS = re.compile(r"[0-9]{1,9}")
_ADDRESS = re.compile(r"[!-~]+")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_MAIL_ADDRESS = re.compile(r"[^\s@,<>]+@[^\s@,<>]+")


class AwxVariableError(FleetError):
    """What was set cannot be used; nothing has been made."""

    def __init__(self, name: str, value: object, wanted: str) -> None:
        super().__init__(
            f"The variable {PREFIX}{name} has the value {value!r:.200}: it is not {wanted}.",
            f"Correct it. {_NOTHING_CHANGED}",
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
    if not value.isprintable():
        raise ValueError("a name without hidden signs and line breaks")
    return value


def _name_of_theirs(value: Any) -> str:
    """Of something that AWX has: others may name it as they like, but as the modules can find it."""
    is_name = isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME and value == value.strip()
    if not is_name or "++" in value or value.isdecimal():
        raise ValueError(f"a name of AWX: at most {_LONGEST_NAME} characters, no ++, no spaces around, no mere number")
    return str(value)


def _names_of_theirs(value: Any) -> list[str]:
    return [_name_of_theirs(each) for each in _texts(value)]


def _word(value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable() or " " in value:
        raise ValueError("a text without blanks and line breaks")
    return value


def _line(value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError("a text of one line")
    return value


def _url(*schemes: str) -> Reader:
    def read(value: Any) -> str:
        if not isinstance(value, str) or not value.startswith(schemes) or not _ADDRESS.fullmatch(value):
            raise ValueError(f"an address that begins with {' or '.join(schemes)}, of visible ASCII signs")
        return value

    return read


def _of_the_node(normalised: Callable[[str], str]) -> Reader:
    def read(value: Any) -> str:
        normalised(_text(value))
        return str(value).strip()

    return read


def _path(value: Any) -> str:
    if not isinstance(value, str) or value.startswith("/") or ".." in value.split("/"):
        raise ValueError("the path of a file within the project")
    return value


def _whole(least: int, most: int) -> Reader:
    def read(value: Any) -> int:
        if isinstance(value, bool) or not _DIGITS.fullmatch(str(value).strip()) or not least <= int(value) <= most:
            raise ValueError(f"a whole number from {least} to {most}")
        return int(value)

    return read


def _texts(value: Any) -> list[str]:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) and part.strip() for part in parts):
        raise ValueError("a list of texts")
    return [str(part).strip() for part in parts]


def _headers(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(each, str) for pair in value.items() for each in pair):
        raise ValueError("a mapping of texts")
    if not all(_TOKEN.fullmatch(name) and each.isprintable() for name, each in value.items()):
        raise ValueError("a mapping of headers, each of one line")
    return {str(name): str(each) for name, each in value.items()}


def _mail_addresses(value: Any) -> list[str]:
    addresses = _texts(value)
    if not all(_MAIL_ADDRESS.fullmatch(each) for each in addresses):
        raise ValueError("a list of mail addresses")
    return addresses


def _certificates(value: Any) -> str:
    if not isinstance(value, str) or "-----BEGIN CERTIFICATE-----" not in value:
        raise ValueError("certificates in PEM; of a file, give the content: lookup('ansible.builtin.file', ...)")
    return value


def _rrule(value: Any) -> str:
    match = _RRULE.fullmatch(value) if isinstance(value, str) else None
    parts = dict(part.partition("=")[::2] for part in match[3].split(";")) if match else {}
    if match is None or not _DIGITS.fullmatch(parts.get("INTERVAL", "")):
        raise ValueError(
            "a rule with a time zone and an interval, as AWX wants it, such as "
            "DTSTART;TZID=Europe/Berlin:20270101T030000 RRULE:FREQ=DAILY;INTERVAL=1"
        )
    _see_that_there_is(match[1], match[2])
    if parts.get("FREQ") not in _FREQUENCIES:
        raise ValueError(f"a rule whose FREQ AWX takes: {', '.join(_FREQUENCIES)}")
    if not _DIGITS.fullmatch(parts.get("COUNT", "1")) or int(parts.get("COUNT", "1")) > _MOST_TIMES:
        raise ValueError(f"a rule that AWX takes: COUNT is at most {_MOST_TIMES}")
    return str(value)


def _see_that_there_is(zone: str, moment: str) -> None:
    try:
        datetime.strptime(moment, "%Y%m%dT%H%M%S")
    except ValueError:
        raise ValueError(f"a rule that begins at a moment that there is: {moment} is none") from None
    # Without a database of zones here, AWX alone knows them.
    if available_timezones() and zone not in available_timezones():
        near = nearest(zone, available_timezones())
        raise ValueError(f"a rule in a known time zone: {zone} is none{f' (did you mean {near}?)' if near else ''}")


VARIABLES: Mapping[str, tuple[Reader, Any]] = {
    "state": (one_of("present", "absent"), "present"),
    "collection": (one_of("awx.awx", "ansible.controller"), "awx.awx"),
    "name": (_name, "slb.fleet"),
    "label": (_name, "slb.fleet"),
    "organization": (_name_of_theirs, "Default"),
    "image": (_word, ""),
    "pull": (one_of("always", "missing", "never"), "missing"),
    "execution_environment": (_name_of_theirs, ""),
    "project_url": (_word, ""),
    "project_branch": (_word, ""),
    "project_credential": (_name_of_theirs, ""),
    "inventory_source": (_path, "inventory/hosts.yml"),
    "machine_credential": (_name_of_theirs, ""),
    "credential": (_name_of_theirs, ""),
    "base_url": (_of_the_node(normalize_base_url), ""),
    "username": (_text, ""),
    "password": (_text, ""),
    "update_secrets": (read_boolean, False),
    "ca": (_certificates, ""),
    "tls_fingerprint": (_of_the_node(normalize_fingerprint), ""),
    "become": (read_boolean, True),
    "slices": (_whole(1, 1000), 1),
    "approvers": (_names_of_theirs, []),
    "approval_timeout": (_whole(60, 10_000_000), 86_400),
    "audit_schedule": (_rrule, ""),
    "webhook_url": (_url("https://", "http://"), ""),
    "webhook_headers": (_headers, {}),
    "mail_to": (_mail_addresses, []),
    "mail_from": (_line, ""),
    "mail_host": (_word, ""),
    "mail_port": (_whole(1, 65_535), 25),
    "dest": (_text, ""),
    "collection_source": (_word, ""),
    "collection_version": (_line, ""),
}
"""By their names without ``slb_awx_``: what reads them, and what an empty one is."""

SECRETS = ("password", "webhook_url", "webhook_headers")


def settings_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """``given``: every variable that begins with ``slb_awx_``, by its whole name. Raises FleetError."""
    for name in given:
        if name.removeprefix(PREFIX) not in VARIABLES and name not in KNOWN:
            near = nearest(name, [f"{PREFIX}{known}" for known in VARIABLES])
            raise FleetError(
                f"There is no variable {name}.",
                f"Did you mean {near}?" if near else "docs/awx.md names those that there are.",
            )
    settings: dict[str, Any] = {}
    for name, (read, default) in VARIABLES.items():
        value = given.get(f"{PREFIX}{name}")
        try:
            settings[name] = default if is_empty(value) or value in ([], {}) else read(value)
        except ValueError as error:
            shown = "(a secret)" if name in SECRETS else value
            raise AwxVariableError(name, shown, str(error)) from None
        except InvalidError as error:
            raise FleetError(str(error).replace("Option ", f"Variable {PREFIX}", 1), _NOTHING_CHANGED) from None
    return settings


def check_for_content(settings: Mapping[str, Any]) -> None:
    """Whether there is all that the content needs. Raises FleetError that names everything that is missing."""
    missing = [
        needed
        for needed, is_there in (
            (f"image (of the execution environment), or {PREFIX}execution_environment (the name of one that AWX has)",
             settings["image"] or settings["execution_environment"]),
            ("project_url (of the git repository that AWX syncs)", settings["project_url"]),
            (f"base_url and {PREFIX}username of the management node, or {PREFIX}credential (one that AWX has)",
             settings["credential"] or (settings["base_url"] and settings["username"])),
            (f"webhook_url (where the headers are sent), or no {PREFIX}webhook_headers",
             settings["webhook_url"] or not settings["webhook_headers"]),
            (f"mail_to (who gets a mail), or no {PREFIX}mail_from and no {PREFIX}mail_host",
             settings["mail_to"] or not (settings["mail_from"] or settings["mail_host"])),
            (f"mail_from and {PREFIX}mail_host, without which AWX sends no mail",
             not settings["mail_to"] or (settings["mail_from"] and settings["mail_host"])),
        )
        if not is_there
    ]  # fmt: skip
    if missing:
        raise FleetError(
            f"Not all variables are set that AWX's content needs: {'; '.join(PREFIX + each for each in missing)}.",
            f"Set them; docs/awx.md shows an example. {_NOTHING_CHANGED}",
        )
    contradictions = [
        f"{PREFIX}{given} {why}"
        for given, is_there, why in (
            ("image", settings["image"] and settings["execution_environment"],
             f"makes an execution environment, and {PREFIX}execution_environment names one that AWX has"),
            *((each, settings[each] and settings["credential"],
               f"is for the credential that is made, and {PREFIX}credential names one that AWX has")
              for each in ("base_url", "username", "password", "ca", "tls_fingerprint")),
        )
        if is_there
    ]  # fmt: skip
    if contradictions:
        raise FleetError(
            f"Variables of AWX's content contradict each other: {'; '.join(contradictions)}.",
            f"Leave one of the two out. {_NOTHING_CHANGED}",
        )
