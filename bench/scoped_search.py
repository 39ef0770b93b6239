"""The nearest vectors of a part of a large library: `python -m bench.scoped_search --postgres URL`.

The library is one that `python -m bench.recall --chunks 1000000 --postgres URL` filled. Some of its pages are put into
a collection for the measurement; the nearest chunks of that are found exactly and by the index.
"""

import argparse
import statistics
import time
from contextlib import aclosing
from typing import Any

import anyio
import psycopg
from pgvector.psycopg import register_vector

from bench.generated import PAGE_CHUNKS
from kindly.models import RecallScope
from kindly.read.stores.postgres.rows import to_vector
from kindly.read.stores.postgres.search import nearest_in_scope
from kindly.read.stores.postgres.store import PostgresStore

LIMIT = 60
NAME = "bench"
SIZES = (5_000, 20_000, 50_000, 200_000)
ALL, NONE = 10**9, 0
"""Chunks up to which a scope is compared exactly."""
ROUNDS = 2


def timed(
    connection: "psycopg.Connection[Any]", vector: Any, exact_chunks: int
) -> tuple[float, set[int]]:
    """Milliseconds, and what is found."""
    began = time.perf_counter()
    with connection.transaction():
        found = nearest_in_scope(connection, vector, LIMIT, RecallScope(NAME), exact_chunks)
    return (time.perf_counter() - began) * 1000, set(found)


def measure(connection: "psycopg.Connection[Any]", size: int) -> None:
    """Compare both ways in a collection of so many chunks."""
    own = "WHERE doc IN (SELECT doc FROM kindly_documents ORDER BY doc LIMIT %s)"
    mark = f"UPDATE kindly_documents SET collection = %s {own}"  # noqa: S608 - a constant
    connection.execute(mark.encode(), (NAME, size // PAGE_CHUNKS))
    connection.execute("ANALYZE kindly_documents")
    rows = connection.execute(
        "SELECT embedding FROM kindly_chunks WHERE n % 200000 = 7 ORDER BY n LIMIT 5"
    ).fetchall()
    exact, index, shared = [], [], []
    for _ in range(ROUNDS):
        for (embedding,) in rows:
            vector = to_vector(embedding)
            took, wanted = timed(connection, vector, ALL)
            exact.append(took)
            took, found = timed(connection, vector, NONE)
            index.append(took)
            shared.append(len(wanted & found) / len(wanted))
    print(
        f"{size:,} chunks: exactly {min(exact):.0f} ms (p50 {statistics.median(exact):.0f}), "
        f"by the index {min(index):.0f} ms (p50 {statistics.median(index):.0f}), "
        f"{statistics.mean(shared):.2f} of the nearest {LIMIT}",
        flush=True,
    )


async def migrate(url: str) -> None:
    """Open the library, so that its tables are of this version."""
    async with aclosing(PostgresStore(url)) as store:
        await store.entries(limit=1)


def main() -> None:
    """Measure."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--postgres", required=True)
    options.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    chosen = options.parse_args()
    anyio.run(migrate, chosen.postgres)
    with psycopg.connect(chosen.postgres, autocommit=True) as connection:
        register_vector(connection)
        try:
            for size in chosen.sizes:
                measure(connection, size)
        finally:
            connection.execute(
                "UPDATE kindly_documents SET collection = '' WHERE collection = %s", (NAME,)
            )


if __name__ == "__main__":
    main()
