"""A health check of a database file for `doctor`: is it intact, and is another process writing it? Changes nothing."""

import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from kindly.frozen import frozen

if TYPE_CHECKING:
    import sqlite3

CHECK_S = 8.0
"""A file that takes longer to read is checked in part."""
BUSY_S = 0.5
STEPS = 10_000


@frozen
class FileHealth:
    """What the check found."""

    damage: str = ""
    """What is wrong; empty if nothing."""
    is_complete: bool = True
    """Whether the whole file was checked."""
    is_being_written: bool = False


def check_sqlite_file(path: Path, limit_s: float = CHECK_S) -> FileHealth:
    """Run SQLite's `quick_check` on the file, for at most `limit_s` seconds."""
    import sqlite3

    address = f"{path.absolute().as_uri()}?mode=rw"
    try:
        with closing(
            sqlite3.connect(address, uri=True, timeout=BUSY_S, isolation_level=None)
        ) as database:
            return _quick_check(database, time.monotonic() + limit_s)
    except sqlite3.OperationalError as error:
        return FileHealth(damage=f"it cannot be opened ({error.sqlite_errorname})")
    except sqlite3.DatabaseError as error:
        return FileHealth(damage=f"it is damaged ({error.sqlite_errorname})")


def _quick_check(database: "sqlite3.Connection", until: float) -> FileHealth:
    import sqlite3

    is_being_written = _is_being_written(database)
    database.set_progress_handler(lambda: time.monotonic() > until, STEPS)
    try:
        (verdict,) = database.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorname != "SQLITE_INTERRUPT":
            raise
        return FileHealth(is_complete=False, is_being_written=is_being_written)
    damage = "" if verdict == "ok" else f"it is damaged ({str(verdict)[:100]})"
    return FileHealth(damage=damage, is_being_written=is_being_written)


def _is_being_written(database: "sqlite3.Connection") -> bool:
    import sqlite3

    try:
        database.execute("BEGIN IMMEDIATE")
        database.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorname in {"SQLITE_BUSY", "SQLITE_LOCKED"}:
            return True
        raise
    return False
