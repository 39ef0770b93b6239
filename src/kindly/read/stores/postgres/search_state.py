"""The state of search in the same PostgreSQL, shared by replicas: statistics, rate limits, instance health. No queries.

Each load and save opens a connection; there are few. While the server cannot be reached, the last known values are
used, with one warning.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio.to_thread

from kindly.storage.state import Json
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
DELETE = "DELETE FROM kindly_state_1 WHERE kind = %s AND key = %s"
CONNECT_OPTIONS: dict[str, Any] = {"connect_timeout": 3, "application_name": "kindly"}


class PostgresState:
    """A key-value store that any number of replicas share; the last write of a value wins."""

    def __init__(self, url: str, warnings: WarnOnce | None = None) -> None:
        self._url = url
        self._warnings = warnings or WarnOnce()
        self._last_known: dict[str, dict[str, Json]] = {}
        self._is_set_up = False

    async def load(self, kind: str) -> Mapping[str, Json]:
        """All values of a kind, by key."""
        loaded = await self._try(partial(_load, kind))
        if loaded is not None:
            self._last_known[kind] = loaded
        return dict(self._last_known.get(kind, {}))

    async def save(self, kind: str, values: Mapping[str, Json | None]) -> None:
        """Set values of a kind; None deletes one."""
        if values:
            merged = {**self._last_known.get(kind, {}), **values}
            self._last_known[kind] = {
                key: value for key, value in merged.items() if value is not None
            }
            await self._try(partial(_save, kind, values))

    async def aclose(self) -> None:
        """No connection stays open."""

    async def _try(self, work: "Callable[[Connection], Value]") -> Value | None:
        return await anyio.to_thread.run_sync(self._run, work)

    def _run(self, work: "Callable[[Connection], Value]") -> Value | None:
        import psycopg

        try:
            with psycopg.connect(self._url, **CONNECT_OPTIONS) as connection:
                self._set_up(connection)
                return work(connection)
        except psycopg.Error:
            self._warnings.warn(
                "postgres",
                "PostgreSQL is not reachable: search continues with the last loaded state.",
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
            connection.execute(DELETE, (kind, key))
        else:
            connection.execute(SAVE, (kind, key, json.dumps(value)))
