# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""NetworkManager through its command line: machine-readable, in the C locale, with bounded waits."""

import contextlib
import os
import re
from typing import Callable, Dict, List, NamedTuple, Optional, TypeVar

from ansible_collections.slb.fleet.plugins.module_utils._errors import CommandError, HostError
from ansible_collections.slb.fleet.plugins.module_utils._network import kinds
from ansible_collections.slb.fleet.plugins.module_utils._system import commands

Result = TypeVar("Result")

_ANSWER_SECONDS = 20
SIGN_OF_LIFE_SECONDS = 8
_DELETION_SECONDS = 10
_NOT_RUNNING, _NOT_FOUND = 8, 10
_TRIES = 5
WATCHED = "connected (externally)"
_OLDEST = [1, 22]  # from then on the configuration can be reloaded, and a profile be kept in memory


class NoAnswerError(HostError):
    """NetworkManager is not there, does not run or does not answer: it is of no use to ask it anything else."""


class NotFoundError(HostError):
    """One of what it was asked for is not there, or no more."""


class Device(NamedTuple):
    """A line of ``nmcli device``. ``state`` is NetworkManager's word, such as "connected (externally)"."""

    name: str
    state: str
    connection: Optional[str]
    uuid: Optional[str]

    @property
    def unmanaged(self) -> bool:
        return self.state == "unmanaged"

    @property
    def external(self) -> bool:
        return self.state == WATCHED

    @property
    def active(self) -> bool:
        """Whether a profile is in use on it, or about to be."""
        return self.state.startswith("connect") and not self.external

    @property
    def connected(self) -> bool:
        return self.state in ("connected", WATCHED)


def devices() -> Dict[str, Device]:
    """The devices by name. Raises HostError where NetworkManager is absent or stopped."""
    found = _devices()
    for _try in range(_TRIES - 1):
        # Between its state and its profile: one that begins to be watched would pass for one under control.
        if not any(device.state == "connected" and device.uuid is None for device in found.values()):
            break
        found = _devices()
    return found


def _devices() -> Dict[str, Device]:
    lines = query(["-f", "DEVICE,STATE,CONNECTION,CON-UUID", "device", "status"])
    found = {}
    for line in lines:
        name, state, connection, uuid = split(line)
        found[name] = Device(name, state, connection or None, uuid or None)
    return found


def gone(name: str) -> Device:
    return Device(name, "gone", None, None)


def require_sign_of_life() -> None:
    """Raises NoAnswerError where NetworkManager does not even say within a few seconds that it runs."""
    query(["-f", "RUNNING", "general"], SIGN_OF_LIFE_SECONDS - _ANSWER_SECONDS)


def require() -> List[int]:
    """NetworkManager's version. Raises HostError where it is absent, stopped or too old, or this is not root."""
    version = query(["-f", "VERSION", "general"])[0]
    numbers = [int(part) for part in version.split(".")[:2] if part.isdigit()]
    if numbers < _OLDEST:
        raise HostError(
            f"NetworkManager on the engine host is {version}, too old for this.",
            f"Version {_OLDEST[0]}.{_OLDEST[1]} or newer is needed.",
        )
    if os.geteuid() != 0:
        raise HostError("Changing network interfaces needs root.", "Run the task with become: true.")
    return numbers


class Profile(NamedTuple):
    """A connection profile. ``path``: the file that holds it; in /run while it is in memory only.

    ``interface`` and ``mac``: what it is bound to, if anything. ``ports_of``: the controller that it is for.
    ``permissions``: who has to be logged in, where it is not for everybody.
    ``method`` and ``method6``: its ipv4.method and ipv6.method. ``own``: it says more about addresses than to ask for
    them, so that it is not one to be rewritten.
    """

    uuid: str
    name: str
    type: str
    path: str
    interface: str
    mac: str
    ports_of: str
    permissions: str
    method: str
    method6: str
    own: bool
    priority: int
    used_at: int
    autoconnect: bool

    @property
    def in_memory(self) -> bool:
        return self.path.startswith("/run/")

    @property
    def fleeting(self) -> bool:
        """Neither does it outlast a reboot, nor does NetworkManager make it again."""
        return self.in_memory and not self.autoconnect


_OWN_FIELDS = tuple(
    f"{family}.{name}"
    for family in ("ipv4", "ipv6")
    for name in ("addresses", "routes", "routing-rules", "dns", "dns-search")
)
_OWN_METHODS = ("manual", "shared", "link-local")
_PROFILE_FIELDS = (
    "connection.uuid",
    "connection.id",
    "connection.type",
    "connection.interface-name",
    f"{kinds.WIRED}.mac-address",
    "connection.slave-type",
    "connection.permissions",
    "ipv4.method",
    "ipv6.method",
    *_OWN_FIELDS,
    "connection.autoconnect-priority",
    "connection.timestamp",
    "connection.autoconnect",
)


def profile_paths() -> Dict[str, str]:
    """The file of every profile, by UUID."""
    return dict(split(line)[:2] for line in query(["-f", "UUID,FILENAME", "connection", "show"]))


def profiles() -> List[Profile]:
    """Every profile of an interface of a kind that is known."""
    return _anew_where_one_is_gone(_profiles)


def _profiles() -> List[Profile]:
    paths = profile_paths()
    if not paths:
        return []
    fields = ",".join(_PROFILE_FIELDS)
    uuids = [word for uuid in sorted(paths) for word in ("uuid", uuid)]
    found: List[Profile] = []
    values: Dict[str, str] = {}
    for line in [*query(["-f", fields, "connection", "show", *uuids]), ""]:
        if line:
            key, value = line.split(":", 1)
            values[key] = value
        elif values:
            found.append(_profile(values, paths))
            values = {}
    return [profile for profile in found if profile.type in kinds.TYPES]


def _profile(values: Dict[str, str], paths: Dict[str, str]) -> Profile:
    uuid = values["connection.uuid"]
    return Profile(
        uuid=uuid,
        name=values["connection.id"],
        type=values["connection.type"],
        path=paths.get(uuid, ""),
        interface=values.get("connection.interface-name", ""),
        mac=values.get(f"{kinds.WIRED}.mac-address", "").lower(),
        ports_of=values.get("connection.slave-type", ""),
        permissions=values.get("connection.permissions", ""),
        method=values.get("ipv4.method", ""),
        method6=values.get("ipv6.method", ""),
        own=any(values.get(field) for field in _OWN_FIELDS)
        or values.get("ipv4.method") in _OWN_METHODS
        or values.get("ipv6.method") in ("manual", "shared"),
        priority=int(values["connection.autoconnect-priority"]),
        used_at=int(values["connection.timestamp"]),
        autoconnect=values.get("connection.autoconnect") == "yes",
    )


def _anew_where_one_is_gone(step: Callable[[], Result]) -> Result:
    """Profiles of interfaces that are merely watched come and go, also between their list and what is asked of them."""
    for _try in range(_TRIES - 1):
        with contextlib.suppress(NotFoundError):
            return step()
    return step()


def add(interface: str, kind: str, settings: Dict[str, str]) -> str:
    """Makes a profile that is in memory only and does not connect by itself; returns its UUID."""
    answer = command(
        [
            "connection",
            "add",
            "save",
            "no",
            "type",
            kind,
            "ifname",
            interface,
            "con-name",
            interface,
            "autoconnect",
            "no",
            *_words(settings),
        ]
    )
    found = re.search(r"\(([0-9a-f-]{36})\)", answer)
    if found is None:
        raise HostError(f"nmcli does not say which profile it made: {answer!r}.", "Look at `nmcli connection`.")
    return found.group(1)


def delete(uuids: List[str]) -> None:
    """Removes profiles, those of them that are there. Raises HostError."""
    _anew_where_one_is_gone(lambda: _delete(uuids))


def _delete(uuids: List[str]) -> None:
    present = profile_paths()
    doomed = [word for uuid in uuids if uuid in present for word in ("uuid", uuid)]
    if doomed:
        command(["--wait", str(_DELETION_SECONDS), "connection", "delete", *doomed], _DELETION_SECONDS)


def modify(uuid: str, settings: Dict[str, str], temporary: bool, patience: float = _ANSWER_SECONDS) -> None:
    """Changes a profile: in memory only, or on disk. ``patience``: seconds. Raises HostError."""
    option = ["--temporary"] if temporary else []
    command(["connection", "modify", *option, "uuid", uuid, *_words(settings)], patience - _ANSWER_SECONDS)


def up(uuid: str, interface: str, wait: int) -> None:
    """Activates a profile; ``wait``: seconds; 0 only starts it. Raises HostError."""
    command(["--wait", str(wait), "connection", "up", "uuid", uuid, "ifname", interface], wait)


def command(arguments: List[str], wait: float = 0) -> str:
    """What nmcli prints. Raises HostError with its own words."""
    return "\n".join(query(arguments, wait))


def _words(settings: Dict[str, str]) -> List[str]:
    return [word for key in sorted(settings) for word in (key, settings[key])]


def query(arguments: List[str], wait: float = 0) -> List[str]:
    """The lines that ``nmcli --terse`` prints. Raises HostError; NoAnswerError where NetworkManager is away."""
    program = commands.find("nmcli")
    if program is None:
        raise NoAnswerError(
            "NetworkManager is not installed on the engine host: the command nmcli is missing.",
            "Install the package network-manager (Debian) or NetworkManager (Red Hat) there.",
        )
    try:
        completed = commands.run([program, "--terse", "--escape", "yes", *arguments], _ANSWER_SECONDS + wait)
    except CommandError as error:
        raise NoAnswerError(f"NetworkManager does not answer: {error.what}", error.remedy) from error
    if completed.rc == _NOT_RUNNING:
        raise NoAnswerError(
            "NetworkManager does not run on the engine host.",
            "Start it there: systemctl enable --now NetworkManager.",
        )
    if completed.rc != 0:
        ended = f"nmcli {' '.join(arguments)} ended with status {completed.rc}: {completed.words}."
        remedy = "Run it on the engine host to see more."
        raise NotFoundError(ended, remedy) if completed.rc == _NOT_FOUND else HostError(ended, remedy)
    return completed.stdout.splitlines()


def split(line: str) -> List[str]:
    """The fields of a terse line; colons and backslashes inside a field are escaped by a backslash."""
    fields, field, escaped = [], "", False
    for character in line:
        if escaped or character not in "\\:":
            field, escaped = field + character, False
        elif character == "\\":
            escaped = True
        else:
            fields.append(field)
            field = ""
    return [*fields, field]
