"""Files that are locked, full, read-only, damaged or truncated: no search and no fetch fails because of them."""

import json
import logging
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import anyio
import pytest

from kindly.read import store_breaker
from kindly.storage import sqlite
from tests.support.paths import ROOT
from tests.support.site import Site
from tests.support.verbs import Engine, engine, pages

pytestmark = pytest.mark.anyio

FILES = ("pages.sqlite", "search.sqlite", "library.sqlite")


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


@contextmanager
def locked(folder: Path, *, wholly: bool) -> Iterator[None]:
    """Another program locks every file: against writers, or against readers too."""
    with ExitStack() as held:
        for name in FILES:
            other = held.enter_context(closing(sqlite3.connect(folder / name, timeout=20)))
            if wholly:
                other.execute("PRAGMA locking_mode = EXCLUSIVE")
            other.execute("BEGIN EXCLUSIVE")
            held.callback(other.rollback)
        yield


@contextmanager
def short_timeouts() -> Iterator[None]:
    """Short time-outs and no cool-down, for as long as the files are locked; a test would wait for both."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite, "BUSY_S", 0.05)
        patch.setattr(sqlite, "COOLDOWN_S", 0.0)
        patch.setattr(store_breaker, "TIMEOUT_S", 0.3)
        patch.setattr(store_breaker, "PROBE_TIMEOUT_S", 0.3)
        patch.setattr(store_breaker, "COOLDOWN_S", 0.0)
        yield


async def all_verbs(at: Engine) -> list[str]:
    """One of each."""
    return [
        await at.search("meanwhile"),
        await at.fetch("/p1"),
        await at.fetch("/p2"),
        (await at.read("/p3")).partition(" ")[0],
    ]


WELL = ["ok", "http", "http", "http"]


async def test_files_locked_while_it_runs_cost_no_answer_and_one_warning_and_are_used_again(
    site: Site, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pages(site)
    with anyio.fail_after(120):
        async with engine(site, tmp_path) as at:
            assert await at.search("before") == "ok"
            with locked(tmp_path, wholly=False), short_timeouts():
                assert await all_verbs(at) == WELL
            assert len(warnings(caplog)) == 1
            assert await at.fetch("/p4") == "http"
        async with engine(site, tmp_path) as later:
            assert await later.fetch("/p4") == "cache"
            assert await later.read("/p4") == "library"
    assert len(warnings(caplog)) == 1


async def test_files_locked_at_its_start_cost_no_answer_and_one_warning_and_are_used_again(
    site: Site, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pages(site)
    with anyio.fail_after(120):
        async with engine(site, tmp_path) as at:
            assert await at.search("before") == "ok"
        async with engine(site, tmp_path) as at:
            with locked(tmp_path, wholly=True), short_timeouts():
                assert await all_verbs(at) == WELL
            assert len(warnings(caplog)) == 1
            assert await at.fetch("/p4") == "http"
        async with engine(site, tmp_path) as later:
            assert await later.fetch("/p4") == "cache"
            assert await later.read("/p4") == "library"
    assert len(warnings(caplog)) == 1


async def test_a_data_directory_that_cannot_be_made_costs_no_answer_and_one_warning(
    site: Site, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pages(site)
    (tmp_path / "taken").write_text("a file where the folder should be")
    with anyio.fail_after(120):
        async with engine(site, tmp_path / "taken") as at:
            assert await all_verbs(at) == WELL
            assert await at.fetch("/p1") == "cache"
    assert len(warnings(caplog)) == 1


async def test_damaged_files_cost_no_answer_and_the_library_is_begun_anew(
    site: Site, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pages(site)
    for name in FILES:
        (tmp_path / name).write_bytes(b"not a database at all " * 500)
    with anyio.fail_after(120):
        async with engine(site, tmp_path) as at:
            assert await all_verbs(at) == WELL
            assert await at.read("/p3") == "library"
    told = warnings(caplog)
    assert len(told) == 2, "one of what is left alone, one of what was moved aside"
    assert "library.sqlite.damaged-" in told[1]


@pytest.mark.skipif(sys.platform == "win32", reason="limits and mounts are POSIX")
@pytest.mark.parametrize("how", ["limit", "small-disk"])
async def test_a_full_disk_costs_no_answer_and_one_warning_and_is_used_again(
    site: Site, tmp_path: Path, how: str
) -> None:
    pages(site)
    folder = tmp_path / "data"
    folder.mkdir()
    with anyio.fail_after(120), small_disk(folder, wanted=how == "small-disk"):
        done = await anyio.run_process(
            [sys.executable, "-m", "tests.support.full_disk", str(site.port), str(folder), how],
            cwd=ROOT,
            stderr=None,
        )
        told = json.loads(done.stdout)
    assert told == {
        "before": "ok",
        "full": WELL,
        "warnings": 1,
        "after": "http",
        "later": ["cache", "library"],
    }


@contextmanager
def small_disk(folder: Path, *, wanted: bool) -> Iterator[None]:
    """A disk of a few megabytes at `folder`, if the machine allows mounting one."""
    if not wanted:
        yield
        return
    options = ["-t", "tmpfs", "-o", "size=4m", "kindly-test", str(folder)]
    try:
        subprocess.run(["mount", *options], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no disk can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True, capture_output=True)
