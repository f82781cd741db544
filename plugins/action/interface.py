# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the module, then confirms its change over a fresh connection; the host undoes what is not confirmed."""

import time
import uuid
from typing import Any

from ansible import constants
from ansible.errors import AnsibleConnectionFailure
from ansible.utils.display import Display

from ansible_collections.slb.fleet.plugins.module_utils._errors import in_words
from ansible_collections.slb.fleet.plugins.module_utils._visible import visible
from ansible_collections.slb.fleet.plugins.module_utils.errors import FleetError
from ansible_collections.slb.fleet.plugins.modules.interface import ARGUMENTS
from ansible_collections.slb.fleet.plugins.plugin_utils.host_action import HostAction

display = Display()

_DEFAULT_CONFIRM_SECONDS = 60.0
_UNDECIDED = ("planned", "armed", "applied", "restoring")
_PAUSE_SECONDS = 1.0
_SHOWN = 20
# How long the host needs to put everything back, before it can say that it has.
_RESTORE_SECONDS = 60.0
# ssh takes the first value that it is given for an option: without a control path it cannot share a connection.
_UNSHARED = "-o ControlMaster=no -o ControlPath=none"

# What ssh says of a connection that stood and was cut; of one that could not be made it says something else.
_WORDS_OF_A_CUT = ("closed by remote host", "Connection reset", "Broken pipe", "client_loop", "Timeout, server")


class ActionModule(HostAction):
    def act(self, variables: dict[str, Any]) -> dict[str, Any]:
        arguments = self.given()
        if arguments.get("state") == "confirmed":
            return self._module(arguments, variables)
        arguments["token"] = arguments.get("token") or uuid.uuid4().hex
        try:
            result = self._module(arguments, variables)
        except AnsibleConnectionFailure as error:
            if not any(word in str(error) for word in _WORDS_OF_A_CUT):
                raise
            # The module may have done its work all the same; the host knows.
            result = {"pending": ["?"], "msg": str(error)}
        if result.get("pending"):
            result = self._confirm(arguments, result, variables)
        remarks = result.get("remarks", [])
        if len(remarks) > _SHOWN:
            remarks = [*remarks[:_SHOWN], f"{len(remarks) - _SHOWN} more remarks are in the result."]
        for remark in remarks:
            # A warning is wrapped, and what a host says could begin a line of its own.
            host = visible(str(variables.get("inventory_hostname")))
            display.display(f"[{host}]: {remark}", color=constants.COLOR_WARN)
        return result

    def _module(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        try:
            answer = self.on_host("interface", arguments, task_vars, attempts=1)
        except FleetError as error:
            if error.code != "host_unreachable":
                raise
            raise AnsibleConnectionFailure(f"{error}: Connection reset") from None
        # Reasons and notes name options as messages do, which alone are told in the reader's words already.
        return {key: self._in_words(value) for key, value in answer.items()}

    def _in_words(self, value: Any) -> Any:
        if isinstance(value, str):
            return in_words(value, None, ARGUMENTS)
        if isinstance(value, list):
            return [self._in_words(each) for each in value]
        if isinstance(value, dict):
            return {key: self._in_words(each) for key, each in value.items()}
        return value

    def _confirm(self, arguments: dict[str, Any], applied: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Tries until it is confirmed, or until the host has had the time to put everything back and can say so."""
        patience = float(arguments.get("confirm_timeout") or _DEFAULT_CONFIRM_SECONDS) + _RESTORE_SECONDS
        deadline = time.monotonic() + patience
        last_seen, why, undecided = applied.get("msg", ""), "", True
        with_token = {"state": "confirmed", "token": arguments["token"]}
        self._never_share_the_connection()
        while time.monotonic() < deadline:
            try:
                answer = self._module(with_token, task_vars)
            except (AnsibleConnectionFailure, FleetError) as error:
                # Also if the module could not be started: the host rolls back, and reports it.
                last_seen = str(error)
            else:
                if not answer.get("failed"):
                    return answer
                last_seen = str(answer.get("msg"))
                if answer.get("state") in (None, "applied"):
                    why = last_seen  # the host will soon say only that it was not confirmed in time
                undecided = answer.get("state") in _UNDECIDED
                if not undecided:
                    break
            time.sleep(_PAUSE_SECONDS)
        return dict(
            applied,
            failed=True,
            changed=False,
            **{key: [] for key in ("adopted", "given_back") if key in applied},
            pending=applied["pending"] if undecided else [],
            msg=" ".join(
                [
                    "The change was not confirmed over a fresh connection, so that it does not stay.",
                    *([why] if why and why != last_seen else []),
                    last_seen,
                ]
            ),
        )

    def _never_share_the_connection(self) -> None:
        """Later tasks get a new one as well: the old one may hang on an address that has moved."""
        self._connection.reset()
        if self._connection.transport == "ssh":
            shared = self._connection.get_option("ssh_args") or ""
            self._connection.set_option("ssh_args", f"{_UNSHARED} {shared}")
