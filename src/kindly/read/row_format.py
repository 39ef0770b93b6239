"""What all stores agree on before they write a row: what is kept of a page, what it weighs, which pages leave first."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kindly.errors import ModelMismatch
from kindly.models import Chunk, How, StoredPageInfo
from kindly.read.store import EmbeddingModel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Row = tuple[Any, ...]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""No database takes halves of characters, and PostgreSQL no NUL."""
TEXT_WEIGHT = 3
"""Bytes on disk for a byte of text: the text, its terms and their index."""
CHUNK_WEIGHT = 400
DOCUMENT = (
    "url, title, etag, last_modified, last_crawled, content_hash, total, language, how, partial"
)
CHUNK = "id, text, start_at, end_at, section_path, tokens"
"""Columns that all databases have alike."""
MODEL_NAME, MODEL_DIMENSION = "embedding_model", "embedding_dim"
"""Keys of the table `meta`."""
SCHEMA = "schema_version"


@dataclass(frozen=True, slots=True)
class Aged:
    """A page as eviction sees it."""

    key: int | str
    crawled_at: datetime
    size: int


def storable(text: str) -> str:
    """The text, each character that no database takes replaced by one that all take."""
    return UNSTORABLE.sub("\ufffd", text)


def storable_entry(entry: StoredPageInfo) -> StoredPageInfo:
    """The entry as it can be kept."""
    return replace(entry, title=storable(entry.title))


def storable_chunks(chunks: Iterable[Chunk]) -> tuple[Chunk, ...]:
    """The chunks as they can be kept: each id once."""
    once: dict[str, Chunk] = {}
    for chunk in chunks:
        once.setdefault(chunk.id, chunk)
    return tuple(map(_storable_chunk, once.values()))


def _storable_chunk(chunk: Chunk) -> Chunk:
    if UNSTORABLE.search(chunk.text) or any(map(UNSTORABLE.search, chunk.section)):
        section = tuple(map(storable, chunk.section))
        return replace(chunk, text=storable(chunk.text), section=section)
    return chunk


def to_path(section: Sequence[str]) -> str:
    """The headings above a chunk, as one field."""
    return json.dumps(section, ensure_ascii=False) if section else ""


@lru_cache(maxsize=4096)
def from_path(path: str | None) -> tuple[str, ...]:
    """The headings of a field."""
    return tuple(json.loads(path)) if path else ()


def to_entry(row: Row, crawled_at: datetime) -> StoredPageInfo:
    """The page of a row that begins with `DOCUMENT`."""
    url, title, etag, last_modified, _, content_hash, total, language, how, partial = row[:10]
    return StoredPageInfo(
        url=url,
        title=title,
        crawled_at=crawled_at,
        content_hash=content_hash,
        total=total,
        etag=etag,
        last_modified=last_modified,
        language=language,
        how=How.parse(how),
        partial=bool(partial),
    )


def from_entry(entry: StoredPageInfo, crawled: object) -> Row:
    """The values of `DOCUMENT`."""
    return (
        entry.url,
        entry.title,
        entry.etag,
        entry.last_modified,
        crawled,
        entry.content_hash,
        entry.total,
        entry.language,
        str(entry.how),
        entry.partial,
    )


def to_chunk(url: str, row: Row) -> Chunk:
    """The chunk of a row that begins with `CHUNK`."""
    id_, text, start, end, path, tokens = row[:6]
    return Chunk(id_, url, text, start, end, from_path(path), tokens)


def from_chunk(chunk: Chunk) -> Row:
    """The values of `CHUNK`."""
    path = to_path(chunk.section)
    return (chunk.id, chunk.text, chunk.start, chunk.end, path, chunk.tokens)


def indexed_terms(chunk: Chunk) -> list[str]:
    """What a chunk is found by: the terms of its headings and of its text."""
    from kindly.text.terms import terms

    return terms("\n".join((*chunk.section, chunk.text)))


def weight(chunks: Iterable[Chunk], dimension: int) -> int:
    """About how many bytes a page takes in a store."""
    return sum(
        TEXT_WEIGHT * len(chunk.text.encode()) + CHUNK_WEIGHT + 3 * dimension for chunk in chunks
    )


def to_micros(moment: datetime) -> int:
    """A moment as a whole number."""
    return (moment - EPOCH) // MICROSECOND


def from_micros(micros: int) -> datetime:
    """The moment of a number."""
    return EPOCH + micros * MICROSECOND


def outdated(pages: Sequence[Aged], max_bytes: int, before: datetime) -> list[int | str]:
    """The keys of the pages that leave: those crawled before then, and the oldest beyond the size."""
    gone: list[int | str] = []
    total = 0
    for page in sorted(pages, key=lambda one: one.crawled_at, reverse=True):
        total += page.size
        if page.crawled_at < before or total > max_bytes:
            gone.append(page.key)
    return gone


def to_model(meta: Mapping[str, str]) -> EmbeddingModel | None:
    """Whose vectors a store holds, by its table `meta`."""
    if MODEL_NAME not in meta:
        return None
    return EmbeddingModel(meta[MODEL_NAME], int(meta[MODEL_DIMENSION]))


def model_to_keep(
    kept: EmbeddingModel | None, given: EmbeddingModel | None, vectors: "Mapping[str, Vectors]"
) -> EmbeddingModel | None:
    """The model to write down, if these are a store's first vectors.

    Raises:
        ModelMismatch: the store holds another model's vectors.
        ValueError: vectors that are not the model's.
    """
    if vectors and given is None:
        raise ValueError("vectors need the model that made them")
    if given is None:
        return None
    if kept is not None and kept != given:
        raise ModelMismatch(
            f"The library's vectors are those of {kept.name} ({kept.dimension} numbers each), not of {given.name} "
            f"({given.dimension}). Run `kindly library rebuild` to make them anew, or set the model back."
        )
    if any(vector.shape != (given.dimension,) for vector in vectors.values()):
        raise ValueError("a vector is not as long as its model says")
    return given if kept is None and vectors else None
