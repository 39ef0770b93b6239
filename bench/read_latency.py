"""The latency of reading: a stored page, a first read, and `recall` over 100,000 chunks, beside the bare query.

    python -m bench.read_latency [--chunks 100000] [--stores sqlite,postgres]

Pages have the sizes and the structure of real ones; no question is asked twice. Bars: `read_page` of a kept page
p50 < 15 ms; first read of a page < 300 ms; `recall` p50 < 60 ms.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from random import Random

import anyio
from tests.support.postgres import running_postgres
from tests.support.site import Site, html, running_site

from bench.generated import PAGE_CHUNKS, Generator
from bench.generated_postgres import fill, prepare_found
from bench.realistic_pages import Writer, realistic_page
from kindly.app import open_app
from kindly.budget import Deadline
from kindly.pipeline import read, recall
from kindly.read.answering import CANDIDATES
from kindly.read.embedders.local.embedder import LocalEmbedder
from kindly.read.ranking.prepared import with_prepared
from kindly.read.ranking.static_model import NAME, load
from kindly.read.store import EmbeddingModel, StoreSettings
from kindly.read.stores import open_store
from kindly.settings import Settings
from kindly.text.terms import terms

KEPT_BAR_MS, FIRST_BAR_MS, RECALL_BAR_MS = 15.0, 300.0, 60.0
RUNS = 40


async def timed(work: Callable[[], Awaitable[object]], runs: int = RUNS) -> list[float]:
    """Milliseconds of each run."""
    taken = []
    for _ in range(runs):
        began = time.perf_counter()
        await work()
        taken.append((time.perf_counter() - began) * 1000)
    return taken


def report(name: str, taken: Sequence[float], bar: float | None, bare: float | None = None) -> bool:
    """Print p50 and p95; return whether the bar is met."""
    p50, p95 = statistics.median(taken), sorted(taken)[int(len(taken) * 0.95)]
    ratio = f"  {p50 / bare:5.1f} × bare query" if bare else ""
    told = f"  bar {bar:.0f}" if bar else ""
    print(f"{name:42s} p50 {p50:7.2f} ms  p95 {p95:7.2f} ms{told}{ratio}")
    return bar is None or p50 < bar


async def pages(site: Site, folder: Path) -> bool:
    """Reads of stored and of new pages through the whole engine."""
    for number in range(RUNS + 1):
        site.add(f"/page/{number}", html(realistic_page(number)))
    settings = Settings.load({"DATA_DIR": str(folder), "KINDLY_ALLOW_PRIVATE": site.host})
    async with open_app(settings) as app:
        numbers = iter(range(RUNS + 1))

        async def first() -> None:
            number = next(numbers)
            url = site.url(f"/page/{number}")
            await read(app.stages, url, [question(number)], Deadline.after(30))

        await first()
        met = report(
            "first read, page of real size, download included", await timed(first), FIRST_BAR_MS
        )
        numbers = iter(range(RUNS))
        store = open_store("sqlite", StoreSettings(folder))
        bare = statistics.median(await timed(lambda: store.page(site.url("/page/0"))))
        await store.aclose()

        async def kept() -> None:
            number = next(numbers)
            url = site.url(f"/page/{number}")
            await read(app.stages, url, [question(RUNS + number)], Deadline.after(30))

        return (
            report("read_page, kept page, new question", await timed(kept), KEPT_BAR_MS, bare)
            and met
        )


def question(number: int) -> str:
    """Words that pages have: the same for the same number."""
    return f"How does {Writer(Random(number)).words(6)}?"


async def filled(name: str, settings: StoreSettings, chunks: int) -> None:
    """A library of generated pages with what ranking needs of them, as the server stores them."""
    if name == "postgres":
        await fill(settings.url, chunks)
        return
    model = load()
    async with aclosing(open_store(name, settings)) as store:
        for page in Generator(model).pages(range(chunks // PAGE_CHUNKS)):
            vectors = {one.id: row for one, row in zip(page.chunks, page.vectors, strict=True)}
            ready = with_prepared(page.chunks, model)
            await store.put(page.entry, ready, vectors, EmbeddingModel(NAME, len(page.vectors[0])))


@asynccontextmanager
async def place(name: str) -> AsyncIterator[tuple[str, dict[str, str]]]:
    """The address of a store of this kind, and the settings for it."""
    if name != "postgres":
        yield "", {"KINDLY_STORE": name}
        return
    with running_postgres() as address:
        yield address, {"KINDLY_STORE": address}


async def recalls(name: str, folder: Path, chunks: int) -> bool:
    """`recall` over a full library; each question is asked once."""
    asked = Generator(load()).questions(chunks, RUNS + 1)
    vectors = await LocalEmbedder().embed(asked)
    async with place(name) as (address, environ):
        where = StoreSettings(folder / "big", address)
        began = time.perf_counter()
        await filled(name, where, chunks)
        print(f"{name}: {chunks:,} chunks put in {time.perf_counter() - began:.0f} s")
        found: set[str] = set()
        async with aclosing(open_store(name, where)) as store:
            bare_runs = []
            for text, vector in zip(asked, vectors, strict=True):
                began = time.perf_counter()
                candidates = await store.candidates(terms(text), vector, CANDIDATES)
                bare_runs.append((time.perf_counter() - began) * 1000)
                found |= {one.chunk.id for one in candidates}
        bare = statistics.median(bare_runs[1:])
        if name == "postgres":
            prepare_found(address, sorted(found))
        settings = Settings.load({"DATA_DIR": str(folder / "big"), **environ})
        questions = iter(asked)
        async with open_app(settings) as app:
            await recall(app.stages, [next(questions)])
            taken = await timed(lambda: recall(app.stages, [next(questions)]))
        return report(f"recall, {name}, {chunks:,} chunks", taken, RECALL_BAR_MS, bare)


async def main(chunks: int, stores: Sequence[str]) -> bool:
    """Run all measurements."""
    met = True
    with tempfile.TemporaryDirectory() as folder:
        async with running_site() as site:
            met = await pages(site, Path(folder) / "pages")
        for name in stores:
            place_of_its_own = Path(folder) / name
            place_of_its_own.mkdir()
            met = await recalls(name, place_of_its_own, chunks) and met
    return met


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--stores", default="sqlite,postgres")
    wanted = parser.parse_args()
    sys.exit(
        0 if anyio.run(main, wanted.chunks, list(filter(None, wanted.stores.split(",")))) else 1
    )
