# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why NetworkManager leaves an interface alone."""

import configparser
import fnmatch
import glob
import os
import re
from typing import Dict, List, NamedTuple, Optional, Set, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._network import kinds
from ansible_collections.slb.fleet.plugins.module_utils._network.kernel import Nic
from ansible_collections.slb.fleet.plugins.module_utils._system import commands

_ANSWER_SECONDS = 10
_IFCFG = "/etc/sysconfig/network-scripts/ifcfg-*"
_IFUPDOWN = "/etc/network/interfaces"
_UDEV = "/run/udev/data/n{}"
_NOBODY = "interface-name:=slb-none"
_WRITABLE = re.compile(r"[A-Za-z0-9_.:@+%-]+$")

UNWRITABLE = "its name cannot be written into NetworkManager's configuration without meaning others, too"


class Cause(NamedTuple):
    """Why an interface is unmanaged.

    ``name``: unmanaged-devices, NM_CONTROLLED=no, ifupdown, device section, udev or runtime.
    ``strict``: NetworkManager does not give in at run time.
    ``liftable``: a file in its configuration can change that, for this interface alone.
    ``sentence``: for people.
    ``others``: every other interface is unmanaged, too, unless it is excepted.
    """

    name: str
    strict: bool
    liftable: bool
    sentence: str
    others: bool = False


def can_be_written(name: str) -> bool:
    """The kernel lets a name hold what ends a name in NetworkManager's configuration, such as a comma."""
    return _WRITABLE.match(name) is not None


def lift_path(name: str) -> str:
    return f"/etc/NetworkManager/conf.d/99-slb-fleet-{name}.conf"


def lifting(name: str, cause: Optional[Cause]) -> str:
    """The configuration file that makes NetworkManager take the interface ``name``, and no other, from boot on."""
    sections = [
        "# Written by slb.fleet.interface, which also takes it away again (state: absent).",
        # What configured it before may do so again at boot: the profile is to be used all the same.
        f"[device-slb-{name}]\nmatch-device=interface-name:={name}\nmanaged=1\nkeep-configuration=no",
        # Without a profile of its own it must not be given one by chance.
        f"[main]\nno-auto-default+=interface-name:={name}",
    ]
    if cause is not None and cause.strict:
        # A list of nothing but exceptions means all other interfaces. Where it does, it has to after this, too;
        # where it does not, a name that no interface has keeps it from doing so.
        rest = "*" if cause.others else _NOBODY
        sections.append(f"[keyfile]\nunmanaged-devices+={rest};except:interface-name:={name}")
    return "\n\n".join(sections) + "\n"


class Causes:
    """Looks the configuration up once; ``of`` then answers for each interface."""

    def __init__(self) -> None:
        self._config = _configuration()
        self._ifupdown = _ifupdown_interfaces(_IFUPDOWN)

    def of(self, nic: Nic) -> Cause:
        unmanaged_devices = self._value("keyfile", "unmanaged-devices")
        merged = unmanaged_devices
        if self._plugins_name_any():
            merged += "," + _NOBODY  # NetworkManager puts what its plugins name into the same list
        others = _leaves_all_alone(merged)
        if matches(merged, nic):
            return Cause(
                "unmanaged-devices",
                True,
                True,
                f"unmanaged-devices={unmanaged_devices} in NetworkManager's configuration",
                others,
            )
        ifcfg = _ifcfg_refusal(nic)
        if ifcfg is not None:
            return Cause("NM_CONTROLLED=no", True, False, f"NM_CONTROLLED=no in {ifcfg}")
        if nic.name in self._ifupdown and self._ifupdown_rules():
            return Cause("ifupdown", True, True, f"ifupdown has it in {self._ifupdown[nic.name]}", others)
        for section in self._config.sections() if self._config else []:
            if section.split("-", 1)[0] == "device" and self._device_section_refuses(section, nic):
                return Cause(
                    "device section",
                    False,
                    True,
                    f"managed=0 in the section [{section}] of NetworkManager's configuration",
                )
        if "E:NM_UNMANAGED=1" in _lines(_UDEV.format(nic.ifindex)):
            return Cause("udev", False, True, "a udev rule sets NM_UNMANAGED=1")
        return Cause("runtime", False, False, f"it was set so at run time (nmcli device set {nic.name} managed no)")

    def _value(self, section: str, key: str) -> str:
        return self._config.get(section, key, fallback="") if self._config else ""

    def _ifupdown_rules(self) -> bool:
        plugins = re.split(r"[,;\s]+", self._value("main", "plugins"))
        return "ifupdown" in plugins and not _true(self._value("ifupdown", "managed"))

    def _plugins_name_any(self) -> bool:
        named = set(self._ifupdown) - {"lo"} if self._ifupdown_rules() else set()
        return bool(named or _ifcfg_refusals())

    def _device_section_refuses(self, section: str, nic: Nic) -> bool:
        managed = self._value(section, "managed")
        match = self._value(section, "match-device") or "*"
        return bool(managed) and not _true(managed) and matches(match, nic)


def matches(specs: str, nic: Nic) -> bool:
    """Whether a device list of NetworkManager's configuration holds the interface (see its manual page)."""
    positive, negative = _parts(specs)
    if any(_matches_one(spec, nic) for spec in negative):
        return False
    return any(_matches_one(spec, nic) for spec in positive) or (bool(negative) and not positive)


def _leaves_all_alone(specs: str) -> bool:
    """Whether a device list holds whatever it does not except."""
    positive, negative = _parts(specs)
    return "*" in positive or (bool(negative) and not positive)


def _parts(specs: str) -> Tuple[List[str], List[str]]:
    """What a device list names, and what it excepts."""
    positive, negative = [], []
    for spec in re.split(r"[,;]\s*", specs):
        if spec.startswith("except:"):
            negative.append(spec[len("except:") :].strip())
        elif spec.strip():
            positive.append(spec.strip())
    return positive, negative


def _matches_one(spec: str, nic: Nic) -> bool:
    key, _colon, value = spec.partition(":")
    if spec == "*":
        return True
    if key == "interface-name":
        if value.startswith("="):
            return value[1:] == nic.name
        return fnmatch.fnmatchcase(nic.name, value.lstrip("~").replace("[", "[[]"))
    if key == "mac":
        return value.lower() == nic.mac.lower()
    if key == "type":
        return value in (nic.kind, kinds.of(nic).word)
    if key == "driver":
        return fnmatch.fnmatchcase(nic.driver or "", value.partition("/")[0])
    return spec == nic.name or spec.lower() == nic.mac.lower()


def _configuration() -> Optional[configparser.RawConfigParser]:
    """NetworkManager's merged configuration; None where it cannot be had: then causes in it stay unseen."""
    program = commands.find("NetworkManager")
    if program is None:
        return None
    parser = configparser.RawConfigParser(strict=False, delimiters=("=",), comment_prefixes=("#",))
    try:
        parser.read_string(commands.check([program, "--print-config"], _ANSWER_SECONDS).stdout)
    except (HostError, configparser.Error):
        return None
    return parser


def _ifupdown_interfaces(path: str, seen: Optional[Set[str]] = None) -> Dict[str, str]:
    """The interfaces that ifupdown knows, and the file that names each."""
    seen = set() if seen is None else seen
    if path in seen:
        return {}
    seen.add(path)
    found: Dict[str, str] = {}
    for line in _lines(path):
        words = line.split()
        if len(words) < 2:
            continue
        if words[0] in ("iface", "auto") or words[0].startswith("allow-"):
            for name in words[1:2] if words[0] == "iface" else words[1:]:
                found.setdefault(name, path)
        elif words[0] in ("source", "source-directory"):
            pattern = os.path.join(os.path.dirname(path), words[1])
            if words[0] == "source-directory":
                pattern = os.path.join(pattern, "*")
            for included in sorted(glob.glob(pattern)):
                found.update(_ifupdown_interfaces(included, seen))
    return found


def _ifcfg_refusal(nic: Nic) -> Optional[str]:
    for path, values in _ifcfg_refusals().items():
        if values.get("DEVICE") == nic.name or values.get("HWADDR", "").lower() == nic.mac.lower():
            return path
    return None


def _ifcfg_refusals() -> Dict[str, Dict[str, str]]:
    """What each ifcfg file says that keeps NetworkManager away."""
    found = {}
    for path in sorted(glob.glob(_IFCFG)):
        values = {}
        for line in _lines(path):
            key, _equals, value = line.strip().partition("=")
            values[key] = value.strip("\"' ")
        if values.get("NM_CONTROLLED", "yes").lower() in ("no", "false", "n", "f", "0"):
            found[path] = values
    return found


def _lines(path: str) -> List[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read().splitlines()
    except OSError:
        return []


def _true(value: str) -> bool:
    return value.strip().lower() in ("1", "true", "yes", "on")
