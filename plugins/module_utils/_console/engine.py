# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the module ``engine`` does."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ansible.module_utils.common.validation import check_type_bool, check_type_int

from ansible_collections.slb.fleet.plugins.module_utils._console import answers, calls, languages
from ansible_collections.slb.fleet.plugins.module_utils._console.options import CONNECTION_ARGUMENTS, Connection
from ansible_collections.slb.fleet.plugins.module_utils._console.session import Console
from ansible_collections.slb.fleet.plugins.module_utils._console.transport import (
    OverdueError,
    Request,
    UnansweredError,
)
from ansible_collections.slb.fleet.plugins.module_utils._errors import ConsoleError, OptionError
from ansible_collections.slb.fleet.plugins.module_utils._result import Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from ansible_collections.slb.fleet.plugins.module_utils._console.content import Content
    from ansible_collections.slb.fleet.plugins.module_utils._console.reply import Reply
    from ansible_collections.slb.fleet.plugins.module_utils._console.session import SessionStore
    from ansible_collections.slb.fleet.plugins.module_utils._console.transport import Answer

EXISTS_PATTERNS, PORT_OCCUPIED_PATTERNS = languages.patterns("exists"), languages.patterns("port_in_use")
ARGUMENTS: dict[str, dict[str, Any]] = {
    **CONNECTION_ARGUMENTS,
    "name": {"type": "str", "required": True},
    "manage_ip": {"type": "str", "required": True},
    "user_credential_id": {"type": "int", "default": 1},
    "is_change_hostname": {"type": "bool", "default": False},
    "decided": {"type": "dict"},
    "exists_patterns": {"type": "list", "elements": "str", "default": EXISTS_PATTERNS},
    "port_in_use_patterns": {"type": "list", "elements": "str", "default": PORT_OCCUPIED_PATTERNS},
}

# Compiled once, in the process from which the workers of a run are forked.
_BUILT_IN = {pattern: re.compile(pattern, re.IGNORECASE) for pattern in EXISTS_PATTERNS + PORT_OCCUPIED_PATTERNS}
_LONGEST_NAME = 255
_IPV4 = 4
_THIS_NETWORK = ipaddress.ip_network("0.0.0.0/8")
_HOST_NAME = re.compile(r"(?=.{1,64}$)(?!-)[A-Za-z0-9-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*")


@dataclass(frozen=True)
class Engine:
    """An engine to be installed; its fields are those of the request."""

    name: str
    is_change_hostname: bool
    manage_ip: str
    user_credential_id: int

    @classmethod
    def from_params(cls, params: dict[str, Any]) -> Engine:
        """Raises OptionError for a value that the management node should never see.

        ``params`` may come from a task or from variables: numbers and truth values may be written as text, and what
        has a default may be missing or empty.
        """
        is_change_hostname = _truth_value("is_change_hostname", params.get("is_change_hostname"))
        return cls(
            name=_name(params.get("name"), is_change_hostname),
            is_change_hostname=is_change_hostname,
            manage_ip=_manage_ip(params.get("manage_ip")),
            user_credential_id=_credential(params.get("user_credential_id")),
        )


def engine(
    params: dict[str, Any],
    check_mode: bool,
    store: SessionStore | None = None,
    is_wanted: Callable[[], bool] = lambda: True,
) -> Result:
    """Asks for the install of one engine. Every error after the check of the options has an ``outcome``.

    ``is_wanted``: asked right before the request leaves; where it is not any more, the result is ``skipped``.
    """
    wanted = Engine.from_params(params)
    exists = _compiled(params, "exists_patterns")
    port_in_use = _compiled(params, "port_in_use_patterns")
    connection = Connection.from_params(params)

    def outcome(answer: Answer, content: Content) -> str:
        return answers.install_outcome(answer, content, exists, port_in_use, (wanted.name, wanted.manage_ip))

    def is_gone(answer: Answer, content: Content) -> bool:
        """The request would be sent again: a status about the engine is none about the session."""
        return outcome(answer, content) not in answers.STATUSES and answers.asks_for_login(answer, content)

    try:
        console = Console(connection, store)
        if check_mode:
            console.session()
            return Result(True, {"msg": f"Would ask for the install of {wanted.name} on {wanted.manage_ip}."})
        reply = console.call(Request(*calls.INSTALL, body=asdict(wanted), is_wanted=is_wanted), is_gone)
    except OverdueError as error:
        return Result(False, {"skipped": True, "msg": f"{error.what} The host is looked at anew."})
    except ConsoleError as error:
        was_sent = isinstance(error, UnansweredError) and error.request.path == calls.INSTALL.path
        error.values["outcome"] = answers.UNKNOWN if was_sent else answers.REFUSED
        raise
    return _result(outcome(reply.answer, reply.content), wanted, reply, console.base_url)


def _result(outcome: str, wanted: Engine, reply: Reply, base_url: str) -> Result:
    evidence = {"outcome": outcome, "status_code": reply.answer.status, "answer": reply.excerpt}
    what = f"the install of {wanted.name} on {wanted.manage_ip}"
    if outcome == answers.REQUESTED:
        return Result(True, {**evidence, "msg": f"Asked for {what}."})
    if outcome == answers.EXISTS:
        return Result(False, {**evidence, "msg": f"{base_url} says that {wanted.name} already exists."})
    happened, remedy = {
        answers.PORT_OCCUPIED: (
            f"{base_url} did not begin {what}, because a port is occupied",
            "Look for what holds the port on the host: a leftover of an earlier deployment, or something else.",
        ),
        answers.REFUSED: (f"{base_url} refused {what}", "Correct what it complains about."),
        answers.UNKNOWN: (
            f"{base_url} did not say whether it began {what}",
            "Look at the host, or at the web console, before asking again.",
        ),
    }[outcome]
    raise ConsoleError(f"{happened}: it answered {reply.described()}.", remedy, **evidence)


def _compiled(params: dict[str, Any], option: str) -> list[re.Pattern[str]]:
    return [_pattern(option, pattern) for pattern in params[option]]


def _pattern(option: str, pattern: str) -> re.Pattern[str]:
    try:
        compiled = _BUILT_IN.get(pattern) or re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise OptionError(option, pattern, f"it is not a regular expression ({error})", "Correct it.") from None
    if compiled.search(""):
        raise OptionError(option, pattern, "every answer fits it", "Give words that only such an answer has.")
    return compiled


def _credential(value: Any) -> int:
    if value is None or value == "":
        return 1  # the default credential
    try:
        number = 0 if isinstance(value, bool) else int(check_type_int(value))
    except (TypeError, ValueError):
        number = 0
    if number < 1:
        raise OptionError(
            "user_credential_id",
            value,
            "it is not a positive number",
            "Use the number of a stored credential; 1 is the default one.",
        )
    return number


def _truth_value(option: str, value: Any) -> bool:
    if value is None or value == "":
        return False
    try:
        return bool(check_type_bool(value))
    except TypeError:
        raise OptionError(option, value, "it is neither true nor false", "Give true or false.") from None


def _name(given: Any, becomes_hostname: bool) -> str:
    is_text = isinstance(given, (str, int)) and not isinstance(given, bool)
    value = str(given) if is_text else ""
    if not value.strip() or value != value.strip() or len(value) > _LONGEST_NAME or not value.isprintable():
        raise OptionError(
            "name",
            given,
            "an engine's name is 1 to 255 printable characters without a space at either end",
            "Choose another name.",
        )
    if becomes_hostname and not _HOST_NAME.fullmatch(value):
        raise OptionError(
            "name",
            value,
            "with O(is_change_hostname) it becomes the host's name, and it is not a valid one",
            "Use letters, digits, hyphens and dots, at most 64 characters.",
        )
    return value


def _manage_ip(given: Any) -> str:
    # As text, because a bare number is an address to Python.
    value = str(given)
    try:
        address = ipaddress.ip_address(value.strip())
    except ValueError:
        raise OptionError(
            "manage_ip",
            given,
            "it is not an IP address",
            "Give the IPv4 or IPv6 address of the engine host, not its name.",
        ) from None
    # An IPv4 address may be written as an IPv6 one.
    plain = getattr(address, "ipv4_mapped", None) or address
    if (
        plain.is_unspecified
        or plain.is_loopback
        or plain.is_multicast
        or "%" in value
        or (plain.version == _IPV4 and (plain.is_reserved or plain in _THIS_NETWORK))
    ):
        raise OptionError(
            "manage_ip",
            given,
            "no engine host can be reached under it from the management node",
            "Give the address under which the management node reaches the host over SSH.",
        )
    return str(address)
