# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``slb.fleet.merge_reports`` in the controller's own process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.plugins.action import ActionBase

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import names_for_retry
from ansible_collections.slb.fleet.plugins.plugin_utils._report.files import AT_THE_END, write_all
from ansible_collections.slb.fleet.plugins.plugin_utils._report.merging import merge_documents, read_document
from ansible_collections.slb.fleet.plugins.plugin_utils._report.terminal import lines

ARGUMENTS: dict[str, dict[str, Any]] = {
    "reports": {"type": "list", "elements": "path", "required": True},
    "dest": {"type": "path", "required": True},
}


class ActionModule(ActionBase):  # type: ignore[misc]
    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        validation = ArgumentSpecValidator(ARGUMENTS).validate(self._task.args)
        if validation.error_messages:
            return {"failed": True, "msg": "; ".join(validation.error_messages)}
        options = validation.validated_parameters
        try:
            for option, variable, value in (
                ("reports", "slb_reports", "the report.json files, or their folders"),
                ("dest", "slb_merged_dir", "the folder for the merged report"),
            ):
                if not options[option] or not str(options[option]).strip():
                    raise FleetError(
                        "missing_option", f"Option {option} missing (variable {variable}).", f"Set it to {value}."
                    )
            into = Path(options["dest"]).absolute()
            if into.exists() and not into.is_dir():
                raise FleetError("invalid_option", f"Option dest invalid: {into} is a file.", "Set it to a folder.")
            document = merge_documents([read_document(Path(source)) for source in options["reports"]], str(into))
            if not self._task.check_mode:
                write_all(into, document, AT_THE_END)
        except FleetError as error:
            return {"failed": True, **error.as_result()}
        except OSError as error:
            return {"failed": True, "msg": f"Folder {into} not written: {error.strerror}."}
        return {
            "changed": True,
            "dest": str(into),
            "counts": document.counts,
            "retry": names_for_retry(document),
            "report": list(lines(document, report=str(into / "report.html"))),
        }
