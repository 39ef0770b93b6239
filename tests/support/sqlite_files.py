"""SQLite files for tests."""

import sqlite3
from contextlib import closing
from pathlib import Path


def database(path: Path, rows: int = 2_000) -> Path:
    """A file with some pages in it."""
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE t (a TEXT)")
        made.executemany("INSERT INTO t VALUES (?)", [("x" * 100,)] * rows)
        made.commit()
    return path
