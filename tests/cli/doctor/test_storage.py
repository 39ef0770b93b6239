"""What `doctor` says of what is kept on disk, without changing it."""

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from kindly.cli.doctor.finding import CheckResult
from kindly.cli.doctor.storage import FILES, inspected, lock_holders, store
from kindly.models import Chunk, StoredPageInfo
from kindly.read.store import EmbeddingModel
from kindly.read.stores.duckdb import store as duckdb_store
from kindly.read.stores.sqlite import store as sqlite_store
from kindly.read.stores.sqlite.store import SqliteStore
from kindly.settings import Settings

pytestmark = pytest.mark.anyio


def settings(folder: Path, **environ: str) -> Settings:
    return Settings.load({"DATA_DIR": str(folder), "KINDLY_CONFIG": "/dev/null", **environ})


def states(found: list[CheckResult]) -> dict[str, str]:
    assert all(finding.fix for finding in found if finding.state == "problem")
    return {finding.check: finding.state for finding in found}


def names(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


def database(path: Path, rows: int = 2_000) -> Path:
    """A file with some pages in it."""
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE t (a TEXT)")
        made.executemany("INSERT INTO t VALUES (?)", [("x" * 100,)] * rows)
        made.commit()
    return path


def spoil(path: Path) -> bytes:
    """Overwrite the middle of a file."""
    content = bytearray(path.read_bytes())
    content[4096:40960] = b"\xff" * 36864
    path.write_bytes(content)
    return bytes(content)


async def library(folder: Path, model: str) -> None:
    """A library with one page whose vectors are of `model`."""
    kept = SqliteStore(folder / FILES["sqlite"])
    url = "https://example.com/"
    entry = StoredPageInfo(url, "A page", datetime.now(UTC), content_hash="0", total=4)
    chunk = Chunk("1", url, "bees", 0, 4, section=(), tokens=1)
    vectors = {"1": np.full(4, 0.5, dtype=np.float32)}
    await kept.put(entry, [chunk], vectors, EmbeddingModel(model, 4))
    await kept.aclose()


def test_files_are_where_the_stores_have_them() -> None:
    assert FILES["sqlite"] == sqlite_store.FILE
    assert FILES["duckdb"] == duckdb_store.FILE.as_posix()


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
async def test_a_library_to_come_is_not_made(tmp_path: Path, kind: str) -> None:
    assert states(await store(settings(tmp_path, KINDLY_STORE=kind))) == {"library": "ok"}
    assert names(tmp_path) == []


async def test_a_library_in_memory_is_noted(tmp_path: Path) -> None:
    assert states(await store(settings(tmp_path, KINDLY_STORE="memory"))) == {"library": "note"}


async def test_a_sound_library_is_counted(tmp_path: Path) -> None:
    await library(tmp_path, "wordllama-l2-256")
    database(tmp_path / "pages.sqlite")
    database(tmp_path / "search.sqlite")
    found = await store(settings(tmp_path))
    assert states(found) == dict.fromkeys(
        ["library", "library holds", "page cache", "search notes"], "ok"
    )
    assert "sound" in found[0].detail
    assert found[1].detail.startswith("1 pages, 1 chunks")


async def test_vectors_of_another_model_are_a_problem(tmp_path: Path) -> None:
    await library(tmp_path, "another-model")
    found = await store(settings(tmp_path))
    assert states(found)["library's model"] == "problem"
    assert "kindly library rebuild" in found[-1].fix
    remote = settings(
        tmp_path, EMBEDDING_SERVER_URL="http://127.0.0.1:9", EMBEDDING_MODEL_NAME="another-model"
    )
    assert "library's model" not in states(await store(remote))


@pytest.mark.parametrize("damage", ["header", "middle"])
async def test_a_damaged_library_is_told_and_left_where_it_is(tmp_path: Path, damage: str) -> None:
    path = tmp_path / FILES["sqlite"]
    if damage == "header":
        path.write_bytes(b"this is no database, it is a text of some length" * 50)
        before = path.read_bytes()
    else:
        before = spoil(database(path))
    found = await store(settings(tmp_path))
    assert states(found) == {"library": "problem"}
    assert "damaged" in found[0].detail
    assert path.read_bytes() == before
    assert names(tmp_path) == [path.name]


async def test_a_store_that_cannot_be_reached_is_a_problem(tmp_path: Path) -> None:
    url = "postgresql://nobody:canary-pass@127.0.0.1:9/none?connect_timeout=1"
    found = await store(settings(tmp_path, KINDLY_STORE=url))
    assert states(found) == {"library": "problem"}
    assert "canary-pass" not in found[0].detail


async def test_a_duckdb_library_is_counted(tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="the extra duckdb is not installed")
    from kindly.app.reader import build_store

    wanted = settings(tmp_path, KINDLY_STORE="duckdb")
    made = build_store(wanted)
    await made.stats()
    await made.aclose()
    found = await store(wanted)
    assert states(found) == {"library holds": "ok"}
    assert "duckdb" in found[0].detail


def test_a_file_that_is_written_at_this_moment_is_told(tmp_path: Path) -> None:
    path = database(tmp_path / "a.sqlite")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("BEGIN IMMEDIATE")
        assert inspected(path).written_now
        writer.execute("ROLLBACK")
        assert not inspected(path).written_now


def test_a_file_too_large_for_the_time_is_checked_in_part(tmp_path: Path) -> None:
    health = inspected(database(tmp_path / "a.sqlite", rows=200_000), limit_s=0)
    assert (health.whole, health.damage) == (False, "")


def test_a_file_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    assert "cannot be opened" in inspected(tmp_path / "none.sqlite").damage


def test_holders_of_a_lock_are_named_but_for_ourselves(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    path.write_bytes(b"")
    inode = path.stat().st_ino
    proc = tmp_path / "proc"
    (proc / "41").mkdir(parents=True)
    (proc / "41" / "comm").write_text("kindly\n", encoding="utf-8")
    (proc / "locks").write_text(
        f"1: POSIX  ADVISORY  WRITE 41 08:01:{inode} 0 EOF\n"
        f"2: POSIX  ADVISORY  READ 42 08:01:{inode} 0 EOF\n"
        f"2: -> POSIX  ADVISORY  READ 42 08:01:{inode} 0 EOF\n"
        f"3: POSIX  ADVISORY  READ {os.getpid()} 08:01:{inode} 0 EOF\n"
        "4: POSIX  ADVISORY  READ 43 08:01:1 0 EOF\n",
        encoding="ascii",
    )
    assert list(lock_holders(path, proc)) == ["kindly (41)", "another process (42)"]
    assert list(lock_holders(path, tmp_path / "no-proc")) == []
