# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The install request of one engine and its outcome."""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node import contract
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import CONNECTION_ARGUMENTS
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils._management_node.contract import (
    PORT_IN_USE,
    REJECTED,
    UNKNOWN,
    Case,
    judge,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.transport import NoAnswerError, Request
from ansible_collections.slb.fleet.plugins.module_utils._values import invalid, read_number, require_text

INSTALL_PATH = "/system/add_slb_engine/"

ENGINE_ARGUMENTS: dict[str, dict[str, Any]] = {
    "name": {"type": "str", "required": True},
    "manage_ip": {"type": "str", "required": True},
    "user_credential_id": {"type": "int", "default": 1},
    "is_change_hostname": {"type": "bool", "default": False},
    "exists_patterns": {"type": "list", "elements": "str"},
    "port_in_use_patterns": {"type": "list", "elements": "str"},
    "in_progress_patterns": {"type": "list", "elements": "str"},
    "success_codes": {"type": "list", "elements": "int"},
}
ARGUMENTS = {**CONNECTION_ARGUMENTS, **ENGINE_ARGUMENTS}

_MAX_NAME = 255
_HOST_NAME = re.compile(r"(?=.{1,64}$)(?!-)[A-Za-z0-9-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*")
CREDENTIALS = (1, 2**31 - 1)
CHECK_FIRST = "Check the host or the web console before you repeat it."
DECLARE = "If the answer states success, declare it with slb_success_codes or slb_in_progress_patterns."
_ERRORS = {
    PORT_IN_USE: ("port_in_use", "a port is in use", "Find what uses the port on the host, such as a leftover."),
    REJECTED: (
        "install_rejected",
        "rejected",
        "Correct what the management node reports. user_credential_id names the stored credential.",
    ),
    UNKNOWN: ("install_not_confirmed", "not confirmed", f"{CHECK_FIRST} {DECLARE}"),
}


@dataclass(frozen=True)
class Engine:
    """An engine to install. The fields are those of the request's body."""

    name: str
    is_change_hostname: bool
    manage_ip: str
    user_credential_id: int

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Engine:
        """Return the engine that ``options`` describe, which have the types of their spec. Raises OptionError."""
        return cls(
            name=read_name(options["name"], becomes_host_name=options["is_change_hostname"]),
            is_change_hostname=options["is_change_hostname"],
            manage_ip=read_address("manage_ip", options["manage_ip"]),
            user_credential_id=read_number("user_credential_id", options["user_credential_id"], *CREDENTIALS),
        )


@dataclass(frozen=True)
class Install:
    """The result of an install request. ``status_code`` is None if no answer came."""

    outcome: str
    status_code: int | None = None
    answer: str = ""


def read_meanings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what ``options`` declare of answers: the patterns of a Case, and its success codes. Raises FleetError."""
    patterns = {name: options.get(f"{name}_patterns") for name in contract.DEFAULT_PATTERNS}
    return {"patterns": contract.compile_patterns(patterns), "success_codes": tuple(options.get("success_codes") or ())}


def request_install(client: Client, engine: Engine, options: Mapping[str, Any], send_by: float = math.inf) -> Install:
    """Send the install request of ``engine``, at most once, and return its outcome.

    ``options``: may contain those of ``read_meanings``. ``send_by``: as in Request.
    Raises FleetError with the value ``outcome``: ``unknown`` if the request may have arrived, ``port_in_use`` or
    ``rejected`` if no installation was started.
    """
    meanings = read_meanings(options)
    request = Request("install", "POST", INSTALL_PATH, asdict(engine), send_by=send_by)
    try:
        answer = client.call(request)
    except FleetError as error:
        if isinstance(error, NoAnswerError) and error.request is request and error.is_sent:
            raise _failure(engine, error.summary, outcome=UNKNOWN) from error
        error.values["outcome"] = REJECTED
        raise
    case = Case("install", answer, client.url(request), request.own, **meanings)
    meaning = judge(case).meaning
    outcome = UNKNOWN if meaning in (contract.REDIRECT, contract.OVER, contract.NEW_TOKEN) else meaning
    install = Install(outcome, answer.status, client.shown(case.message))
    if outcome in _ERRORS:
        failure = _failure(engine, f"{client.describe(answer, case.message)}.", **asdict(install))
        if meaning == contract.REDIRECT:
            # It may have been accepted, but the address is wrong for later requests.
            failure.fix = f"{client.redirected(request, answer).fix} {failure.fix}"
        raise failure
    return install


def _failure(engine: Engine, cause: str, *, outcome: str, **values: Any) -> FleetError:
    code, state, fix = _ERRORS[outcome]
    summary = f"Installation of {engine.name[:40]} on {engine.manage_ip} {state}: {cause}"
    return FleetError(code, summary, fix, outcome=outcome, **values)


def read_name(value: Any, *, becomes_host_name: bool) -> str:
    """Return the engine name ``value``. Raises FleetError ``invalid_option``."""
    name = require_text("name", value)
    if not name.strip() or name != name.strip() or len(name) > _MAX_NAME or not name.isprintable():
        cause = "it is not a text of 1 to 255 printable characters without outer blanks"
        raise invalid("name", cause, "Choose another name.")
    if becomes_host_name and not _HOST_NAME.fullmatch(name):
        cause = f"with is_change_hostname, {name[:40]!r} is not a valid host name"
        raise invalid("name", cause, "Use letters, digits, hyphens and dots, at most 64 characters.")
    return name


def read_address(option: str, value: Any) -> str:
    """Return the IP address ``value`` of an engine host in its short form. Raises FleetError ``invalid_option``."""
    text = require_text(option, value).strip()
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        fix = "Set the IPv4 or IPv6 address of the engine host."
        raise invalid(option, f"{text[:40]!r} is not an IP address", fix) from None
    plain = getattr(address, "ipv4_mapped", None) or address
    is_unusable = plain.is_unspecified or plain.is_loopback or plain.is_multicast or "%" in text
    # Of IPv6, is_reserved is true for blocks that hosts may have.
    is_unusable |= plain.version == 4 and (plain.is_reserved or str(plain).startswith("0."))
    if is_unusable:
        fix = "Set the address at which the management node reaches the host."
        raise invalid(option, f"the management node cannot reach a host at {text[:40]}", fix)
    return str(address)
