"""Search state in a SQLite file: provider statistics, rate limits, instance health. Never a query."""

import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from kindly.storage.sqlite import Schema, SqliteFile, transact
from kindly.storage.state import Json
from kindly.telemetry.warn_once import WarnOnce

if TYPE_CHECKING:
    import sqlite3

SCHEMA = """
CREATE TABLE IF NOT EXISTS state_1 (
    kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, key)
) WITHOUT ROWID;
"""
LOAD = "SELECT key, value FROM state_1 WHERE kind = ?"
SAVE = "INSERT OR REPLACE INTO state_1 (kind, key, value) VALUES (?, ?, ?)"
DELETE = "DELETE FROM state_1 WHERE kind = ? AND key = ?"


class SqliteState:
    """State in one file that several servers share; the last write of a value wins."""

    def __init__(self, path: str, warn_once: WarnOnce | None = None) -> None:
        self._file = SqliteFile(path, Schema(SCHEMA), "search state", warn_once)

    async def load(self, kind: str) -> Mapping[str, Json]:
        return await self._file.run(partial(_load, kind))

    async def save(self, kind: str, values: Mapping[str, Json | None]) -> None:
        if values:
            write = partial(_save, kind, values)
            await self._file.run(partial(transact, "BEGIN IMMEDIATE", write))

    async def aclose(self) -> None:
        await self._file.aclose()


def _load(kind: str, database: "sqlite3.Connection") -> dict[str, Json]:
    rows = database.execute(LOAD, (kind,)).fetchall()
    return {key: value for key, text in rows if (value := _object(text)) is not None}


def _object(text: object) -> Json | None:
    """A saved JSON object; None for anything else."""
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _save(kind: str, values: Mapping[str, Json | None], database: "sqlite3.Connection") -> None:
    for key, value in values.items():
        if value is None:
            database.execute(DELETE, (kind, key))
        else:
            database.execute(SAVE, (kind, key, json.dumps(value)))
