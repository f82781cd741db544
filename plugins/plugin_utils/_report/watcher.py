# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Watches a run for a callback: gathers its events, keeps the reports on disk up to date, and shows the progress."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ansible import constants, context
from ansible.utils.display import Display

from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.plugin_utils._limit import remember
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import Document, Status
from ansible_collections.slb.fleet.plugins.plugin_utils._report.facts import run_facts
from ansible_collections.slb.fleet.plugins.plugin_utils._report.files import (
    AT_ANY_MOMENT,
    AT_THE_END,
    remove_unfinished,
    write_all,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._report.gathering import Gathering
from ansible_collections.slb.fleet.plugins.plugin_utils._report.next_step import NextStep
from ansible_collections.slb.fleet.plugins.plugin_utils._report.progress_line import line
from ansible_collections.slb.fleet.plugins.plugin_utils._report.seen import LICENSES, Seen, phase_of, seen
from ansible_collections.slb.fleet.plugins.plugin_utils._report.story import Ending
from ansible_collections.slb.fleet.plugins.plugin_utils._report.summary import FILE, summary
from ansible_collections.slb.fleet.plugins.plugin_utils._report.terminal import host_lines, lines
from ansible_collections.slb.fleet.plugins.plugin_utils._report.told import Told, own_playbook
from ansible_collections.slb.fleet.plugins.plugin_utils.approved_plan import read_approved_plan
from ansible_collections.slb.fleet.plugins.plugin_utils.variables import is_empty

_TICK_SECONDS = 1.0
_LINE_SECONDS = 30.0
SHARE = 60
"""What is written, and what is shown meanwhile, each takes at most one part in so many of the time."""


class Watcher:
    """``folder``: for the reports, empty for none. ``each_host``: is told in a line of its own at the end."""

    def __init__(self, folder: str, each_host: bool) -> None:
        self._folder = Path(folder).expanduser().absolute() if folder else None
        self._each_host = each_host
        self._gathering: Gathering | None = None
        self._lock, self._over, self._pid = threading.RLock(), threading.Event(), os.getpid()
        self._is_ours, self._is_new = False, False
        self._rounds: dict[str, int] = {}

    def start(self, plays: Sequence[Any]) -> None:
        """``plays``: the first of the run. Where that is ours there is a report even if it finds no host, which it says
        before it begins: what an earlier run has told of the fleet is not left as if it was of this one.
        """
        for play in plays:
            if playbook := own_playbook(play):
                variables = play.get_variable_manager().get_vars(play=play)
                with self._lock:
                    self._begin(playbook, variables, time.monotonic())

    def play(self, play: Any) -> bool:
        """A play begins, or its next batch. Says whether it is one of this collection."""
        playbook = own_playbook(play)
        self._is_ours = bool(playbook)
        if playbook:
            variables = play.get_variable_manager().get_vars(play=play)
            now = time.monotonic()
            with self._lock:
                gathering = self._gathering or self._begin(playbook, variables, now)
                gathering.play(
                    play.get_name(), variables["ansible_play_hosts_all"], variables["ansible_play_batch"], now
                )
                gathering.share(_licenses(variables["groups"]))
                self._is_new = True
        return self._is_ours

    def begin(self, host: str, task: str, module: str) -> None:
        if self._is_ours and self._gathering:
            with self._lock:
                self._gathering.begin(host, task, module, time.monotonic())

    def end(self, ending: Ending, told: Told) -> Seen | None:
        """A task has ended on a host. Returns what the report takes from its result."""
        if not (self._is_ours and self._gathering):
            return None
        with self._lock:
            found = seen(told.module, told.values, told.on)
            phase = phase_of(told.module, told.values, self._rounds.get(told.host, 0))
            self._gathering.end(told.host, told.task, ending, found, phase, time.monotonic(), told.has_looked)
            if found.rounds is not None:
                self._rounds[told.host] = found.rounds
            if told.module in LICENSES and ending == "ok":
                self._gathering.has_license(told.host)
            self._is_new = True
        return found

    def skip(self, told: Told) -> None:
        if self._is_ours and self._gathering:
            with self._lock:
                self._gathering.end(told.host, told.task, "ok", Seen(), None, time.monotonic())

    def item(self, told: Told) -> None:
        """One turn of a task's loop has ended well."""
        if self._is_ours and self._gathering:
            with self._lock:
                found = seen(told.module, told.values, told.on)
                self._gathering.did(told.host, found.changes)

    def sum_up(self) -> None:
        """What is known by now is what the lookup ``summary`` gives from here on, which AWX alone is given."""
        if self._gathering and self._gathering.is_in_awx:
            with self._lock:
                document = self._gathering.document(time.monotonic())
            text = json.dumps(summary(document))
            with contextlib.suppress(OSError):
                (Path(constants.DEFAULT_LOCAL_TMP) / FILE).write_text(text, encoding="utf-8")

    def finish(self, status: Status) -> None:
        """The run has ended: all reports are written, and what it comes to is shown."""
        gathering = self._gathering
        # What ends a worker is not the end of the run.
        if gathering is None or self._over.is_set() or os.getpid() != self._pid:
            return
        self._over.set()
        self._ticker.join()
        with self._lock:
            now = time.monotonic()
            gathering.finish(status, now)
            document = gathering.document(now)
        folder = self._folder
        self._write(document, AT_THE_END)
        if folder and self._folder is None:
            # What could not be written just now is not named as the file for a next run.
            document = gathering.document(now)
        # A terminal that is gone takes no words.
        with contextlib.suppress(OSError):
            if document.hosts:
                page = _short_path(str(self._folder / "report.html")) if self._folder else ""
                self._print("", lines(document, report=page))
            if document.hosts and (self._each_host or Display().verbosity):
                self._print("EACH HOST", host_lines(document))

    @staticmethod
    def _print(title: str, text: Iterable[str]) -> None:
        if title:
            Display().banner(title)
        else:
            Display().display("")
        for each in text:
            Display().display(each, color=_color(each))

    def _begin(self, playbook: str, variables: Mapping[str, Any], now: float) -> Gathering:
        _warn_of_unread_variables()
        # It may be by the list of hosts that is written anew below.
        remember(str(context.CLIARGS.get("subset") or ""))
        facts = run_facts(playbook, variables)
        plan = variables.get("slb_approved_plan")
        step = _next_step(self._folder)
        # It may stand in the very file that this run writes, and is needed again where the run is repeated.
        approved = None if is_empty(plan) else read_approved_plan(plan)
        self._gathering = Gathering(facts, step, datetime.now(timezone.utc), now, approved)
        if self._folder:
            with contextlib.suppress(OSError):
                remove_unfinished(self._folder)
        self._write(self._gathering.document(now), AT_THE_END)
        self._ticker = threading.Thread(target=self._tick, daemon=True)
        self._ticker.start()
        atexit.register(self.finish, "interrupted")
        return self._gathering

    def _tick(self) -> None:
        next_writing, next_line = 0.0, time.monotonic() + _LINE_SECONDS
        while not self._over.wait(_TICK_SECONDS):
            now = time.monotonic()
            if self._folder and self._is_new and now >= next_writing:
                with self._lock:
                    self._is_new = False
                    document = self._gathering.document(now) if self._gathering else None
                if document:
                    self._write(document, AT_ANY_MOMENT)
                next_writing = time.monotonic() + SHARE * (time.monotonic() - now)
            if now >= next_line:
                begin = time.monotonic()
                self._show(begin)
                end = time.monotonic()
                next_line = max(begin + _LINE_SECONDS, end + SHARE * (end - begin))

    def _show(self, now: float) -> None:
        with self._lock:
            tally = self._gathering.tally(now) if self._gathering else None
        if tally and tally.hosts and not self._over.is_set():
            with contextlib.suppress(OSError):
                Display().display(line(tally))

    def _write(self, document: Document, files: Mapping[str, Callable[[Document], str]]) -> None:
        if self._folder is None:
            return
        try:
            write_all(self._folder, document, files)
        except OSError as error:
            Display().warning(
                f"Reports not written to {self._folder}: {error}. The run continues without them. Make space, or set "
                "SLB_REPORT_DIR to a folder that your user may write to."
            )
            self._folder = None
            with self._lock:
                if self._gathering:
                    self._gathering.forget_folder()


def _color(line: str) -> str | None:
    """Return the color of a line of the end: Ansible's for its kind, and none elsewhere than on a terminal."""
    if line.startswith("Result:"):
        return str(constants.COLOR_OK if line.split()[1] == "OK" else constants.COLOR_ERROR)
    if line.startswith("  ! "):
        return str(constants.COLOR_ERROR)
    return str(constants.COLOR_CHANGED) if line.startswith(("  + ", "  ~ ")) else None


def _licenses(groups: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the group of each host that shares a license with others, as download_license.yml makes them."""
    return {host: name for name, hosts in groups.items() if name.startswith("slb_license_") for host in hosts}


def _warn_of_unread_variables() -> None:
    """Warn if variables lie beside a user's playbook: Ansible reads those beside the inventory, and not these."""
    sources = [Path(str(source)).absolute() for source in context.CLIARGS.get("inventory") or ()]
    folders = {source if source.is_dir() else source.parent for source in sources}
    here = Path.cwd()
    for name in ("group_vars", "host_vars"):
        if (here / name).is_dir() and not any((folder / name).is_dir() for folder in folders):
            Display().warning(f"Folder {here / name} not read: it is not beside the inventory. Move it there.")


def _next_step(folder: Path | None) -> NextStep:
    sources = tuple(map(str, context.CLIARGS.get("inventory") or ()))
    if sources == tuple(map(str, constants.DEFAULT_HOST_LIST or ())):
        sources = ()
    inventory = [word for source in sources for word in ("-i", _short_path(source))]
    limit = str(context.CLIARGS.get("subset") or "")
    return NextStep(
        tuple(inventory), _short_path(str(folder)) if folder else "", limit if visible(limit) == limit else ""
    )


def _short_path(path: str) -> str:
    return path.removeprefix(f"{Path.cwd()}{os.sep}")
