"""A connection pool for PostgreSQL: connections are opened when needed, used in threads, and replaced when lost.

psycopg's own pool reconnects in the background and reports a server that is down late; this one reports the first
failed connection. Errors name the server, never the credentials.
"""

import hashlib
import random
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread

from kindly.errors import StoreRefused, StoreUnavailable
from kindly.read.row_format import SCHEMA
from kindly.read.store import log_opening

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

Value = TypeVar("Value")

CONNECTIONS = 8
ATTEMPTS = 3
SETUP_LOCK = 0x6B696E646C79
PAUSE_S = (0.005, 0.05)
CONNECT_OPTIONS: dict[str, Any] = {
    "connect_timeout": "10",
    "application_name": "kindly",
    "keepalives_idle": "30",
    "tcp_user_timeout": "30000",
}
STATEMENT_TIMEOUT = "SET statement_timeout = '60s'"
RETRIED_STATES = frozenset({"40001", "40P01"})
"""SQLSTATEs of serialization failure and deadlock: an immediate retry may succeed."""
REASONS = {
    "08": "the connection was lost",
    "42501": "the user lacks the permission",
    "53100": "its disk is full",
    "53300": "it has too many connections",
    "57014": "it took more than 60 seconds",
    "57P": "it is shutting down or starting",
}
CONNECT_REASONS = {
    "authentication": "it refused the user or the password",
    "password": "it refused the user or the password",
    "does not exist": "there is no such database or user",
    "too many": "it has too many connections",
    "starting up": "it is shutting down or starting",
    "shutting down": "it is shutting down or starting",
    "SSL": "no encrypted connection could be negotiated",
    "certificate": "its certificate cannot be verified",
}
"""A failed connection has no SQLSTATE, and its text may contain credentials."""
NO_VECTOR = (
    "PostgreSQL has no usable pgvector (0.7 or newer) at {place}. Install it on the server (for example the package "
    "postgresql-18-pgvector) and run CREATE EXTENSION vector in the database as its owner."
)


class Postgres:
    """A server, connected at first use; its schema is migrated by the steps in `migrations`."""

    def __init__(self, url: str, migrations: Sequence[str]) -> None:
        self._url = url
        self._migrations = migrations
        self._limiter = anyio.CapacityLimiter(CONNECTIONS)
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        self._ready = False
        self._lock_connection: Connection | None = None

    @cached_property
    def place(self) -> str:
        """Host, port and database, without credentials."""
        return _place(self._url)

    async def run(self, work: "Callable[[Connection], Value]") -> Value:
        """Run `work` in a thread, in a transaction. It may run more than once."""
        return await anyio.to_thread.run_sync(self._work, work, limiter=self._limiter)

    async def acquire_lock(self, key: str) -> None:
        """Wait for the advisory lock on `key`."""
        number = _lock_number(key)
        while True:
            if await anyio.to_thread.run_sync(self._try_lock, number):
                return
            await anyio.sleep(random.uniform(*PAUSE_S))  # noqa: S311 - so that no two fall into step

    async def release_lock(self, key: str) -> None:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._unlock, _lock_number(key))

    async def aclose(self) -> None:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._close)

    def _work(self, work: "Callable[[Connection], Value]", attempt: int = 1) -> Value:
        import psycopg

        connection = None
        try:
            connection = self._take()
            with connection.transaction():
                return work(connection)
        except psycopg.Error as error:
            lost = connection is not None and connection.closed
            if attempt == ATTEMPTS or not (lost or error.sqlstate in RETRIED_STATES):
                raise self._translated(error) from None
        finally:
            self._put_back(connection)
        return self._work(work, attempt + 1)

    def _take(self) -> "Connection":
        with self._lock:
            if not self._ready:
                self._set_up()
                self._ready = True
                log_opening("postgres", self.place)
            if self._idle:
                return self._idle.pop()
        return self._connect()

    def _put_back(self, connection: "Connection | None") -> None:
        if connection is None:
            return
        with self._lock:
            if self._ready and not connection.closed:
                self._idle.append(connection)
                return
        connection.close()
        self._drop_idle()

    def _drop_idle(self) -> None:
        """If one connection was lost, the idle ones most likely were, too."""
        with self._lock:
            idle, self._idle = self._idle, []
        for one in idle:
            one.close()

    def _connect(self) -> "Connection":
        connection = self._connect_bare()
        try:
            _register_vectors(connection, self.place)
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect_bare(self) -> "Connection":
        import psycopg

        parts = CONNECT_OPTIONS | _parts(self._url)
        connection = psycopg.connect(autocommit=True, **parts)
        try:
            connection.execute(STATEMENT_TIMEOUT)
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_up(self) -> None:
        """Create the tables, or check their owner and version, under a lock among all servers."""
        with self._connect_bare() as connection, connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (SETUP_LOCK,))
            version = self._version(connection)
            if version == 0:
                _create_extension(connection, self.place)
            for step in self._migrations[version:]:
                connection.execute(step.encode())
            connection.execute(
                "INSERT INTO kindly_meta VALUES (%s, %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                (SCHEMA, str(len(self._migrations))),
            )

    def _version(self, connection: "Connection") -> int:
        row = connection.execute("SELECT to_regclass('kindly_meta') IS NULL").fetchone()
        if row == (True,):
            return 0
        row = connection.execute(
            "SELECT value FROM kindly_meta WHERE key = %s", (SCHEMA,)
        ).fetchone()
        if row is None:
            raise StoreRefused(
                f"The table kindly_meta at {self.place} is not a library's. Use another database or schema."
            )
        if int(row[0]) > len(self._migrations):
            raise StoreRefused(
                f"The library at {self.place} was written by a newer version of Kindly (library version {row[0]}, this "
                f"one knows {len(self._migrations)}). Upgrade Kindly, or use another database."
            )
        return int(row[0])

    def _translated(self, error: "psycopg.Error") -> StoreUnavailable:
        reason = _reason(error.sqlstate, str(error))
        return StoreUnavailable(
            f"The library in PostgreSQL at {self.place} cannot be used: {reason}."
        )

    def _try_lock(self, number: int) -> bool:
        import psycopg

        known = self._lock_connection
        try:
            with self._lock:
                if self._lock_connection is None:
                    self._lock_connection = self._connect_bare()
                held = self._lock_connection
            row = held.execute("SELECT pg_try_advisory_lock(%s)", (number,)).fetchone()
        except psycopg.Error as error:
            self._drop_locks()
            if known is None:
                raise self._translated(error) from None
            return self._try_lock(number)
        return row == (True,)

    def _unlock(self, number: int) -> None:
        import psycopg

        with self._lock:
            held = self._lock_connection
        if held is not None:
            try:
                held.execute("SELECT pg_advisory_unlock(%s)", (number,))
            except psycopg.Error:
                self._drop_locks()

    def _drop_locks(self) -> None:
        with self._lock:
            held, self._lock_connection = self._lock_connection, None
        if held is not None:
            held.close()

    def _close(self) -> None:
        self._drop_locks()
        with self._lock:
            self._ready = False
        self._drop_idle()


def _parts(url: str) -> dict[str, Any]:
    """The parts of an address; the error does not show it."""
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        return dict(conninfo_to_dict(url))
    except ProgrammingError:
        raise StoreUnavailable(
            "The address of the PostgreSQL store cannot be parsed. It has the form "
            "postgresql://user:password@host:5432/name."
        ) from None


def _place(url: str) -> str:
    parts = _parts(url)
    host, port = parts.get("host") or "localhost", parts.get("port") or 5432
    return f"{host}:{port}/{parts.get('dbname') or ''}"


def _reason(sqlstate: str | None, text: str) -> str:
    if sqlstate is None:
        reasons = (reason for wording, reason in CONNECT_REASONS.items() if wording in text)
        return next(reasons, "it cannot be reached")
    known = (reason for start, reason in REASONS.items() if sqlstate.startswith(start))
    return next(known, f"it reported error {sqlstate}")


def _create_extension(connection: "Connection", place: str) -> None:
    import psycopg

    try:
        with connection.transaction():
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except psycopg.errors.UniqueViolation:
        return  # another schema's library created it at the same time
    except psycopg.Error:
        raise StoreUnavailable(NO_VECTOR.format(place=place)) from None


def _register_vectors(connection: "Connection", place: str) -> None:
    from pgvector.psycopg import register_vector
    from psycopg import ProgrammingError
    from psycopg.types import TypeInfo

    with suppress(ProgrammingError):
        register_vector(connection)
    if TypeInfo.fetch(connection, "halfvec") is None:
        raise StoreUnavailable(NO_VECTOR.format(place=place))


def _lock_number(key: str) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big", signed=True)
