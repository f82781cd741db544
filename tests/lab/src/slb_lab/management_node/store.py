"""The engines that the management node knows, in SQLite: they survive a restart and a kill."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import aiosqlite

Status = Literal["deploying", "failed", "running"]

_FOREVER = 1e12
_SCHEMA = """
CREATE TABLE IF NOT EXISTS engines (
    name TEXT PRIMARY KEY,
    address TEXT NOT NULL UNIQUE,
    credential INTEGER NOT NULL,
    status TEXT NOT NULL,
    progress INTEGER NOT NULL DEFAULT 0,
    message TEXT NOT NULL DEFAULT '',
    listed INTEGER NOT NULL DEFAULT 1,
    stuck_until REAL NOT NULL DEFAULT 0
)
"""


@dataclass(frozen=True)
class Engine:
    """``status`` is the truth; progress (in percent) and message are what the console shows.

    Not ``listed``: the console shows nothing of it.
    """

    name: str
    address: str
    credential: int
    status: Status
    progress: int
    message: str
    listed: bool
    front_end_stuck: bool

    @property
    def shown_status(self) -> Status:
        return "deploying" if self.front_end_stuck else self.status


class Store:
    """Use ``open_store``. Each write is one statement, so that a cancelled task cannot leave half of one."""

    def __init__(self, database: aiosqlite.Connection) -> None:
        self._database = database

    async def engines(self) -> list[Engine]:
        """All of them, unlisted ones too, by name."""
        rows = await self._database.execute_fetchall("SELECT * FROM engines ORDER BY name")
        now = time.time()
        return [_engine(row, now) for row in rows]

    async def is_taken(self, name: str, address: str) -> bool:
        """Whether an engine of this name or at this address is running or being deployed."""
        rows = await self._database.execute_fetchall(
            "SELECT 1 FROM engines WHERE (name = ? OR address = ?) AND status != 'failed'", (name, address)
        )
        return bool(list(rows))

    async def claim(self, name: str, address: str, credential: int) -> bool:
        """List the engine as deploying, in place of failed ones; False if its name or address is taken."""
        claimed = await self._write(
            "INSERT OR REPLACE INTO engines (name, address, credential, status) SELECT ?, ?, ?, 'deploying' "
            "WHERE NOT EXISTS (SELECT 1 FROM engines WHERE (name = ? OR address = ?) AND status != 'failed')",
            name,
            address,
            credential,
            name,
            address,
        )
        return claimed > 0

    async def progressed(self, name: str, progress: int, message: str) -> None:
        await self._write("UPDATE engines SET progress = ?, message = ? WHERE name = ?", progress, message, name)

    async def finished(self, name: str, stuck: bool | float) -> None:
        """Running; the front end does not show it for ``stuck`` seconds (true: until ``unstick``)."""
        until = _FOREVER if stuck is True else time.time() + stuck
        await self._write("UPDATE engines SET status = 'running', stuck_until = ? WHERE name = ?", until, name)

    async def failed(self, name: str, message: str, *, listed: bool) -> None:
        await self._write(
            "UPDATE engines SET status = 'failed', message = ?, listed = ? WHERE name = ?", message, listed, name
        )

    async def fail_interrupted(self, message: str) -> None:
        """Fail deployments that were in progress when an earlier process ended."""
        await self._write("UPDATE engines SET status = 'failed', message = ? WHERE status = 'deploying'", message)

    async def unstick(self) -> None:
        await self._write("UPDATE engines SET stuck_until = 0")

    async def forget(self, name: str) -> bool:
        """Whether there was one."""
        return await self._write("DELETE FROM engines WHERE name = ?", name) > 0

    async def _write(self, statement: str, *values: object) -> int:
        cursor = await self._database.execute(statement, values)
        return cursor.rowcount


@asynccontextmanager
async def open_store(path: Path) -> AsyncIterator[Store]:
    async with aiosqlite.connect(path, isolation_level=None) as database:
        database.row_factory = aiosqlite.Row
        await database.execute("PRAGMA journal_mode = WAL")
        await database.execute(_SCHEMA)
        yield Store(database)


def _engine(row: aiosqlite.Row, now: float) -> Engine:
    stuck = row["stuck_until"] > now
    settled = row["status"] == "running" and not stuck
    return Engine(
        name=row["name"],
        address=row["address"],
        credential=row["credential"],
        status=row["status"],
        progress=100 if settled else row["progress"],
        message="" if settled else row["message"],
        listed=bool(row["listed"]),
        front_end_stuck=stuck,
    )
