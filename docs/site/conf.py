# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/tools/docsite adds to what antsibull-docs sphinx-init makes (generated.py): the guides, and no network."""

from typing import Any

from generated import *  # noqa: F403
from generated import extensions

extensions = [*extensions, "myst_parser"]
# Inventories of other projects would be fetched.
intersphinx_mapping = {}
# Of ansible-core's own pages.
_LABELS = "action_plugins|callback_plugins|common_return_values|ansible_configuration_settings"
nitpick_ignore_regex = [(".*", r"ansible_collections\.ansible\..*"), ("std:envvar", "ANSIBLE_.*"), ("std:ref", _LABELS)]
myst_heading_anchors = 3
exclude_patterns = ["docs/site", "docs/docsite", ".github"]
# Commands and their output are shown as they are, also where they stand in a sentence.
smartquotes = False
highlight_language = "text"


def setup(app: Any) -> None:
    app.connect("html-page-context", _lead_header_to_start)


def _lead_header_to_start(app: Any, _page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    """By default, the header of the theme leads to the root of the server."""
    context["theme_documentation_home_url"] = context["pathto"](app.config.root_doc)
