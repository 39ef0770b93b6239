"""The health check of a SQLite file."""

import sqlite3
from contextlib import closing
from pathlib import Path

from kindly.storage.file_check import check_sqlite_file
from tests.support.sqlite_files import database


def test_a_file_that_another_connection_writes_is_reported(tmp_path: Path) -> None:
    path = database(tmp_path / "a.sqlite")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("BEGIN IMMEDIATE")
        assert check_sqlite_file(path).is_being_written
        writer.execute("ROLLBACK")
        assert not check_sqlite_file(path).is_being_written


def test_a_file_too_large_for_the_time_limit_is_checked_in_part(tmp_path: Path) -> None:
    health = check_sqlite_file(database(tmp_path / "a.sqlite", rows=200_000), limit_s=0)
    assert (health.is_complete, health.damage) == (False, "")


def test_a_file_that_cannot_be_opened_is_reported(tmp_path: Path) -> None:
    assert "cannot be opened" in check_sqlite_file(tmp_path / "none.sqlite").damage
