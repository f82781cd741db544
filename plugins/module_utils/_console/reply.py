# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An answer together with what it says."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ansible_collections.slb.fleet.plugins.module_utils._console.content import Content, Kind, plain, strings
from ansible_collections.slb.fleet.plugins.module_utils._visible import in_short

if TYPE_CHECKING:
    from ansible_collections.slb.fleet.plugins.module_utils._console.redaction import Redactor
    from ansible_collections.slb.fleet.plugins.module_utils._console.transport import Answer

_EXCERPT_LENGTH = 300
_TEXT_LIMIT = 256 * 1024  # characters in which secrets are looked for, of which the excerpt is the beginning


@dataclass(frozen=True)
class Reply:
    """``excerpt``: the text of the answer, redacted, short and visible, in one line; all that is ever shown of it."""

    answer: Answer
    content: Content = field(repr=False)
    excerpt: str

    def described(self) -> str:
        """Completes the sentence 'it answered …'."""
        return self.outline() + (f": {self.excerpt.rstrip('.')}" if self.excerpt else "")

    def outline(self) -> str:
        """As ``described``, without a word of the body."""
        what = f"HTTP {self.answer.status} with {self.content.kind.value}"
        return what + (f" that {self.answer.defect}" if self.answer.defect else "")


def read_reply(answer: Answer, redact: Redactor) -> Reply:
    return Reply(answer, answer.content, _excerpt(answer.content, redact))


def _excerpt(content: Content, redact: Redactor) -> str:
    if content.kind is Kind.JSON:
        text = "; ".join(strings(content.value)) or content.source
    elif content.kind is Kind.HTML:
        text = replace(content, source=redact(content.source)).page.text
    else:
        text = content.source
    # Before, because making it plain changes what a secret looks like; after, because it may reveal one.
    return in_short(redact(plain(redact(text[:_TEXT_LIMIT]))), _EXCERPT_LENGTH)
