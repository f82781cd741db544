# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The connection options: one argument spec, and what it gives after one check at the door."""

from __future__ import annotations

import ipaddress
import os
import re
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ansible.module_utils.errors import AnsibleFallbackNotFound

from ansible_collections.slb.fleet.plugins.module_utils._errors import MissingOptionError, OptionError


def from_environment(name: str) -> str:
    """For an argument spec. Empty is not set: a form's field that was left empty comes as an empty variable."""
    value = os.environ.get(name, "")
    if not value.strip():
        raise AnsibleFallbackNotFound
    return value


def _option(environment: str, **rules: object) -> dict[str, Any]:
    return dict(rules, fallback=(from_environment, [environment]))


CONNECTION_ARGUMENTS: dict[str, dict[str, Any]] = {
    "base_url": _option("SLB_BASE_URL", type="str"),
    "username": _option("SLB_USERNAME", type="str"),
    "password": _option("SLB_PASSWORD", type="str", no_log=True),
    "sessionid": {"type": "str", "no_log": True},
    "validate_certs": _option("SLB_VALIDATE_CERTS", type="bool", default=True),
    "ca_path": _option("SLB_CA_PATH", type="path"),
    "tls_fingerprint": _option("SLB_TLS_FINGERPRINT", type="str"),
    "timeout": {"type": "int", "default": 30},
    "retries": {"type": "int", "default": 3},
}
SECRET_OPTIONS = ("password", "sessionid")

_TOKEN = re.compile(r"[\x21-\x7e]+")
_HOST_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*\.?")
_USERINFO = re.compile(r"//[^/?#]*@")
_UNUSABLE = re.compile(r"[\x00-\x20\x7f\\]")
_FINGERPRINT_LABEL = re.compile(r"^\s*sha-?256( fingerprint)?\s*[:=]", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\s:]")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_MAX_TIMEOUT = 3600
_MAX_RETRIES = 20


@dataclass(frozen=True)
class Connection:
    """How to reach one management node, and as whom. ``base_url`` is normalised and has no final slash.

    ``timeout``: seconds for a connection and for each wait for the next bytes of an answer.
    ``tls_fingerprint``: SHA-256 of the certificate, 64 lower-case hexadecimal digits, or empty.
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
    def total_timeout(self) -> int:
        """Seconds that one call may take, its retries and the pauses between them included."""
        return self.timeout * (self.retries + 1)

    @classmethod
    def from_params(cls, params: dict[str, Any]) -> Connection:
        """Raises OptionError for a value that cannot be used, and MissingOptionError for one that is not there."""
        stated = cls.stated(params)
        if not stated.base_url:
            raise _missing("base_url")
        if not stated.sessionid:
            for option in ("username", "password"):
                if not params[option]:
                    raise _missing(option, instead="sessionid")
        return stated

    @classmethod
    def stated(cls, params: dict[str, Any]) -> Connection:
        """As far as it is stated: what is not is empty. Raises OptionError for a value that cannot be used."""
        base_url = (params["base_url"] or "").strip()
        return cls(
            base_url=normalised_base_url(base_url) if base_url else "",
            username=params["username"] or "",
            password=params["password"] or "",
            sessionid=_sessionid(params["sessionid"] or ""),
            validate_certs=params["validate_certs"],
            ca_path=_ca_path(params["ca_path"] or ""),
            tls_fingerprint=normalised_fingerprint(params["tls_fingerprint"] or ""),
            timeout=_between("timeout", params["timeout"], 1, _MAX_TIMEOUT),
            retries=_between("retries", params["retries"], 0, _MAX_RETRIES),
        )


def _sessionid(value: str) -> str:
    if value and not (_TOKEN.fullmatch(value) and not set(value) & set('";,\\')):
        raise OptionError(
            "sessionid", "(hidden)", "it holds characters that no cookie can", "Use what slb.fleet.login returned."
        )
    return value


def _missing(option: str, instead: str = "") -> MissingOptionError:
    return MissingOptionError(option, f"slb_{option}", f"SLB_{option.upper()}", instead)


def _between(option: str, value: int, least: int, most: int) -> int:
    if not least <= value <= most:
        raise OptionError(option, value, f"it is not between {least} and {most}", "Choose a value in that range.")
    return value


def normalised_base_url(value: str) -> str:
    """The one way of writing this address. Raises OptionError for what is none."""
    remedy = (
        "Give the address of the web console, such as https://console.example or https://[2001:db8::5]:8443/prefix."
    )
    try:
        parts = urlsplit(value.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise OptionError("base_url", _without_userinfo(value), "it is not a URL", remedy) from None
    shown = _without_userinfo(value)
    if parts.username is not None or parts.password is not None:
        raise OptionError("base_url", shown, "it holds credentials", "Use O(username) and O(password).")
    if parts.scheme != "https":
        raise OptionError("base_url", shown, "it does not begin with https://", remedy)
    if parts.query or parts.fragment:
        raise OptionError("base_url", shown, "it has a query or a fragment", remedy)
    if _UNUSABLE.search(value.strip()) or "/../" in f"{parts.path}/":
        raise OptionError("base_url", shown, "it holds characters or path steps that no address needs", remedy)
    return urlunsplit(("https", _authority(host, port, shown, remedy), parts.path.rstrip("/"), "", ""))


def _authority(host: str, port: int | None, shown: str, remedy: str) -> str:
    if ":" in host or "[" in shown:
        try:
            host = f"[{ipaddress.IPv6Address(host)}]"
        except ValueError:
            raise OptionError("base_url", shown, "its host is not an IPv6 address", remedy) from None
    else:
        try:
            host = host.encode("idna").decode().lower()
        except UnicodeError:
            host = ""
        if not _HOST_NAME.fullmatch(host):
            raise OptionError("base_url", shown, "it names no host", remedy)
    return host if port in (None, 443) else f"{host}:{port}"


def _without_userinfo(value: str) -> str:
    return _USERINFO.sub("//(hidden)@", value)


def normalised_fingerprint(value: str) -> str:
    """64 lower-case hexadecimal digits; empty for an empty one. Raises OptionError for what is none."""
    digits = _SEPARATORS.sub("", _FINGERPRINT_LABEL.sub("", value)).lower()
    if value and not _SHA256.fullmatch(digits):
        raise OptionError(
            "tls_fingerprint",
            value,
            "it is not a SHA-256 fingerprint",
            "Give 64 hexadecimal digits, with or without colons, as openssl x509 -fingerprint -sha256 prints them.",
        )
    return digits


def _ca_path(value: str) -> str:
    try:
        if value and not Path(value).is_dir():
            ssl.create_default_context(cafile=value)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", "it is no path") or "not in PEM format"
        raise OptionError(
            "ca_path",
            value,
            f"no CA certificates can be read from it ({why})",
            "Give a PEM file, or a folder prepared by 'openssl rehash'.",
        ) from None
    return value
