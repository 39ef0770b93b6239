"""Queued pages, and an indexer without a process of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256

from kindly.models import Passage, StoredPageInfo
from kindly.read.indexing.index_process import Indexing
from kindly.read.indexing.index_protocol import (
    QueuedPage,
    decode_passages,
    decode_prepared,
    encode_question,
    encode_texts,
)
from kindly.read.indexing.page_indexer import IndexingFailed
from kindly.read.store import EmbeddingModel, PreparedPage
from tests.support.stored_pages import DIMENSION, NOON, vector

MODEL = EmbeddingModel("wordllama-l2-256", DIMENSION)


def queued(name: str, text: str = "", *, at: datetime = NOON, later_s: float = 0) -> QueuedPage:
    """A page as it is queued; without a text, one that names it."""
    text = text or f"# {name}\n\nThis page is about {name}."
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    moment = at + timedelta(seconds=later_s)
    entry = StoredPageInfo(f"https://site.example/{name}", name, moment, digest, total=len(text))
    return QueuedPage(entry, text)


def embed(texts: Sequence[str]) -> tuple[bytes, EmbeddingModel]:
    """Vectors that depend on the texts only."""
    return b"".join(vector(text).astype("<f2").tobytes() for text in texts), MODEL


@dataclass
class DirectIndexer:
    """A `PageIndexer` in this process; fails on batches with a text that is in `broken`."""

    broken: str = "nothing is broken"
    batches: list[list[str]] = field(default_factory=list)
    rests: int = 0
    _indexing: Indexing = field(default_factory=lambda: Indexing(embed))

    async def prepare(self, pages: Sequence[QueuedPage]) -> list[PreparedPage]:
        self.batches.append([page.entry.title for page in pages])
        if any(self.broken in page.text for page in pages):
            raise IndexingFailed
        return decode_prepared(self._indexing.answer(encode_texts(pages, 512)), pages)

    async def rank(self, page: QueuedPage, question: str, limit: int) -> tuple[Passage, ...]:
        if self.broken in page.text:
            raise IndexingFailed
        return decode_passages(self._indexing.answer(encode_question(page, 512, question, limit)))

    async def warm(self) -> None:
        self.batches.append([])

    async def rest(self, unused_s: float = 0) -> bool:
        self.rests += 1
        return True
