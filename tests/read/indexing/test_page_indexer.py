"""The index process is started with the first page, replaced when it breaks, and ended at rest."""

import os
from pathlib import Path

import pytest

from kindly.read.indexing.page_indexer import WARM_S, IndexingFailed, ProcessIndexer
from tests.support.queued_pages import queued

pytestmark = pytest.mark.anyio

BROKEN = """
import os, sys, time
from kindly.concurrency.pipe_frames import encode_frame, read_frame
while (message := read_frame(sys.stdin.buffer)) is not None:
    if b"crash" in message[1]:
        os._exit(1)
    if b"hang" in message[1]:
        time.sleep(3600)
    pages = [[[str(os.getpid()), 0, 1, [], 1, "", None, 0]]]
    if b"nonsense" in message[1]:
        pages = [1]
    import json
    answer = json.dumps({"model": None, "vectors": 0, "pages": pages}).encode(), b""
    sys.stdout.buffer.writelines(encode_frame(answer, outgrown=b"large" in message[1]))
    sys.stdout.flush()
"""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "broken_indexer.py").write_text(BROKEN, encoding="utf-8")
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path)}


async def process_of(indexer: ProcessIndexer, text: str = "page") -> str:
    """The id of the process that prepared a page, which it gives as a chunk's id."""
    (page,) = await indexer.prepare([queued(text, text)])
    return page.chunks[0].id


async def test_pages_are_prepared_by_the_real_process() -> None:
    indexer = ProcessIndexer(512, os.environ)
    tea, wine = queued("tea"), queued("wine")
    first, second = await indexer.prepare([tea, wine])
    assert (first.entry, second.entry) == (tea.entry, wine.entry)
    assert [chunk.text for chunk in first.chunks] == [tea.text]
    assert first.model is not None
    assert len(second.halves[second.chunks[0].id]) == 2 * first.model.dimension
    (best,) = await indexer.rank(tea, "What is this page about?", 1)
    assert best.text in tea.text
    await indexer.rest()


async def test_a_warm_process_is_used_by_the_first_page(environ: dict[str, str]) -> None:
    indexer = ProcessIndexer(512, environ, program="broken_indexer")
    await indexer.warm()
    first = await process_of(indexer)
    await indexer.warm()
    assert await process_of(indexer) == first
    await indexer.rest()


async def test_the_process_is_reused_until_it_is_too_large(environ: dict[str, str]) -> None:
    indexer = ProcessIndexer(512, environ, program="broken_indexer")
    first = await process_of(indexer)
    assert await process_of(indexer) == first
    assert await process_of(indexer, "large") == first
    assert await process_of(indexer) != first
    await indexer.rest()


async def test_a_process_that_was_used_a_moment_ago_is_not_ended(environ: dict[str, str]) -> None:
    now = [0.0]
    indexer = ProcessIndexer(512, environ, program="broken_indexer", clock=lambda: now[0])
    (first,) = await indexer.prepare([queued("a")])
    now[0] += 2
    assert not await indexer.rest(3)
    (second,) = await indexer.prepare([queued("b")])
    now[0] += 3
    assert await indexer.rest(3)
    (third,) = await indexer.prepare([queued("c")])
    assert await indexer.rest()
    processes = [page.chunks[0].id for page in (first, second, third)]
    assert processes[0] == processes[1] != processes[2]


async def test_a_warm_process_is_kept_until_its_first_page_may_have_come(
    environ: dict[str, str],
) -> None:
    now = [0.0]
    indexer = ProcessIndexer(512, environ, program="broken_indexer", clock=lambda: now[0])
    await indexer.warm()
    now[0] += WARM_S
    assert not await indexer.rest(1)
    now[0] += 1
    assert await indexer.rest(1)


async def test_a_process_at_rest_starts_again(environ: dict[str, str]) -> None:
    indexer = ProcessIndexer(512, environ, program="broken_indexer")
    await indexer.rest()
    first = await process_of(indexer)
    await indexer.rest()
    assert await process_of(indexer) != first
    await indexer.rest()


@pytest.mark.parametrize(("text", "timeout_s"), [("crash", 60.0), ("nonsense", 60.0), ("hang", 2)])
async def test_a_process_that_breaks_is_replaced(
    environ: dict[str, str], text: str, timeout_s: float
) -> None:
    indexer = ProcessIndexer(512, environ, program="broken_indexer", timeout_s=timeout_s)
    with pytest.raises(IndexingFailed):
        await process_of(indexer, text)
    patient = ProcessIndexer(512, environ, program="broken_indexer")
    assert await process_of(patient)
    await patient.rest()
    await indexer.rest()
