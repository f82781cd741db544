# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The install request of one engine and its outcome."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._management_node.answer import Answer, plain
from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import (
    CONNECTION_ARGUMENTS,
    invalid,
    read_boolean,
    read_number,
    require_text,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.client import Client
from ansible_collections.slb.fleet.plugins.module_utils._management_node.languages import (
    COMPILED,
    is_found,
    split_words,
)
from ansible_collections.slb.fleet.plugins.module_utils._management_node.transport import NoAnswerError, Request

INSTALL_PATH = "/system/add_slb_engine/"
REQUESTED, EXISTS, PORT_IN_USE, REJECTED, UNKNOWN = "requested", "exists", "port_in_use", "rejected", "unknown"

ENGINE_ARGUMENTS: dict[str, dict[str, Any]] = {
    "name": {"type": "str", "required": True},
    "manage_ip": {"type": "str", "required": True},
    "user_credential_id": {"type": "int", "default": 1},
    "is_change_hostname": {"type": "bool", "default": False},
    "exists_patterns": {"type": "list", "elements": "str"},
    "port_in_use_patterns": {"type": "list", "elements": "str"},
}
ARGUMENTS = {**CONNECTION_ARGUMENTS, **ENGINE_ARGUMENTS}

_MAX_NAME = 255
_GATEWAY = (502, 504)
# A proxy before the management node did not wait for its answer: statuses, and codes in JSON.
_NOT_WAITED = (408, 499, 502, 503, 504)
_HOST_NAME = re.compile(r"(?=.{1,64}$)(?!-)[A-Za-z0-9-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*")
CREDENTIALS = (1, 2**31 - 1)
CHECK_FIRST = "Check the host or the web console before you repeat it."
_ERRORS = {
    PORT_IN_USE: ("port_in_use", "a port is in use", "Find what uses the port on the host, such as a leftover."),
    REJECTED: ("install_rejected", "rejected", "Correct what the management node reports."),
    UNKNOWN: ("install_not_confirmed", "not confirmed", CHECK_FIRST),
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
        """Return the engine that ``options`` describe. Raises FleetError ``invalid_option``."""
        changes, credential = options.get("is_change_hostname"), options.get("user_credential_id")
        if credential in (None, ""):
            credential = ENGINE_ARGUMENTS["user_credential_id"]["default"]
        is_change_hostname = False if changes in (None, "") else read_boolean("is_change_hostname", changes)
        return cls(
            name=read_name(options.get("name"), becomes_host_name=is_change_hostname),
            is_change_hostname=is_change_hostname,
            manage_ip=read_address("manage_ip", options.get("manage_ip")),
            user_credential_id=read_number("user_credential_id", credential, *CREDENTIALS),
        )


@dataclass(frozen=True)
class Install:
    """The result of an install request. ``status_code`` is None if no answer came."""

    outcome: str
    status_code: int | None = None
    answer: str = ""


def request_install(
    client: Client, engine: Engine, options: Mapping[str, Any], send_by: float | None = None
) -> Install:
    """Send the install request of ``engine``, at most once, and return its outcome.

    ``options``: may contain ``exists_patterns`` and ``port_in_use_patterns``. ``send_by``: as in Request.
    Raises FleetError with the value ``outcome``: ``unknown`` if the request may have arrived and no answer came,
    ``port_in_use`` or ``rejected`` if no installation was started.
    """
    patterns = compile_patterns(options)
    request = Request("POST", INSTALL_PATH, asdict(engine), send_by=send_by)
    try:
        answer = client.call(request)
    except FleetError as error:
        if isinstance(error, NoAnswerError) and error.request is request and error.is_sent:
            raise _failure(engine, error.summary, outcome=UNKNOWN) from error
        error.values["outcome"] = REJECTED
        raise
    own_words = [value for value in asdict(engine).values() if isinstance(value, str)]
    install = Install(find_outcome(answer, patterns, own_words), answer.status, client.message(answer))
    if install.outcome in _ERRORS:
        failure = _failure(engine, f"{client.describe(answer)}.", **asdict(install))
        if install.outcome == UNKNOWN:
            # It may have been accepted, but the address is wrong for later requests.
            failure.fix = f"{client.redirect_fix(answer, INSTALL_PATH)} {failure.fix}".strip()
        raise failure
    return install


def _failure(engine: Engine, cause: str, *, outcome: str, **values: Any) -> FleetError:
    code, state, fix = _ERRORS[outcome]
    summary = f"Installation of {engine.name[:40]} on {engine.manage_ip} {state}: {cause}"
    return FleetError(code, summary, fix, outcome=outcome, **values)


def find_outcome(
    answer: Answer, patterns: Mapping[str, Sequence[re.Pattern[str]]], own_words: Sequence[str] = ()
) -> str:
    """Return the outcome that ``answer`` reports. ``own_words``: values of the request, which an answer may repeat.

    The structure of the answer decides. Without one, a text decides only between ``exists`` and ``port_in_use``. A
    negative answer that also reports a deployment, or a proxy that did not wait for it, is ``unknown``: the container
    must not be restored meanwhile.
    """
    used = [*(pattern for group in patterns.values() for pattern in group), COMPILED["progress"], COMPILED["unclear"]]
    evidence = _readings(answer.texts, own_words, used)
    outcome = _find_outcome(answer, patterns, evidence, own_words)
    if outcome in (REQUESTED, UNKNOWN):
        return outcome
    # GraphQL: a part of the request has failed, and the envelope has the data of the other part.
    is_partial = any(any(each.values()) for each in answer.objects[1:]) and "errors" in answer.objects[0]
    is_unclear = outcome == REJECTED and (
        is_partial or answer.has_id() or not answer.codes.isdisjoint(_NOT_WAITED) or is_found("unclear", evidence)
    )
    is_in_progress = is_found("progress", evidence) or answer.has_id(of_a_task=True)
    return UNKNOWN if is_unclear or is_in_progress else outcome


def _find_outcome(
    answer: Answer,
    patterns: Mapping[str, Sequence[re.Pattern[str]]],
    evidence: Sequence[str],
    own_words: Sequence[str],
) -> str:
    is_whole = answer.is_success and not answer.defect
    if is_whole and answer.objects and answer.verdict is True:
        return REQUESTED
    if answer.status in _GATEWAY:
        return UNKNOWN
    # A message with both is an occupied port: this outcome has a person check the host.
    for outcome in (PORT_IN_USE, EXISTS):
        if any(pattern.search(text) for pattern in patterns[outcome] for text in evidence):
            return outcome
    if 400 <= answer.status < 500 and answer.status not in _NOT_WAITED:
        return REJECTED
    is_empty_by_accident = not answer.body and not answer.has_length and answer.status != 204
    if not is_whole or is_empty_by_accident or answer.is_html or (answer.parsed and answer.requires_login):
        return UNKNOWN
    if answer.is_soft_failure and (is_found("success", evidence) or not is_found("failure", evidence)):
        return UNKNOWN
    is_created = answer.status in (201, 202) or answer.is_resource(own_words)
    if answer.verdict is None and not answer.has_signs and is_created:
        return REQUESTED
    return {True: REQUESTED, False: REJECTED, None: UNKNOWN}[answer.verdict]


def _readings(text: str, own_words: Sequence[str], patterns: Sequence[re.Pattern[str]]) -> list[str]:
    """Return ``text``, and ``text`` with the word "engine" for each value of the request, and codes split into words.

    Without the former if a value of the request is found by one of the patterns.
    """
    named, known = text, [*filter(None, map(plain, own_words))]
    for word in known:
        named = re.sub(rf"(?ai)(?<![\w.-]){re.escape(word)}(?![\w-]|\.\w)", "engine", named)
    is_misleading = any(pattern.search(word) for word in known for pattern in patterns)
    return list(dict.fromkeys([split_words(named)] if is_misleading else [text, split_words(named)]))


def read_name(value: Any, *, becomes_host_name: bool) -> str:
    """Return the engine name ``value``. Raises FleetError ``invalid_option``."""
    name = require_text("name", value)
    if not name.strip() or name != name.strip() or len(name) > _MAX_NAME or not name.isprintable():
        raise invalid(
            "name", "it is not a text of 1 to 255 printable characters without outer blanks", "Choose another name."
        )
    if becomes_host_name and not _HOST_NAME.fullmatch(name):
        raise invalid(
            "name",
            f"with is_change_hostname, {name[:40]!r} is not a valid host name",
            "Use letters, digits, hyphens and dots, at most 64 characters.",
        )
    return name


def read_address(option: str, value: Any) -> str:
    """Return the IP address ``value`` of an engine host in its short form. Raises FleetError ``invalid_option``."""
    text = require_text(option, value).strip()
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise invalid(
            option, f"{text[:40]!r} is not an IP address", "Set the IPv4 or IPv6 address of the engine host."
        ) from None
    plain_address = getattr(address, "ipv4_mapped", None) or address
    is_ipv4_only = plain_address.version == 4 and (plain_address.is_reserved or str(plain_address).startswith("0."))
    if (
        is_ipv4_only
        or plain_address.is_unspecified
        or plain_address.is_loopback
        or plain_address.is_multicast
        or "%" in text
    ):
        raise invalid(
            option,
            f"the management node cannot reach a host at {text[:40]}",
            "Set the address at which the management node reaches the host.",
        )
    return str(address)


def compile_patterns(options: Mapping[str, Any]) -> dict[str, list[re.Pattern[str]]]:
    """Return the expressions of ``exists`` and ``port_in_use``, by default the common ones. Raises FleetError."""
    given = {name: options.get(f"{name}_patterns") for name in (EXISTS, PORT_IN_USE)}
    return {name: _compile(f"{name}_patterns", own) if own else [COMPILED[name]] for name, own in given.items()}


def _compile(option: str, patterns: Sequence[str]) -> list[re.Pattern[str]]:
    compiled = []
    for pattern in patterns:
        try:
            compiled.append(re.compile(require_text(option, pattern), re.IGNORECASE))
        except re.error as error:
            raise invalid(option, f"{pattern[:40]!r} is not a regular expression ({error})", "Correct it.") from None
        if compiled[-1].search(""):
            raise invalid(option, f"{pattern[:40]!r} matches every answer", "Use a word of that answer only.")
    return compiled
