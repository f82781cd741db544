# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The host's own IP addresses, from the kernel's tables, without a command."""

import ipaddress
import re
from typing import List, Optional

_LOCAL = re.compile(r"\|-- (\S+)\s+/32 host LOCAL")


def look() -> Optional[List[str]]:
    """Every address of this host but those of its loopback and link-local ones; None where they cannot be seen."""
    try:
        with open("/proc/net/fib_trie") as stream:
            found = set(_LOCAL.findall(stream.read()))
    except OSError:
        return None
    try:
        with open("/proc/net/if_inet6") as stream:
            found |= {str(ipaddress.IPv6Address(int(line.split()[0], 16))) for line in stream}
    except OSError:
        pass  # no IPv6
    addresses = (ipaddress.ip_address(address) for address in found)
    return sorted(str(address) for address in addresses if not (address.is_loopback or address.is_link_local))
