"""A process that writes until it is killed, and a check that its acknowledged writes are stored.

    python -m tests.support.killing sqlite DATA_DIR FIRST URL direct|queued

It rewrites a few pages in turn, each time as another version, and prints "page version" after each write. If `queued`,
pages go through the library's queue: they are acknowledged before they are stored.
"""

import os
import random
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from kindly.models import Document
from kindly.read.embedders.local.embedder import LocalEmbedder
from kindly.read.indexing.index_queue import QueueLimits
from kindly.read.indexing.page_indexer import ProcessIndexer
from kindly.read.library import Library
from kindly.read.store import Store, StoreSettings
from kindly.read.stores import open_store
from kindly.storage.journal import SUFFIX, Journal
from tests.support.paths import ROOT
from tests.support.processes import killed_after
from tests.support.queued_pages import queued
from tests.support.stored_pages import MODEL, Made, page

PAGES = 7
CHUNKS = 6
READY = "ready"
MAX_RUN_S = {"direct": 0.4, "queued": 2.0}
PAUSE_S = 0.01
"""Between two queued pages."""
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


def text_of(name: str, version: int) -> str:
    """The text of one version of a queued page."""
    return f"# {name}\n\nThis page is about {name}, and it is now {version}."


async def queue_on(library: Library, first: int) -> None:
    """Queue versions from `first` on, without end."""
    version = first
    while True:
        name = f"p{version % PAGES}"
        made = queued(name, text_of(name, version), later_s=version)
        entry = made.entry
        document = Document(entry.url, made.text, entry.crawled_at, content_hash=entry.content_hash)
        await library.keep_later(entry.url, document)
        print(name, version, flush=True)  # noqa: T201 - read by `Killer`
        version += 1
        await anyio.sleep(PAUSE_S)


@asynccontextmanager
async def opened_library(name: str, settings: StoreSettings) -> AsyncIterator[Library]:
    """A library with a queue that its own process prepares, and that stores pages often."""
    library = Library(open_store(name, settings), LocalEmbedder())
    assert settings.data_dir is not None
    journal = Journal(settings.data_dir / "queue", max_file_bytes=2000)
    limits = QueueLimits(quiet_s=PAUSE_S / 2, delay_s=0.1)
    queue = await library.open_queue(journal, ProcessIndexer(512, os.environ), limits)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(queue.run)
        yield library
        tasks.cancel_scope.cancel()
    with anyio.CancelScope(shield=True):
        await library.aclose()


async def write(name: str, settings: StoreSettings, first: int, how: str) -> None:
    """Open the store and write."""
    if how == "queued":
        async with opened_library(name, settings) as library:
            print(READY, flush=True)  # noqa: T201
            await queue_on(library, first)
    store = open_store(name, settings)
    print(READY, flush=True)  # noqa: T201
    async with aclosing(store):
        await write_on(store, first)


def wait_for_locks(folder: Path) -> None:
    """Wait for children of a killed process, which hold the locks of its journal until they run their own program."""
    import fcntl

    for path in folder.rglob(f"*{SUFFIX}"):
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)


@dataclass
class Killer:
    """Kills writers of one library and checks what is stored."""

    name: str
    settings: StoreSettings
    chance: random.Random
    how: str = "direct"
    acknowledged: dict[str, int] = field(default_factory=dict)
    writes: int = 0

    def kill_one(self, *, writing: bool = False) -> None:
        """Start a writer, kill it at a random moment, and record its acknowledged writes.

        If `writing`, it has written by then.
        """
        first = max(self.acknowledged.values(), default=0) + 1000
        place = str(self.settings.data_dir or "")
        command = [sys.executable, "-m", __spec__.name, self.name, place, str(first)]
        with subprocess.Popen(
            [*command, self.settings.url, self.how], stdout=subprocess.PIPE, text=True, cwd=ROOT
        ) as writer:
            assert writer.stdout is not None
            with killed_after(writer):
                assert writer.stdout.readline().strip() == READY
                if self.chance.random() < KILLED_WHILE_WRITING or writing:
                    self._note(writer.stdout.readline())
            try:
                writer.wait(self.chance.uniform(0, MAX_RUN_S[self.how]))
            except subprocess.TimeoutExpired:
                writer.kill()
            for line in writer.stdout:
                self._note(line)
        if self.settings.data_dir is not None:
            wait_for_locks(self.settings.data_dir)

    def _note(self, line: str) -> None:
        if line.endswith("\n"):
            name, version = line.split()
            self.acknowledged[name] = int(version)
            self.writes += 1

    async def lost(self) -> list[str]:
        """The pages of which neither the last acknowledged version nor a later one is complete."""
        if self.how == "queued":
            async with opened_library(self.name, self.settings) as library:
                await library.settle()
                return [
                    name for name in self.acknowledged if not await self._is_kept(library, name)
                ]
        store = open_store(self.name, self.settings)
        async with aclosing(store):
            return [name for name in self.acknowledged if not await self._is_complete(store, name)]

    async def _is_kept(self, library: Library, name: str) -> bool:
        stored = await library.store.page(queued(name).entry.url)
        if stored is None or stored.vectors is None:
            return False
        version = int(stored.chunks[-1].text.rstrip(".").split()[-1])
        made = queued(name, text_of(name, version))
        same = stored.entry.content_hash == made.entry.content_hash
        return same and version >= self.acknowledged[name]

    async def _is_complete(self, store: Store, name: str) -> bool:
        stored = await store.page(page(name, []).entry.url)
        if stored is None or stored.vectors is None:
            return False
        version = int(stored.chunks[0].text.rstrip(".").split()[-1])
        made = version_of(name, version)
        same = (stored.entry, stored.chunks) == (made.entry, made.chunks)
        return same and version >= self.acknowledged[name]


if __name__ == "__main__":
    store_name, folder, first_version, address, manner = sys.argv[1:6]
    opened_with = StoreSettings(Path(folder) if folder else None, address)
    anyio.run(write, store_name, opened_with, int(first_version), manner)
