"""The server's side of a worker, with a worker that has no browser."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from kindly.fetch.browser import driver_protocol
from kindly.fetch.browser.browser_process import (
    StartError,
    WorkerBrowser,
    kill_all,
    marked,
    scrubbed,
    start_worker,
)
from tests.support.paths import ROOT as REPOSITORY

pytestmark = pytest.mark.anyio

FAKE = "tests.support.fake_driver_worker"
ROOT = str(REPOSITORY)
ENVIRON = {"PATH": os.defpath, "PYTHONPATH": ROOT, "SERPER_API_KEY": "secret"}


def start(folder: Path, executable: str = "works") -> driver_protocol.Start:
    return driver_protocol.Start(
        executable, (), "http://127.0.0.1:1", str(folder), True, "UA", "en-US", 5
    )


def job(path: str, id: int = 1) -> driver_protocol.Job:
    return driver_protocol.Job(id, f"http://example.com/{path}", "u", "p", 5, 1, 1_000)


def left_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@asynccontextmanager
async def worker(folder: Path, executable: str = "works") -> AsyncIterator[WorkerBrowser]:
    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            browser = await start_worker(FAKE, start(folder, executable), ENVIRON, tasks)
            try:
                yield browser
            finally:
                await browser.aclose()


async def test_jobs_are_answered_each_to_its_asker(tmp_path: Path) -> None:
    answers: dict[int, object] = {}

    async def ask(browser: WorkerBrowser, id: int) -> None:
        answers[id] = await browser.render(job(f"page{id}", id))

    async with worker(tmp_path) as browser, anyio.create_task_group() as tasks:
        for id in range(5):
            tasks.start_soon(ask, browser, id)
    assert answers == {
        id: driver_protocol.Rendered(id, f"http://example.com/page{id}", 200, f"page{id}")
        for id in range(5)
    }


async def test_failed_page_leaves_the_browser_usable(tmp_path: Path) -> None:
    async with worker(tmp_path) as browser:
        assert await browser.render(job("fail")) == driver_protocol.RenderFailed(
            1, "navigation", "http://example.com/fail"
        )
        assert browser.alive


async def test_cancelled_page_leaves_the_browser_usable(tmp_path: Path) -> None:
    async with worker(tmp_path) as browser:
        with anyio.move_on_after(0.05) as scope:
            await browser.render(job("hang", 1))
        assert scope.cancelled_caught
        assert isinstance(await browser.render(job("next", 2)), driver_protocol.Rendered)


async def test_worker_that_dies_fails_only_its_own_page(tmp_path: Path) -> None:
    async with worker(tmp_path) as browser:
        answer = await browser.render(job("die"))
        assert isinstance(answer, driver_protocol.RenderFailed)
        assert answer.problem == "gone"
        assert isinstance(await browser.render(job("next", 2)), driver_protocol.RenderFailed)


async def test_start_that_fails_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:
        with pytest.raises(StartError, match="no luck"):
            await start_worker(FAKE, start(tmp_path, "no luck"), ENVIRON, tasks)
    assert left_in(tmp_path) == []


async def test_worker_that_is_no_worker_is_a_failed_start(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:
        with pytest.raises(StartError):
            await start_worker("tests.support.streams", start(tmp_path), ENVIRON, tasks)


async def test_worker_that_answers_out_of_turn_is_a_failed_start(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:
        with pytest.raises(StartError):
            await start_worker("this", start(tmp_path), ENVIRON, tasks)


async def test_environment_has_no_secret(tmp_path: Path) -> None:
    async with worker(tmp_path) as browser:
        answer = await browser.render(job("environ"))
    assert isinstance(answer, driver_protocol.Rendered)
    assert "SERPER_API_KEY" not in answer.html
    assert "TMPDIR" in answer.html


async def test_nothing_is_left_after_closing(tmp_path: Path) -> None:
    async with worker(tmp_path) as browser:
        folder = await browser.render(job("folder"))
        assert isinstance(folder, driver_protocol.Rendered)
        assert Path(folder.html).parent == tmp_path
        if sys.platform == "linux":
            assert marked(folder.html) == [browser.pid]
    assert left_in(tmp_path) == []
    assert marked(folder.html) == []


async def test_worker_ends_when_its_pipe_does(tmp_path: Path) -> None:
    async with worker(tmp_path) as browser:
        await browser._stdin.aclose()
        with anyio.fail_after(120):
            assert await browser._process.wait() == 0


def test_only_needed_variables_are_forwarded() -> None:
    environ = {"HOME": "/h", "PYTHONPATH": "/p", "GITHUB_TOKEN": "t", "HTTPS_PROXY": "http://u:p@x"}
    kept = scrubbed(environ, "/folder")
    assert set(kept) == {"HOME", "PYTHONPATH", "TMPDIR", "TEMP", "TMP"}
    assert kept["PYTHONPATH"].endswith(os.pathsep + "/p")


def test_killing_an_ended_process_is_no_error(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    kill_all(ended.pid, str(tmp_path / "nowhere"))
    assert ended.returncode == 0


def test_processes_are_known_by_their_folder(tmp_path: Path) -> None:
    for pid, environ in {"11": b"A=1\0TMPDIR=/x/kindly-1", "12": b"A=1", "13": None}.items():
        (tmp_path / pid).mkdir()
        (tmp_path / pid / "cmdline").write_bytes(b"chromium")
        if environ is not None:
            (tmp_path / pid / "environ").write_bytes(environ)
    assert marked("/x/kindly-1", tmp_path) == [11]
