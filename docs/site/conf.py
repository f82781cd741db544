# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/tools/docsite adds to what antsibull-docs sphinx-init makes (generated.py): the guides, and no network."""

import posixpath
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from generated import *  # noqa: F403
from generated import extensions
from sphinx.addnodes import index
from sphinx.transforms import SphinxTransform

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


# Pages that are not for users: the search shows their titles only.
_INTERNAL = ("docs/dev/", "collections/slb/fleet/_", "tests/", "CONTRIBUTING")


class IndexOfWords(SphinxTransform):
    """Make an index entry of each word in the table of docs/README.md: the search shows its section first."""

    default_priority = 500

    def apply(self, **_how: Any) -> None:
        page = self.env.docname
        if page.startswith(_INTERNAL):
            self.env.metadata[page]["nosearch"] = True
        words = _words_by_section(Path(self.app.srcdir, "docs", "README.md").read_text(encoding="utf-8"))
        for number, section in enumerate(self.document.findall(nodes.section)):
            for name in section["ids"]:
                found = words.pop(f"{page}.md#{name}", []) + (words.pop(f"{page}.md", []) if number == 0 else [])
                if entries := [("single", word, name, "main", None) for word in found]:
                    section.insert(1, index(entries=entries))  # behind the title


def _words_by_section(page: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for words, links in re.findall(r"^\| ([^|]+) \| (\[.+) \|$", page, re.MULTILINE):
        target = re.findall(r"\]\(([^)]+)\)", links)[0]
        typed = {
            each for word in words.replace("`", "").split(", ") for each in (word, re.sub(r"\b(a|an|the) ", "", word))
        }
        found.setdefault(posixpath.normpath(f"docs/{target}"), []).extend(sorted(typed))
    return found


def setup(app: Any) -> None:
    app.add_transform(IndexOfWords)
    app.connect("html-page-context", _lead_header_to_start)


def _lead_header_to_start(app: Any, _page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    """By default, the header of the theme leads to the root of the server."""
    context["theme_documentation_home_url"] = context["pathto"](app.config.root_doc)
