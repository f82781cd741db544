# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``slb.fleet.merge_reports`` in the controller's own process."""

from __future__ import annotations

import os
from typing import Any

from ansible_collections.slb.fleet.plugins.module_utils._values import expand_home, invalid, missing
from ansible_collections.slb.fleet.plugins.plugin_utils._host_action import HostAction
from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import names_for_retry
from ansible_collections.slb.fleet.plugins.plugin_utils._report.files import AT_THE_END, write_all
from ansible_collections.slb.fleet.plugins.plugin_utils._report.merging import merge_documents, read_document
from ansible_collections.slb.fleet.plugins.plugin_utils._report.terminal import lines

ARGUMENTS: dict[str, dict[str, Any]] = {
    "reports": {"type": "list", "elements": "path", "required": True},
    "dest": {"type": "path", "required": True},
}


class ActionModule(HostAction):
    _requires_connection = False

    def act(self, variables: dict[str, Any]) -> dict[str, Any]:
        options = self.read_options(ARGUMENTS, variables)
        if not options["reports"]:
            raise missing("reports").named(options.names)
        into = expand_home("dest", options["dest"]).absolute()
        if os.path.exists(into) and not os.path.isdir(into):  # noqa: PTH110, PTH112 - no error below another user's folder
            raise invalid("dest", f"{into} is a file", "Set it to a folder.").named(options.names)
        sources = [expand_home("reports", source) for source in options["reports"]]
        document = merge_documents([read_document(source) for source in sources], str(into))
        if not self._task.check_mode:
            try:
                write_all(into, document, AT_THE_END)
            except OSError as error:
                return {"failed": True, "msg": f"Folder {into} not written: {error.strerror}."}
        return {
            "changed": True,
            "dest": str(into),
            "counts": document.counts,
            "retry": names_for_retry(document),
            "report": list(lines(document, report=str(into / "report.html"))),
        }
