"""Load on the library's stores: several processes at once, a hundred thousand chunks, and killed processes.

    python -m bench.stores [--stores sqlite,duckdb,postgres] [--seconds 60] [--chunks 100000] [--kills 0]

Four processes read and write one library (put, page, candidates); then every page that was acknowledged is
looked for. Then the candidates of questions over many chunks are timed beside the bare SQL, but for DuckDB, which takes
half an hour to be filled. With `--kills`, writers are killed at random moments and what they had acknowledged is looked
for, once with writers of the store and once with the library's queue. PostgreSQL is started for the run. Exits 1
when a bar is missed.
"""

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, aclosing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import numpy as np
from numpy.typing import NDArray
from tests.support.killing import Killer
from tests.support.postgres import running_postgres, schema

from bench.store_pages import Library, NewPage
from kindly.read.store import Store, StoreSettings
from kindly.read.stores import open_store
from kindly.text.terms import terms

PROCESSES = 4
TASKS = 4
MIN_OPS = {"sqlite": 1000}
MAX_CANDIDATES_MS = 50.0
"""Of the 60 ms that `recall` may take; the rest is ranking."""
LIMIT = 48
PAGES = 20
PAGE_CHUNKS = 5
VARIANTS = 3
MODULE = "bench.stores"


def names(process: int, task: int) -> list[str]:
    """The pages that one task writes."""
    return [f"w{process}-{task}-{number}" for number in range(PAGES)]


async def work(name: str, settings: StoreSettings, who: int, seconds: float) -> dict[str, Any]:
    """Read and write for a while; return counts, failures and acknowledged pages."""
    library = Library(seed=who)
    mine = [name for task in range(TASKS) for name in names(who, task)]
    made = {name: [library.page(name, PAGE_CHUNKS, 0) for _ in range(VARIANTS)] for name in mine}
    store = open_store(name, settings)
    done: list[float] = []
    failures: list[str] = []
    versions: dict[str, int] = {}
    stop = anyio.current_time() + seconds
    used = resource.getrusage(resource.RUSAGE_SELF)
    before = used.ru_utime + used.ru_stime

    async def one_task(task: int) -> None:
        chance = random.Random(who * 100 + task)
        mine = {name: made[name] for name in names(who, task)}
        while anyio.current_time() < stop:
            began = time.perf_counter()
            try:
                await one_operation(store, library, mine, chance, versions)
            except Exception as error:  # noqa: BLE001 - whatever fails is counted
                failures.append(f"{type(error).__name__}: {error}")
            done.append(time.perf_counter() - began)

    async with aclosing(store), anyio.create_task_group() as tasks:
        for task in range(TASKS):
            tasks.start_soon(one_task, task)
    slowest = sorted(done)
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "operations": len(done),
        "cpu_s": used.ru_utime + used.ru_stime - before,
        "failures": failures,
        "versions": versions,
        "p50_ms": 1000 * statistics.median(slowest),
        "p99_ms": 1000 * slowest[int(0.99 * (len(slowest) - 1))],
        "max_ms": 1000 * slowest[-1],
    }


async def one_operation(
    store: Store,
    library: Library,
    pages: dict[str, list[NewPage]],
    chance: random.Random,
    versions: dict[str, int],
) -> None:
    """One of: put 15 %, candidates 5 %, page 80 %."""
    roll = chance.random()
    if roll < 0.15:
        name = chance.choice(list(pages))
        version = versions.get(name, 0) + 1
        made = pages[name][version % len(pages[name])]
        entry = replace(made.entry, title=f"v{version}")
        await store.put(entry, made.chunks, made.vectors, library.model)
        versions[name] = version
    elif roll < 0.20:
        question = library.question(chance)
        await store.candidates(terms(question.text), question.vector, LIMIT)
    else:
        other = chance.choice(names(chance.randrange(PROCESSES), chance.randrange(TASKS)))
        await store.page(library.url(other))


async def lost(name: str, settings: StoreSettings, reports: list[dict[str, Any]]) -> list[str]:
    """Pages whose acknowledged version is not stored."""
    library = Library(seed=0)
    missing = []
    store = open_store(name, settings)
    async with aclosing(store):
        for report in reports:
            for page, version in report["versions"].items():
                stored = await store.page(library.url(page))
                if stored is None or stored.vectors is None or stored.entry.title != f"v{version}":
                    missing.append(page)
    return missing


def mixed(name: str, settings: StoreSettings, seconds: float) -> bool:
    """Four processes at once; return whether the bar is met."""
    place = str(settings.data_dir or "")
    command = [sys.executable, "-m", MODULE, "--work", name, place, settings.url, str(seconds)]
    running = [
        subprocess.Popen([*command, str(who)], stdout=subprocess.PIPE, text=True)
        for who in range(PROCESSES)
    ]
    reports = [json.loads(one.communicate()[0]) for one in running]
    missing = anyio.run(lost, name, settings, reports)
    failures = [failure for report in reports for failure in report["failures"]]
    operations = sum(report["operations"] for report in reports) / seconds
    median = statistics.mean(report["p50_ms"] for report in reports)
    slow = max(report["p99_ms"] for report in reports)
    longest = max(report["max_ms"] for report in reports)
    cpu = 1000 * sum(report["cpu_s"] for report in reports) / (operations * seconds)
    print(
        f"{name:9} {PROCESSES} processes, {seconds:.0f} s: {operations:7.1f} ops/s ({cpu:.2f} ms of CPU each)  "
        f"p50 {median:.1f} ms  p99 {slow:.0f} ms  longest wait {longest:.0f} ms  "
        f"{len(failures)} failed  {len(missing)} lost"
    )
    for failure in failures[:3]:
        print(f"          {failure}")
    return not failures and not missing and operations >= MIN_OPS.get(name, 0)


def without_indexes(url: str) -> None:
    """Fill PostgreSQL without the indexes of words and vectors, which take most of the time."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP INDEX kindly_chunks_near, kindly_chunks_words")


def with_indexes(url: str) -> None:
    """Create the indexes afterwards, as a restored database would."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET maintenance_work_mem = '512MB'")
        connection.execute("CREATE INDEX kindly_chunks_words ON kindly_chunks USING gin (words)")
        connection.execute(
            "CREATE INDEX kindly_chunks_near ON kindly_chunks "
            "USING hnsw ((embedding::halfvec(256)) halfvec_cosine_ops)"
        )
        connection.execute("VACUUM ANALYZE kindly_chunks")


async def fill(store: Store, library: Library, chunks: int) -> None:
    """Store pages of fifty chunks up to that number of chunks."""
    for number in range(chunks // 50):
        made = library.page(f"big-{number}", 50, 1)
        await store.put(made.entry, made.chunks, made.vectors, library.model)


async def candidates(name: str, settings: StoreSettings, chunks: int) -> bool:
    """The time of `candidates` over many chunks beside the bare SQL; return whether the bar is met."""
    library = Library(seed=1)
    store = open_store(name, settings)
    async with aclosing(store):
        began = time.perf_counter()
        await fill(store, library, 50)
        if name == "postgres":
            without_indexes(settings.url)
        await fill(store, library, chunks)
        if name == "postgres":
            with_indexes(settings.url)
        filled = time.perf_counter() - began
        with bare(name, settings) as asked:
            ours, theirs, recalls = [], [], []
            await store.candidates(["warm"], library.questions[0].vector, LIMIT)
            for question in library.questions:
                words = terms(question.text)
                began = time.perf_counter()
                found = await store.candidates(words, question.vector, LIMIT)
                ours.append(1000 * (time.perf_counter() - began))
                began = time.perf_counter()
                asked(library.rarest(words, 2) if name == "postgres" else words, question.vector)
                theirs.append(1000 * (time.perf_counter() - began))
                near = library.nearest(question.vector, 10)
                recalls.append(len(near & {one.chunk.id for one in found}) / len(near))
        stats = await store.stats()
    p50, floor = statistics.median(ours), statistics.median(theirs)
    p95 = statistics.quantiles(ours, n=20)[-1]
    print(
        f"{name:9} {stats.chunks} chunks ({stats.size_bytes / 1e6:.0f} MB, filled in {filled:.0f} s): candidates "
        f"p50 {p50:.1f} ms  p95 {p95:.1f} ms  bare SQL {floor:.1f} ms  ratio {p50 / floor:.2f}  "
        f"10 nearest found {statistics.mean(recalls):.3f}"
    )
    return p50 <= MAX_CANDIDATES_MS


Asked = Callable[[list[str], NDArray[np.float32]], object]


@contextmanager
def bare(name: str, settings: StoreSettings) -> Iterator[Asked]:
    """The same query in bare SQL, on one connection."""
    with BARE[name](settings) as asked:
        yield asked


@contextmanager
def bare_sqlite(settings: StoreSettings) -> Iterator[Asked]:
    """FTS5 ranks the rarest words; every row that it finds is fetched whole."""
    import sqlite3

    assert settings.data_dir is not None
    database = sqlite3.connect(settings.data_dir / "library.sqlite")
    counted = "SELECT count(*) FROM (SELECT 1 FROM word_uses WHERE term = ? LIMIT 5001)"
    sql = """
    SELECT c.*, d.* FROM chunks AS c JOIN documents AS d USING (doc)
    WHERE n IN (SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 48)
    """

    def ask(words: list[str], _: NDArray[np.float32]) -> object:
        uses = sorted((database.execute(counted, (word,)).fetchone()[0], word) for word in words)
        total, rare = 0, list[str]()
        for count, word in uses:
            total += count
            if total <= 5000 or not rare:
                rare.append(f'"{word}"')
        return database.execute(sql, (" OR ".join(rare),)).fetchall()

    yield ask
    database.close()


@contextmanager
def bare_postgres(settings: StoreSettings) -> Iterator[Asked]:
    """HNSW finds the nearest, GIN the chunks with the given words, the two rarest; every row is fetched whole."""
    import psycopg
    from pgvector import HalfVector
    from pgvector.psycopg import register_vector

    near = """
    SELECT c.*, d.* FROM kindly_chunks AS c JOIN kindly_documents AS d USING (doc)
    ORDER BY embedding::halfvec(256) <=> %s::halfvec(256) LIMIT 48
    """
    having = """
    SELECT c.*, d.* FROM kindly_chunks AS c JOIN kindly_documents AS d USING (doc)
    WHERE words @@ %s::tsquery ORDER BY ts_rank(words, %s::tsquery) DESC LIMIT 48
    """
    with psycopg.connect(settings.url, autocommit=True) as connection:
        register_vector(connection)
        connection.execute("SET hnsw.ef_search = 200")

        def ask(words: list[str], vector: NDArray[np.float32]) -> object:
            query = " | ".join(f"'{word}'" for word in words)
            return (
                connection.execute(near, (HalfVector(vector),), prepare=False).fetchall(),
                connection.execute(having, (query, query)).fetchall(),
            )

        yield ask


BARE: dict[str, Callable[[StoreSettings], Any]] = {
    "sqlite": bare_sqlite,
    "postgres": bare_postgres,
}


def killed(name: str, settings: StoreSettings, kills: int, how: str) -> bool:
    """Kill writers; return whether all acknowledged writes are stored."""
    killer = Killer(name, settings, random.Random(6), how)
    missing: list[str] = []
    for _ in range(kills):
        killer.kill_one()
        missing += anyio.run(killer.lost)
    print(f"{name:9} {kills} kills during {killer.writes} {how} writes: {len(missing)} pages lost")
    return not missing


def main() -> int:
    """Run the selected measurements."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--stores", default="sqlite,duckdb,postgres")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--work", nargs=5, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        name, place, url, seconds, who = asked.work
        settings = StoreSettings(Path(place) if place else None, url)
        print(json.dumps(anyio.run(work, name, settings, int(who), float(seconds))))
        return 0
    met = []
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = ""
        if "postgres" in asked.stores:
            server = stack.enter_context(running_postgres())
        for name in asked.stores.split(","):

            def fresh(what: str, name: str = name) -> StoreSettings:
                url = schema(server) if name == "postgres" else ""
                return StoreSettings(root / f"{what}-{name}", url)

            if asked.seconds:
                met.append(mixed(name, fresh("mixed"), asked.seconds))
            if asked.chunks and name != "duckdb":
                met.append(anyio.run(candidates, name, fresh("many"), asked.chunks))
            if asked.kills:
                met.append(killed(name, fresh("kills"), asked.kills, "direct"))
                met.append(killed(name, fresh("queue"), asked.kills, "queued"))
    return int(not all(met))


if __name__ == "__main__":
    sys.exit(main())
