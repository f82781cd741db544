"""A file for a host's container."""

from dataclasses import dataclass


@dataclass(frozen=True)
class File:
    """A file of root's in the container. ``path``: without the leading slash."""

    path: str
    content: str
    mode: int = 0o644
