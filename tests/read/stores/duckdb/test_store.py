"""DuckDB alone: one process at a time has the file; its tables; damaged, foreign, newer, unwritable files."""

import contextlib
import logging
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import anyio
import duckdb
import pytest

from kindly.clock import SYSTEM_CLOCK, Clock
from kindly.errors import StoreRefused, StoreUnavailable
from kindly.read.store import StoreSettings
from kindly.read.stores import open_store
from kindly.read.stores.duckdb import FILE
from kindly.read.stores.duckdb.file import DuckLibrary
from kindly.read.stores.duckdb.rows import MIGRATIONS, drop_vectors, new_page, put, terms_of
from kindly.read.stores.duckdb.store import DuckStore
from tests.support.processes import PATIENCE_S, killed_after
from tests.support.stored_pages import DIMENSION, MODEL, page

pytestmark = pytest.mark.anyio

TEA = page("tea", ["Green tea is steamed.", "Black tea is oxidised."])
WINE = page("wine", ["Wine is fermented."])
NEXT = (*MIGRATIONS, "ALTER TABLE documents ADD COLUMN note TEXT DEFAULT ''")
HOLD = "import duckdb, sys; held = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / FILE


async def kept(path: Path) -> None:
    async with contextlib.aclosing(DuckStore(path)) as store:
        await store.put(TEA.entry, TEA.chunks, TEA.vectors, MODEL)


def content(path: Path) -> bytes:
    return path.read_bytes()


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


@contextlib.contextmanager
def held(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process has the file open."""
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        with killed_after(process):
            assert process.stdout.readline() == "held\n"
        yield process
        assert process.stdin is not None
        process.stdin.close()
        process.wait(PATIENCE_S)


def first_vectors(database: duckdb.DuckDBPyConnection) -> None:
    put(new_page(TEA.entry, TEA.chunks, terms_of(TEA.chunks), TEA.vectors, MODEL), database)


@pytest.mark.parametrize("change", [first_vectors, drop_vectors])
async def test_what_gives_the_vectors_another_type_survives_a_kill(
    path: Path, change: Callable[[duckdb.DuckDBPyConnection], None]
) -> None:
    async with contextlib.aclosing(DuckStore(path)) as store:
        await store.put(WINE.entry, WINE.chunks, {}, None)
        if change is drop_vectors:
            await store.put(TEA.entry, TEA.chunks, TEA.vectors, MODEL)
    with duckdb.connect(str(path)) as killed:
        killed.execute("PRAGMA disable_checkpoint_on_shutdown")  # only the log is written
        killed.begin()
        change(killed)
        killed.commit()
    async with contextlib.aclosing(DuckStore(path)) as store:
        assert {one.url for one in await store.entries()} == {TEA.entry.url, WINE.entry.url}
        stored = await store.page(TEA.entry.url)
    assert stored is not None
    assert (stored.vectors is not None) is (change is first_vectors)
    assert list(path.parent.iterdir()) == [path]


async def test_stores_of_one_process_begin_a_library_together(path: Path) -> None:
    stores = [DuckStore(path) for _ in range(3)]
    made = [page(f"page{number}", [f"Text {number}."]) for number in range(6)]
    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            for number, one in enumerate(made):
                put_in = stores[number % len(stores)].put
                tasks.start_soon(put_in, one.entry, one.chunks, one.vectors, MODEL)
    assert len(await stores[0].entries()) == len(made)
    for store in stores:
        await store.aclose()


async def test_without_a_folder_the_library_is_kept_in_memory() -> None:
    store = open_store("duckdb", StoreSettings(data_dir=None))
    assert (await store.stats()).kind == "memory"


async def test_the_tables_are_those_that_other_programs_expect(path: Path) -> None:
    await kept(path)
    with duckdb.connect(str(path)) as database:
        described = {
            table: [
                (name, kind) for name, kind, *_ in database.execute(f"DESCRIBE {table}").fetchall()
            ]
            for (table,) in database.execute("SHOW TABLES").fetchall()
        }
        similar = database.execute(
            "SELECT text FROM chunks WHERE url = ? ORDER BY array_cosine_distance(embedding, ?::FLOAT[64])",
            [TEA.entry.url, TEA.vectors[TEA.chunks[1].id].tolist()],
        ).fetchone()
    assert set(described) >= {"meta", "documents", "chunks"}
    assert described["meta"] == [("key", "VARCHAR"), ("value", "VARCHAR")]
    assert described["documents"][:6] == [
        ("url", "VARCHAR"),
        ("title", "VARCHAR"),
        ("etag", "VARCHAR"),
        ("last_modified", "VARCHAR"),
        ("last_crawled", "TIMESTAMP"),
        ("content_hash", "VARCHAR"),
    ]
    assert described["chunks"][:8] == [
        ("id", "VARCHAR"),
        ("url", "VARCHAR"),
        ("section_path", "VARCHAR"),
        ("text", "VARCHAR"),
        ("tokens", "INTEGER"),
        ("embedding", f"FLOAT[{DIMENSION}]"),
        ("created_at", "TIMESTAMP"),
        ("updated_at", "TIMESTAMP"),
    ]
    assert similar == (TEA.chunks[1].text,)


async def test_the_file_is_closed_between_two_uses(path: Path) -> None:
    async with contextlib.aclosing(DuckStore(path)) as store:
        await store.put(TEA.entry, TEA.chunks, TEA.vectors, MODEL)
        with held(path):
            pass
        assert await store.entries() == [TEA.entry]


async def test_another_process_is_waited_for(path: Path) -> None:
    await kept(path)
    waits = anyio.Event()

    async def sleep(seconds: float) -> None:
        if seconds:
            waits.set()
        await anyio.sleep(seconds)

    store = DuckStore(path, clock=Clock(sleep=sleep))
    with held(path) as other, anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(store.put, WINE.entry, WINE.chunks, WINE.vectors, MODEL)
            await waits.wait()
            assert other.stdin is not None
            other.stdin.close()
    assert len(await store.entries()) == 2
    await store.aclose()


async def test_a_process_that_holds_the_file_too_long_is_named(path: Path) -> None:
    await kept(path)
    store = DuckStore(path, timeout_s=0.1)
    with held(path) as other:
        with pytest.raises(StoreUnavailable, match=f"process {other.pid} has held it"):
            await store.entries()
        patient = DuckStore(path)
        with anyio.fail_after(120), anyio.move_on_after(0.1) as scope:
            await patient.entries()
        assert scope.cancelled_caught
    assert await store.entries() == [TEA.entry]
    assert await patient.entries() == [TEA.entry]


HARM: dict[str, Callable[[bytes], bytes]] = {
    "not a database": lambda data: b"garbage" * 2000,
    "header": lambda data: data[:100] + b"\xff" * 2000 + data[2100:],
    "block": lambda data: data[:12400] + b"\xff" * 2000 + data[14400:],
    "cut short": lambda data: data[:20000],
}


@pytest.mark.parametrize("harm", HARM.values(), ids=HARM)
async def test_a_damaged_file_is_moved_aside_once_and_a_new_one_created(
    path: Path, caplog: pytest.LogCaptureFixture, harm: Callable[[bytes], bytes]
) -> None:
    await kept(path)
    harmed = harm(content(path))
    write(path, harmed)
    write(path.with_name(f"{path.name}.wal"), b"")
    moment = datetime(2026, 11, 16, 1, 2, 3, tzinfo=UTC)
    with caplog.at_level(logging.WARNING):
        store = DuckStore(path, clock=Clock(time=lambda: moment.timestamp()))
        assert await store.page(TEA.entry.url) is None
        await store.put(WINE.entry, WINE.chunks, WINE.vectors, MODEL)
        assert await store.entries() == [WINE.entry]
    aside = path.with_name(f"{path.name}.damaged-20261116T010203000000")
    assert content(aside) == harmed
    assert len(caplog.records) == 1


async def test_a_damaged_file_that_cannot_be_moved_is_reported(path: Path) -> None:
    """The name for the damaged file is taken."""
    await kept(path)
    write(path, b"garbage" * 2000)

    def spoil() -> float:
        path.with_name(f"{path.name}.damaged-20261116T010203000000").mkdir()
        (path.with_name(f"{path.name}.damaged-20261116T010203000000") / "x").touch()
        return datetime(2026, 11, 16, 1, 2, 3, tzinfo=UTC).timestamp()

    store = DuckStore(path, clock=Clock(time=spoil))
    with pytest.raises(StoreUnavailable, match="damaged"):
        await store.entries()
    assert content(path) == b"garbage" * 2000


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
async def test_another_programs_database_is_refused_and_not_changed(path: Path, kind: str) -> None:
    path.parent.mkdir(parents=True)
    if kind == "duckdb":
        with duckdb.connect(str(path)) as mine:
            mine.execute("CREATE TABLE bookmarks (url TEXT)")
    else:
        with contextlib.closing(sqlite3.connect(path)) as other:
            other.execute("CREATE TABLE bookmarks (url TEXT)")
            other.commit()
    before = content(path)
    store = DuckStore(path)
    for _ in range(2):
        with pytest.raises(StoreRefused, match="DATA_DIR"):
            await store.put(TEA.entry, TEA.chunks, TEA.vectors, MODEL)
    assert content(path) == before


async def test_a_library_from_before_collections_keeps_its_pages(path: Path) -> None:
    before = DuckLibrary(path, MIGRATIONS[:2], SYSTEM_CLOCK)
    row = "INSERT INTO documents VALUES ('u', 't', '', '', now(), 'h', 1, '', 'http', false, 1, false)"
    await before.run(lambda database: database.execute(row).fetchall())
    await before.aclose()
    store = DuckStore(path)
    (entry,) = await store.entries()
    assert (entry.key, entry.collection) == ("u", "")
    assert await store.crawls.collections() == []
    await store.aclose()


async def test_an_older_library_is_migrated_and_a_newer_one_refused(path: Path) -> None:
    await kept(path)
    newer = DuckStore(path, migrations=NEXT)
    assert await newer.entries() == [TEA.entry]
    with duckdb.connect(str(path)) as database:
        assert database.execute("SELECT note FROM documents").fetchall() == [("",)]
    with pytest.raises(StoreRefused, match="Upgrade"):
        await DuckStore(path).entries()


async def test_a_library_that_is_not_complete_is_never_in_place(path: Path) -> None:
    """Another process that opened it would find it damaged."""
    store = DuckStore(path, migrations=("CREATE TABLE meta (key TEXT, value TEXT); NONSENSE",))
    with pytest.raises(StoreUnavailable):
        await store.entries()
    assert list(path.parent.iterdir()) == []


async def test_a_library_that_another_process_created_meanwhile_is_used(path: Path) -> None:
    other = DuckStore(path)
    library = DuckLibrary(path, MIGRATIONS, SYSTEM_CLOCK)
    path.parent.mkdir(parents=True)
    await other.put(TEA.entry, TEA.chunks, TEA.vectors, MODEL)
    library._create()
    assert await other.entries() == [TEA.entry]
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def with_version(data: bytes, version: int) -> bytes:
    """A DuckDB file whose header has another version: its checksum is the XOR of products of 64-bit words."""
    factor, mask = 0xBF58476D1CE4E5B9, 2**64 - 1
    checksum, magic_and_version = struct.unpack("<QQ", data[:16])
    patched = data[8:12] + struct.pack("<I", version)
    checksum ^= magic_and_version * factor & mask
    checksum ^= struct.unpack("<Q", patched)[0] * factor & mask
    return struct.pack("<Q", checksum) + patched + data[16:]


async def test_a_file_of_another_duckdb_version_is_refused_and_not_changed(path: Path) -> None:
    await kept(path)
    write(path, with_version(content(path), 999))
    before = content(path)
    with pytest.raises(StoreRefused, match="another version of DuckDB"):
        await DuckStore(path).entries()
    assert content(path) == before


async def test_a_file_that_this_process_has_attached_counts_as_held(path: Path) -> None:
    await kept(path)
    with duckdb.connect() as other:
        other.execute(f"ATTACH '{path}' AS held")
        with pytest.raises(StoreUnavailable, match="held it for too long"):
            await DuckStore(path, timeout_s=0.1).entries()


ERRORS: dict[str, tuple[duckdb.Error, type[StoreUnavailable]]] = {
    "out of space": (duckdb.IOException("Could not write: No space left"), StoreUnavailable),
    "other": (duckdb.BinderException("secret page text"), StoreUnavailable),
}


@pytest.mark.parametrize(("error", "expected"), ERRORS.values(), ids=ERRORS)
async def test_errors_of_duckdb_are_reported_without_page_text(
    path: Path, error: duckdb.Error, expected: type[StoreUnavailable]
) -> None:
    library = DuckLibrary(path, MIGRATIONS, SYSTEM_CLOCK)

    def fail(_: object) -> None:
        raise error

    with pytest.raises(expected) as raised:
        await library.run(fail)
    assert type(raised.value) is expected
    assert "secret" not in str(raised.value)


async def test_a_library_that_is_damaged_again_is_reported(path: Path) -> None:
    await kept(path)
    library = DuckLibrary(path, MIGRATIONS, SYSTEM_CLOCK)

    def fail(_: object) -> None:
        raise duckdb.SerializationException("no such field")

    with pytest.raises(StoreUnavailable, match="damaged"):
        await library.run(fail)
    assert len(list(path.parent.glob("*.damaged-*"))) == 1


async def test_rows_that_another_changes_are_tried_again(path: Path) -> None:
    library = DuckLibrary(path, MIGRATIONS, SYSTEM_CLOCK)
    tries = iter([duckdb.TransactionException("Conflict on update!")])

    def work(_: object) -> str:
        for error in tries:
            raise error
        return "done"

    assert await library.run(work) == "done"


async def test_a_migration_that_fails_changes_nothing(path: Path) -> None:
    await kept(path)
    with pytest.raises(StoreUnavailable):
        await DuckStore(path, migrations=(*MIGRATIONS, "DROP TABLE chunks; NONSENSE")).entries()
    assert len(await DuckStore(path).candidates([], TEA.vectors[TEA.chunks[0].id], 5)) == 2


async def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreUnavailable, match="DATA_DIR"):
        await DuckStore(tmp_path / "file" / FILE).entries()


async def test_a_file_that_cannot_be_opened_is_reported(path: Path) -> None:
    (path / "x").mkdir(parents=True)
    with pytest.raises(StoreUnavailable, match="cannot be"):
        await DuckStore(path).entries()
