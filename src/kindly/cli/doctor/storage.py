"""What `doctor` finds out about what is kept on disk: size, soundness, and who has it open. Changes nothing."""

import os
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread

from kindly.cli.doctor.finding import CheckResult
from kindly.errors import KindlyError
from kindly.read.ranking import static_model
from kindly.read.store import StoreStats
from kindly.settings import Settings

if TYPE_CHECKING:
    import sqlite3

CHECK_S = 8.0
"""How long a file is read through; a larger one is checked in part."""
BUSY_S = 0.5
FILES = {"sqlite": "library.sqlite", "duckdb": "db/kindly.duckdb"}
"""Where a library is, below the folder of data."""
SEARCH_FILE = "search.sqlite"
PROC = Path("/proc")
STEPS = 10_000
BESIDE = ("", "-wal", "-shm")


@dataclass(frozen=True, slots=True)
class StorageHealth:
    """How a SQLite file is."""

    damage: str = ""
    whole: bool = True
    """Whether all of it was looked at."""
    written_now: bool = False


async def store(settings: Settings) -> list[CheckResult]:
    """The library, and beside it the pages and the notes on providers that are kept."""
    kind = settings.store.get_secret_value() if settings.keeps else "memory"
    caches = {"page cache": settings.pages_file, "search notes": settings.data_path / SEARCH_FILE}
    there = {name: path for name, path in caches.items() if path is not None and path.is_file()}
    return [
        *await _library(kind, settings),
        *[await _file(name, path) for name, path in there.items()],
    ]


async def _library(kind: str, settings: Settings) -> list[CheckResult]:
    if kind == "memory":
        return [CheckResult("library", "note", "in memory: forgotten when the program ends")]
    file = FILES.get(kind)
    if file is None:
        return await _contents(settings)
    path = settings.data_path / file
    if not path.is_file():
        return [CheckResult("library", "ok", f"none yet; it will be {path}")]
    if kind != "sqlite":
        return await _contents(settings)
    found = await _file("library", path)
    return [found] if found.state == "problem" else [found, *await _contents(settings)]


async def _file(name: str, path: Path) -> CheckResult:
    return await anyio.to_thread.run_sync(_looked_into, name, path)


def _looked_into(name: str, path: Path) -> CheckResult:
    health = inspected(path)
    holders = ", ".join(lock_holders(path))
    facts = [
        f"{path}, {_megabytes(sum(_size(path, suffix) for suffix in BESIDE))}",
        health.damage or ("sound" if health.whole else "sound as far as it was read"),
        "being written at this moment" if health.written_now else "",
        f"open in {holders}" if holders else "",
    ]
    detail = "; ".join(filter(None, facts))
    if health.damage:
        fix = f"Move {path} away: a new one is begun, and pages are fetched again."
        return CheckResult(name, "problem", detail, fix)
    return CheckResult(name, "ok", detail)


def inspected(path: Path, limit_s: float = CHECK_S) -> StorageHealth:
    """Read the file through without changing what it says."""
    import sqlite3

    address = f"{path.absolute().as_uri()}?mode=rw"
    try:
        with closing(
            sqlite3.connect(address, uri=True, timeout=BUSY_S, isolation_level=None)
        ) as database:
            return _read_through(database, time.monotonic() + limit_s)
    except sqlite3.OperationalError as error:
        return StorageHealth(damage=f"it cannot be opened ({error.sqlite_errorname})")
    except sqlite3.DatabaseError as error:
        return StorageHealth(damage=f"it is damaged ({error.sqlite_errorname})")


def _read_through(database: "sqlite3.Connection", until: float) -> StorageHealth:
    import sqlite3

    busy = _is_written(database)
    database.set_progress_handler(lambda: time.monotonic() > until, STEPS)
    try:
        (said,) = database.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorname != "SQLITE_INTERRUPT":
            raise
        return StorageHealth(whole=False, written_now=busy)
    damage = "" if said == "ok" else f"it is damaged ({str(said)[:100]})"
    return StorageHealth(damage=damage, written_now=busy)


def _is_written(database: "sqlite3.Connection") -> bool:
    import sqlite3

    try:
        database.execute("BEGIN IMMEDIATE")
        database.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorname in {"SQLITE_BUSY", "SQLITE_LOCKED"}:
            return True
        raise
    return False


def lock_holders(path: Path, proc: Path = PROC) -> Iterator[str]:
    """Other processes that have the file open, where the system tells."""
    files = [Path(f"{path}{suffix}") for suffix in BESIDE]
    inodes = {str(file.stat().st_ino) for file in files if file.exists()}
    try:
        lines = (proc / "locks").read_text(encoding="ascii").splitlines()
    except OSError:
        return
    fields = (line.replace("->", "").split() for line in lines)
    pids = {one[4] for one in fields if len(one) > 5 and one[5].rpartition(":")[2] in inodes} - {
        str(os.getpid())
    }
    for pid in sorted(pids):
        try:
            name = (proc / pid / "comm").read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            name = "another process"
        yield f"{name} ({pid})"


async def _contents(settings: Settings) -> list[CheckResult]:
    """How much the library holds, and whether its vectors are of the model that is set."""
    from kindly.app.reader import build_store

    try:
        shelves = build_store(settings)
        try:
            stats = await shelves.stats()
        finally:
            await shelves.aclose()
    except KindlyError as error:
        return [
            CheckResult("library", "problem", error.detail, "Mend it, or set another KINDLY_STORE.")
        ]
    return [_counted(stats), *_other_model(stats, settings)]


def _counted(stats: StoreStats) -> CheckResult:
    model = f", vectors of {stats.model.name}" if stats.model else ""
    size = _megabytes(stats.size_bytes)
    detail = f"{stats.pages} pages, {stats.chunks} chunks, {size} in {stats.kind}{model}"
    return CheckResult("library holds", "ok", detail)


def _other_model(stats: StoreStats, settings: Settings) -> Iterator[CheckResult]:
    wanted = settings.embedding_model_name if settings.embedding_server_url else static_model.NAME
    if stats.model is not None and stats.model.name != wanted:
        yield CheckResult(
            "library's model",
            "problem",
            f"its vectors are of {stats.model.name}, but {wanted} is set",
            "Run `kindly library rebuild`, or set the model that was used.",
        )


def _size(path: Path, suffix: str) -> int:
    beside = Path(f"{path}{suffix}")
    return beside.stat().st_size if beside.exists() else 0


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB"
