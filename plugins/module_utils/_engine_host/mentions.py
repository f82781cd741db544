# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that mention a command which starts the container ``slb``. Other programs' files are searched, not parsed.

A file counts if it has a command that starts a container, and the word ``slb``, its own name included.
"""

import contextlib
import glob
import grp
import os
import pwd
import re
from typing import Collection, Iterable, Iterator, List, NamedTuple, Set, Tuple

from ansible_collections.slb.fleet.plugins.module_utils._system.files import NOT_READ

_CRONTABS = ("/etc/crontab", "/etc/cron.d/*", "/etc/anacrontab", "/var/spool/cron/*", "/var/spool/cron/crontabs/*")
_FILES = (
    ("cron", _CRONTABS, ""),
    ("run-parts", ("/etc/cron.*ly/*",), ""),
    ("rc.local", ("/etc/rc.local",), ""),
    (
        "supervisord",
        ("/etc/supervisor/*.conf", "/etc/supervisor/conf.d/*", "/etc/supervisord*"),
        "supervisorctl update",
    ),
    ("supervisord", ("/etc/supervisord.d/*",), "supervisorctl update"),
    ("monit", ("/etc/monitrc", "/etc/monit.d/*", "/etc/monit/monitrc", "/etc/monit/conf*/*"), "monit reload"),
    ("runit", ("/etc/service/*/run", "/var/service/*/run", "/service/*/run"), "sv force-stop {folder}"),
    ("s6", ("/run/service/*/run",), "s6-svc -dk {folder}"),
)
"""Files that start things, and what has to run after the removal of a line."""
_SCRIPTS = ("run-parts", "rc.local", "runit", "s6")
"""Programs that run such a file itself, if it is executable."""
_SYSTEMD = (
    *("/etc/systemd/system", "/etc/systemd/system.control", "/run/systemd/system", "/run/systemd/transient"),
    *("/run/systemd/generator.early", "/run/systemd/generator", "/run/systemd/generator.late"),
    *("/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"),
)
_QUADLETS = ("/etc/containers/systemd", "/run/containers/systemd", "/usr/share/containers/systemd")
_INIT_SCRIPTS = ("/etc/init.d/*",)
_MAX_BYTES = 65536

_COMMAND = re.compile(
    r"(?<![\w.-])(docker|podman|\$\{?\w+\}?)(-compose)?[\"']?,?\s(?!(?:exec|cp|logs)\s)([^\n;&|]*?\s)?[\"']?(run|start|restart|create|up)"
    r"(?=[\s\"');,]|$)|^\s*ContainerName\s*="
)
_STARTS_UNIT = re.compile(
    r"\bsystemctl\s([^\n;&|]*\s)?(start|restart|try-restart|reload-or-restart)\s([^\n;&|]*[\s\"'@-])?slb(\.service)?(?![\w.-])"
)
_WORD = re.compile(r"(?<![\w.:@-])(?<!\w/)slb(?![\w.:/@-])")
_STEM = re.compile(r"(^|[-@._/])slb(\.\w+)?$")
_COMMENT = re.compile(r"(^|\s)#.*|^\s*;.*")
_CONTINUED = re.compile(r"(?:.*\\\n)+.*")
# A command (of an interpreter, its script) or a value: to open an argument, perhaps on a disk of the network, may hang.
# "ExecStart=" of a unit and "command=" of supervisord begin a command; other assignments may stand before one.
_CALLED = re.compile(
    r"(?:^\s*(?:(?:@\w+|(?:[\w*/,-]+\s+){4}[\w*/,-]+|\d+\s+\d+\s+\S+)\s+(?:[\w-]+\s+(?=\S*/))?|[\w\s]*=\s*[-@:+!|\"']*)?"
    r"|[;&|({!\"'`]|\b(?:\w*sh|env|exec|sudo|nice|python[\d.]*|perl|(?:flock|timeout)(?:\s+-\S+)*\s+[^\s-]\S*)"
    r"(?:\s+(?:-\S+|\d+))*\s)\s*(?:(?!\w*[A-Z][a-z]|command=)\w+=\S*\s+)*(?=(/[^\s;&|()<>\"'`]+))"
)
_SETTING = re.compile(r"\s*\w+\s*=")


class Mention(NamedTuple):
    """A file that starts ``slb``.

    ``place``: file and line of the command, which may be in a script. ``path``: the file that runs it. ``kind``: the
    program that reads that file. ``after``: the command that has to follow the removal of the line.
    """

    place: str
    path: str
    kind: str
    after: str


class UnitMention(NamedTuple):
    """A unit that starts ``slb``.

    ``place``: as of ``Mention``. ``path``: the file of the unit, or its drop-in. ``file``: the file of the unit.
    ``names``: of the unit; of a template, those of its instances.
    """

    place: str
    path: str
    file: str
    names: Set[str]


def find_in_files(ignored: Collection[str]) -> Iterator[Mention]:
    for kind, patterns, after in _FILES:
        for path in _glob(patterns):
            if kind in _SCRIPTS and not os.access(path, os.X_OK):
                continue
            folder, name = os.path.split(path)
            place = _find_mention(path, [path, folder], ignored, is_crontab=patterns is _CRONTABS)
            if place and ("/spool/" not in path or _is_administrator(name)):
                yield Mention(place, path, kind, after)


def find_in_units(ignored: Collection[str]) -> Iterator[UnitMention]:
    """Return the services of systemd, Quadlets and init scripts; of a template, its instances as ``names``."""
    units = [f"{folder}/{name}" for folder in _SYSTEMD for name in ("*.service", "*.service.d/*.conf")]
    quadlets = [f"{folder}/**/{name}" for folder in _QUADLETS for name in ("*.container", "*.container.d/*.conf")]
    for path in _glob([*units, *_INIT_SCRIPTS, *quadlets]):
        file = os.path.dirname(path)[:-2] if path.endswith(".conf") else path
        unit = os.path.splitext(os.path.basename(file))[0] + ".service"
        names = {unit}
        if "@." in unit:
            links = _glob(f"{folder}/*.wants/{unit.replace('@.', '@*.')}" for folder in _SYSTEMD)
            names = {unit.replace("@.", "@slb."), *map(os.path.basename, links)}
        place = _find_mention(path, [path, file], ignored)
        if not place and "@." in unit:  # of a template that any container may use, only an instance has the word
            names = set(filter(_STEM.search, names))
            place = _find_mention(path, names, ignored)
        if place:
            yield UnitMention(place, path, file, names)


def is_linked(unit: str) -> bool:
    """Return whether a link enables the unit."""
    return bool(_glob(f"{folder}/*.wants/{glob.escape(unit)}" for folder in _SYSTEMD))


def _find_mention(path: str, names: Collection[str], ignored: Collection[str], *, is_crontab: bool = False) -> str:
    """Return file and line of a command that starts ``slb``, in a file or in one that it calls; empty for none.

    ``names``: of the file and its units; one that ends with slb counts as the word. In a crontab each line is a file,
    with the variables that are set.
    """
    lines = [] if path in ignored else _read_lines(path)
    settings = [line for line in lines if _SETTING.match(line[2])]
    for part in [[*settings, line] for line in lines] if is_crontab else [lines]:
        called = [file for _path, _number, text in part for file in _CALLED.findall(text)]
        places = [*part, *(line for file in called if file not in ignored for line in _read_lines(file))]
        has_word = any(map(_STEM.search, names)) or any(_WORD.search(text) for _path, _number, text in places)
        # A disabled unit of that name may be the one that starts the container.
        start = next((place for place in places if _STARTS_UNIT.search(place[2])), None)
        if has_word and not start:
            start = next((place for place in places if _COMMAND.search(place[2])), None)
        if start:
            return f"{start[0]}:{start[1]}"
    return ""


def _read_lines(path: str) -> List[Tuple[str, int, str]]:
    """Return path, number and text of each line of a text file of at most 64 KiB, without comments."""
    content = b""
    with contextlib.suppress(OSError, ValueError):  # a path of a text may have no form in the locale
        if os.path.isfile(path) and os.path.getsize(path) <= _MAX_BYTES:  # to open a pipe would hang
            with open(path, "rb") as stream:
                content = stream.read(_MAX_BYTES)
    text = "" if b"\0" in content else content.decode("utf-8", "replace")
    # A line that continues becomes one, with empty lines behind it.
    text = _CONTINUED.sub(lambda match: match[0].replace("\\\n", " ") + "\n" * match[0].count("\n"), text)
    return [(path, number, _COMMENT.sub("", line)) for number, line in enumerate(text.splitlines(), 1)]


def _is_administrator(user: str) -> bool:
    """Return whether commands of the user's crontab can start a container of root."""
    with contextlib.suppress(KeyError):
        groups = os.getgrouplist(user, pwd.getpwnam(user).pw_gid)
        return user == "root" or bool(
            {grp.getgrgid(each).gr_name for each in groups} & {"docker", "root", "sudo", "wheel"}
        )
    return False


def _glob(patterns: Iterable[str]) -> List[str]:
    """Return the files that a program would read, each once, by the first of its paths."""
    paths = [path for pattern in patterns for path in sorted(glob.glob(pattern, recursive=True))]
    paths = [path for path in paths if not NOT_READ.search(path)]
    return list({os.path.realpath(path): path for path in reversed(paths)}.values())[::-1]
