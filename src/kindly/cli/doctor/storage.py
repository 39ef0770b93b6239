"""`doctor`: the files that Kindly keeps. Their size, whether they are intact, and which processes have them open.

Changes nothing.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio.to_thread

from kindly.cli.doctor.finding import CheckResult
from kindly.errors import KindlyError
from kindly.read.store import StoreStats
from kindly.settings import Settings
from kindly.storage.file_check import FileHealth, check_sqlite_file

PROC = Path("/proc")
SUFFIXES = ("", "-wal", "-shm")
"""A SQLite database and the files that SQLite keeps beside it."""
FileCheck = Callable[[Path], FileHealth]


async def store(settings: Settings) -> list[CheckResult]:
    """The library, the page cache and the state of search."""
    caches = {"page cache": settings.pages_file, "search state": settings.search_file}
    existing = {name: path for name, path in caches.items() if path is not None and path.is_file()}
    return [
        *await _library(settings),
        *[await _file(name, path, check_sqlite_file) for name, path in existing.items()],
    ]


async def _library(settings: Settings) -> list[CheckResult]:
    spec = settings.store_spec
    if not spec.is_persistent:
        return [CheckResult("library", "note", "in memory: it is lost when the program ends")]
    if not spec.file:
        return await _contents(settings)
    path = settings.data_path / spec.file
    if not path.is_file():
        return [CheckResult("library", "ok", f"none yet; it will be {path}")]
    if spec.check_file is None:
        return await _contents(settings)
    found = await _file("library", path, spec.check_file)
    return [found] if found.state == "problem" else [found, *await _contents(settings)]


async def _file(name: str, path: Path, check: FileCheck) -> CheckResult:
    return await anyio.to_thread.run_sync(_check_file, name, path, check)


def _check_file(name: str, path: Path, check: FileCheck) -> CheckResult:
    health = check(path)
    holders = ", ".join(lock_holders(path))
    facts = [
        f"{path}, {_megabytes(sum(_size(path, suffix) for suffix in SUFFIXES))}",
        health.damage or ("intact" if health.is_complete else "intact as far as it was read"),
        "another process is writing to it" if health.is_being_written else "",
        f"open in {holders}" if holders else "",
    ]
    detail = "; ".join(filter(None, facts))
    if health.damage:
        fix = f"Move {path} away: Kindly starts a new one and fetches pages again."
        return CheckResult(name, "problem", detail, fix)
    return CheckResult(name, "ok", detail)


def lock_holders(path: Path, proc: Path = PROC) -> Iterator[str]:
    """Other processes that have the file open; none where the system has no `/proc/locks`."""
    files = [Path(f"{path}{suffix}") for suffix in SUFFIXES]
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
    """How much the library holds, and whether its vectors match the configured model."""
    from kindly.app.reader import build_store, embedder_settings

    try:
        opened = build_store(settings)
        try:
            stats = await opened.stats()
        finally:
            await opened.aclose()
    except KindlyError as error:
        fix = "Repair it, or set another KINDLY_STORE."
        return [CheckResult("library", "problem", error.detail, fix)]
    model = settings.embedder_spec.model(embedder_settings(settings))
    return [_counts(stats), *_other_model(stats, model)]


def _counts(stats: StoreStats) -> CheckResult:
    model = f", vectors of {stats.model.name}" if stats.model else ""
    size = _megabytes(stats.size_bytes)
    detail = f"{stats.pages} pages, {stats.chunks} chunks, {size} in {stats.kind}{model}"
    return CheckResult("library contents", "ok", detail)


def _other_model(stats: StoreStats, configured: str) -> Iterator[CheckResult]:
    if stats.model is not None and stats.model.name != configured:
        yield CheckResult(
            "library model",
            "problem",
            f"its vectors are of {stats.model.name}, but {configured} is configured",
            "Run `kindly library rebuild`, or configure the former model again.",
        )


def _size(path: Path, suffix: str) -> int:
    file = Path(f"{path}{suffix}")
    return file.stat().st_size if file.exists() else 0


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB"
