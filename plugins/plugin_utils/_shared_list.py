# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The console's list, read by one worker of a run and shared by all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from ansible.utils.display import Display

from ansible_collections.slb.fleet.plugins.module_utils._console.authentication import LoginRefusedError
from ansible_collections.slb.fleet.plugins.module_utils._console.deadline import Deadline
from ansible_collections.slb.fleet.plugins.module_utils._console.engine_info import engine_info
from ansible_collections.slb.fleet.plugins.module_utils._console.options import Connection
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.plugin_utils._clock import awake_or_asleep
from ansible_collections.slb.fleet.plugins.plugin_utils._connection import in_variables
from ansible_collections.slb.fleet.plugins.plugin_utils._listed import Excerpt, excerpt
from ansible_collections.slb.fleet.plugins.plugin_utils._run_lock import LockedTooLongError, locked
from ansible_collections.slb.fleet.plugins.plugin_utils._run_session import RunSession
from ansible_collections.slb.fleet.plugins.plugin_utils._run_store import RunStore

_GRACE_SECONDS = 30
_MOST_WORDS = 20
_LEAST_SECONDS_BETWEEN = 5.0
_LOOK_SECONDS = 0.2


class SharedList:
    """``params``: the connection's, as Connection.from_params takes them. ``folder``: the run's own temporary one.
    ``patience``: seconds for which the run waits for a management node that is down.
    """

    def __init__(self, params: Mapping[str, Any], listing: Any, folder: Path, patience: float) -> None:
        self._params = {**params, "listing": listing}
        self._folder, self._patience = folder, patience
        self._store = RunStore.of_run(folder)
        which = [params["base_url"], params["username"], params["tls_fingerprint"], listing]
        self._which = hashlib.sha256(json.dumps(which, sort_keys=True, default=str).encode()).hexdigest()[:32]

    @property
    def is_paged(self) -> bool:
        listing = self._params["listing"]
        return isinstance(listing, Mapping) and bool(listing.get("page_parameter"))

    def shows(self, name: str, manage_ip: str, max_age: float | None) -> Excerpt | str:
        """What the list shows of one engine, or why it cannot be read. ``max_age``: of the reading, in seconds;
        None for any of this run. Whoever waits meanwhile for another worker's reading is served by it.
        """
        not_before = 0.0 if max_age is None else awake_or_asleep() - max_age
        found = self._store.reading(self._which, name, manage_ip, not_before)
        return self._anew(name, manage_ip, not_before) if found is None else self._refused() or found

    def _refused(self) -> str:
        """Why this host's own credentials are none, though another host's have read the list. Else it would be chance
        who is told of a mistyped password.
        """
        try:
            RunSession(self._folder).check(Connection.stated(self._params))
        except LoginRefusedError as error:
            return in_variables(error)
        return ""

    def unwanted(self, base_url: str) -> list[str]:
        """What the last reading shows and no host of the run wants; ``base_url``: the management node's."""
        return self._store.unwanted(self._which, base_url)

    def _anew(self, name: str, manage_ip: str, not_before: float) -> Excerpt | str:
        try:
            connection = Connection.from_params(self._params)
            deadline = Deadline(connection.total_timeout + self._patience + _GRACE_SECONDS)
            while True:
                found = self._store.reading(self._which, name, manage_ip, not_before)
                if found is not None:
                    return found
                # Not for the whole time: what another worker reads is there before the lock is.
                with contextlib.suppress(LockedTooLongError), self._locked(min(_LOOK_SECONDS, deadline.remaining())):
                    found = self._store.reading(self._which, name, manage_ip, not_before)
                    if found is None:
                        self._rest()
                        found = self._read(connection.base_url, name, manage_ip)
                    return found
                if deadline.is_over():
                    break
        except FleetError as error:
            return in_variables(error)
        except OSError:
            pass
        return f"Another worker of this run has been reading the list of {connection.base_url} for too long."

    def _locked(self, seconds: float) -> AbstractContextManager[None]:
        return locked(self._folder / f"slb-fleet-list-{self._which}.lock", seconds)

    def _rest(self) -> None:
        """Whoever needs another reading so soon waits, and all who come meanwhile are served by that one."""
        last = self._store.last_reading(self._which)
        if last is not None and (rest := last + _LEAST_SECONDS_BETWEEN - awake_or_asleep()) > 0:
            time.sleep(min(rest, _LEAST_SECONDS_BETWEEN))

    def _read(self, base_url: str, name: str, manage_ip: str) -> Excerpt | str:
        at = awake_or_asleep()
        try:
            values = engine_info(self._params, False, RunSession(self._folder, self._patience)).values
        except LoginRefusedError as error:
            # Of this host's credentials; who has others reads for itself.
            return in_variables(error)
        except FleetError as error:
            trouble = in_variables(error)
            self._store.keep_reading(self._which, [], trouble, at)
            return trouble
        self._store.keep_reading(self._which, values["engines"], "", at)
        for word in values["undescribed"][:_MOST_WORDS]:
            words = f"The list of {base_url} has a word that slb_engine_list does not describe: {visible(word)}."
            if self._store.is_news(words, ""):
                Display().warning(f"{words} Say there what it means: running, deploying or failed.")
        return excerpt(values["engines"], name, manage_ip)
