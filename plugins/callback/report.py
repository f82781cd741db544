# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather what a run does on each engine host, and report it during the run and at its end."""

from __future__ import annotations

DOCUMENTATION = r"""
name: report
type: aggregate
short_description: Report how the fleet stands
version_added: 1.0.0
author: slb.fleet contributors (@slb-fleet)
description:
  - At the end of a run, shows the result with the hosts that need attention by code, the changes, and the next command.
  - In check mode and for C(slb.fleet.diagnose), shows the plan of each host instead. With C(-v), adds one line for each
    host.
  - With a stdout callback that is not text, such as JSON, the end of the run goes to stderr.
  - During the run, P(slb.fleet.fleet#callback) shows the progress.
  - Writes a report for people and for machines to a folder. A killed run leaves its last C(report.json).
  - Runs of other playbooks get no report, nor of C(slb.fleet.show_engine_list)
    and C(slb.fleet.merge_reports).
options:
  report_dir:
    description:
      - Path of the folder for the reports; it is created if it is missing. Empty - write no files.
      - C(%(playbook)s) in it stands for the name of the playbook, such as V(audit), and C(%(awx_job_id)s) for the
        number of the job in AWX, or V(local) outside of AWX.
      - A folder to which all users may write is rejected.
      - C(report.json), C(retry) (hosts for a next run) and C(slb_fleet.prom) are updated during the run.
      - C(report.html) is written at its end, with C(plan.json) for a rollout in check mode that finds work. Each file
        is replaced as a whole.
    type: str
    default: ''
    env:
      - name: SLB_REPORT_DIR
    ini:
      - section: slb_fleet
        key: report_dir
  each_host:
    description: Whether to show one line for each host at the end, as with C(-v).
    type: bool
    default: false
    env:
      - name: SLB_REPORT_EACH_HOST
    ini:
      - section: slb_fleet
        key: report_each_host
  quiet:
    description:
      - Whether to show nothing if all hosts are healthy, none was changed, and the engine list has no other engines.
        Else the end of the run is shown as usual. Files are written in any case.
      - With P(slb.fleet.fleet#callback), such a run prints nothing, for cron; that plugin shows no progress then.
    type: bool
    default: false
    env:
      - name: SLB_REPORT_QUIET
    ini:
      - section: slb_fleet
        key: report_quiet
requirements:
  - Enable it with C(callbacks_enabled = slb.fleet.report) in the section C([defaults]) of C(ansible.cfg), or with
    E(ANSIBLE_CALLBACKS_ENABLED).
seealso:
  - plugin: slb.fleet.fleet
    plugin_type: callback
"""

import atexit
import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

from ansible import constants, context
from ansible.errors import AnsibleError
from ansible.plugins.callback import CallbackBase
from ansible.utils.color import stringc

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._values import expand_home
from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.plugin_utils._job_container import lost_with_job
from ansible_collections.slb.fleet.plugins.plugin_utils._limit import patterns_of
from ansible_collections.slb.fleet.plugins.plugin_utils._report import recorder as recording
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import Document, RunStatus
from ansible_collections.slb.fleet.plugins.plugin_utils._report.events import (
    Beginnings,
    host_of,
    identity,
    is_own,
    is_stdout_text,
    module_of,
    own_playbook,
    run_of,
    short_path,
    task_of,
    values_of,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._report.files import (
    AT_ANY_MOMENT,
    AT_THE_END,
    TO_APPROVE,
    folder_for,
    remove_old,
    write_all,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._report.observed import (
    NO_FURTHER_BATCH,
    PREFIX,
    STEPS,
    Observed,
    observe,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._report.recorder import Ending, Recorder
from ansible_collections.slb.fleet.plugins.plugin_utils._report.summary import FILE, summary
from ansible_collections.slb.fleet.plugins.plugin_utils._report.terminal import (
    fitted,
    host_lines,
    join_names,
    lines,
    terminal_width,
)
from ansible_collections.slb.fleet.plugins.plugin_utils._reservations import Reservations
from ansible_collections.slb.fleet.plugins.plugin_utils._variables import (
    explain,
    known_secrets,
    mask_command,
    show_extra_vars,
)

_TICK_SECONDS = 1.0
_ALONE = "Fix the hosts, then run each playbook in a command of its own."
_NEVER_SKIPPED = (f"{PREFIX}engine_plan", f"{PREFIX}interface")
"""Modules whose tasks have no condition of their own: it is that of the import, which excludes the host."""
_SHARE = 60
"""Files are written at most each second, and take at most one sixtieth of the time."""


class CallbackModule(CallbackBase):  # type: ignore[misc]
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "slb.fleet.report"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self._recorder: Recorder | None = None
        self._lock, self._pid = threading.RLock(), os.getpid()
        self._is_ours, self._is_new = False, False
        self._loader: Any = None
        self._folder: Path | None = None
        self._beginnings, self._has_several = Beginnings(), False
        self._written: dict[Path, bool] = {}
        self._lost: dict[str, str] = {}
        recording.begin_at = self._begin_at
        atexit.register(self._finish, "interrupted")

    def v2_playbook_on_start(self, playbook: Any) -> None:
        plays = playbook.get_plays()
        self._loader = plays[0].get_loader() if plays else None
        self._has_several = self._beginnings.load(plays) > 1 or len(context.CLIARGS.get("args") or ()) > 1
        # Also a run without hosts has a report: else that of an earlier run would be taken for it.
        for play in plays[:1]:
            self._begin_at(play)

    def v2_playbook_on_play_start(self, play: Any) -> None:
        self._begin_at(play)
        self._is_ours = bool(own_playbook(play))
        if self._recorder and self._is_ours:
            variables = play.get_variable_manager().get_vars(play=play)
            if not Reservations().has_turn(play.get_name()):
                self._recorder.blame(NO_FURTHER_BATCH)
                return
            with self._lock:
                hosts, batch = variables["ansible_play_hosts_all"], variables["ansible_play_batch"]
                self._recorder.play(play.get_name(), hosts, batch, time.monotonic())
                self._is_new = True

    def _begin_at(self, play: Any) -> None:
        """End the playbook if the play is of another one, and begin that."""
        is_beginning = self._beginnings.has(play)
        if is_beginning or not is_own(play):
            self._finish("finished")
        if is_beginning and (name := own_playbook(play)):
            self._begin(name, play.get_variable_manager().get_vars(play=play))

    def v2_playbook_on_task_start(self, task: Any, is_conditional: bool) -> None:
        if self._recorder and self._recorder.is_in_awx and str(task.action).endswith("set_stats"):
            with self._lock:
                document = self._recorder.document(time.monotonic())
            with contextlib.suppress(OSError):
                path = Path(constants.DEFAULT_LOCAL_TMP) / FILE
                path.write_text(json.dumps(summary(document)), encoding="utf-8")

    def v2_runner_on_start(self, host: Any, task: Any) -> None:
        if self._recorder and self._is_ours:
            with self._lock:
                is_step = module_of(task) in STEPS
                self._recorder.start(host.get_name(), identity(task), time.monotonic(), is_step=is_step)

    def v2_runner_on_ok(self, result: Any) -> None:
        self._end(result, "ok", has_values=module_of(task_of(result)).startswith(PREFIX))

    def v2_runner_on_skipped(self, result: Any) -> None:
        self._end(result, "ok", has_values=False)
        if self._recorder and self._is_ours and module_of(task_of(result)) in _NEVER_SKIPPED:
            with self._lock:
                self._recorder.leave_out(host_of(result))

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._end(result, "ok" if ignore_errors else "failed", is_failed=True)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._end(result, "unreachable")

    def v2_playbook_on_stats(self, stats: Any) -> None:
        self._finish("finished")
        if left := list(self._beginnings.left.values()):
            self._show(
                [f"Not started: {', '.join(left)}. Ansible ended the command, because hosts failed before.", _ALONE]
            )
            self._beginnings.left.clear()

    def _begin(self, playbook: str, variables: Mapping[str, Any]) -> None:
        # Read now, and kept: this run may write the files that --limit names.
        patterns_of(str(context.CLIARGS.get("subset") or ""))
        secrets = known_secrets(variables)
        extra_vars = [show_extra_vars(each, secrets) for each in context.CLIARGS.get("extra_vars") or ()]
        run = run_of(playbook, variables, extra_vars, partial(mask_command, secrets=secrets))
        folder = self._folder_of(playbook, str(variables.get("awx_job_id", "")))
        self._folder = folder and folder_for(run, folder, self._written)
        is_kept = self._folder and not lost_with_job(f"{self._folder}/report.html")
        shown = short_path(str(self._folder)) if is_kept else ""
        now, wall = time.monotonic(), datetime.now(timezone.utc)
        self._recorder = recording.current = Recorder(run, shown, wall, now, self._lost)
        self._recorder.is_quiet = self.get_option("quiet")
        if self._folder:
            with contextlib.suppress(OSError):
                remove_old(self._folder)
        self._write(self._recorder.document(now), AT_THE_END)
        self._over = threading.Event()
        self._ticker = threading.Thread(target=self._keep_files, daemon=True)
        self._ticker.start()

    def _folder_of(self, playbook: str, job: str) -> Path | None:
        folder = self.get_option("report_dir").replace("%(playbook)s", playbook.removeprefix(PREFIX))
        folder = folder.replace("%(awx_job_id)s", job if job.isdecimal() else "local")
        try:
            return expand_home("report_dir", folder).absolute() if folder else None
        except FleetError as error:
            self._display.warning(f"Reports not written: {error}")
            return None

    def _end(self, result: Any, ending: Ending, *, has_values: bool = True, is_failed: bool = False) -> None:
        if not (self._recorder and self._is_ours):
            return
        task, host = task_of(result), host_of(result)
        observed: Observed | None = None
        if has_values:
            values = values_of(result, is_failed=is_failed)
            observed = observe(module_of(task), values, str(task.delegate_to or ""))
        with self._lock:
            self._recorder.end(host, identity(task), ending, observed, time.monotonic())
            self._is_new = True

    def _finish(self, status: RunStatus) -> None:
        # The end of a worker process is not the end of the run.
        if self._recorder is None or os.getpid() != self._pid:
            return
        self._over.set()
        self._ticker.join()
        with self._lock:
            recorder, now = self._recorder, time.monotonic()
            is_done = recording.is_refused and recorder.has_hosts
            if status == "interrupted" and not recording.is_refused and not recorder.has_begun and self._loader:
                _blame_unread_file(recorder, self._loader)
            recorder.finish("finished" if is_done else status, now)
            document = recorder.document(now)
            self._write(document, TO_APPROVE if document.is_approvable else AT_THE_END)
            # After a failed write, the next command does not name the file retry.
            document = recorder.document(now)
            self._recorder = recording.current = None
        failed = [host.name for host in document.hosts if host.status in ("failed", "unreachable")]
        self._lost = {**dict.fromkeys(failed, document.run.playbook), **self._lost}
        if recorder.left_out and not recorder.is_quiet:
            left_out = visible(join_names([*recorder.left_out]))
            self._show(["", f"{document.run.playbook}: left out by the condition of its import: {left_out}"])
        if not document.hosts or (recorder.is_quiet and document.is_uneventful):
            return
        page = f"{recorder.folder}/report.html" if recorder.folder else ""
        title = [f"{document.run.playbook}:"] if self._has_several else []
        # A terminal may be gone.
        with contextlib.suppress(OSError):
            self._show(["", *title, *lines(document, report=page)])
            if self.get_option("each_host") or self._display.verbosity:
                self._show(["", f"EACH HOST {'*' * 69}", *host_lines(document)])

    def _show(self, text: Iterable[str]) -> None:
        # In one call: AWX makes an event of each.
        fit = partial(fitted, width=terminal_width())
        colored = (stringc(fit(line), color) if (color := _color(line)) else fit(line) for line in text)
        self._display.display("\n".join(colored), stderr=not is_stdout_text())

    def _keep_files(self) -> None:
        next_writing = 0.0
        while not self._over.wait(_TICK_SECONDS):
            begin = time.monotonic()
            if self._recorder and self._folder and self._is_new and begin >= next_writing:
                with self._lock:
                    self._is_new = False
                    document = self._recorder.document(begin)
                self._write(document, AT_ANY_MOMENT)
                end = time.monotonic()
                next_writing = end + _SHARE * (end - begin)

    def _write(self, document: Document, files: Mapping[str, Callable[[Document], str]]) -> None:
        if self._folder is None:
            return
        try:
            write_all(self._folder, document, files)
        except OSError as error:
            self._display.warning(
                f"Reports not written to {self._folder}: {error.strerror}. The run continues without them. "
                + (
                    "Set report_dir (SLB_REPORT_DIR) to a folder to which only your user may write."
                    if isinstance(error, PermissionError)
                    else "Correct the folder or its file system, or set report_dir (SLB_REPORT_DIR) to another one."
                )
            )
            self._folder = None
            if self._recorder:
                self._recorder.folder = ""


def _color(line: str) -> str | None:
    """Return Ansible's color for a line of the end; ``stringc`` uses none if the output is not a terminal."""
    if line.startswith("Result:"):
        return str(constants.COLOR_OK if line.split()[1] == "OK" else constants.COLOR_ERROR)
    if line.startswith("  ! "):
        return str(constants.COLOR_ERROR)
    return str(constants.COLOR_CHANGED) if line.startswith(("  + ", "  ~ ")) else None


def _folders_of_inventory() -> set[Path]:
    sources = [Path(str(source)).absolute() for source in context.CLIARGS.get("inventory") or ()]
    return {source if source.is_dir() else source.parent for source in sources}


def _blame_unread_file(recorder: Recorder, loader: Any) -> None:
    """Find the file of variables that Ansible cannot read. Its message does not name the file."""
    for folder in sorted(_folders_of_inventory()):
        for path in sorted(each for name in ("group_vars", "host_vars") for each in folder.glob(f"{name}/**/*")):
            if path.is_file() and path.suffix in ("", ".yml", ".yaml", ".json"):
                try:
                    loader.load_from_file(str(path))
                except AnsibleError as error:
                    cause, fix = explain(error, "", "")
                    summary = f"File {short_path(str(path))} not read: {' '.join(cause.split())}."
                    recorder.blame(Observed("invalid_variable", summary, fix or "Correct its YAML."))
                    return
