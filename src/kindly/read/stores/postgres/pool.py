"""Connections to the PostgreSQL that keeps the library: dialled when needed, used in threads, replaced when lost.

A pool that keeps dialling in the background answers late when the server is down; here the first failed dial is told.
Errors name the server, never who logs in.
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

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

Value = TypeVar("Value")

CONNECTIONS = 8
ATTEMPTS = 3
SETUP_LOCK = 0x6B696E646C79
PAUSE_S = (0.005, 0.05)
DIALLED: dict[str, Any] = {
    "connect_timeout": "10",
    "application_name": "kindly",
    "keepalives_idle": "30",
    "tcp_user_timeout": "30000",
}
STATEMENT_TIMEOUT = "SET statement_timeout = '60s'"
AGAIN = frozenset({"40001", "40P01"})
"""Serialization failure and deadlock: the same work may succeed at once."""
REASONS = {
    "08": "the connection was lost",
    "42501": "the user may not do that there",
    "53100": "its disk is full",
    "53300": "it has too many connections",
    "57014": "it took more than 60 seconds",
    "57P": "it is shutting down or starting",
}
DIAL_REASONS = {
    "authentication": "it refused the user or the password",
    "password": "it refused the user or the password",
    "does not exist": "there is no such database or user",
    "too many": "it has too many connections",
    "starting up": "it is shutting down or starting",
    "shutting down": "it is shutting down or starting",
    "SSL": "no encrypted connection could be agreed on",
    "certificate": "its certificate cannot be verified",
}
"""A dial that fails has no code; its text may hold what is not to be shown."""
NO_VECTOR = (
    "PostgreSQL has no usable pgvector (0.7 or newer) at {place}. Install it on the server (for example the package "
    "postgresql-18-pgvector) and run CREATE EXTENSION vector in the database as its owner."
)


class Postgres:
    """A server to come: dialled at first use, with the tables that `migrations` make of an empty schema."""

    def __init__(self, url: str, migrations: Sequence[str]) -> None:
        self._url = url
        self._migrations = migrations
        self._limiter = anyio.CapacityLimiter(CONNECTIONS)
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        self._ready = False
        self._held: Connection | None = None

    @cached_property
    def place(self) -> str:
        """Where it is, without who logs in."""
        return _place(self._url)

    async def run(self, work: "Callable[[Connection], Value]") -> Value:
        """Do `work` in a thread, all of it or nothing; it may run more than once."""
        return await anyio.to_thread.run_sync(self._work, work, limiter=self._limiter)

    async def hold(self, key: str) -> None:
        """Wait until nobody who shares the server holds `key`, and hold it."""
        number = _number(key)
        while True:
            if await anyio.to_thread.run_sync(self._try_hold, number):
                return
            await anyio.sleep(random.uniform(*PAUSE_S))  # noqa: S311 - so that no two fall into step

    async def let_go(self, key: str) -> None:
        """Hold `key` no more."""
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._try_let_go, _number(key))

    async def aclose(self) -> None:
        """Close all connections."""
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
            if attempt == ATTEMPTS or not (lost or error.sqlstate in AGAIN):
                raise self._translated(error) from None
        finally:
            self._put_back(connection)
        return self._work(work, attempt + 1)

    def _take(self) -> "Connection":
        with self._lock:
            if not self._ready:
                self._set_up()
                self._ready = True
            if self._idle:
                return self._idle.pop()
        return self._dial()

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
        """Where one connection was lost, the others that wait were most likely lost with it."""
        with self._lock:
            idle, self._idle = self._idle, []
        for one in idle:
            one.close()

    def _dial(self) -> "Connection":
        connection = self._dial_bare()
        try:
            _know_vectors(connection, self.place)
        except BaseException:
            connection.close()
            raise
        return connection

    def _dial_bare(self) -> "Connection":
        import psycopg

        parts = DIALLED | _parts(self._url)
        connection = psycopg.connect(autocommit=True, **parts)
        try:
            connection.execute(STATEMENT_TIMEOUT)
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_up(self) -> None:
        """Make the tables, or see that they are ours and of our version; one server at a time."""
        with self._dial_bare() as connection, connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (SETUP_LOCK,))
            version = self._version(connection)
            if version == 0:
                _make_vector(connection, self.place)
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

    def _try_hold(self, number: int) -> bool:
        import psycopg

        known = self._held
        try:
            with self._lock:
                if self._held is None:
                    self._held = self._dial_bare()
                held = self._held
            row = held.execute("SELECT pg_try_advisory_lock(%s)", (number,)).fetchone()
        except psycopg.Error as error:
            self._let_all_go()
            if known is None:
                raise self._translated(error) from None
            return self._try_hold(number)
        return row == (True,)

    def _try_let_go(self, number: int) -> None:
        import psycopg

        with self._lock:
            held = self._held
        if held is not None:
            try:
                held.execute("SELECT pg_advisory_unlock(%s)", (number,))
            except psycopg.Error:
                self._let_all_go()

    def _let_all_go(self) -> None:
        with self._lock:
            held, self._held = self._held, None
        if held is not None:
            held.close()

    def _close(self) -> None:
        self._let_all_go()
        with self._lock:
            self._ready = False
        self._drop_idle()


def _parts(url: str) -> dict[str, Any]:
    """What an address says, without showing it where it cannot be read."""
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        return dict(conninfo_to_dict(url))
    except ProgrammingError:
        raise StoreUnavailable(
            "The address of the PostgreSQL store cannot be read; it looks like "
            "postgresql://user:password@host:5432/name."
        ) from None


def _place(url: str) -> str:
    parts = _parts(url)
    host, port = parts.get("host") or "localhost", parts.get("port") or 5432
    return f"{host}:{port}/{parts.get('dbname') or ''}"


def _reason(sqlstate: str | None, text: str) -> str:
    if sqlstate is None:
        signs = (reason for sign, reason in DIAL_REASONS.items() if sign in text)
        return next(signs, "it cannot be reached")
    starts = (reason for start, reason in REASONS.items() if sqlstate.startswith(start))
    return next(starts, f"it gave error {sqlstate}")


def _make_vector(connection: "Connection", place: str) -> None:
    import psycopg

    try:
        with connection.transaction():
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except psycopg.errors.UniqueViolation:
        return  # made at the same moment, by another schema's library
    except psycopg.Error:
        raise StoreUnavailable(NO_VECTOR.format(place=place)) from None


def _know_vectors(connection: "Connection", place: str) -> None:
    from pgvector.psycopg import register_vector
    from psycopg import ProgrammingError
    from psycopg.types import TypeInfo

    with suppress(ProgrammingError):
        register_vector(connection)
    if TypeInfo.fetch(connection, "halfvec") is None:
        raise StoreUnavailable(NO_VECTOR.format(place=place))


def _number(key: str) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big", signed=True)
