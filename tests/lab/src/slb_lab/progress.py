"""How the lab says what it does."""

from collections.abc import Callable

Report = Callable[[str, str], None]
"""Takes note that a subject (a host, an image, the management node) is now at a step; called from any thread."""


def silent(subject: str, step: str) -> None:
    """A Report for callers without an audience."""
