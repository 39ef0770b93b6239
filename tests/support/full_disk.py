"""An engine whose disk fills up and is freed: `python -m tests.support.full_disk PORT FOLDER limit|small-disk`.

Prints the outcomes of its calls as one line of JSON.
"""

import json
import logging
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import anyio

from kindly.read import store_breaker
from kindly.storage import sqlite
from tests.support.site import Site
from tests.support.verbs import engine

LIMIT_BYTES = 512
BLOCK = b"x" * 4096


class Counter(logging.Handler):
    """Counts warnings."""

    count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += record.levelno >= logging.WARNING


@contextmanager
def full(folder: Path, how: str) -> Iterator[None]:
    """Nothing more can be written."""
    if how == "limit":
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT_BYTES, hard))
        yield
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        return
    filler = folder / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(BLOCK):
            pass
    yield
    filler.unlink()


async def main(port: int, folder: Path, how: str) -> None:
    """Search and fetch before, during and after."""
    sqlite.COOLDOWN_S = store_breaker.COOLDOWN_S = 0.0
    counter = Counter()
    logging.getLogger().addHandler(counter)
    site = Site(port)
    told: dict[str, object] = {}
    async with engine(site, folder) as at:
        told["before"] = await at.search("before")
        with full(folder, how):
            told["full"] = [
                await at.search("meanwhile"),
                await at.fetch("/p1"),
                await at.fetch("/p2"),
                (await at.read("/p3")).partition(" ")[0],
            ]
        told["warnings"] = counter.count
        told["after"] = await at.fetch("/p4")
    async with engine(site, folder) as at:
        told["later"] = [await at.fetch("/p4"), await at.read("/p4")]
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
