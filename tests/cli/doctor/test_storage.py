"""`doctor` and the files on disk: what it reports, and that it changes nothing."""

import os
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from kindly.cli.doctor.finding import CheckResult
from kindly.cli.doctor.storage import lock_holders, store
from kindly.models import Chunk, StoredPageInfo
from kindly.read.store import EmbeddingModel
from kindly.read.stores.sqlite import FILE
from kindly.read.stores.sqlite.store import SqliteStore
from kindly.settings import Settings
from tests.support.sqlite_files import database

pytestmark = pytest.mark.anyio


def settings(folder: Path, **environ: str) -> Settings:
    return Settings.load({"DATA_DIR": str(folder), "KINDLY_CONFIG": "/dev/null", **environ})


def states(found: list[CheckResult]) -> dict[str, str]:
    assert all(finding.fix for finding in found if finding.state == "problem")
    return {finding.check: finding.state for finding in found}


def names(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


def spoil(path: Path) -> bytes:
    """Overwrite the middle of a file."""
    content = bytearray(path.read_bytes())
    content[4096:40960] = b"\xff" * 36864
    path.write_bytes(content)
    return bytes(content)


async def library(folder: Path, model: str) -> None:
    """A library with one page whose vectors are of `model`."""
    kept = SqliteStore(folder / FILE)
    url = "https://example.com/"
    entry = StoredPageInfo(url, "A page", datetime.now(UTC), content_hash="0", total=4)
    chunk = Chunk("1", url, "bees", 0, 4, section=(), tokens=1)
    vectors = {"1": np.full(4, 0.5, dtype=np.float32)}
    await kept.put(entry, [chunk], vectors, EmbeddingModel(model, 4))
    await kept.aclose()


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
async def test_a_missing_library_is_not_created(tmp_path: Path, kind: str) -> None:
    assert states(await store(settings(tmp_path, KINDLY_STORE=kind))) == {"library": "ok"}
    assert names(tmp_path) == []


async def test_a_library_in_memory_is_a_note(tmp_path: Path) -> None:
    assert states(await store(settings(tmp_path, KINDLY_STORE="memory"))) == {"library": "note"}


async def test_an_intact_library_is_counted(tmp_path: Path) -> None:
    await library(tmp_path, "wordllama-l2-256")
    database(tmp_path / "pages.sqlite")
    database(tmp_path / "search.sqlite")
    found = await store(settings(tmp_path))
    assert states(found) == dict.fromkeys(
        ["library", "library contents", "page cache", "search state"], "ok"
    )
    assert "intact" in found[0].detail
    assert found[1].detail.startswith("1 pages, 1 chunks")


async def test_vectors_of_another_model_are_a_problem(tmp_path: Path) -> None:
    await library(tmp_path, "another-model")
    found = await store(settings(tmp_path))
    assert states(found)["library model"] == "problem"
    assert "kindly library rebuild" in found[-1].fix
    remote = settings(
        tmp_path, EMBEDDING_SERVER_URL="http://127.0.0.1:9", EMBEDDING_MODEL_NAME="another-model"
    )
    assert "library model" not in states(await store(remote))


@pytest.mark.parametrize("damage", ["header", "middle"])
async def test_a_damaged_library_is_reported_and_left_in_place(tmp_path: Path, damage: str) -> None:
    path = tmp_path / FILE
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
    assert states(found) == {"library contents": "ok"}
    assert "duckdb" in found[0].detail


def test_other_processes_with_the_file_open_are_named(tmp_path: Path) -> None:
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
