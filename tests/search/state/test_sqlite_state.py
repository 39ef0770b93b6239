"""The search state in a SQLite file."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from kindly.search.state.sqlite_state import SqliteState
from tests.support.memory_state import MemoryState
from tests.support.search_state import fill

pytestmark = pytest.mark.anyio


async def test_both_states_save_and_delete_values_by_kind(tmp_path: Path) -> None:
    sqlite = SqliteState(str(tmp_path / "state.sqlite"))
    for state in (MemoryState(), sqlite):
        await fill(state)
        assert await state.load("provider_stats") == {"serper": {"calls": 5}}
        assert await state.load("pool") == {"https://a.example": {"failures": 3}}
        assert await state.load("nothing") == {}
    await sqlite.aclose()


async def test_state_survives_a_restart_and_is_shared(tmp_path: Path) -> None:
    path = str(tmp_path / "folder" / "state.sqlite")
    first, second = SqliteState(path), SqliteState(path)
    await first.save("provider_stats", {"serper": {"calls": 1}})
    assert await second.load("provider_stats") == {"serper": {"calls": 1}}
    await first.aclose()
    await second.aclose()


async def test_an_unusable_file_is_not_used_after_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "state.sqlite"
    path.write_bytes(b"not a database at all, but something of the user's" * 100)
    state = SqliteState(str(path))
    await fill(state)
    assert await state.load("provider_stats") == {"serper": {"calls": 5}}
    await state.aclose()
    assert len(caplog.records) == 1
    assert path.read_bytes().startswith(b"not a database")


async def test_a_value_that_cannot_be_read_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    state = SqliteState(str(path))
    await fill(state)
    with closing(sqlite3.connect(path)) as other, other:
        for number, value in enumerate(("{", "[]", b"\xff", "[" * 100_000)):
            other.execute("INSERT INTO state_1 VALUES ('ledger', ?, ?)", (f"odd {number}", value))
    assert await state.load("provider_stats") == {"serper": {"calls": 5}}
    await state.aclose()
