"""Indexing that is killed at random moments: `python -m bench.index_kills --store sqlite --kills 50`.

Each collection is indexed by one process after the other, which are killed, until one ends. With `--workers 2` (on
PostgreSQL) two work at a time and one of them is killed. A collection counts as whole if every page of the site is in
it exactly once and no page is left in the queue.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, aclosing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

import anyio
from tests.support.postgres import running_postgres

from bench.served import served
from kindly.read.crawls.collection import CollectionState, TaskState
from kindly.read.store import StoreSettings
from kindly.read.stores import open_store

PAGES = 60
SPAN_S = 1.5
"""A process is killed at a random moment of so many seconds after its first request."""
PATIENCE_S = 600.0
COMMAND = Path(sys.executable).with_name("kindly")


def kind_of(store: str) -> str:
    """`sqlite`, `duckdb` or `postgres`."""
    return store if store in {"sqlite", "duckdb"} else "postgres"


@dataclass(frozen=True, slots=True)
class Place:
    """A store, and the site that is indexed into it."""

    store: str
    """`sqlite`, `duckdb` or an address."""
    folder: Path
    port: int

    def start(self, name: str) -> str:
        """Where the crawl begins; each collection has addresses of its own, which no cache knows."""
        return f"http://127.0.0.1:{self.port}/{name}/docs/"

    def requests(self) -> int:
        """How many pages of the site were asked for."""
        address = f"http://127.0.0.1:{self.port}/-/requests"
        with urllib.request.urlopen(address) as answer:
            return int(answer.read())

    def process(self, name: str, worker: int) -> "subprocess.Popen[bytes]":
        """One process that indexes."""
        environ = os.environ | {
            "KINDLY_CONFIG": "/dev/null",
            "KINDLY_ALLOW_PRIVATE": "127.0.0.1",
            "KINDLY_STORE": self.store,
            "DATA_DIR": str(self.folder / str(worker)),
        }
        command = [str(COMMAND), "index", self.start(name), "--name", name]
        return subprocess.Popen(
            command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    async def faults(self, name: str, pages: int = PAGES) -> list[str]:
        """What is wrong with a collection that is indexed."""
        kind = kind_of(self.store)
        settings = StoreSettings(self.folder / "0", self.store if kind == "postgres" else "")
        async with aclosing(open_store(kind, settings)) as store:
            status = await store.crawls.collection(name)
            if status is None:
                return ["no collection"]
            entries = await store.entries(limit=10 * pages, collection=name)
        found = Counter(one.url for one in entries)
        start = self.start(name)
        wanted = {start, *(f"{start}page-{number}" for number in range(pages))}
        return [
            *(f"lost: {url}" for url in wanted - found.keys()),
            *(f"foreign: {url}" for url in found.keys() - wanted),
            *(f"{count} times: {url}" for url, count in found.items() if count > 1),
            *(
                f"{state}: {count}"
                for state, count in status.tasks.items()
                if state != TaskState.DONE
            ),
            *([] if status.collection.state is CollectionState.READY else ["not ready"]),
        ]


@dataclass(slots=True)
class Tally:
    """What happened so far."""

    kills: int = 0
    collections: int = 0
    faults: int = 0


def killed(place: Place, process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    """Wait for a process to begin, and kill it a while later unless it has ended."""
    before = place.requests()
    while place.requests() == before and process.poll() is None:
        time.sleep(0.01)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return True
    return False


def index_once(place: Place, name: str, chance: Random, tally: Tally, most: int) -> None:
    """Start processes and kill each but the last one."""
    while tally.kills < most and killed(place, place.process(name, 0), chance.uniform(0, SPAN_S)):
        tally.kills += 1
    place.process(name, 0).wait(PATIENCE_S)


def index_by_two(place: Place, name: str, chance: Random, tally: Tally) -> None:
    """Two processes; one of them is killed while the other works."""
    both = [place.process(name, worker) for worker in range(2)]
    tally.kills += killed(place, both[0], chance.uniform(0, SPAN_S))
    both[1].wait(PATIENCE_S)


async def measure(place: Place, most: int, workers: int) -> None:
    """Index until there were enough kills."""
    chance, tally, began = Random(20), Tally(), time.monotonic()
    while tally.kills < most:
        name = f"docs{tally.collections}"
        if workers == 1:
            index_once(place, name, chance, tally, most)
        else:
            index_by_two(place, name, chance, tally)
        faults = await place.faults(name)
        tally.collections += 1
        tally.faults += len(faults)
        for fault in faults:
            print(f"{name}: {fault}", flush=True)
    print(
        f"{kind_of(place.store)}, {workers} at a time: {tally.kills} kills, {tally.collections} "
        f"collections of {PAGES + 1} pages, {tally.faults} faults, {time.monotonic() - began:.0f} s",
        flush=True,
    )


@contextmanager
def store_address(chosen: str) -> Iterator[str]:
    """The store; for `postgres`, a server of its own."""
    if chosen != "postgres":
        yield chosen
        return
    with running_postgres() as url:
        yield url


def main() -> None:
    """Measure one store."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--store", default="sqlite", help="sqlite, duckdb, postgres or an address")
    options.add_argument("--kills", type=int, default=50)
    options.add_argument("--workers", type=int, default=1, choices=(1, 2))
    chosen = options.parse_args()
    with ExitStack() as stack:
        site = served("bench.docs_pages", "--pages", str(PAGES), "--pace", "0")
        port, _ = stack.enter_context(site)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        place = Place(stack.enter_context(store_address(chosen.store)), folder, port)
        anyio.run(measure, place, chosen.kills, chosen.workers)


if __name__ == "__main__":
    main()
