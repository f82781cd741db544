# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which file gives an interface to another program. The files are searched for a mention of it, not parsed."""

import fnmatch
import glob
import os
import re
from typing import Dict, List, Optional, Sequence, Set

from ansible_collections.slb.fleet.plugins.module_utils._system import commands, processes
from ansible_collections.slb.fleet.plugins.module_utils._system.files import NOT_READ

PRINTED = "NetworkManager --print-config"
_SECONDS = 10
_NETWORKD = "/run/systemd/netif/links/"
_FILES = (
    *(
        "/etc/network/interfaces",
        "/etc/network/interfaces.d/**",
        "/etc/netplan/*.yaml",
        "/etc/systemd/network/*.network",
    ),
    *("/etc/keepalived/**/*.conf", "/etc/frr/*.conf", "/etc/bird/**/*.conf", "/etc/bird.conf", "/etc/dhcpcd.conf"),
    *("/etc/hostapd/*", "/etc/dnsmasq.conf", "/etc/dnsmasq.d/*", "/etc/rc.local"),
    *(f"/etc/systemd/system/*.{kind}" for kind in ("service", "socket", "timer", "path", "mount")),
    f"{_NETWORKD}*",
)
_COMMENT = re.compile(r"(^|\s)(#|!|//).*|/\*.*?\*/")
_PATTERN = re.compile(r"[\w.:!\[\]-]*[*?\[][\w.:!*?\[\]-]*")
_UNMANAGED = re.compile(r"^\s*Unmanaged\s*=\s*(yes|true|on|1)\b", re.MULTILINE | re.IGNORECASE)


def read_files() -> Dict[str, str]:
    """Return the text of each file that may mention an interface, by path, and NetworkManager's configuration."""
    texts: Dict[str, str] = {}
    for path in [path for pattern in _FILES for path in sorted(glob.glob(pattern, recursive=True))]:
        if not NOT_READ.search(path) and os.path.isfile(path):
            texts[path] = processes.read_file(path, 1 << 20)
    program, option = PRINTED.split()
    command = commands.find(program)
    printed = commands.attempt([command, option], _SECONDS) if command else None
    if printed is not None and printed.rc == 0:
        texts[PRINTED] = printed.stdout
    return texts


def find_claim(files: Dict[str, str], names: Sequence[str], ifindex: int) -> Optional[str]:
    """Return file and line that mention the interface. ``names``: its name, its other names and its MAC address."""
    if "ADMIN_STATE=config" in files.get(f"{_NETWORKD}{ifindex}", ""):
        return f"systemd-networkd, {_NETWORKD}{ifindex}"
    words = re.compile("|".join(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])" for name in names if name), re.IGNORECASE)
    for path, text in files.items():
        is_network = path.endswith(".network")
        if path == PRINTED or path.startswith(_NETWORKD) or (is_network and _UNMANAGED.search(text)):
            continue
        for number, whole in enumerate(text.splitlines(), 1):
            line = _COMMENT.sub("", whole)
            patterns = [each for each in _PATTERN.findall(line) if is_network or re.search(r"\w", each)]
            if words.search(line) or any(fnmatch.fnmatchcase(name, each) for name in names for each in patterns):
                return f"{path}:{number}"
    return None


def find_exclusion(printed: str, words: Set[str]) -> Optional[str]:
    """Return the line of NetworkManager's configuration that excludes a device.

    ``words``: its names, MAC address, driver and type. The first section that selects the device decides.
    """
    is_decided = False
    for section in re.split(r"\n(?=\[)", f"\n{printed}"):
        lines = section.splitlines()
        if section.startswith("[keyfile]"):
            matches = [line for line in lines if line.startswith("unmanaged-devices") and _selects(line, words)]
            if matches:
                return matches[0]
        managed = re.search(r"^managed=(\w+)", section, re.MULTILINE)
        if section.startswith("[device") and managed and not is_decided:
            line = next((line for line in lines if line.startswith("match-device")), "managed=*")
            is_decided = _selects(line, words)
            if is_decided and managed.group(1).lower() in ("0", "false", "no", "off"):
                return line if line != "managed=*" else managed.group()
    return None


def _selects(line: str, words: Set[str]) -> bool:
    """Return whether a list of devices selects one with these words; one of exceptions alone selects all others."""
    items = [each.strip() for each in re.split("[,;]", line.partition("=")[2]) if each.strip()]
    excepted = [each[len("except:") :] for each in items if each.startswith("except:")]
    named = [each for each in items if not each.startswith("except:")]
    return not _has(excepted, words) and (_has(named, words) if named else bool(excepted))


def _has(items: List[str], words: Set[str]) -> bool:
    values = [re.sub(r"^(interface-name:[=~]*|mac:|type:|driver:)", "", item).lower() for item in items]
    return any(fnmatch.fnmatchcase(word.lower(), value) for word in words for value in values)
