"""Rows that all stores share: values of the columns, estimated size, order of eviction, and the check of the model."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kindly.frozen import frozen
from kindly.models import Chunk, How, RecallScope, StoredPageInfo
from kindly.read.evidence.page_versions import FormerVersion
from kindly.read.evidence.stored_text import page_text
from kindly.read.model_check import ensure_same_model
from kindly.read.store import EmbeddingModel, StoredPage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Row = tuple[Any, ...]

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""No database accepts surrogates, and PostgreSQL no NUL."""
BYTES_PER_TEXT_BYTE = 3
"""On disk: the text, its terms and their index."""
BYTES_PER_CHUNK = 400
BYTES_PER_DIMENSION = 3
HALF_BYTES = 2
DOCUMENT = "url, title, etag, last_modified, last_crawled, content_hash, total, language, how, partial, cut, collection"
CHUNK = "id, text, start_at, end_at, section_path, tokens"
"""Columns that all databases share."""
PREPARED_CHUNK = f"{CHUNK}, prepared"
"""With what ranking needs of the chunk."""
DOCUMENT_COLUMNS, CHUNK_COLUMNS = DOCUMENT.count(",") + 1, CHUNK.count(",") + 1
PREPARED_CHUNK_COLUMNS = CHUNK_COLUMNS + 1
LAST_CRAWLED = DOCUMENT.split(", ").index("last_crawled")
MODEL_NAME, MODEL_DIMENSION = "embedding_model", "embedding_dim"
SCHEMA = "schema_version"
"""Keys of the table `meta`."""


@frozen
class EvictionCandidate:
    """A page with what eviction needs to know."""

    key: int | str
    crawled_at: datetime
    size: int


def storable(text: str) -> str:
    """The text with unstorable characters replaced by U+FFFD."""
    return UNSTORABLE.sub("\ufffd", text)


def storable_entry(entry: StoredPageInfo) -> StoredPageInfo:
    """The page's data with storable text."""
    return replace(entry, title=storable(entry.title))


def storable_chunks(chunks: Iterable[Chunk]) -> tuple[Chunk, ...]:
    """The chunks with storable text, each id once."""
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
    """The headings above a chunk, as one column."""
    return json.dumps(section, ensure_ascii=False) if section else ""


@lru_cache(maxsize=4096)
def from_path(path: str | None) -> tuple[str, ...]:
    """The headings from that column."""
    return tuple(json.loads(path)) if path else ()


def to_entry(row: Row, crawled_at: datetime) -> StoredPageInfo:
    """The page from a row that begins with the columns of `DOCUMENT`."""
    key, title, etag, last_modified, _, content_hash, total, language, how, partial, cut, within = (
        row[:DOCUMENT_COLUMNS]
    )
    return StoredPageInfo(
        url=key.removesuffix(f"#{within}") if within else key,
        title=title,
        crawled_at=crawled_at,
        content_hash=content_hash,
        total=total,
        etag=etag,
        last_modified=last_modified,
        language=language,
        how=How.parse(how),
        partial=bool(partial),
        cut=bool(cut),
        collection=within or "",
    )


def from_entry(entry: StoredPageInfo, crawled: object) -> Row:
    """The values of `DOCUMENT`."""
    return (
        entry.key,
        entry.title,
        entry.etag,
        entry.last_modified,
        crawled,
        entry.content_hash,
        entry.total,
        entry.language,
        str(entry.how),
        entry.partial,
        entry.cut,
        entry.collection,
    )


def to_chunk(url: str, row: Row) -> Chunk:
    """The chunk from a row that begins with the columns of `CHUNK`."""
    id_, text, start, end, path, tokens = row[:CHUNK_COLUMNS]
    return Chunk(id_, url, text, start, end, from_path(path), tokens)


def to_prepared_chunk(url: str, row: Row) -> Chunk:
    """The chunk from a row that begins with the columns of `PREPARED_CHUNK`."""
    id_, text, start, end, path, tokens, prepared = row[:PREPARED_CHUNK_COLUMNS]
    return Chunk(id_, url, text, start, end, from_path(path), tokens, prepared)


def from_prepared_chunk(chunk: Chunk) -> Row:
    """The values of `PREPARED_CHUNK`."""
    return (*from_chunk(chunk), chunk.prepared)


def from_chunk(chunk: Chunk) -> Row:
    """The values of `CHUNK`."""
    path = to_path(chunk.section)
    return (chunk.id, chunk.text, chunk.start, chunk.end, path, chunk.tokens)


def scope_condition(
    scope: RecallScope, marker: str, to_moment: Callable[[datetime], object]
) -> tuple[str, list[object]]:
    """The condition on the table of documents for a scope, and its values.

    The site is compared by patterns, which may match a little more: `in_scope` is exact.
    """
    parts, values = ["TRUE"], list[object]()
    if scope.collection:
        name = scope.collection
        parts.append(
            f"(collection = {marker} OR substr(collection, 1, {len(name) + 1}) = {marker})"
        )
        values += [name, f"{name}@"]
    if scope.site:
        forms = [f"%://{dot}{scope.site}{end}%" for dot in ("", "%.") for end in "/:"]
        parts.append(f"({' OR '.join([f'url LIKE {marker}'] * len(forms))})")
        values += forms
    if scope.since is not None:
        parts.append(f"last_crawled >= {marker}")
        values.append(to_moment(scope.since))
    return " AND ".join(parts), values


def in_scope(entry: StoredPageInfo, scope: RecallScope) -> bool:
    """Whether a page is in a scope."""
    if scope.collection not in {"", entry.collection, entry.collection.partition("@")[0]}:
        return False
    if scope.site and not f".{_host(entry.url)}".endswith(f".{scope.site}"):
        return False
    return scope.since is None or entry.crawled_at >= scope.since


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0].rpartition("@")[2].partition(":")[0]


def indexed_terms(chunk: Chunk) -> list[str]:
    """The terms of a chunk's headings and text, which the word search uses."""
    from kindly.text.terms import terms

    return terms("\n".join((*chunk.section, chunk.text)))


def estimated_bytes(chunks: Iterable[Chunk], dimension: int) -> int:
    """The approximate size of a page in a store."""
    return sum(
        BYTES_PER_TEXT_BYTE * len(chunk.text.encode())
        + BYTES_PER_CHUNK
        + BYTES_PER_DIMENSION * dimension
        + len(chunk.prepared or b"")
        for chunk in chunks
    )


def to_vectors(halves: Mapping[str, bytes]) -> "dict[str, Vectors]":
    """Vectors from half precision."""
    import numpy as np

    return {id_: np.frombuffer(half, "<f2").astype(np.float32) for id_, half in halves.items()}


def _shape(vector: "Vectors | bytes") -> tuple[int, ...]:
    return (len(vector) // HALF_BYTES,) if isinstance(vector, bytes) else vector.shape


def outdated(
    pages: Sequence[EvictionCandidate], max_bytes: int, before: datetime
) -> list[int | str]:
    """The keys of the pages to evict: those fetched before that time, and the oldest beyond the size."""
    evicted: list[int | str] = []
    total = 0
    for page in sorted(pages, key=lambda one: one.crawled_at, reverse=True):
        total += page.size
        if page.crawled_at < before or total > max_bytes:
            evicted.append(page.key)
    return evicted


def to_model(meta: Mapping[str, str]) -> EmbeddingModel | None:
    """The model of a store's vectors, from its table `meta`."""
    if MODEL_NAME not in meta:
        return None
    return EmbeddingModel(meta[MODEL_NAME], int(meta[MODEL_DIMENSION]))


def model_to_keep(
    stored: EmbeddingModel | None,
    given: EmbeddingModel | None,
    vectors: "Mapping[str, Vectors] | Mapping[str, bytes]",
) -> EmbeddingModel | None:
    """The model to store, if these are the store's first vectors.

    Raises:
        ModelMismatch: the store holds another model's vectors.
        ValueError: the vectors do not fit the model.
    """
    if vectors and given is None:
        raise ValueError("vectors need the model that made them")
    if given is None:
        return None
    ensure_same_model(stored, given)
    if any(_shape(vector) != (given.dimension,) for vector in vectors.values()):
        raise ValueError("a vector does not have its model's dimension")
    return given if stored is None and vectors else None


def replaced_version(
    entry: StoredPageInfo, known_hash: str | None, load: Callable[[], StoredPage | None]
) -> FormerVersion | None:
    """The stored version that a page with another text replaces; None if there is none.

    `known_hash` is the hash of the stored text; the page is loaded only if it differs.
    """
    former = None if known_hash in {None, entry.content_hash} else load()
    if former is None or not former.chunks:
        return None
    known = former.entry
    text = page_text(former.chunks)
    return FormerVersion(known.crawled_at, known.content_hash, text, entry.crawled_at)
