import os
import subprocess
import sys
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from kindly.budget import Deadline
from kindly.errors import ExtractError, ExtractionFailed, ExtractionLate, NoContent, PageWalled
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.extract.formats.recognition import is_installed
from kindly.extract.workers.worker_pool import WorkerLimits, WorkerPool
from kindly.models import OutcomeKind
from tests.support.html_pages import URL, page
from tests.support.paths import ROOT
from tests.support.pdf_files import PROSE, line, lines, pdf, pixels, scans
from tests.support.processes import until
from tests.support.zip_files import docx, epub, row, xlsx

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
    *,
    size: int = 1,
    timeout_s: float = 100,
    pages_per_process: int = 100,
    announced: int = 0,
    left_s: float = 0,
) -> AsyncIterator[WorkerPool]:
    """A pool whose pages can misbehave on purpose; see `tests.support.hostile_html`."""
    pool = WorkerPool(
        environ=ENVIRON,
        size=size,
        limits=WorkerLimits(timeout_s, left_s, pages_per_process),
        program="tests.support.hostile_html",
        announced=announced,
    )
    with anyio.fail_after(120):
        async with pool as workers:
            yield workers


async def run(workers: WorkerPool, command: str, seconds: float = 100) -> str:
    document = await workers.extract(page(command), ExtractOptions(), Deadline.after(seconds))
    return document.text


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_page_becomes_the_same_document_as_in_process() -> None:
    source = page("<title>T</title><main><h1>Head</h1><p>Text é <a href=/x>link</a>.</p></main>")
    with anyio.fail_after(120):
        async with WorkerPool(environ=ENVIRON) as workers:
            there = await workers.extract(source, ExtractOptions(), Deadline.after(100))
        here = extract(source, ExtractOptions())
    assert there == here
    assert here.text == "# Head\n\nText é [link](https://site.example/x)."


@pytest.mark.slow
@pytest.mark.skipif(not is_installed(), reason="the extra `ocr` is not installed")
async def test_scan_is_read_within_the_memory_of_a_worker() -> None:
    limits = WorkerLimits(timeout_s=400)
    source = page(scans(pixels(lines(PROSE))), media_type="application/pdf")
    with anyio.fail_after(600):
        async with WorkerPool(environ=ENVIRON, size=1, limits=limits) as workers:
            scan = await workers.extract(source, ExtractOptions(), Deadline.after(500))
            after = await workers.extract(
                page("<p>Words</p>"), ExtractOptions(), Deadline.after(90)
            )
    assert " ".join(PROSE) in " ".join(scan.text.split())
    assert scan.note.startswith("Page 1 was read by character recognition")
    assert after.text == "Words"


async def test_error_of_the_extraction_is_raised_by_the_pool() -> None:
    with anyio.fail_after(120):
        async with WorkerPool(environ=ENVIRON, size=1) as workers:
            with pytest.raises(NoContent) as caught:
                await workers.extract(page("<p></p>"), ExtractOptions(), Deadline.after(100))
    assert caught.value.url == URL


async def test_processes_are_reused_and_an_error_does_not_cost_one() -> None:
    async with hostile() as workers:
        first = await run(workers, "process")
        with pytest.raises(PageWalled) as caught:
            await run(workers, "wall")
        assert caught.value.kind is OutcomeKind.AUTH
        assert await run(workers, "process") == first


async def test_process_is_replaced_after_its_number_of_pages() -> None:
    async with hostile(pages_per_process=1) as workers:
        assert await run(workers, "process") != await run(workers, "process")


async def test_hanging_page_is_killed_at_the_deadline_and_the_next_one_is_read(
    tmp_path: Path,
) -> None:
    report, seconds = tmp_path / "process", 0.3
    async with hostile() as workers:
        await run(workers, "fine")
        while not report.exists():  # a slow machine needs more time to pass the page on
            with pytest.raises((ExtractionFailed, ExtractionLate)) as caught:
                await run(workers, f"hang {report}", seconds)
            seconds *= 2
        assert type(caught.value) is ExtractionFailed
        await until(lambda: not is_running(int(report.read_text())))
        assert await run(workers, "fine") == "fine"


async def test_hanging_page_is_killed_at_the_time_limit_of_the_pool() -> None:
    async with hostile(timeout_s=0.3) as workers:
        with pytest.raises(ExtractionFailed):
            await run(workers, "hang")


async def test_expired_deadline_is_late() -> None:
    async with hostile() as workers:
        with pytest.raises(ExtractionLate):
            await run(workers, "fine", seconds=0)


async def test_page_without_a_free_worker_before_its_deadline_is_late() -> None:
    async with hostile() as workers, anyio.create_task_group() as group:
        await run(workers, "fine")
        group.start_soon(run, workers, "hang")
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(ExtractionLate) as caught:
            await run(workers, "fine", seconds=0.1)
        assert caught.value.kind is OutcomeKind.TIMEOUT
        group.cancel_scope.cancel()


@pytest.mark.parametrize("command", ["crash", "bug", "bomb"])
async def test_page_that_breaks_its_process_fails_alone(command: str) -> None:
    async with hostile(size=2) as workers:
        texts: list[str] = []

        async def good() -> None:
            texts.append(await run(workers, "fine"))

        async def bad() -> None:
            with pytest.raises(ExtractionFailed):
                await run(workers, command)

        async with anyio.create_task_group() as group:
            for job in (good, bad, good, bad, good):
                group.start_soon(job)
        assert texts == ["fine"] * 3


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("killed", OutcomeKind.UNREACHABLE),
        ("crash", OutcomeKind.TOO_LARGE),
        ("bug", OutcomeKind.TOO_LARGE),
        ("bomb", OutcomeKind.TOO_LARGE),
    ],
)
async def test_a_killed_process_is_unreachable_and_a_page_that_breaks_it_too_large(
    command: str, kind: OutcomeKind
) -> None:
    async with hostile() as workers:
        with pytest.raises(ExtractionFailed) as caught:
            await run(workers, command)
        assert caught.value.kind is kind
        assert caught.value.outcome.retryable is (kind is OutcomeKind.UNREACHABLE)
        assert await run(workers, "fine") == "fine"


async def test_process_of_a_page_whose_caller_left_is_used_for_the_next_one(
    tmp_path: Path,
) -> None:
    report, go = tmp_path / "process", tmp_path / "go"
    async with hostile(left_s=100) as workers:
        async with anyio.create_task_group() as group:
            group.start_soon(run, workers, f"hang {report} {go}")
            await until(report.exists)
            group.cancel_scope.cancel()
        go.touch()
        assert await run(workers, "process") == report.read_text()


async def test_process_that_does_not_end_a_page_whose_caller_left_is_ended(
    tmp_path: Path,
) -> None:
    report = tmp_path / "process"
    async with hostile() as workers:
        async with anyio.create_task_group() as group:
            group.start_soon(run, workers, f"hang {report}")
            await until(report.exists)
            group.cancel_scope.cancel()
        await until(lambda: not is_running(int(report.read_text())))
        assert await run(workers, "fine") == "fine"


async def test_output_of_a_library_does_not_reach_the_pipe() -> None:
    async with hostile() as workers:
        assert await run(workers, "print") == "print"


async def test_worker_sees_no_key_of_the_server() -> None:
    async with hostile() as workers:
        names = set((await run(workers, "environment")).split())
    assert {"PATH", "PYTHONPATH"} <= names
    assert not names & {"SERPER_API_KEY", "HOME"}


async def test_warm_starts_one_process_that_the_first_page_uses() -> None:
    async with hostile() as workers:
        await workers.warm()
        first = await run(workers, "process")
        await workers.warm()
        assert await run(workers, "process") == first


@pytest.mark.skipif(sys.platform != "linux", reason="counts processes in /proc")
@pytest.mark.parametrize(("announced", "started"), [(0, [1, 2, 2]), (1, [2, 2, 2])])
async def test_as_many_processes_start_as_pages_are_announced_up_to_the_size(
    announced: int, started: list[int]
) -> None:
    def children() -> int:
        files = Path("/proc/self/task").glob("*/children")
        return sum(len(file.read_text(encoding="ascii").split()) for file in files)

    async with hostile(size=2, announced=announced) as workers:
        before = children()
        found = []
        for _ in range(3):
            await workers.warm()
            found.append(children() - before)
    assert found == started


async def test_process_that_stays_large_after_a_page_is_replaced() -> None:
    async with hostile() as workers:
        first = await run(workers, "process")
        assert await run(workers, "keep") == "kept"
        assert await run(workers, "process") != first


async def test_process_that_died_while_idle_is_replaced() -> None:
    async with hostile() as workers:
        pid = int(await run(workers, "process"))
        os.kill(pid, 9)
        with anyio.fail_after(120):
            while True:
                try:
                    assert int(await run(workers, "process")) != pid
                    break
                except ExtractionFailed:
                    continue


async def test_leaving_the_context_ends_every_process() -> None:
    async with hostile(size=2) as workers:
        pids = {int(await run(workers, "process"))}
        async with anyio.create_task_group() as group:
            group.start_soon(run, workers, "fine")
            pids.add(int(await run(workers, "process")))
    assert not any(map(is_running, pids))


def test_worker_exits_when_its_pipe_closes() -> None:
    command = [sys.executable, "-m", "tests.support.hostile_html", str(512 * 1024 * 1024)]
    done = subprocess.run(
        command, input=b"", cwd=ROOT, env=ENVIRON, capture_output=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"")


def test_importing_the_pool_does_not_load_the_parser() -> None:
    code = "import sys, kindly.extract.workers.worker_pool; sys.exit('turbohtml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120, check=False).returncode == 0


def flate_bomb(size: int) -> bytes:
    """A PDF whose one page unpacks to this many bytes of drawing."""
    packed = zlib.compress(b"0 0 m 1 1 l S\n" * (size // 14), 9)
    whole = pdf(["%"])
    old = b"<< /Length 1 >>\nstream\n%\nendstream"
    return whole.replace(
        old,
        b"<< /Filter /FlateDecode /Length %d >>\nstream\n%b\nendstream" % (len(packed), packed),
    )


def deep_word(depth: int) -> bytes:
    return docx("<w:p>" * depth + "</w:p>" * depth)


BOMBS: dict[str, Callable[[], bytes]] = {
    "zip": lambda: docx("", **{"word/media/x__bin": bytes(64 * 1024 * 1024)}),
    "markup": lambda: docx("", **{"word/document__xml": b"<a>" * 12_000_000}),
    "nesting": lambda: deep_word(100_000),
    "far cell": lambda: xlsx(
        {"A": row(1, "x") + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'}
    ),
    "book": lambda: epub({"a.xhtml": "<p>" + "x" * 60_000_000}),
    "pdf stream": lambda: flate_bomb(200_000_000),
    "pdf loop": lambda: pdf(["x"]).replace(b"/Kids [5 0 R]", b"/Kids [2 0 R]"),
    "deep json": lambda: b"[" * 2_000_000,
    "binary": lambda: b"\x00" * 2_000_000,
}


OUTCOMES = {
    "far cell": "Document",
    "pdf loop": "NoContent",
    "deep json": "Document",
    "binary": "MediaUnsupported",
}
"""The outcomes of files that are not stopped by a size or time limit; all others are `ExtractionFailed`."""


BOMB_S = 5
"""How long a bomb may work that ends with an error; what is read to its end has all the time it needs."""


async def outcome(
    workers: WorkerPool, body: bytes, media_type: str = "", seconds: float = 100
) -> str:
    """The outcome of reading these bytes: the name of an error class, or `Document`."""
    try:
        source = page(body, media_type=media_type)
        document = await workers.extract(source, ExtractOptions(), Deadline.after(seconds))
        return type(document).__name__
    except ExtractError as error:
        return type(error).__name__


@pytest.mark.slow
async def test_every_bomb_ends_with_an_error_or_text_and_the_pool_still_works() -> None:
    outcomes: dict[str, str] = {}
    pool = WorkerPool(environ=ENVIRON, size=1, limits=WorkerLimits(timeout_s=100))
    with anyio.fail_after(500):
        async with pool as workers:
            for name, make in BOMBS.items():
                kind = "application/json" if "json" in name else ""
                seconds = 100 if name in OUTCOMES else BOMB_S
                outcomes[name] = await outcome(workers, make(), kind, seconds)
                assert await outcome(workers, pdf([line("still here")])) == "Document"
    assert outcomes == {name: OUTCOMES.get(name, "ExtractionFailed") for name in BOMBS}
