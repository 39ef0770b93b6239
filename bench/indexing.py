"""Indexing a site of 500 pages at its pace, and refreshing it with three changed pages: `python -m bench.indexing`.

The bars: 1.3 times what the pace of 20 requests a second allows, and three bodies.
"""

import argparse
import os
import resource
import tempfile
import time
import urllib.request

import anyio

from bench.docs_pages import PACE_S, PAGES
from bench.served import served
from kindly.app import open_app
from kindly.settings import Settings


async def measure(port: int, store: str, folder: str) -> None:
    """Index, change three pages, refresh."""
    base = f"http://127.0.0.1:{port}"
    environ = {"DATA_DIR": folder, "KINDLY_ALLOW_PRIVATE": "127.0.0.1", "KINDLY_STORE": store}
    settings = Settings.load({"KINDLY_CONFIG": os.devnull, **environ})
    async with open_app(settings, many_pages=True) as app:
        assert app.open_indexer is not None
        indexer = app.open_indexer()
        began, cpu = time.perf_counter(), time.process_time()
        await indexer.begin(f"{base}/docs/", "docs")
        status = await indexer.run("docs")
        took, allowed = time.perf_counter() - began, PACE_S * (PAGES + 1)
        print(
            f"{store}: {status.pages} pages in {took:.1f} s, {took / allowed:.2f} x the pace, "
            f"{time.process_time() - cpu:.1f} s of CPU in the server process"
        )
        _get(f"{base}/-/bodies")
        _get(f"{base}/-/change?pages=3,77,400")
        began = time.perf_counter()
        await indexer.run("docs", refresh=True)
        print(f"refresh: {_get(f'{base}/-/bodies')} bodies in {time.perf_counter() - began:.1f} s")


def _get(url: str) -> str:
    with urllib.request.urlopen(url) as answer:  # noqa: S310 - our own site
        return str(answer.read().decode())


def main() -> None:
    """Measure one store, and the CPU time of all processes."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--store", default="sqlite", help="sqlite, duckdb or an address")
    chosen = options.parse_args()
    with served("bench.docs_pages") as (port, _), tempfile.TemporaryDirectory() as folder:
        anyio.run(measure, port, chosen.store, folder)
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"parsers and indexer: {children.ru_utime + children.ru_stime:.1f} s of CPU")


if __name__ == "__main__":
    main()
