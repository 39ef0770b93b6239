"""What search remembers, in the PostgreSQL that replicas share: ledgers, limits, instances. No query is ever among it.

A connection is dialled for each of the few loads and saves. While the server cannot be reached, what was last known is
kept in memory, with one warning.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio.to_thread

from kindly.search.state.state import Json, MemoryState
from kindly.telemetry.warn_once import WarnOnce

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

Value = TypeVar("Value")

TABLE = """
CREATE TABLE IF NOT EXISTS kindly_state_1 (
    kind text NOT NULL, key text NOT NULL, value jsonb NOT NULL, PRIMARY KEY (kind, key)
)
"""
SETUP_LOCK = 0x6B73746174
LOAD = "SELECT key, value::text FROM kindly_state_1 WHERE kind = %s"
SAVE = """
INSERT INTO kindly_state_1 (kind, key, value) VALUES (%s, %s, %s)
ON CONFLICT (kind, key) DO UPDATE SET value = EXCLUDED.value
"""
FORGET = "DELETE FROM kindly_state_1 WHERE kind = %s AND key = %s"
DIALLED: dict[str, Any] = {"connect_timeout": 3, "application_name": "kindly"}


class PostgresState:
    """State that any number of replicas share; the last one to write a value wins."""

    def __init__(self, url: str, alarm: WarnOnce | None = None) -> None:
        self._url = url
        self._alarm = alarm or WarnOnce()
        self._memory = MemoryState()
        self._is_set_up = False

    async def load(self, kind: str) -> Mapping[str, Json]:
        """All values of a kind, by their key."""
        found = await self._tried(partial(_load, kind))
        if found is None:
            return await self._memory.load(kind)
        self._memory.kinds[kind] = dict(found)
        return found

    async def save(self, kind: str, values: Mapping[str, Json | None]) -> None:
        """Set values of a kind; None forgets one."""
        if values:
            await self._memory.save(kind, values)
            await self._tried(partial(_save, kind, values))

    async def aclose(self) -> None:
        """Nothing is held open."""

    async def _tried(self, work: "Callable[[Connection], Value]") -> Value | None:
        return await anyio.to_thread.run_sync(self._connected, work)

    def _connected(self, work: "Callable[[Connection], Value]") -> Value | None:
        import psycopg

        try:
            with psycopg.connect(self._url, **DIALLED) as connection:
                self._set_up(connection)
                return work(connection)
        except psycopg.Error:
            self._alarm.warn(
                "postgres", "Search cannot reach its PostgreSQL; it goes on with what it knows."
            )
            return None

    def _set_up(self, connection: "Connection") -> None:
        if not self._is_set_up:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (SETUP_LOCK,))
            connection.execute(TABLE)
            connection.commit()
            self._is_set_up = True


def _load(kind: str, connection: "Connection") -> dict[str, Json]:
    rows = connection.execute(LOAD, (kind,)).fetchall()
    return {key: value for key, text in rows if isinstance(value := json.loads(text), dict)}


def _save(kind: str, values: Mapping[str, Json | None], connection: "Connection") -> None:
    for key, value in sorted(values.items()):
        if value is None:
            connection.execute(FORGET, (kind, key))
        else:
            connection.execute(SAVE, (kind, key, json.dumps(value)))
