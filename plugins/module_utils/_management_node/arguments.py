# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The connection options: argument spec, environment variables and validation."""

from __future__ import annotations

import ipaddress
import math
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ansible_collections.slb.fleet.plugins.module_utils._values import (
    ENVIRONMENT,
    OptionError,
    Options,
    expand_home,
    from_environment,
    invalid,
    missing,
    require_text,
)

CONNECTION_ARGUMENTS: dict[str, dict[str, Any]] = {
    "base_url": {"type": "str"},
    "username": {"type": "str"},
    "password": {"type": "str", "no_log": True},
    "sessionid": {"type": "str", "no_log": True},
    "validate_certs": {"type": "bool", "default": True},
    "ca_path": {"type": "path"},
    "tls_fingerprint": {"type": "str"},
    "client_cert": {"type": "path"},
    "client_key": {"type": "path"},
    "headers": {"type": "dict", "no_log": True},
    "timeout": {"type": "int", "default": 30},
    "retries": {"type": "int", "default": 3},
}
for _option, _names in ENVIRONMENT.items():
    CONNECTION_ARGUMENTS[_option]["fallback"] = (from_environment, _names)

RANGES = {"timeout": (1, 3600), "retries": (0, 20)}
_FIX_OF_PATHS = {
    "ca_path": "Set a PEM file, or a folder of such.",
    "client_cert": "Set a PEM file.",
    "client_key": "Set a PEM file.",
}
_MAX_CALL = 300  # seconds
_SESSION = re.compile(r"[!#-+\--:<-\[\]-~]+")  # the characters of a cookie's value, RFC 6265
_NOT_IN_URL = re.compile(r"[\x00-\x20\x7f\\]")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_HEADER_VALUE = re.compile(r"[!-~]([ -~]{0,8190}[!-~])?")
_OWN_HEADERS = frozenset({
    *("host", "cookie", "content-length", "content-type", "transfer-encoding", "connection", "accept-encoding"),
    *("accept", "cache-control", "referer", "x-csrftoken", "upgrade", "te", "trailer", "expect"),
})  # fmt: skip
_HOST_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*\.?")


@dataclass(frozen=True)
class Connection:
    """Address, user and TLS settings of one management node.

    ``base_url`` is normalized and has no trailing slash. ``tls_fingerprint`` is as openssl prints it,
    or is empty if the certificate is not pinned. ``timeout``: seconds for one attempt, from name resolution to the last
    byte. ``headers``: further ones of each request. ``retries``: how often a call is repeated. ``names``: those of
    ``Options``. ``end``: of time.monotonic(), when all calls have to be over.
    """

    base_url: str
    username: str = ""
    password: str = field(default="", repr=False)
    sessionid: str = field(default="", repr=False)
    validate_certs: bool = True
    ca_path: str = ""
    tls_fingerprint: str = ""
    client_cert: str = ""
    client_key: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: int = 30
    retries: int = 3
    names: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    end: float = field(default=math.inf, compare=False)

    def called(self, option: str) -> str:
        """Return what the user calls an option: ``password``, ``slb_password``, or ``SLB_PASSWORD``."""
        return self.names.get(option, option)

    @property
    def call_seconds(self) -> int:
        """Maximum number of seconds of one call, its retries and pauses included."""
        return min(_MAX_CALL, self.timeout * (self.retries + 1))

    def deadline(self, calls: int = 1) -> float:
        """Return the time, of time.monotonic(), at which this number of calls is over."""
        return min(self.end, time.monotonic() + calls * self.call_seconds)

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Connection:
        """Return the connection that ``options`` describe, which have the types of their spec.

        A missing key is an unset option, as is None. Raises OptionError, with the names of ``options``.
        """
        names = options.names if isinstance(options, Options) else {}
        try:
            return cls(**_read_options(options), names=names)
        except OptionError as error:
            raise error.named(names) from None


def _read_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the options that are set. Raises OptionError."""
    values = {option: options[option] for option in CONNECTION_ARGUMENTS if options.get(option) is not None}
    values["base_url"] = normalize_base_url(values.get("base_url", ""))
    values["headers"] = _read_headers(values.get("headers", {}))
    if "tls_fingerprint" in values:
        values["tls_fingerprint"] = normalize_fingerprint(values["tls_fingerprint"])
    needed = [] if values.get("sessionid") else ["username", "password"]
    needed += ["client_cert"] if values.get("client_key") else []
    for option in needed:
        if not values.get(option):
            raise missing(option)
    if values.get("sessionid") and not _SESSION.fullmatch(values["sessionid"]):
        raise invalid("sessionid", "it contains a character that a cookie cannot have", "Use the result of login.")
    for option, fix in _FIX_OF_PATHS.items():
        if values.get(option):
            values[option] = str(expand_home(option, values[option]))
            if not os.access(values[option], os.R_OK):
                raise invalid(option, f"{values[option]} cannot be read", fix)
    return values


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
    for call in ("/account/login", "/system/license/apply", "/system/add_slb_engine"):
        if parts.path.rstrip("/").endswith(call):
            raise invalid("base_url", f"it ends with the path of a call, {call}", "Remove that path.")
    host = _normalize_host(host, is_address="[" in parts.netloc)
    if not host:
        raise invalid("base_url", "it contains no valid host name", fix)
    authority = host if port in (None, 443) else f"{host}:{port}"
    return urlunsplit(("https", authority, parts.path.rstrip("/"), "", ""))


def normalize_fingerprint(value: str) -> str:
    """Return it as openssl prints it. Raises FleetError for any other text, also for an empty one."""
    digits = re.sub(r"(?i)^\s*sha256 fingerprint\s*=|[\s:]", "", value)
    if not re.fullmatch(r"[0-9A-Fa-f]{64}", digits):
        fix = "Set 64 hexadecimal digits, with or without colons, or the line that openssl prints."
        raise invalid("tls_fingerprint", f"{value[:70]!r} is not a SHA-256 fingerprint", fix)
    return show_fingerprint(bytes.fromhex(digits))


def show_fingerprint(digest: bytes) -> str:
    """Return it in upper case with colons, as openssl prints it."""
    return digest.hex(":").upper()


def _read_headers(value: Any) -> dict[str, str]:
    """Return further request headers. Their values are secret. Raises OptionError."""
    if not isinstance(value, Mapping):
        raise invalid("headers", "it is not a mapping", "Set names and values.")
    for name, text in value.items():
        require_text("headers", text, is_secret=True)
        if not isinstance(name, str) or not _HEADER_NAME.fullmatch(name) or name.lower() in _OWN_HEADERS:
            raise invalid("headers", f"{str(name)[:40]!r} cannot be set", "Remove it, or correct its name.")
        if not _HEADER_VALUE.fullmatch(text):
            raise invalid("headers", f"the value of {name[:40]} is not one line of ASCII", "Correct the value.")
    return {str(name): str(text) for name, text in value.items()}


def _normalize_host(host: str, *, is_address: bool) -> str:
    try:
        if is_address:
            return f"[{ipaddress.IPv6Address(host)}]"
        host = host.encode("idna").decode().lower()
    except ValueError:
        return ""
    return host if _HOST_NAME.fullmatch(host) else ""
