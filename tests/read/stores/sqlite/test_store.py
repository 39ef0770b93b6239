"""SQLite alone: its file among other processes, damaged, foreign, newer, unwritable; and its words and vectors."""

import contextlib
import logging
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import anyio
import numpy as np
import pytest

from kindly.clock import SYSTEM_CLOCK, Clock
from kindly.errors import StoreRefused, StoreUnavailable
from kindly.read.pages.page_outline import page_indexing
from kindly.read.store import StoreSettings
from kindly.read.stores import open_store
from kindly.read.stores.sqlite import FILE, file, rows, search
from kindly.read.stores.sqlite.rows import MIGRATIONS
from kindly.read.stores.sqlite.store import SqliteStore
from kindly.text.terms import terms
from tests.support.paths import ROOT
from tests.support.stored_pages import MODEL, NOON, days, page, vector

pytestmark = pytest.mark.anyio

TEA = page("tea", ["Green tea is steamed.", "Black tea is oxidised."])
WINE = page("wine", ["Wine is fermented."])
NEXT = (*MIGRATIONS, "ALTER TABLE documents ADD COLUMN note TEXT NOT NULL DEFAULT ''")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / FILE


async def kept(path: Path) -> None:
    async with contextlib.aclosing(SqliteStore(path)) as store:
        await store.put(TEA.entry, TEA.chunks, TEA.vectors, MODEL)


def files(path: Path) -> list[Path]:
    return [*path.parent.glob("*")]


def mode(path: Path) -> int:
    return path.stat().st_mode


def content(path: Path) -> bytes:
    return path.read_bytes()


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)


def asides(path: Path) -> list[Path]:
    return sorted(path.parent.glob("*.damaged-*"))


async def test_the_file_is_private_and_created_at_first_use(path: Path) -> None:
    store = SqliteStore(path)
    assert not files(path)
    assert await store.entries() == []
    assert mode(path) & 0o077 == 0
    await store.aclose()


async def test_without_a_folder_the_library_is_kept_in_memory() -> None:
    store = open_store("sqlite", StoreSettings(data_dir=None))
    assert (await store.stats()).kind == "memory"


@pytest.mark.parametrize(
    "harm",
    [
        lambda data: b"garbage" * 2000,
        lambda data: data[:100] + b"\xff" * 4000 + data[4100:],
        lambda data: data[: len(data) // 2],
        lambda data: data[:4096] + b"\x00" * (len(data) - 4096),
    ],
    ids=["not a database", "no schema", "cut short", "emptied"],
)
async def test_a_damaged_file_is_moved_aside_once_and_a_new_one_created(
    path: Path, caplog: pytest.LogCaptureFixture, harm: "object"
) -> None:
    await kept(path)
    assert callable(harm)
    harmed = harm(content(path))
    write(path, harmed)
    moment = datetime(2026, 11, 16, 1, 2, 3, tzinfo=UTC)
    with caplog.at_level(logging.WARNING):
        async with contextlib.aclosing(
            SqliteStore(path, clock=Clock(time=lambda: moment.timestamp()))
        ) as store:
            assert await store.page(TEA.entry.url) is None
            await store.put(WINE.entry, WINE.chunks, WINE.vectors, MODEL)
            assert await store.entries() == [WINE.entry]
    (aside,) = [one for one in asides(path) if not one.name.endswith(("-wal", "-shm"))]
    assert aside.name == f"{FILE}.damaged-20261116T010203000000"
    assert aside.read_bytes() == harmed
    assert len(caplog.records) == 1


async def test_a_file_damaged_while_it_is_open_is_moved_aside(path: Path) -> None:
    async with contextlib.aclosing(SqliteStore(path)) as store:
        await store.put(TEA.entry, TEA.chunks, TEA.vectors, MODEL)
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            other.execute("UPDATE meta SET value = value")
            data = content(path)
            with path.open("r+b") as file:
                file.seek(4096)
                file.write(b"\xff" * (len(data) - 4096))
            await store.put(WINE.entry, WINE.chunks, WINE.vectors, MODEL)
        assert await store.entries() == [WINE.entry]
    assert asides(path)


async def test_a_file_that_another_process_replaced_is_opened_again(path: Path) -> None:
    async with contextlib.aclosing(SqliteStore(path)) as store:
        await store.put(TEA.entry, TEA.chunks, TEA.vectors, MODEL)
        await store.candidates([], vector("x"), 3)
        await store.forget(TEA.entry.url)
        await store.candidates([], vector("x"), 3)
        for one in path.parent.iterdir():
            one.rename(one.with_name(f"old-{one.name}"))
        assert await store.entries() == []
        await store.put(WINE.entry, WINE.chunks, WINE.vectors, MODEL)
        found = await store.candidates([], vector("x"), 3)
        assert [one.entry for one in found] == [WINE.entry]


async def test_a_good_file_in_the_place_of_a_damaged_one_is_not_moved(path: Path) -> None:
    await kept(path)
    library = file.SqliteLibrary(path, MIGRATIONS, SYSTEM_CLOCK)
    library._opened_inode = -1
    library._move_aside()
    assert asides(path) == []
    assert await library.read(lambda database: len(rows.entries(9, 0, "", database))) == 1
    await library.aclose()


async def test_another_programs_database_is_refused_and_not_changed(path: Path) -> None:
    path.parent.mkdir()
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
        other.commit()
    before = content(path)
    store = SqliteStore(path)
    for _ in range(2):
        with pytest.raises(StoreRefused, match="DATA_DIR"):
            await store.put(TEA.entry, TEA.chunks, TEA.vectors, MODEL)
    await store.aclose()
    assert content(path) == before
    assert asides(path) == []


async def test_an_older_library_is_migrated_and_a_newer_one_refused(path: Path) -> None:
    await kept(path)
    async with contextlib.aclosing(SqliteStore(path, migrations=NEXT)) as newer:
        assert await newer.entries() == [TEA.entry]
    with contextlib.closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT note FROM documents").fetchall() == [("",)]
    before = content(path)
    older = SqliteStore(path)
    with pytest.raises(StoreRefused, match="Upgrade"):
        await older.entries()
    await older.aclose()
    assert content(path) == before


async def test_what_ranking_needs_of_a_chunk_is_stored_with_it(path: Path) -> None:
    ready = [replace(one, prepared=b"\x01ready") for one in TEA.chunks]
    async with contextlib.aclosing(SqliteStore(path)) as store:
        await store.put(TEA.entry, ready, TEA.vectors, MODEL)
        stored = await store.page(TEA.entry.url)
        found = await store.candidates(terms("tea"), None, 5)
    assert stored is not None
    assert [one.prepared for one in stored.chunks] == [b"\x01ready"] * 2
    assert [one.chunk.prepared for one in found] == [b"\x01ready"] * 2


async def test_chunks_of_the_first_version_are_found_without_it(path: Path) -> None:
    await kept(path)
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("ALTER TABLE chunks DROP COLUMN prepared")
        database.execute("ALTER TABLE documents DROP COLUMN cut")
        database.execute("DROP INDEX documents_of_collection")
        database.execute("ALTER TABLE documents DROP COLUMN collection")
        for table in ("collections", "crawl_pages", "crawl_pace", "page_versions"):
            database.execute(f"DROP TABLE {table}")
        database.execute("ALTER TABLE documents DROP COLUMN outline")
        database.execute("UPDATE meta SET value = '1' WHERE key = 'schema_version'")
        database.commit()
    async with contextlib.aclosing(SqliteStore(path)) as store:
        found = await store.candidates(terms("tea"), None, 5)
        assert await store.crawls.collections() == []
    assert [one.chunk.prepared for one in found] == [None, None]
    assert {one.entry.collection for one in found} == {""}


async def test_a_migration_that_fails_changes_nothing(path: Path) -> None:
    await kept(path)
    broken = SqliteStore(path, migrations=(*MIGRATIONS, "DROP TABLE signs;\nNONSENSE"))
    with pytest.raises(StoreUnavailable):
        await broken.entries()
    await broken.aclose()
    async with contextlib.aclosing(SqliteStore(path)) as store:
        assert await store.entries() == [TEA.entry]
        assert len(await store.candidates([], vector("x"), 5)) == 2


async def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    store = SqliteStore(tmp_path / "file" / FILE)
    with pytest.raises(StoreUnavailable, match="DATA_DIR"):
        await store.entries()
    await store.aclose()


async def test_a_file_that_cannot_be_opened_is_reported(path: Path) -> None:
    (path / "something").parent.mkdir(parents=True)
    store = SqliteStore(path)
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        await store.entries()
    await store.aclose()


FULL = """
import resource, sys
from pathlib import Path
import anyio
from kindly.errors import StoreUnavailable
from kindly.read.stores.sqlite.store import SqliteStore
from tests.support.stored_pages import MODEL, page

async def fill():
    store = SqliteStore(Path(sys.argv[1]))
    small = page("small", ["Tea."])
    await store.put(small.entry, small.chunks, small.vectors, MODEL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
    big = page("big", [f"{n} " * 20_000 for n in range(20)])
    try:
        await store.put(big.entry, big.chunks, big.vectors, MODEL)
    except StoreUnavailable as error:
        print(error)
    print(len(await store.entries()))
    await store.aclose()

import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
anyio.run(fill)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file size are POSIX")
def test_a_full_disk_is_reported_and_stored_pages_stay(path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", FULL, str(path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    message, count = ran.stdout.splitlines()
    assert "cannot be used" in message
    assert count == "1"


async def test_a_writer_waits_for_another_and_a_reader_does_not(path: Path) -> None:
    await kept(path)
    waits = anyio.Event()

    async def sleep(seconds: float) -> None:
        waits.set()
        await anyio.sleep(seconds)

    store = SqliteStore(path, clock=Clock(sleep=sleep))
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(store.put, WINE.entry, WINE.chunks, WINE.vectors, MODEL)
            await waits.wait()
            assert await store.entries() == [TEA.entry]
            other.execute("COMMIT")
    assert len(await store.entries()) == 2
    other.close()
    await store.aclose()


async def test_a_writer_that_waits_too_long_gets_an_error(path: Path) -> None:
    await kept(path)
    store = SqliteStore(path, timeout_s=0.01)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="another process"):
            await store.forget()
        patient = SqliteStore(path)
        with anyio.fail_after(120), anyio.move_on_after(0.01) as scope:
            await patient.forget()
        assert scope.cancelled_caught
        await patient.aclose()
        other.execute("ROLLBACK")
    assert await store.forget() == 1
    await store.aclose()


async def test_frequent_words_find_chunks_that_have_them_all(path: Path) -> None:
    often = search.MAX_POSTINGS + 1
    async with contextlib.aclosing(SqliteStore(path)) as store:
        made = page("plenty", ["kettle " * often, "teapot " * often, "kettle 7"])
        await store.put(made.entry, made.chunks, {}, None)
        both = page("both", ["kettle and teapot"])
        await store.put(both.entry, both.chunks, {}, None)
        found = await store.candidates(terms("kettle teapot"), None, 5)
        assert [one.chunk for one in found] == list(both.chunks)
        found = await store.candidates(terms("kettle 7"), None, 5)
        assert [one.chunk for one in found] == [made.chunks[2]]


async def test_the_log_of_dropped_vectors_stays_small_and_other_processes_stay_correct(
    path: Path,
) -> None:
    one, other = SqliteStore(path), SqliteStore(path)
    for i in range(9):
        made = page("same", [f"Version {i}."], crawled_at=NOON + days(i))
        await one.put(made.entry, made.chunks, made.vectors, MODEL)
        found = await other.candidates([], vector(f"Version {i - 1}."), 5)
        assert [each.chunk.text for each in found] == [f"Version {i}."]
        if i == 4:
            with contextlib.closing(sqlite3.connect(path)) as database:
                many = rows.MAX_GONE
                database.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'gone'", (many,))
                database.commit()
    with contextlib.closing(sqlite3.connect(path)) as database:
        (count,) = database.execute("SELECT count(*) FROM gone").fetchone()
    assert count <= 4
    await one.aclose()
    await other.aclose()


async def test_a_page_dropped_by_another_process_while_it_is_rewritten_is_complete(
    path: Path,
) -> None:
    """Its terms were assumed to be stored already."""
    async with contextlib.aclosing(SqliteStore(path)) as store:
        new = rows.SqliteNewPage(TEA.entry, TEA.chunks, TEA.vectors, MODEL)
        indexing = page_indexing(TEA.entry, TEA.chunks)
        await store._file.write(partial(rows.put, new, {}, indexing))
        (found,) = await store.candidates(terms("oxidised"), None, 5)
        assert found.chunk == TEA.chunks[1]


async def test_the_nearest_vectors_are_found_among_many(path: Path) -> None:
    async with contextlib.aclosing(SqliteStore(path)) as store:
        for i in range(30):
            made = page(f"p{i}", [f"text {i} {k}" for k in range(50)])
            await store.put(made.entry, made.chunks, made.vectors, MODEL)
        found = await store.candidates([], vector("text 17 23"), 5)
        assert len(found) == 5
        assert "text 17 23" in {one.chunk.text for one in found}
        assert all(one.vector is not None and one.vector.dtype == np.float32 for one in found)


async def test_free_space_is_returned_to_the_disk(path: Path) -> None:
    async with contextlib.aclosing(SqliteStore(path)) as store:
        made = page("big", [f"{n} " * 500 for n in range(200)])
        await store.put(made.entry, made.chunks, made.vectors, MODEL)
        before = (await store.stats()).size_bytes
        await store.forget()
    assert len(content(path)) < before / 4


@pytest.mark.parametrize(
    "locks",
    [["BEGIN EXCLUSIVE"], ["BEGIN IMMEDIATE"], ["BEGIN", "SELECT count(*) FROM sqlite_master"]],
    ids=["writes the file", "is about to write", "reads the empty file"],
)
async def test_a_new_library_is_made_once_another_process_lets_go_of_the_file(
    path: Path, locks: list[str]
) -> None:
    path.parent.mkdir()
    refused = 0

    async def let_go(pause_s: float) -> None:
        nonlocal refused
        refused += 1
        other.execute("ROLLBACK")

    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        for statement in locks:
            other.execute(statement)
        library = file.SqliteLibrary(path, MIGRATIONS, Clock(sleep=let_go))
        assert await library.read(partial(rows.entries, 9, 0, "")) == []
        await library.aclose()
    assert refused == 1


def test_connections_opened_at_once_make_one_library(path: Path) -> None:
    failures: list[BaseException] = []

    def open_it() -> None:
        try:
            anyio.run(kept, path)
        except BaseException as error:  # noqa: BLE001 - shown below
            failures.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert asides(path) == []
