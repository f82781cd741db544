# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``slb.fleet.merge_reports`` in the controller's own process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.plugins.action import ActionBase

from ansible_collections.slb.fleet.plugins.module_utils._console.folder import Folder
from ansible_collections.slb.fleet.plugins.module_utils._console.options import from_environment
from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._awx_jobs import Awx
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import AGAIN
from ansible_collections.slb.fleet.plugins.plugin_utils._report.files import FOLDER_MODE, as_limit
from ansible_collections.slb.fleet.plugins.plugin_utils._report.merging import merged_summaries
from ansible_collections.slb.fleet.plugins.plugin_utils._report.terminal import lines
from ansible_collections.slb.fleet.plugins.plugin_utils.merge_reports import merge, write

ARGUMENTS: dict[str, dict[str, Any]] = {
    "reports": {"type": "list", "elements": "path"},
    "awx_jobs": {"type": "list", "elements": "int"},
    "dest": {"type": "path", "required": True},
    "awx_url": {"type": "str", "fallback": (from_environment, ["CONTROLLER_HOST"])},
    "awx_token": {"type": "str", "no_log": True, "fallback": (from_environment, ["CONTROLLER_OAUTH_TOKEN"])},
    "validate_certs": {"type": "bool", "default": True, "fallback": (from_environment, ["CONTROLLER_VERIFY_SSL"])},
}
_ONE_OF = [("reports", "awx_jobs")]
_TOO_MANY = (
    "There is no file retry: a job had more hosts for a next run than it can name in its artifact. Its report.json, "
    "where SLB_REPORT_DIR kept one, has them all."
)


class ActionModule(ActionBase):  # type: ignore[misc]
    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        validator = ArgumentSpecValidator(ARGUMENTS, mutually_exclusive=_ONE_OF, required_one_of=_ONE_OF)
        validation = validator.validate(self._task.args)
        if validation.error_messages:
            return {"failed": True, "msg": "; ".join(validation.error_messages)}
        options = validation.validated_parameters
        if not options["dest"].strip():
            return {"failed": True, "msg": "No folder is named for the one report. Set dest (slb_merged_dir)."}
        try:
            return self._of_reports(options) if options.get("reports") else self._of_jobs(options)
        except FleetError as error:
            return {"failed": True, "msg": error.in_words(None, ARGUMENTS)}
        except OSError as error:
            return {"failed": True, "msg": f"{options['dest']} cannot be written: {error.strerror}."}

    def _of_reports(self, options: dict[str, Any]) -> dict[str, Any]:
        into = Path(options["dest"]).absolute()
        document = merge([Path(source) for source in options["reports"]], into)
        if not self._task.check_mode:
            write(into, document)
        return {
            "changed": True,
            "dest": str(into),
            "counts": document.counts,
            "retry": [host.name for host in document.hosts if host.verdict in AGAIN],
            "report": list(lines(document)),
        }

    def _of_jobs(self, options: dict[str, Any]) -> dict[str, Any]:
        for option in ("awx_url", "awx_token"):
            if not options.get(option):
                raise FleetError(f"The option O({option}) is missing.", "AWX is asked for its jobs with it.")
        awx = Awx(options["awx_url"], options["awx_token"], options["validate_certs"])
        summary = merged_summaries(awx.summaries(options["awx_jobs"]))
        into, again = Path(options["dest"]).absolute(), summary["again"]
        if not self._task.check_mode:
            files = {"summary.json": json.dumps(summary) + "\n"}
            if again is not None:
                files["retry"] = as_limit(again)
            else:
                # What is there is the list of another report.
                (into / "retry").unlink(missing_ok=True)
            with Folder.opened(into, missing=FOLDER_MODE) as opened:
                for name, text in files.items():
                    opened.write(name, text.encode())
        told = {"changed": True, "dest": str(into), "counts": summary["counts"], "retry": again or []}
        return told if again is not None else {**told, "warnings": [_TOO_MANY]}
