# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A sign of life for systemd, which ends a service that gives none, frozen or not, and starts it again."""

import contextlib
import os
import socket
import threading
import time

SECONDS = 5
PROPERTIES = [f"WatchdogSec={SECONDS}", "NotifyAccess=main", "LimitCORE=0"]
"""Of the unit that shall be watched."""


def give_signs_of_life() -> None:
    """From now on, in a thread of its own; without systemd nobody waits for them."""
    address = os.environ.pop("NOTIFY_SOCKET", None)
    if address:
        threading.Thread(target=_go_on, args=(address,), daemon=True).start()


def _go_on(address: str) -> None:
    # What begins with an at sign has no file.
    target = "\0" + address[1:] if address[0] == "@" else address
    while True:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified:
            notified.setblocking(False)
            notified.sendto(b"WATCHDOG=1", target)
        time.sleep(SECONDS / 5)
