# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run that is interrupted comes to its end, whenever and by whichever signal."""

from __future__ import annotations

import os
import signal
import threading
from multiprocessing.process import BaseProcess
from types import CodeType, FrameType
from typing import Any

from ansible.executor.process.worker import WorkerProcess

_AGAIN_SECONDS = 0.05


def end_by_signals() -> None:
    """Who interrupts the run, ends it, or closes its terminal, has its reports: all go the same way, the keyboard's."""
    if threading.current_thread() is not threading.main_thread():
        return
    run = os.getpid()
    # Not sent as a signal, which is ignored where a shell has started the run in its background.
    of_ansible = signal.getsignal(signal.SIGINT)

    def interrupt(number: int, frame: FrameType | None) -> None:
        if os.getpid() != run:
            # A worker that does not answer to signals by itself, or not yet. Interrupted at its work it tidies up where
            # ansible-core lets it; before that it ends without a word: what is raised near the fork, Python drops.
            tidies = number == signal.SIGINT and _is_within(frame, WorkerProcess._run.__code__)
            signal.signal(number, of_ansible if tidies else signal.SIG_DFL)
            os.kill(os.getpid(), number)
        if _is_about_workers(frame, of_ansible):
            again = threading.Timer(_AGAIN_SECONDS, os.kill, (run, number))
            again.daemon = True
            again.start()
            return
        if callable(of_ansible):
            of_ansible(signal.SIGINT, frame)
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, interrupt)


def _is_within(frame: FrameType | None, code: CodeType) -> bool:
    while frame and frame.f_code is not code:
        frame = frame.f_back
    return frame is not None


def _is_about_workers(frame: FrameType | None, of_ansible: Any) -> bool:
    """While a worker is started, Python drops what is raised around the fork, and the run would go on. Between one
    that is put away and the next, ansible-core takes the interruption for a bug of its own.
    """
    if _is_within(frame, BaseProcess.start.__code__):
        return True
    queue_manager = getattr(of_ansible, "__self__", None)
    try:
        for worker in queue_manager.get_workers() if queue_manager else ():
            if worker:
                worker.is_alive()
    except ValueError:
        return True
    return False
