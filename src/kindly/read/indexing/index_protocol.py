"""Wire protocol between the server and the process that splits, embeds and ranks pages: texts in, rows out.

Both directions are a JSON header and a body of bytes: the texts, or the vectors in half precision and what ranking
needs of each chunk.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import fields as fields_of
from datetime import datetime
from functools import partial
from typing import Any

from kindly.concurrency.pipe_frames import BrokenFrame, Message
from kindly.frozen import frozen
from kindly.models import Chunk, How, Passage, StoredPageInfo
from kindly.read.store import EmbeddingModel, PreparedPage

HALF_BYTES = 2
OF_PASSAGE = tuple(one.name for one in fields_of(Passage))
ENTRY_FIELDS = (
    "url",
    "title",
    "content_hash",
    "total",
    "etag",
    "last_modified",
    "language",
    "partial",
    "cut",
    "collection",
)
"""Fields of a page's entry that are JSON values already."""


@frozen
class QueuedPage:
    """A page that was answered and is to be stored."""

    entry: StoredPageInfo
    text: str = field(repr=False)

    @property
    def size(self) -> int:
        """Its approximate size in memory, in bytes."""
        return len(self.text)


@frozen
class Preparation:
    """What is computed from the text of one page."""

    chunks: tuple[Chunk, ...]
    terms: Sequence[str]
    """Of each chunk."""


def to_record(page: QueuedPage) -> bytes:
    """A page as a record of the journal."""
    entry = page.entry
    fields = {name: getattr(entry, name) for name in ENTRY_FIELDS}
    fields |= {"crawled_at": entry.crawled_at.isoformat(), "how": str(entry.how)}
    return json.dumps(fields).encode() + b"\n" + page.text.encode("utf-8", "surrogatepass")


def from_record(record: bytes) -> QueuedPage | None:
    """The page of a record; None if another version wrote it differently."""
    header, _, text = record.partition(b"\n")
    try:
        fields = json.loads(header)
        fields["crawled_at"] = datetime.fromisoformat(fields["crawled_at"])
        fields["how"] = How.parse(fields["how"])
        return QueuedPage(StoredPageInfo(**fields), text.decode("utf-8", "surrogatepass"))
    except (ValueError, KeyError, TypeError):
        return None


def encode_question(page: QueuedPage, chunk_tokens: int, question: str, limit: int) -> Message:
    """The request to rank the passages of one page."""
    return _encode([page], {"size": chunk_tokens, "question": question, "limit": limit})


def decode_question(message: Message) -> tuple[str, int] | None:
    """The question and the number of passages of a request to rank; None if it is another request."""
    header = json.loads(message[0])
    return (header["question"], header["limit"]) if "question" in header else None


def encode_passages(passages: Sequence[Passage]) -> Message:
    """The answer to a request to rank."""
    return json.dumps(
        [[getattr(one, name) for name in OF_PASSAGE] for one in passages]
    ).encode(), b""


def decode_passages(message: Message) -> tuple[Passage, ...]:
    """The passages of an answer.

    Raises:
        BrokenFrame: the answer is not valid.
    """
    try:
        rows = [dict(zip(OF_PASSAGE, row, strict=True)) for row in json.loads(message[0])]
        return tuple(Passage(**row | {"section": tuple(row["section"])}) for row in rows)
    except (ValueError, KeyError, TypeError) as broken:
        raise BrokenFrame("The answer is not valid.") from broken


def encode_texts(pages: Sequence[QueuedPage], chunk_tokens: int) -> Message:
    """The request to prepare these pages."""
    return _encode(pages, {"size": chunk_tokens})


def _encode(pages: Sequence[QueuedPage], fields: Mapping[str, int | str]) -> Message:
    texts = [page.text.encode("utf-8", "surrogatepass") for page in pages]
    header = {
        **fields,
        "urls": [page.entry.key for page in pages],
        "lengths": [len(text) for text in texts],
    }
    return json.dumps(header).encode(), b"".join(texts)


def decode_texts(message: Message) -> tuple[list[tuple[str, str]], int]:
    """The (address, text) of each page in a request, and the chunk size."""
    header = json.loads(message[0])
    pages, start = [], 0
    for url, length in zip(header["urls"], header["lengths"], strict=True):
        text = message[1][start : start + length]
        pages.append((url, text.decode("utf-8", "surrogatepass")))
        start += length
    return pages, header["size"]


def encode_prepared(
    pages: Sequence[Preparation],
    texts: Sequence[str],
    vectors: bytes = b"",
    model: EmbeddingModel | None = None,
) -> Message:
    """The answer, with the vectors of all chunks. A chunk's text is sent only if it is not a part of the page's."""
    rows = [
        [_to_row(chunk, terms, text) for chunk, terms in zip(page.chunks, page.terms, strict=True)]
        for page, text in zip(pages, texts, strict=True)
    ]
    named = None if model is None else [model.name, model.dimension]
    ranking = b"".join(chunk.prepared or b"" for page in pages for chunk in page.chunks)
    header = {"model": named, "vectors": len(vectors), "pages": rows}
    return json.dumps(header).encode(), vectors + ranking


def decode_prepared(message: Message, pages: Sequence[QueuedPage]) -> list[PreparedPage]:
    """The prepared pages of an answer.

    Raises:
        BrokenFrame: the answer is not valid.
    """
    try:
        header = json.loads(message[0])
        model = None if header["model"] is None else EmbeddingModel(*header["model"])
        width, size = model.dimension * HALF_BYTES if model else 0, header["vectors"]
        vectors, ranking = _Parts(message[1][:size]), _Parts(message[1][size:])
        return [
            _to_page(page, rows, partial(vectors.take, width), ranking, model)
            for page, rows in zip(pages, header["pages"], strict=True)
        ]
    except (ValueError, KeyError, TypeError) as broken:
        raise BrokenFrame("The answer is not valid.") from broken


def _to_row(chunk: Chunk, terms: str, text: str) -> list[Any]:
    own = None if text[chunk.start : chunk.end] == chunk.text else chunk.text
    size = len(chunk.prepared or b"")
    return [chunk.id, chunk.start, chunk.end, chunk.section, chunk.tokens, terms, own, size]


@dataclass(slots=True)
class _Parts:
    """Reads one part of some bytes after the other."""

    data: bytes
    place: int = 0

    def take(self, size: int) -> bytes:
        start, self.place = self.place, self.place + size
        if self.place > len(self.data):
            raise ValueError("bytes are missing")
        return self.data[start : self.place]


def _to_page(
    page: QueuedPage,
    rows: Sequence[Sequence[Any]],
    next_vector: Callable[[], bytes],
    ranking: _Parts,
    model: EmbeddingModel | None,
) -> PreparedPage:
    chunks, terms, halves = [], {}, {}
    for id_, start, end, section, tokens, words, own, size in rows:
        text = page.text[start:end] if own is None else own
        prepared = ranking.take(size) or None
        chunks.append(
            Chunk(id_, page.entry.key, text, start, end, tuple(section), tokens, prepared)
        )
        terms[id_] = words
        if model is not None:
            halves[id_] = next_vector()
    return PreparedPage(page.entry, tuple(chunks), terms, halves, model)
