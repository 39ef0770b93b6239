"""What search remembers between starts, in a SQLite file: ledgers, limits, instances. No query is ever among it."""

import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from kindly.search.world import Json
from kindly.sqlite import SqliteFile

if TYPE_CHECKING:
    import sqlite3

SCHEMA = """
CREATE TABLE IF NOT EXISTS state_1 (
    kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, key)
) WITHOUT ROWID;
"""
LOAD = "SELECT key, value FROM state_1 WHERE kind = ?"
SAVE = "INSERT OR REPLACE INTO state_1 (kind, key, value) VALUES (?, ?, ?)"
FORGET = "DELETE FROM state_1 WHERE kind = ? AND key = ?"


class SqliteState:
    """State in one file that several servers share; the last one to write a value wins."""

    def __init__(self, path: str) -> None:
        self._file = SqliteFile(path, SCHEMA, "search state")

    async def load(self, kind: str) -> Mapping[str, Json]:
        """All values of a kind, by their key."""
        return await self._file.run(partial(_load, kind))

    async def save(self, kind: str, values: Mapping[str, Json | None]) -> None:
        """Set values of a kind; None forgets one."""
        if values:
            await self._file.run(partial(_save, kind, values))

    async def aclose(self) -> None:
        """Close the file."""
        await self._file.aclose()


def _load(kind: str, database: "sqlite3.Connection") -> dict[str, Json]:
    rows = database.execute(LOAD, (kind,)).fetchall()
    return {key: value for key, text in rows if isinstance(value := json.loads(text), dict)}


def _save(kind: str, values: Mapping[str, Json | None], database: "sqlite3.Connection") -> None:
    with database:
        database.execute("BEGIN IMMEDIATE")
        for key, value in values.items():
            if value is None:
                database.execute(FORGET, (kind, key))
            else:
                database.execute(SAVE, (kind, key, json.dumps(value)))
