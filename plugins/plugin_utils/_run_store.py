# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the workers of a run tell each other about its hosts; no host looks at another one's variables.

A small database in the run's own temporary folder, which ansible-core makes before it forks its workers and removes
when the run ends. What one host costs does not grow with the number of the others.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from ansible_collections.slb.fleet.plugins.module_utils._errors import FleetError
from ansible_collections.slb.fleet.plugins.module_utils.management_node.engine_list import comparable

_BUSY_SECONDS = 60
_SCHEMA = """
CREATE TABLE IF NOT EXISTS claims (node, kind, value, host, PRIMARY KEY (node, kind, value, host));
CREATE TABLE IF NOT EXISTS wanted (host PRIMARY KEY, node, name, address);
CREATE INDEX IF NOT EXISTS wanted_at ON wanted (address);
CREATE TABLE IF NOT EXISTS wishes (host, container, most, granted DEFAULT 0, PRIMARY KEY (host, container));
CREATE TABLE IF NOT EXISTS distrust (node PRIMARY KEY, host);
CREATE TABLE IF NOT EXISTS batch (host PRIMARY KEY);
CREATE TABLE IF NOT EXISTS said (text PRIMARY KEY, host);
CREATE TABLE IF NOT EXISTS fleet (size);
CREATE TABLE IF NOT EXISTS work (host PRIMARY KEY, wants);
CREATE TABLE IF NOT EXISTS approved (source, host, wants, PRIMARY KEY (source, host));
"""


class Wishes(NamedTuple):
    """Hosts with a running container that the list's word alone would have taken away; ``granted``: those that was
    granted for. ``most``: how many may be.
    """

    hosts: tuple[str, ...]
    granted: tuple[str, ...]
    most: int


class RunStore:
    """Shared by all workers of a run. ``opened``: gives the database, for one call."""

    def __init__(self, opened: Callable[[], AbstractContextManager[sqlite3.Connection]]) -> None:
        self._open = opened

    @classmethod
    def of_run(cls, folder: Path) -> RunStore:
        """``folder``: the run's own temporary one."""
        return cls(_Database(folder / "slb-fleet-run.db").open)

    @classmethod
    def in_memory(cls) -> RunStore:
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.executescript(_SCHEMA)
        return cls(lambda: contextlib.nullcontext(connection))

    def claim(self, node: str, host: str, name: str, manage_ip: str) -> str:
        """``host`` wants this name and this address. Says in words which other host wants one of them, too."""
        # An engine's name is its console's own; an address is one host, whichever management node reaches it.
        wanted = ((node, "name", name), ("", "address", comparable(manage_ip)))
        with self._open() as database:
            for node, kind, value in wanted:
                database.execute("INSERT OR IGNORE INTO claims VALUES (?, ?, ?, ?)", (node, kind, value, host))
            for node, kind, value in wanted:
                others = database.execute(
                    "SELECT host FROM claims WHERE node = ? AND kind = ? AND value = ? AND host != ? ORDER BY host",
                    (node, kind, value, host),
                )
                if names := [other for (other,) in others]:
                    return f"The engine's {kind} {value} is wanted by {' and '.join([*names, host])} alike."
        return ""

    def want(self, node: str, host: str, name: str, manage_ip: str) -> None:
        """``host`` wants this engine, whether it can be looked at or not; and claims nothing."""
        with self._open() as database:
            database.execute("REPLACE INTO wanted VALUES (?, ?, ?, ?)", (host, node, name, comparable(manage_ip)))

    def wish(self, host: str, container: str, limit: int, counts_only: bool) -> Wishes | None:
        """``host`` would have this running container taken out of the way on the list's word alone.

        With ``counts_only`` this is only noted, so that all can be counted. Otherwise it is granted, or, where the run
        has more than ``limit`` such containers, refused: then it is said which hosts have them. Of several limits the
        smallest holds.
        """
        with self._open() as database:
            database.execute("BEGIN IMMEDIATE")
            database.execute("DELETE FROM wishes WHERE host = ? AND container != ? AND NOT granted", (host, container))
            wish = (host, container, limit)
            database.execute("INSERT OR IGNORE INTO wishes (host, container, most) VALUES (?, ?, ?)", wish)
            rows = database.execute("SELECT host, container, granted FROM wishes ORDER BY host, container").fetchall()
            most = min(limit, *(row[0] for row in database.execute("SELECT most FROM wishes")))
            is_granted = (host, container, 1) in rows
            is_refused = not counts_only and not is_granted and len(rows) > most
            if not counts_only and not is_refused:
                database.execute("UPDATE wishes SET granted = 1 WHERE host = ? AND container = ?", (host, container))
            database.execute("COMMIT")
        if not is_refused:
            return None
        return Wishes(tuple(row[0] for row in rows), tuple(row[0] for row in rows if row[2]), most)

    def unwish(self, host: str) -> None:
        """Takes back a wish that was not granted."""
        with self._open() as database:
            database.execute("DELETE FROM wishes WHERE host = ? AND NOT granted", (host,))

    def has_conflicts(self) -> bool:
        """Whether what hosts want does not go together: a decision that was made before all of it was known may be
        another one now.
        """
        with self._open() as database:
            disputed = database.execute(
                "SELECT 1 FROM claims GROUP BY node, kind, value HAVING count(*) > 1"
            ).fetchone()
            wished, most = database.execute("SELECT count(*), min(most) FROM wishes").fetchone()
        return disputed is not None or bool(wished and wished > most)

    def distrust(self, node: str, host: str) -> None:
        """The list of ``node`` was wrong about ``host``."""
        with self._open() as database:
            database.execute("INSERT OR IGNORE INTO distrust VALUES (?, ?)", (node, host))

    def distrusted(self, node: str) -> str:
        """The host about which the list was wrong; empty if it has not."""
        with self._open() as database:
            found = database.execute("SELECT host FROM distrust WHERE node = ?", (node,)).fetchone()
        return str(found[0]) if found else ""

    def first_to_say(self, text: str, host: str) -> str:
        """The host that has said ``text`` first in this run."""
        with self._open() as database:
            database.execute("INSERT OR IGNORE INTO said VALUES (?, ?)", (text, host))
            return str(database.execute("SELECT host FROM said WHERE text = ?", (text,)).fetchone()[0])

    def is_news(self, text: str, host: str) -> bool:
        """Whether ``host`` says ``text`` for the first time in this run."""
        with self._open() as database:
            return database.execute("INSERT OR IGNORE INTO said VALUES (?, ?)", (f"{host}: {text}", host)).rowcount == 1

    def batch(self) -> set[str]:
        """The hosts with which the last batch has begun."""
        with self._open() as database:
            return {host for (host,) in database.execute("SELECT host FROM batch")}

    def note_batch(self, hosts: Iterable[str]) -> None:
        with self._open() as database:
            database.execute("BEGIN IMMEDIATE")
            database.execute("DELETE FROM batch")
            database.executemany("INSERT INTO batch VALUES (?)", [(host,) for host in hosts])
            database.execute("COMMIT")

    def note_work(self, host: str, wants: str) -> None:
        """What is to be done about ``host`` before anything is done; empty for nothing."""
        with self._open() as database:
            database.execute("REPLACE INTO work VALUES (?, ?)", (host, wants))

    def work(self) -> dict[str, str]:
        """The hosts about which something is to be done."""
        with self._open() as database:
            return dict(database.execute("SELECT host, wants FROM work WHERE wants != ''").fetchall())

    def keep_approved(self, source: str, work: Mapping[str, str]) -> None:
        """``source``: names the plan, of which no host is named by an empty text."""
        with self._open() as database:
            database.execute("BEGIN IMMEDIATE")
            rows = [(source, host, wants) for host, wants in {**work, "": ""}.items()]
            database.executemany("REPLACE INTO approved VALUES (?, ?, ?)", rows)
            database.execute("COMMIT")

    def approved(self, source: str, host: str) -> str | None:
        """What the plan has for ``host``, empty for nothing; None where the plan is not kept yet."""
        with self._open() as database:
            found = dict(
                database.execute(
                    "SELECT host, wants FROM approved WHERE source = ? AND host IN (?, '')", (source, host)
                ).fetchall()
            )
        return found.get(host, "") if found else None

    def unwanted(self, engines: Iterable[Mapping[str, str]], node: str) -> list[str]:
        """The engines of which no host of this node wants the name or the address; where a host of another node wants
        the address, with that one: it may have been moved there, or both be names of one management node.
        """
        with self._open() as database:
            rows = database.execute("SELECT node, name, address FROM wanted ORDER BY node DESC").fetchall()
        here = {text for wanted, name, address in rows if wanted == node for text in (name, address)}
        elsewhere = {address: wanted for wanted, _name, address in rows if wanted != node}
        return [
            f"{each['name']} ({each['address']}"
            f"{', in the inventory of ' + elsewhere[each['address']] if each['address'] in elsewhere else ''})"
            for each in sorted(engines, key=lambda each: each["name"])
            if not here & {each["name"], each["address"]}
        ]

    def fleet(self, size: int) -> int:
        """The number of the run's hosts: the most that any of its plays has had."""
        with self._open() as database:
            found = database.execute("SELECT max(size) FROM fleet").fetchone()[0] or 0
            if size > found:
                database.execute("INSERT INTO fleet VALUES (?)", (size,))
        return max(size, found)


class _Database:
    """The one at ``path``, opened by the first call and kept for those that follow: a look at a host makes several, and
    to open it takes longer than all else.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept: tuple[int, sqlite3.Connection] | None = None

    def __del__(self) -> None:
        self._close()

    @contextlib.contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        try:
            # What was opened before a worker was forked is not the worker's.
            if self._kept is None or self._kept[0] != os.getpid():
                self._kept = os.getpid(), _connected(self._path)
            yield self._kept[1]
        except BaseException as error:
            # With what it has locked, for which others wait.
            self._close()
            if not isinstance(error, (OSError, sqlite3.Error)):
                raise
            raise FleetError(
                f"What this run knows cannot be kept in its temporary folder {self._path.parent}: {error}.",
                "Make room there, or set ANSIBLE_LOCAL_TEMP to a folder with room for the user that runs Ansible.",
            ) from None

    def _close(self) -> None:
        if self._kept is not None and self._kept[0] == os.getpid():
            self._kept[1].close()
            self._kept = None


def _connected(path: Path) -> sqlite3.Connection:
    os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
    database = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        # It ends with the run: what a power cut would do to it does not matter.
        database.execute("PRAGMA synchronous = OFF")
        database.execute("PRAGMA journal_mode = MEMORY")
        # Each worker opens it, and to read through the tables takes as long as all the rest.
        if database.execute("PRAGMA user_version").fetchone() == (0,):
            database.executescript(f"{_SCHEMA} PRAGMA user_version = 1;")
    except BaseException:
        database.close()
        raise
    return database
