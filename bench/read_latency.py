"""The latency of reading: a stored page, a first read, and `recall` over 100,000 chunks, each beside the bare query.

    python -m bench.read_latency [--chunks 100000] [--stores sqlite,postgres]

Bars: `read_page` of a kept page p50 < 15 ms; first read of a 1,500-token page < 300 ms; `recall` p50 < 60 ms.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from random import Random

import anyio
import numpy as np
from tests.support.postgres import running_postgres
from tests.support.site import Site, html, running_site

from kindly.app import open_app
from kindly.budget import Deadline
from kindly.models import Chunk, StoredPageInfo
from kindly.pipeline import read, recall
from kindly.read.embedders.local.embedder import LocalEmbedder
from kindly.read.store import EmbeddingModel, Store, StoreSettings
from kindly.read.stores import open_store
from kindly.settings import Settings
from kindly.text.terms import terms

KEPT_BAR_MS, FIRST_BAR_MS, RECALL_BAR_MS = 15.0, 300.0, 60.0
RUNS = 40
QUESTION = "how does the valve control the pressure of the boiler?"
NOUNS = """
    valve pressure boiler steam pipe engine wheel track signal station bridge river harbour crane cargo ship sail
    engineer patent design copper iron coal heat water pump piston cylinder safety gauge repair winter summer
    council budget school teacher student reading history science garden market price bread cheese
"""
WORDS = NOUNS.split()


def prose(random: Random, tokens: int) -> str:
    """Sentences of about this many tokens."""
    sentences: list[str] = []
    while sum(len(one) for one in sentences) < tokens * 4:
        words = random.choices(WORDS, k=random.randint(8, 16))
        sentences.append(" ".join(words).capitalize() + ". ")
    return "".join(sentences)


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
    random = Random(1)
    body = "".join(f"<h2>Part {n}</h2><p>{prose(random, 150)}</p>" for n in range(10))
    for number in range(RUNS + 1):
        site.add(f"/page/{number}", html(f"<h1>Page {number}</h1>{body}"))
    settings = Settings.load({"DATA_DIR": str(folder), "KINDLY_ALLOW_PRIVATE": site.host})
    async with open_app(settings) as app:
        numbers = iter(range(RUNS + 1))

        async def first() -> None:
            url = site.url(f"/page/{next(numbers)}")
            await read(app.stages, url, [QUESTION], Deadline.after(30))

        async def kept() -> None:
            await read(app.stages, site.url("/page/0"), [QUESTION], Deadline.after(30))

        await first()
        met = report(
            "first read, 1,500 tokens, download included", await timed(first), FIRST_BAR_MS
        )
        store = open_store("sqlite", StoreSettings(folder))
        bare = statistics.median(await timed(lambda: store.page(site.url("/page/0"))))
        await store.aclose()
        return report("read_page, kept page", await timed(kept), KEPT_BAR_MS, bare) and met


async def filled(store: Store, chunks: int) -> None:
    """A library of pages with twenty chunks each."""
    random, numbers = Random(2), np.random.default_rng(2)
    model = EmbeddingModel(LocalEmbedder().name, 256)
    for page in range(chunks // 20):
        url = f"https://example.com/{page}"
        rows = numbers.standard_normal((20, 256)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        cut = []
        for position in range(20):
            text = f"{prose(random, 60)} Item {page}-{position}."
            name = sha256(f"{url}|{position}|{text}".encode()).hexdigest()
            cut.append(Chunk(name, url, text, position, position + 1, (f"Part {position}",), 60))
        entry = StoredPageInfo(url, f"Page {page}", datetime.now(UTC), f"hash {page}", 20)
        vectors = {chunk.id: row for chunk, row in zip(cut, rows, strict=True)}
        await store.put(entry, cut, vectors, model)


@asynccontextmanager
async def place(name: str) -> AsyncIterator[tuple[str, dict[str, str]]]:
    """The value of `KINDLY_STORE` for a store of this kind."""
    if name != "postgres":
        yield name, {"KINDLY_STORE": name}
        return
    with running_postgres() as address:
        yield address, {"KINDLY_STORE": address}


async def recalls(name: str, folder: Path, chunks: int) -> bool:
    """`recall` over a full library."""
    async with place(name) as (address, environ):
        url = address if name == "postgres" else ""
        store = open_store(name, StoreSettings(folder / "big", url))
        began = time.perf_counter()
        await filled(store, chunks)
        print(f"{name}: {chunks:,} chunks put in {time.perf_counter() - began:.0f} s")
        vector = (await LocalEmbedder().embed([QUESTION]))[0]
        bare_runs = await timed(lambda: store.candidates(terms(QUESTION), vector, 48))
        bare = statistics.median(bare_runs[1:])
        await store.aclose()
        settings = Settings.load({"DATA_DIR": str(folder / "big"), **environ})
        async with open_app(settings) as app:
            await recall(app.stages, [QUESTION])
            taken = await timed(lambda: recall(app.stages, [QUESTION]))
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
    sys.exit(0 if anyio.run(main, wanted.chunks, wanted.stores.split(",")) else 1)
