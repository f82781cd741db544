"""Who is logged in. Sessions live in memory: a restart ends them all."""

import secrets

MARK = "session-of-the-lab-"
"""Each identifier begins so, for tests that search for one where none may be."""


class Sessions:
    """A session lasts until the process ends."""

    def __init__(self) -> None:
        self._identifiers: set[str] = set()

    def begin(self) -> str:
        """A new session's identifier."""
        identifier = f"{MARK}{secrets.token_hex(16)}"
        self._identifiers.add(identifier)
        return identifier

    def is_alive(self, identifier: str) -> bool:
        return identifier in self._identifiers

    def count(self) -> int:
        return len(self._identifiers)
