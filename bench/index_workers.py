"""Several processes index one site into PostgreSQL: `python -m bench.index_workers [--workers 1 2 4] [--latency 2]`.

The site answers each page after a while, so that one process, which has eight pages in hand, waits for it most of the
time. With `--pace`, its robots.txt asks for so many seconds between two requests, which all processes keep together.
"""

import argparse
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import anyio

from bench.index_kills import PATIENCE_S, Place, store_address
from bench.served import served


def paced(place: Place, name: str, workers: int) -> tuple[int, float]:
    """The requests, and the seconds from the first to the last of them."""
    before = place.requests()
    processes = [place.process(name, worker) for worker in range(workers)]
    began, seen, ended = 0.0, before, 0.0
    while any(one.poll() is None for one in processes):
        time.sleep(0.05)
        count = place.requests()
        if count > seen:
            ended = time.monotonic()
            began = began or ended
        seen = count
    for one in processes:
        one.wait(PATIENCE_S)
    return seen - before, ended - began


async def measure(place: Place, pages: int, counts: list[int]) -> None:
    """Index once with each number of processes."""
    for workers in counts:
        name = f"docs{workers}"
        asked, seconds = paced(place, name, workers)
        faults = await place.faults(name, pages)
        print(
            f"{workers} processes: {pages + 1} pages in {seconds:.1f} s, {(pages + 1) / seconds:.1f} a second, "
            f"{asked} requests, {len(faults)} faults",
            flush=True,
        )


def main() -> None:
    """Measure."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--store", default="postgres", help="postgres or an address")
    options.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    options.add_argument("--pages", type=int, default=160)
    options.add_argument("--latency", type=float, default=2.0)
    options.add_argument("--pace", type=float, default=0.0)
    chosen = options.parse_args()
    site = served(
        "bench.docs_pages",
        *("--pages", str(chosen.pages)),
        *("--latency", str(chosen.latency)),
        *("--pace", str(chosen.pace)),
    )
    with ExitStack() as stack:
        port, _ = stack.enter_context(site)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        place = Place(stack.enter_context(store_address(chosen.store)), folder, port)
        anyio.run(measure, place, chosen.pages, chosen.workers)


if __name__ == "__main__":
    main()
