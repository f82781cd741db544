# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Return the summary of the run for other programs."""

from __future__ import annotations

DOCUMENTATION = r"""
name: _summary
author: slb.fleet contributors (@slb-fleet)
version_added: 1.0.0
short_description: "Internal: return the summary of the run"
description: "Internal: the role C(engine_deployment) publishes it in AWX. Empty without C(slb.fleet.report)."
options: {}
"""

import time
from collections.abc import Mapping
from typing import Any

from ansible.plugins.lookup import LookupBase

from ansible_collections.slb.fleet.plugins.plugin_utils._report import recorder
from ansible_collections.slb.fleet.plugins.plugin_utils._report.summary import summary


class LookupModule(LookupBase):  # type: ignore[misc]
    def run(self, terms: list[Any], variables: Mapping[str, Any] | None = None, **options: Any) -> list[Any]:
        # The worker that templates the task has the recorder as it was when the task began.
        return [summary(recorder.current.document(time.monotonic())) if recorder.current else {}]
