# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run that is interrupted comes to its end, whenever and by whichever signal."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from multiprocessing.process import BaseProcess
from types import CodeType, FrameType
from typing import Any

from ansible.executor.process.worker import WorkerProcess

_AGAIN_SECONDS = 0.05
_HANDING_OVER_SECONDS = 10
_ENDING_SECONDS = 5


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
            with _no_worker_at_the_results(of_ansible):
                of_ansible(signal.SIGINT, frame)
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, interrupt)


@contextlib.contextmanager
def _no_worker_at_the_results(of_ansible: Any) -> Iterator[None]:
    """One that is ended while it hands over a result leaves their queue locked, and the run would wait for ever."""
    queue_manager = _queue_manager(of_ansible)
    lock: Any = getattr(getattr(queue_manager, "_final_q", None), "_wlock", None)
    # In vain where the run itself was about to write there.
    is_held = lock is not None and lock.acquire(timeout=_HANDING_OVER_SECONDS)
    try:
        yield
    finally:
        if is_held:
            try:
                _wait_until_ended(queue_manager.get_workers())
            finally:
                lock.release()


def _wait_until_ended(workers: Iterable[WorkerProcess | None]) -> None:
    deadline = time.monotonic() + _ENDING_SECONDS
    for worker in workers:
        if worker:
            worker.join(max(0, deadline - time.monotonic()))


def _queue_manager(of_ansible: Any) -> Any:
    """Whose handler it is; up to ansible-core 2.18 it is Python's own, and nobody ends workers."""
    owner = getattr(of_ansible, "__self__", None)
    return owner if hasattr(owner, "get_workers") else None


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
    queue_manager = _queue_manager(of_ansible)
    try:
        for worker in queue_manager.get_workers() if queue_manager else ():
            if worker:
                worker.is_alive()
    except ValueError:
        return True
    return False
