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

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible import constants
from ansible.plugins.lookup import LookupBase

from ansible_collections.slb.fleet.plugins.plugin_utils._report.summary import FILE


class LookupModule(LookupBase):  # type: ignore[misc]
    def run(self, terms: list[Any], variables: Mapping[str, Any] | None = None, **options: Any) -> list[Any]:
        try:
            return [json.loads((Path(constants.DEFAULT_LOCAL_TMP) / FILE).read_text(encoding="utf-8"))]
        except (OSError, ValueError):  # none, or cut by a full disk: no task of all hosts may fail
            return [{}]
