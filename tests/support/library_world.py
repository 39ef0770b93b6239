"""A library with a counting embedder, a store that fails, and a page about bees."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import anyio.lowlevel
import numpy as np
from numpy.typing import NDArray

from kindly.clock import Clock
from kindly.errors import EmbeddingsDown, StoreUnavailable
from kindly.models import Document, Metadata, Page
from kindly.read.embedders.local.embedder import LocalEmbedder
from kindly.read.library import Library, LibraryPolicy
from kindly.read.store import Store, StoreSettings
from kindly.read.stores import open_store

URL = "https://example.com/bees"
NOW = datetime(2026, 1, 2, tzinfo=UTC)
BEES = """# Bees

Bees see ultraviolet light, so a flower that looks plain to us may carry bright guides for them.

## Dance

A forager that found food tells the others by a waggle dance whose angle points the way from the sun.

## Winter

In winter the colony forms a ball around the queen and shivers to keep warm on stored honey.
"""
MODEL = LocalEmbedder()


@dataclass
class CountingEmbedder:
    """The local model; records its texts, and fails while `down`."""

    name: str = MODEL.name
    down: bool = False
    texts: list[str] = field(default_factory=list)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.down:
            raise EmbeddingsDown("The embedding server returned no vectors: it is asleep.")
        self.texts += texts
        return await MODEL.embed(texts)


class BrokenStore:
    """A store that always fails."""

    def __getattr__(self, name: str) -> Any:
        async def fail(*_: object, **__: object) -> None:
            await anyio.lowlevel.checkpoint()
            raise StoreUnavailable("The disk is full.")

        return fail

    @asynccontextmanager
    async def lock(self, url: str) -> AsyncIterator[None]:
        raise StoreUnavailable("The disk is full.")
        yield


@dataclass
class LibraryWorld:
    """A store, an embedder and a clock; the library is made from them."""

    store: Store = field(default_factory=lambda: open_store("memory", StoreSettings(None)))
    embedder: CountingEmbedder = field(default_factory=CountingEmbedder)
    now: datetime = NOW

    def library(self, **policy: Any) -> Library:
        clock = Clock(time=lambda: self.now.timestamp())
        return Library(self.store, self.embedder, LibraryPolicy(**policy), clock)


def document(text: str = BEES, **more: Any) -> Document:
    return Document(
        url=URL,
        text=text,
        fetched_at=NOW,
        metadata=Metadata(title="Bees", language="en"),
        content_hash=sha256(text.encode()).hexdigest(),
        **more,
    )


def page(**more: Any) -> Page:
    return Page(URL, URL, 200, "text/html", b"", NOW, **more)
