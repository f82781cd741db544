# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an interactive SSH login prints before the first command: how many bytes, and from where."""

import contextlib
import fcntl
import glob
import os
import pwd
import re
import select
import signal
import subprocess
import termios
import time
from typing import Any, Dict, List, Optional

from ansible_collections.slb.fleet.plugins.module_utils._errors import HostError
from ansible_collections.slb.fleet.plugins.module_utils._system import commands

_STATIC = "/etc/motd"
_DYNAMIC = "/run/motd.dynamic"
_SCRIPTS = "/etc/update-motd.d"
_FOLDERS = ("/etc/motd.d", "/run/motd.d", "/usr/lib/motd.d")
_SECONDS = 5
_ENOUGH_BYTES = 1 << 20


def measure() -> List[Dict[str, Any]]:
    """``source`` and ``bytes`` of each part that prints anything, in the order in which a login prints them."""
    parts = [_banner(), _dynamic(), _file(_STATIC)]
    parts += [_file(path) for folder in _FOLDERS for path in sorted(glob.glob(folder + "/*"))]
    parts.append(_shell())
    return [part for part in parts if part is not None and part["bytes"]]


def _file(path: str, source: Optional[str] = None) -> Optional[Dict[str, Any]]:
    """A symbolic link is named with its target, because that is what has to be mended."""
    try:
        size = os.stat(path).st_size
    except OSError:
        return None
    target = os.path.realpath(path)
    return {"source": (source or path) if target == path else f"{path} ({target})", "bytes": size}


def _banner() -> Optional[Dict[str, Any]]:
    sshd = commands.find("sshd")
    if sshd is None:
        return None
    try:
        settings = commands.run([sshd, "-T"], _SECONDS).stdout
    except HostError:
        return None
    match = re.search(r"^banner (/.+)$", settings, re.MULTILINE)
    return _file(match.group(1), f"the banner of sshd, {match.group(1)}") if match else None


def _dynamic() -> Optional[Dict[str, Any]]:
    """The scripts' output as the last login made it; where there was none since the boot, they are run as it would."""
    if os.path.exists(_DYNAMIC) or not os.path.isdir(_SCRIPTS):
        return _file(_DYNAMIC, _SCRIPTS)
    try:
        output = commands.run(["run-parts", "--lsbsysinit", _SCRIPTS], _SECONDS).stdout
    except HostError as error:
        return {"source": f"{_SCRIPTS} ({error.what})", "bytes": _ENOUGH_BYTES}
    return {"source": _SCRIPTS, "bytes": len(output.encode("utf-8"))}


def _shell() -> Optional[Dict[str, Any]]:
    """What the profile scripts of the connecting user print, by running a login shell of theirs on a terminal."""
    user = pwd.getpwnam(os.environ["SUDO_USER"]) if "SUDO_USER" in os.environ else pwd.getpwuid(os.getuid())
    master, slave = os.openpty()
    process = subprocess.Popen(  # pylint: disable=ansible-bad-function
        [user.pw_shell, "-l", "-i", "-c", "exit"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd="/",
        env={
            "HOME": user.pw_dir,
            "USER": user.pw_name,
            "LOGNAME": user.pw_name,
            "SHELL": user.pw_shell,
            "TERM": "dumb",
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        },
        preexec_fn=lambda: _become(user),  # noqa: PLW1509 - a module has one thread
    )
    os.close(slave)
    try:
        size, ended = _read(master)
    finally:
        _end(process)
        os.close(master)
    source = f"the profile scripts of {user.pw_name}"
    if not ended:
        source += f", which did not end within {_SECONDS} seconds"
    return {"source": source, "bytes": size}


def _become(user: "pwd.struct_passwd") -> None:
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    if os.getuid() != user.pw_uid:
        os.initgroups(user.pw_name, user.pw_gid)
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)


def _read(terminal: int) -> Any:
    """How much comes until the other end is closed, and whether it was in time."""
    size, deadline = 0, time.monotonic() + _SECONDS
    while size < _ENOUGH_BYTES:
        remaining = deadline - time.monotonic()
        if remaining <= 0 or not select.select([terminal], [], [], remaining)[0]:
            return size, False
        try:
            output = os.read(terminal, 65536)
        except OSError:  # how Linux says that a terminal was closed
            return size, True
        if not output:
            return size, True
        size += len(output)
    return size, False


def _end(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
