"""A SQLite file: memory takes its place when it fails, and the file is used again after a cool-down."""

import logging
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from kindly.storage.sqlite import COOLDOWN_S, Schema, SqliteFile, reason_of
from tests.support.fakes import FakeClock

pytestmark = pytest.mark.anyio

SCHEMA = Schema("CREATE TABLE IF NOT EXISTS numbers (number INTEGER)")


def add(database: sqlite3.Connection) -> None:
    database.execute("INSERT INTO numbers VALUES (1)")


def count(database: sqlite3.Connection) -> int:
    (number,) = database.execute("SELECT count(*) FROM numbers").fetchone()
    return int(number)


async def test_a_file_that_failed_is_used_again_after_the_cool_down(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    clock = FakeClock()
    (tmp_path / "folder").write_text("a file where the folder should be")
    file = SqliteFile(str(tmp_path / "folder" / "numbers.sqlite"), SCHEMA, "numbers", clock=clock)
    await file.run(add)
    clock.advance(COOLDOWN_S)
    await file.run(add)
    assert await file.run(count) == 2
    assert [record.levelname for record in caplog.records] == ["WARNING"]

    (tmp_path / "folder").unlink()
    assert await file.run(count) == 2, "the cool-down is not over"
    clock.advance(COOLDOWN_S)
    assert await file.run(count) == 0
    await file.run(add)
    await file.aclose()
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    with closing(sqlite3.connect(tmp_path / "folder" / "numbers.sqlite")) as database:
        assert count(database) == 1


async def test_a_new_file_is_made_once_another_process_lets_go_of_it(tmp_path: Path) -> None:
    """SQLite refuses the switch to WAL at once, whatever the busy timeout, while another connection writes."""
    path = tmp_path / "numbers.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        file = SqliteFile(str(path), SCHEMA, "numbers", sleep=lambda _: other.execute("ROLLBACK"))
        await file.run(add)
        assert count(other) == 1
        await file.aclose()


async def test_a_damaged_file_is_not_tried_again(tmp_path: Path) -> None:
    clock = FakeClock()
    path = tmp_path / "numbers.sqlite"
    path.write_bytes(b"not a database at all" * 100)
    file = SqliteFile(str(path), SCHEMA, "numbers", clock=clock)
    await file.run(add)
    path.unlink()
    clock.advance(10 * COOLDOWN_S)
    assert await file.run(count) == 1
    await file.aclose()
    assert not path.is_file()


def test_reasons_are_plain_words() -> None:
    assert reason_of(13) == "the disk is full"
    assert reason_of(99) == "SQLite reported error 99"
