# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The proxy of the environment. The settings of macOS are not read: doing so after a fork ends the process."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

_NAMES = ("https_proxy", "all_proxy", "no_proxy")


class ProxyError(OSError):
    """The proxy of the environment cannot be used. It never contains the user or the password."""


def find_proxy(base_url: str, environment: Mapping[str, str]) -> str:
    """Return the URL of the proxy for ``base_url``: lower-case names first, as curl does. Raises ProxyError."""
    settings = {name: environment.get(name) or environment.get(name.upper()) or "" for name in _NAMES}
    name = "https_proxy" if settings["https_proxy"].strip() else "all_proxy"
    url = settings[name].strip()
    parts = urlsplit(base_url)
    if not url or is_direct(parts.hostname or "", parts.port or 443, settings["no_proxy"]):
        return ""
    if "://" not in url:
        url = f"http://{url}"
    scheme = url.partition("://")[0].lower()
    if scheme.startswith("socks"):
        raise ProxyError(f"{name} names a SOCKS proxy, which is not supported")
    try:
        is_usable = scheme in ("http", "https") and bool(urlsplit(url).hostname) and (urlsplit(url).port or 1) > 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise ProxyError(f"{name} is not the URL of an HTTP proxy")
    return url


def is_direct(host: str, port: int, no_proxy: str) -> bool:
    """Return whether ``no_proxy`` excludes a host from the proxy.

    Its entries, separated by commas or blanks: ``*``, a domain with all names below it (also with a leading dot or
    ``*.``), an address, a network in CIDR form, and each of these with a port.
    """
    host = host.rstrip(".").lower()
    for entry in re.split(r"[\s,]+", no_proxy.lower()):
        with_port = re.fullmatch(r"([^:]+|\[.*\]):(\d{1,6})", entry)
        if with_port and int(with_port[2]) != port:
            continue
        name = (with_port[1] if with_port else entry).strip("[]").removeprefix("*.").strip(".")
        if entry == "*" or (name and (host == name or host.endswith(f".{name}"))):
            return True
        try:
            if ipaddress.ip_address(host.strip("[]")) in ipaddress.ip_network(name, strict=False):
                return True
        except ValueError:
            continue
    return False
