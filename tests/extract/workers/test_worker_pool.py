import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from kindly.budget import Deadline
from kindly.concurrency.blas import THREAD_VARIABLES
from kindly.errors import ExtractionFailed, ExtractionLate, NoContent, PageWalled
from kindly.extract import ExtractOptions
from kindly.extract.workers.worker_pool import InProcess, Workers, scrubbed
from kindly.models import OutcomeKind
from tests.support.html_pages import URL, page
from tests.support.paths import ROOT

pytestmark = pytest.mark.anyio

ENVIRON = {
    "PATH": os.environ.get("PATH", ""),
    "PYTHONPATH": str(ROOT),
    "SERPER_API_KEY": "made-up",
    "HOME": "/nowhere",
    "LANG": "C.UTF-8",
}


@asynccontextmanager
async def hostile(
    *, size: int = 1, timeout_s: float = 20, pages_per_process: int = 100
) -> AsyncIterator[Workers]:
    """A pool whose pages can misbehave on purpose."""
    pool = Workers(
        environ=ENVIRON,
        size=size,
        timeout_s=timeout_s,
        pages_per_process=pages_per_process,
        program="tests.support.hostile_html",
    )
    with anyio.fail_after(30):
        async with pool as workers:
            yield workers


async def told(workers: Workers, order: str, seconds: float = 20) -> str:
    document = await workers.extract(page(order), ExtractOptions(), Deadline.after(seconds))
    return document.text


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_page_becomes_the_same_document_as_in_process() -> None:
    source = page("<title>T</title><main><h1>Head</h1><p>Text é <a href=/x>link</a>.</p></main>")
    with anyio.fail_after(30):
        async with Workers(environ=ENVIRON) as workers:
            there = await workers.extract(source, ExtractOptions(), Deadline.after(20))
        here = await InProcess().extract(source, ExtractOptions(), Deadline.after(20))
    assert there == here
    assert here.text == "# Head\n\nText é [link](https://site.example/x)."


async def test_error_of_the_extraction_crosses_as_itself() -> None:
    with anyio.fail_after(30):
        async with Workers(environ=ENVIRON, size=1) as workers:
            with pytest.raises(NoContent) as caught:
                await workers.extract(page("<p></p>"), ExtractOptions(), Deadline.after(20))
    assert caught.value.url == URL


async def test_processes_are_reused_and_an_error_does_not_cost_one() -> None:
    async with hostile() as workers:
        first = await told(workers, "process")
        with pytest.raises(PageWalled) as caught:
            await told(workers, "wall")
        assert caught.value.kind is OutcomeKind.AUTH
        assert await told(workers, "process") == first


async def test_process_is_replaced_after_its_share_of_pages() -> None:
    async with hostile(pages_per_process=1) as workers:
        assert await told(workers, "process") != await told(workers, "process")


async def test_hanging_page_is_killed_at_the_deadline_and_the_next_one_is_read() -> None:
    async with hostile() as workers:
        pid = int(await told(workers, "process"))
        with pytest.raises(ExtractionFailed):
            await told(workers, "hang", seconds=0.3)
        assert not is_running(pid)
        assert await told(workers, "fine") == "fine"


async def test_hanging_page_is_killed_at_the_pools_own_limit() -> None:
    async with hostile(timeout_s=0.3) as workers:
        with pytest.raises(ExtractionFailed):
            await told(workers, "hang")


async def test_deadline_that_has_passed_reads_nothing() -> None:
    async with hostile() as workers:
        with pytest.raises(ExtractionLate):
            await told(workers, "fine", seconds=0)


async def test_page_whose_turn_does_not_come_is_late_and_not_called_too_large() -> None:
    async with hostile() as workers, anyio.create_task_group() as group:
        await told(workers, "fine")
        group.start_soon(told, workers, "hang")
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(ExtractionLate) as caught:
            await told(workers, "fine", seconds=0.1)
        assert caught.value.kind is OutcomeKind.TIMEOUT
        group.cancel_scope.cancel()


@pytest.mark.parametrize("order", ["crash", "bug", "bomb"])
async def test_page_that_breaks_its_process_fails_alone(order: str) -> None:
    async with hostile(size=2) as workers:
        texts: list[str] = []

        async def good() -> None:
            texts.append(await told(workers, "fine"))

        async def bad() -> None:
            with pytest.raises(ExtractionFailed):
                await told(workers, order)

        async with anyio.create_task_group() as group:
            for job in (good, bad, good, bad, good):
                group.start_soon(job)
        assert texts == ["fine"] * 3


async def test_cancelled_page_takes_its_process_along() -> None:
    async with hostile() as workers:
        pid = int(await told(workers, "process"))
        with anyio.move_on_after(0.2):
            await told(workers, "hang")
        assert not is_running(pid)
        assert await told(workers, "fine") == "fine"


async def test_output_of_a_library_does_not_disturb_the_pipe() -> None:
    async with hostile() as workers:
        assert await told(workers, "print") == "print"


async def test_worker_sees_no_key_of_the_server() -> None:
    async with hostile() as workers:
        names = set((await told(workers, "environment")).split())
    assert {"PATH", "PYTHONPATH"} <= names
    assert not names & {"SERPER_API_KEY", "HOME"}


def test_scrubbed_environment_holds_only_what_python_needs() -> None:
    kept = scrubbed({"LANG": "C", "TAVILY_API_KEY": "made-up", "KINDLY_PROFILE": "media"})
    assert set(kept) == {"LANG", "PYTHONPATH", *THREAD_VARIABLES}


async def test_warm_starts_one_process_that_the_first_page_uses() -> None:
    async with hostile() as workers:
        await workers.warm()
        first = await told(workers, "process")
        await workers.warm()
        assert await told(workers, "process") == first


async def test_process_that_stays_large_after_a_page_is_replaced() -> None:
    async with hostile() as workers:
        first = await told(workers, "process")
        assert await told(workers, "keep") == "kept"
        assert await told(workers, "process") != first


async def test_process_that_died_while_idle_is_replaced() -> None:
    async with hostile() as workers:
        pid = int(await told(workers, "process"))
        os.kill(pid, 9)
        with anyio.fail_after(60):
            while True:
                try:
                    assert int(await told(workers, "process")) != pid
                    break
                except ExtractionFailed:
                    continue


async def test_leaving_the_context_ends_every_process() -> None:
    async with hostile(size=2) as workers:
        pids = {int(await told(workers, "process"))}
        async with anyio.create_task_group() as group:
            group.start_soon(told, workers, "fine")
            pids.add(int(await told(workers, "process")))
    assert not any(map(is_running, pids))


async def test_in_process_extractor_needs_no_warming_and_obeys_the_deadline() -> None:
    await InProcess().warm()
    with pytest.raises(ExtractionFailed):
        await InProcess().extract(page("<p>x</p>"), ExtractOptions(), Deadline.after(0))


def test_worker_leaves_when_its_pipe_closes() -> None:
    command = [sys.executable, "-m", "tests.support.hostile_html", str(512 * 1024 * 1024)]
    done = subprocess.run(
        command, input=b"", cwd=ROOT, env=ENVIRON, capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"")


def test_importing_the_pool_does_not_load_the_parser() -> None:
    code = "import sys, kindly.extract.workers.worker_pool; sys.exit('turbohtml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0
