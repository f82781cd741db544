# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The connection options: argument spec, environment variables and validation."""

from __future__ import annotations

import datetime
import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ansible.module_utils.common.validation import check_type_bool
from ansible.module_utils.errors import AnsibleFallbackNotFound

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError


def from_environment(name: str) -> str:
    """Return the environment variable ``name``. Raises AnsibleFallbackNotFound if it is unset or blank."""
    value = os.environ.get(name, "")
    if not value.strip():
        raise AnsibleFallbackNotFound
    return value


CONNECTION_ARGUMENTS: dict[str, dict[str, Any]] = {
    "base_url": {"type": "str", "fallback": (from_environment, ["SLB_BASE_URL"])},
    "username": {"type": "str", "fallback": (from_environment, ["SLB_USERNAME"])},
    "password": {"type": "str", "no_log": True, "fallback": (from_environment, ["SLB_PASSWORD"])},
    "sessionid": {"type": "str", "no_log": True},
    "validate_certs": {"type": "bool", "default": True, "fallback": (from_environment, ["SLB_VALIDATE_CERTS"])},
    "ca_path": {"type": "path", "fallback": (from_environment, ["SLB_CA_PATH"])},
    "tls_fingerprint": {"type": "str", "fallback": (from_environment, ["SLB_TLS_FINGERPRINT"])},
    "timeout": {"type": "int", "default": 30},
    "retries": {"type": "int", "default": 3},
}
SECRET_OPTIONS = ("password", "sessionid")

_LONGEST_CALL = 300  # seconds
_SESSION = re.compile(r"[!#-+\--:<-\[\]-~]+")  # the characters of a cookie's value, RFC 6265
_HOST_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*\.?")
_YAML_KINDS = (
    (bool, "a boolean"),
    ((int, float), "a number"),
    ((datetime.date, datetime.time), "a date"),
    (type(None), "null"),
    (Mapping, "a mapping"),
    ((list, tuple, set), "a list"),
)


@dataclass(frozen=True)
class Connection:
    """Address, user and TLS settings of one management node.

    ``base_url`` is normalized and has no trailing slash. ``tls_fingerprint`` has 64 lower-case hexadecimal digits,
    or is empty if the certificate is not pinned. ``timeout``: seconds for one attempt, from name resolution to the last
    byte. ``retries``: how often a call is repeated.
    """

    base_url: str
    username: str = ""
    password: str = field(default="", repr=False)
    sessionid: str = field(default="", repr=False)
    validate_certs: bool = True
    ca_path: str = ""
    tls_fingerprint: str = ""
    timeout: int = 30
    retries: int = 3

    @property
    def call_seconds(self) -> int:
        """Maximum number of seconds of one call, its retries and pauses included."""
        return min(_LONGEST_CALL, self.timeout * (self.retries + 1))

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Connection:
        """Return the connection that ``options`` describe. A missing key is an unset option, as is None.

        Raises FleetError ``missing_option`` or ``invalid_option``.
        """
        given = {option: value for option, value in options.items() if value is not None}
        text = partial(_optional_text, given)
        connection = cls(
            base_url=normalize_base_url(text("base_url")),
            username=text("username"),
            password=text("password"),
            sessionid=text("sessionid"),
            validate_certs=read_boolean("validate_certs", given.get("validate_certs", True)),
            ca_path=text("ca_path"),
            tls_fingerprint=normalize_fingerprint(text("tls_fingerprint")) if "tls_fingerprint" in given else "",
            timeout=read_number("timeout", given.get("timeout", 30), 1, 3600),
            retries=read_number("retries", given.get("retries", 3), 0, 20),
        )
        if connection.sessionid and not _SESSION.fullmatch(connection.sessionid):
            raise invalid("sessionid", "it contains a character that a cookie cannot have", "Use the result of login.")
        if not connection.sessionid:
            for option in ("username", "password"):
                if not getattr(connection, option):
                    raise missing(option)
        if connection.ca_path and not os.access(connection.ca_path, os.R_OK):
            raise invalid("ca_path", f"{connection.ca_path} cannot be read", "Set a PEM file, or a folder of such.")
        return connection


def invalid(option: str, cause: str, fix: str) -> FleetError:
    return FleetError("invalid_option", f"Option {option} invalid: {cause}.", fix)


def missing(option: str) -> FleetError:
    places = f"Set {option}, the variable slb_{option}"
    names = CONNECTION_ARGUMENTS.get(option, {}).get("fallback", (None, [""]))[1]
    return FleetError(
        "missing_option", f"Option {option} missing.", f"{places} or {names[0]}." if names[0] else f"{places}."
    )


def require_text(option: str, value: Any, *, is_secret: bool = False) -> str:
    """Return ``value`` if it is a text.

    YAML reads ``0123`` as 83 and ``yes`` as true; a conversion back would give another text than the user wrote.
    Raises FleetError ``invalid_option``.
    """
    if isinstance(value, str):
        return str(value)
    kind = next((name for types, name in _YAML_KINDS if isinstance(value, types)), type(value).__name__)
    shown = "the value" if is_secret or isinstance(value, (Mapping, list, tuple, set)) else repr(value)[:40]
    raise invalid(option, f"{shown} was read as {kind}", "Quote the value in YAML.")


def read_number(option: str, value: Any, least: int, most: int) -> int:
    """Return ``value``, an integer or a text of digits. Raises FleetError ``invalid_option``."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}", value.strip()):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise invalid(option, f"{str(value)[:40]!r} is not an integer from {least} to {most}", "Correct the value.")
    return int(value)


def read_boolean(option: str, value: Any) -> bool:
    """Return ``value``, a boolean or one of the texts that Ansible accepts. Raises FleetError ``invalid_option``."""
    try:
        return bool(check_type_bool(value))
    except TypeError:
        raise invalid(option, f"{str(value)[:40]!r} is neither true nor false", "Correct the value.") from None


_NOT_IN_URL = re.compile(r"[\x00-\x20\x7f\\]")


def normalize_base_url(value: str) -> str:
    """Return ``value`` with an IDNA host and without trailing slash. Raises FleetError."""
    value = value.strip()
    if not value:
        raise missing("base_url")
    fix = "Set an address such as https://console.example or https://[2001:db8::5]:8443/prefix."
    try:
        parts = urlsplit(value)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise invalid("base_url", "it is not a URL", fix) from None
    if parts.username is not None or parts.password is not None:
        raise invalid("base_url", "it contains a user or password", "Remove the user and the password.")
    if parts.scheme != "https":
        raise invalid("base_url", "it does not start with https://", fix)
    if "?" in value or "#" in value or _NOT_IN_URL.search(value) or "/../" in f"{parts.path}/":
        raise invalid("base_url", "it contains a query, a blank or '..'", fix)
    host = _normalize_host(host, is_address="[" in parts.netloc)
    if not host:
        raise invalid("base_url", "it contains no valid host name", fix)
    authority = host if port in (None, 443) else f"{host}:{port}"
    return urlunsplit(("https", authority, parts.path.rstrip("/"), "", ""))


def normalize_fingerprint(value: str) -> str:
    """Return 64 lower-case hexadecimal digits. Raises FleetError for any other text, also for an empty one."""
    digits = re.sub(r"[\s:]", "", value).lower()
    if not re.fullmatch(r"[0-9a-f]{64}", digits):
        raise invalid(
            "tls_fingerprint",
            f"{value[:70]!r} is not a SHA-256 fingerprint",
            "Set 64 hexadecimal digits, with or without colons.",
        )
    return digits


def _optional_text(given: Mapping[str, Any], option: str) -> str:
    if option not in given:
        return ""
    text = require_text(option, given[option], is_secret=option in SECRET_OPTIONS)
    return str(Path(text).expanduser()) if text and option == "ca_path" else text


def _normalize_host(host: str, *, is_address: bool) -> str:
    try:
        if is_address:
            return f"[{ipaddress.IPv6Address(host)}]"
        host = host.encode("idna").decode().lower()
    except ValueError:
        return ""
    return host if _HOST_NAME.fullmatch(host) else ""
