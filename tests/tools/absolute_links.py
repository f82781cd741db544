#!/usr/bin/env python3
"""Makes the links of all pages in the current folder lead to where the project lives: absolute_links.py BASE

A page of the artifact may lead to a file that the artifact lacks, and is shown where relative links lead nowhere.
Pictures are in the artifact. ``BASE``: below which a file of the repository is shown, as https://...
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path

_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)\s]+)\)")


def absolute(text: str, folder: str, base: str) -> str:
    """``folder``: of the page within the repository, to which its links are relative."""
    return _LINK.sub(lambda link: f"[{link[1]}]({base}/{posixpath.normpath(f'{folder}/{link[2]}')})", text)


if __name__ == "__main__":
    for page in Path().rglob("*.md"):
        page.write_text(absolute(page.read_text(), str(page.parent), sys.argv[1]))
