"""`recall` of questions that were never asked before: over real documentation, and over many generated chunks.

    python -m bench.recall [--questions 250] [--library FOLDER] [--chunks 0] [--postgres URL]

The pages of `../shared/data/docs_search` are put into a SQLite library as the server does; `--library` keeps it for the
next run. Every question is asked once: the graded queries, then headings and first sentences of the pages. p50 and
p95 of CPU and wall time, and the share of each stage. With `--chunks N` also a library of N generated chunks in
PostgreSQL, which is started for the run; a library at `--postgres` is filled unless it has as many chunks. Exits 1 if a
bar is missed, by wall time: read it on a quiet machine.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from tests.support.postgres import running_postgres

from bench import documentation
from bench.generated import Generator
from bench.generated_postgres import fill, prepare_found
from kindly.read import answering
from kindly.read.embedders.local.embedder import LocalEmbedder
from kindly.read.library import Library
from kindly.read.ranking import rank
from kindly.read.ranking.static_model import load
from kindly.read.store import Store, StoreSettings
from kindly.read.stores import open_store
from kindly.read.stores.postgres import search as postgres_search
from kindly.read.stores.postgres import store as postgres_store
from kindly.read.stores.sqlite import search as sqlite_search
from kindly.text.terms import terms

DOCUMENTATION_BARS_MS = 60.0, 120.0
GENERATED_BARS_MS = 100.0, None
PASSAGES = 8
MAX_ROUNDS = 8
"""Of preparing what is found: PostgreSQL moves the rows that it updates, and then finds others of equal worth."""
WARM_UP = "a question that warms the model up"
STAGES: tuple[tuple[str, Any, str], ...] = (
    ("candidates by words", sqlite_search, "by_words"),
    ("sign bits", sqlite_search.SharedSignIndex, "nearest"),
    ("candidates by vector", sqlite_search, "by_vector"),
    ("rows", sqlite_search, "fetched"),
    ("candidates by words", postgres_search, "_by_words"),
    ("candidates by vector", postgres_search, "_by_vector"),
    ("all candidates", postgres_store, "candidates"),
    ("read prepared chunks", rank, "prepared_chunks"),
    ("index", rank, "build_index"),
    ("features", rank, "features"),
    ("judgement", rank, "answer_row"),
    ("all ranking", answering.Answering, "_best_of"),
)
"""The functions that are timed: a name, where it is, and its attribute."""


class StageTimes:
    """The CPU time of stages in the threads that run them, by name, in milliseconds."""

    def __init__(self) -> None:
        self.taken: dict[str, list[float]] = {}
        for name, place, attribute in STAGES:
            setattr(place, attribute, self._timed(name, getattr(place, attribute)))

    def _timed(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*values: Any, **named: Any) -> Any:
            began = time.thread_time()
            try:
                return work(*values, **named)
            finally:
                spent = (time.thread_time() - began) * 1000
                self.taken.setdefault(name, []).append(spent)

        return run

    def report(self) -> None:
        """Print the stages of all questions so far, and forget them."""
        for name, taken in self.taken.items():
            print(f"    {name:22} p50 {at(taken, 0.5):6.2f} ms  p95 {at(taken, 0.95):6.2f} ms CPU")
        self.taken.clear()


def at(values: Sequence[float], share: float) -> float:
    """The value below which this share of the values is."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


async def measure(
    name: str, store: Store, questions: Sequence[str], bars: tuple[float, float | None]
) -> bool:
    """Ask every question once; return whether the bars are met."""
    library = Library(store, LocalEmbedder())
    await library.recall([WARM_UP], PASSAGES)
    stages = STAGE_TIMES
    stages.taken.clear()
    cpu, wall = [], []
    for question in questions:
        used, began = time.process_time(), time.perf_counter()
        await library.recall([question], PASSAGES)
        cpu.append((time.process_time() - used) * 1000)
        wall.append((time.perf_counter() - began) * 1000)
    print(
        f"{name}, {len(questions)} new questions: wall p50 {at(wall, 0.5):.0f} ms  p95 {at(wall, 0.95):.0f} ms"
        f"  (bars {bars[0]:.0f}, {bars[1] or 0:.0f})  CPU p50 {at(cpu, 0.5):.0f} ms  p95 {at(cpu, 0.95):.0f} ms"
    )
    stages.report()
    return at(wall, 0.5) <= bars[0] and (bars[1] is None or at(wall, 0.95) <= bars[1])


@asynccontextmanager
async def documentation_store(folder: Path) -> AsyncIterator[Store]:
    """The documentation pages in SQLite."""
    async with aclosing(open_store("sqlite", StoreSettings(folder))) as store:
        if not (await store.stats()).pages:
            used = time.process_time()
            kept = await documentation.keep_all(store)
            print(f"{kept} pages kept in {time.process_time() - used:.1f} s of CPU")
        yield store


async def over_documentation(folder: Path, count: int) -> bool:
    """The documentation library; met if its data is absent."""
    if not documentation.DATA.is_dir():
        print(f"skipped: {documentation.DATA} is not there")
        return True
    async with documentation_store(folder) as store:
        stats = await store.stats()
        questions = await documentation.questions(store, count)
        name = f"sqlite, {stats.pages} documentation pages, {stats.chunks} chunks"
        return await measure(name, store, questions, DOCUMENTATION_BARS_MS)


async def over_generated(url: str, chunks: int, count: int) -> bool:
    """Generated chunks in PostgreSQL."""
    began = time.perf_counter()
    await fill(url, chunks)
    print(f"postgres: {chunks:,} chunks in {time.perf_counter() - began:.0f} s")
    questions = Generator(load()).questions(chunks, count)
    embedder = LocalEmbedder()
    async with aclosing(open_store("postgres", StoreSettings(None, url))) as store:
        for _ in range(MAX_ROUNDS):
            found: set[str] = set()
            for question in questions:
                vector = (await embedder.embed([question]))[0]
                candidates = await store.candidates(terms(question), vector, answering.CANDIDATES)
                found |= {one.chunk.id for one in candidates}
            if not prepare_found(url, sorted(found)):
                break
        return await measure(
            f"postgres, {chunks:,} generated chunks", store, questions, GENERATED_BARS_MS
        )


def main() -> int:
    """Run the selected measurements."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=250)
    parser.add_argument("--library", type=Path, help="a folder for the SQLite library")
    parser.add_argument("--chunks", type=int, default=0, help="generated chunks in PostgreSQL")
    parser.add_argument("--postgres", default="", help="the address of an empty or filled database")
    wanted = parser.parse_args()
    with ExitStack() as stack:
        folder = wanted.library or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        met = anyio.run(over_documentation, folder, wanted.questions)
        if wanted.chunks:
            url = wanted.postgres or stack.enter_context(running_postgres())
            met = anyio.run(over_generated, url, wanted.chunks, wanted.questions) and met
    return int(not met)


STAGE_TIMES = StageTimes()

if __name__ == "__main__":
    sys.exit(main())
