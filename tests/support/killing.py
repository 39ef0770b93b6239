"""A process that writes until it is killed, and a check that its acknowledged writes are stored.

    python -m tests.support.killing sqlite DATA_DIR FIRST [URL]

It rewrites a few pages in turn, each time as another version, and prints "page version" after each write.
"""

import random
import subprocess
import sys
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from kindly.read.store import Store, StoreSettings
from kindly.read.stores import open_store
from tests.support.paths import ROOT
from tests.support.processes import killed_after
from tests.support.stored_pages import MODEL, Made, page

PAGES = 7
CHUNKS = 6
READY = "ready"
MAX_RUN_S = 0.4
KILLED_WHILE_WRITING = 0.8
"""The share of processes killed while they write; the others are killed while they open the library."""


def version_of(name: str, version: int) -> Made:
    """One version of a page: half of its chunks change with each version."""
    stays = [f"Part {part} of {name} stays." for part in range(CHUNKS // 2)]
    changes = [f"Part {part} of {name} is now {version}." for part in range(CHUNKS // 2)]
    return page(name, [*changes, *stays])


async def write_on(store: Store, first: int) -> None:
    """Write versions from `first` on, without end."""
    version = first
    while True:
        name = f"p{version % PAGES}"
        made = version_of(name, version)
        await store.put(made.entry, made.chunks, made.vectors, MODEL)
        print(name, version, flush=True)  # noqa: T201 - read by `Killer`
        version += 1


async def write(name: str, settings: StoreSettings, first: int) -> None:
    """Open the store and write."""
    store = open_store(name, settings)
    print(READY, flush=True)  # noqa: T201
    async with aclosing(store):
        await write_on(store, first)


@dataclass
class Killer:
    """Kills writers of one library and checks what is stored."""

    name: str
    settings: StoreSettings
    chance: random.Random
    acknowledged: dict[str, int] = field(default_factory=dict)
    writes: int = 0

    def kill_one(self) -> None:
        """Start a writer, kill it at a random moment, and record its acknowledged writes."""
        first = max(self.acknowledged.values(), default=0) + 1000
        place = str(self.settings.data_dir or "")
        command = [sys.executable, "-m", __spec__.name, self.name, place, str(first)]
        with subprocess.Popen(
            [*command, self.settings.url], stdout=subprocess.PIPE, text=True, cwd=ROOT
        ) as writer:
            assert writer.stdout is not None
            with killed_after(writer):
                assert writer.stdout.readline().strip() == READY
                if self.chance.random() < KILLED_WHILE_WRITING:
                    self._note(writer.stdout.readline())
            try:
                writer.wait(self.chance.uniform(0, MAX_RUN_S))
            except subprocess.TimeoutExpired:
                writer.kill()
            for line in writer.stdout:
                self._note(line)

    def _note(self, line: str) -> None:
        if line.endswith("\n"):
            name, version = line.split()
            self.acknowledged[name] = int(version)
            self.writes += 1

    async def lost(self) -> list[str]:
        """The pages of which neither the last acknowledged version nor a later one is complete."""
        store = open_store(self.name, self.settings)
        async with aclosing(store):
            return [name for name in self.acknowledged if not await self._is_complete(store, name)]

    async def _is_complete(self, store: Store, name: str) -> bool:
        stored = await store.page(page(name, []).entry.url)
        if stored is None or stored.vectors is None:
            return False
        version = int(stored.chunks[0].text.rstrip(".").split()[-1])
        made = version_of(name, version)
        same = (stored.entry, stored.chunks) == (made.entry, made.chunks)
        return same and version >= self.acknowledged[name]


if __name__ == "__main__":
    store_name, folder, first_version, address = sys.argv[1:5]
    opened_with = StoreSettings(Path(folder) if folder else None, address)
    anyio.run(write, store_name, opened_with, int(first_version))
