#!/usr/bin/env python3
"""Makes the links of pages lead to where the project lives: absolute_links.py BASE RAW PAGE...

The pages of a collection and of its roles are shown elsewhere, where what they lead to is not. ``BASE``, ``RAW``: below
which a file of the repository is shown, and is had as it is (pictures), as https://...
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)\s]+)\)")


def absolute(text: str, folder: str, base: str, raw: str) -> str:
    """``folder``: of the page within the repository, to which its links are relative."""

    def moved(link: re.Match[str]) -> str:
        picture, words, target = link.groups()
        return f"{picture}[{words}]({raw if picture else base}/{posixpath.normpath(f'{folder}/{target}')})"

    return _LINK.sub(moved, text)


if __name__ == "__main__":
    for page in map(Path, sys.argv[3:]):
        page.write_text(absolute(page.read_text(), str(page.parent), sys.argv[1], sys.argv[2]))
