#!/usr/bin/env python3
"""Makes the links of all pages in the current folder lead to where the project lives: absolute_links.py BASE

A page of the artifact may lead to a file that the artifact lacks, and is shown where relative links lead nowhere. So is
README.md with its picture; those of other pages are in the artifact. ``BASE``: below which a file of the repository is
shown, as https://.../blob/TAG. Its content is below the same address with raw in place of blob.
"""

import posixpath
import re
import sys
from pathlib import Path

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)\s]+)\)")


def absolute(text: str, folder: str, base: str) -> str:
    """``folder``: of the page within the repository, to which its links are relative."""

    def lead(link: re.Match[str]) -> str:
        picture, words, target = link.groups()
        if picture and folder != ".":
            return link[0]
        start = base.replace("/blob/", "/raw/") if picture else base
        return f"{picture}[{words}]({start}/{posixpath.normpath(f'{folder}/{target}')})"

    return _LINK.sub(lead, text)


if __name__ == "__main__":
    for page in Path().rglob("*.md"):
        page.write_text(absolute(page.read_text(), str(page.parent), sys.argv[1]))
