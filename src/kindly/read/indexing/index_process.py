"""Main program of the process that splits, embeds and ranks pages with the local model, at low priority.

It keeps the model out of the server's memory, and its work off the server's event loop. It exits when the pipe closes
or the server dies.
"""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from typing import BinaryIO

from kindly.concurrency.pipe_frames import Message, encode_frame, read_frame
from kindly.concurrency.process_limits import (
    exit_with_server,
    give_memory_back,
    limit_memory,
    memory_use,
    own_pipes,
    set_timer,
)
from kindly.errors import EmbeddingsDown
from kindly.frozen import frozen
from kindly.models import Chunk
from kindly.read.indexing.index_protocol import (
    HALF_BYTES,
    Preparation,
    decode_question,
    decode_texts,
    encode_passages,
    encode_prepared,
)
from kindly.read.store import EmbeddingModel
from kindly.storage.lru import LruCache

NICENESS = 5
"""The parser and the server come first."""
MEMORY_BYTES = 384 * 1024 * 1024
MAX_RESIDENT_BYTES = 160 * 1024 * 1024
"""A process that has grown larger is replaced."""
RANKED_BYTES = 4_000_000
"""Of pages that were ranked and are still to be stored."""
TIMEOUT_S = 120.0
"""The process ends itself after this time; the server kills it earlier."""

Embed = Callable[[Sequence[str]], tuple[bytes, EmbeddingModel]]
"""Texts → their vectors in half precision. Raises `EmbeddingsDown`."""


def main(*, ranks: bool = False) -> None:
    """Serve until standard input closes."""
    exit_with_server()
    if sys.platform != "win32":
        os.nice(NICENESS)
    limit_memory(MEMORY_BYTES)
    with suppress(EmbeddingsDown):
        embed_locally(["The model is loaded before the first page arrives."])
    indexing = Indexing(embed_locally)
    if ranks:
        indexing.load_ranking()
    with own_pipes() as (pipe_in, pipe_out):
        serve(pipe_in, pipe_out, indexing)


@frozen
class RankedPage:
    """A page that was split and embedded to be ranked, and that is still to be stored."""

    chunks: tuple[Chunk, ...]
    vectors: bytes
    """In half precision."""

    @property
    def size(self) -> int:
        """In bytes, about."""
        return len(self.vectors) + sum(
            2 * len(chunk.text) + len(chunk.prepared or b"") for chunk in self.chunks
        )


PageKey = tuple[str, str, int]
"""Address, text, chunk size."""


class Indexing:
    """Answers requests. What was made of a page to rank it stays, as far as there is room, until it is prepared."""

    def __init__(self, embed: Embed, ranked_bytes: int = RANKED_BYTES) -> None:
        self._embed = embed
        self._ranked: LruCache[PageKey, RankedPage] = LruCache(ranked_bytes, lambda one: one.size)

    def answer(self, message: Message) -> Message:
        """Prepare the pages of a request, or rank its one page."""
        asked = decode_question(message)
        pages, size = decode_texts(message)
        keys = [(url, text, size) for url, text in pages]
        return self._prepared(keys) if asked is None else self._passages(keys[0], *asked)

    def load_ranking(self) -> None:
        """Load the modules and models of ranking by ranking one sentence."""
        self._passages(("https://example.com/", "A page with one sentence.", 512), "a page", 1)

    def _passages(self, key: PageKey, question: str, limit: int) -> Message:
        """The best passages of one page, whether they answer the question or not."""
        import numpy as np

        from kindly.read.ranking.rank import Index

        chunks = _chunks(*key)
        try:
            halves, model = self._embed([question, *(chunk.text for chunk in chunks)])
            vectors = np.frombuffer(halves, "<f2").astype(np.float32).reshape(-1, model.dimension)
            index, asked = Index(chunks, vectors[1:]), vectors[0]
            self._ranked.put(key, RankedPage(chunks, halves[model.dimension * HALF_BYTES :]))
        except EmbeddingsDown:
            index, asked = Index(chunks, None), None
        ranking = index.ask(question, asked, limit=limit, threshold=0.0)
        return encode_passages([replace(one, total=len(key[1])) for one in ranking.passages])

    def _prepared(self, keys: Sequence[PageKey]) -> Message:
        """Pages as they are stored. Without a model, they have no vectors."""
        from kindly.read.row_format import indexed_terms

        known = [self._ranked.pop(key) for key in keys]
        chunks = [
            _chunks(*key) if one is None else one.chunks
            for key, one in zip(keys, known, strict=True)
        ]
        terms = [[" ".join(indexed_terms(one)) for one in page] for page in chunks]
        made = [Preparation(*page) for page in zip(chunks, terms, strict=True)]
        texts = [text for _, text, _ in keys]
        new = [page for page, one in zip(chunks, known, strict=True) if one is None]
        try:
            rows, model = self._embed([chunk.text for page in new for chunk in page])
        except EmbeddingsDown:
            return encode_prepared(made, texts)
        left = BytesIO(rows)
        width = model.dimension * HALF_BYTES
        vectors = [
            left.read(width * len(page)) if one is None else one.vectors
            for page, one in zip(chunks, known, strict=True)
        ]
        return encode_prepared(made, texts, b"".join(vectors), model)


def serve(pipe_in: BinaryIO, pipe_out: BinaryIO, indexing: Indexing) -> None:
    """Answer every request of one pipe on the other, until it closes."""
    while (message := read_frame(pipe_in)) is not None:
        set_timer(TIMEOUT_S)
        answer = indexing.answer(message)
        set_timer(0)
        outgrown = memory_use().resident_bytes > MAX_RESIDENT_BYTES
        pipe_out.writelines(encode_frame(answer, outgrown=outgrown))
        pipe_out.flush()
        del message, answer
        give_memory_back()


def _chunks(url: str, text: str, size: int) -> tuple[Chunk, ...]:
    """The chunks of a page as they are stored, with what ranking needs of them."""
    from kindly.read.chunk import split
    from kindly.read.ranking.prepared import with_prepared
    from kindly.read.ranking.rank import local_model
    from kindly.read.row_format import storable_chunks

    return with_prepared(storable_chunks(split(text, url, size=size)), local_model())


def embed_locally(texts: Sequence[str]) -> tuple[bytes, EmbeddingModel]:
    """The vectors of the local model."""
    from kindly.read.ranking import static_model

    model = static_model.load()
    rows = model.embed(texts)
    return rows.astype("<f2").tobytes(), EmbeddingModel(static_model.NAME, model.table.shape[1])


if __name__ == "__main__":
    main(ranks="--ranks" in sys.argv[1:])
