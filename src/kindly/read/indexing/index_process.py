"""Main program of the process that splits, embeds and ranks pages with the local model, at low priority.

It keeps the model out of the server's memory, and its work off the server's event loop. It exits when the pipe closes
or the server dies.
"""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
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
from kindly.read.indexing.index_protocol import (
    Preparation,
    decode_question,
    decode_texts,
    encode_passages,
    encode_prepared,
)
from kindly.read.store import EmbeddingModel

NICENESS = 5
"""The parser and the server come first."""
MEMORY_BYTES = 384 * 1024 * 1024
MAX_RESIDENT_BYTES = 160 * 1024 * 1024
"""A process that has grown larger is replaced."""
TIMEOUT_S = 120.0
"""The process ends itself after this time; the server kills it earlier."""

Embed = Callable[[Sequence[str]], tuple[bytes, EmbeddingModel]]
"""Texts → their vectors in half precision. Raises `EmbeddingsDown`."""


def main() -> None:
    """Serve until standard input closes."""
    exit_with_server()
    if sys.platform != "win32":
        os.nice(NICENESS)
    limit_memory(MEMORY_BYTES)
    with suppress(EmbeddingsDown):
        embed_locally(["The model is loaded before the first page arrives."])
    with own_pipes() as (pipe_in, pipe_out):
        serve(pipe_in, pipe_out, embed_locally)


def serve(pipe_in: BinaryIO, pipe_out: BinaryIO, embed: Embed) -> None:
    """Answer every request of one pipe on the other, until it closes."""
    while (message := read_frame(pipe_in)) is not None:
        set_timer(TIMEOUT_S)
        answer = answer_to(message, embed)
        set_timer(0)
        outgrown = memory_use().resident_bytes > MAX_RESIDENT_BYTES
        pipe_out.writelines(encode_frame(answer, outgrown=outgrown))
        pipe_out.flush()
        del message, answer
        give_memory_back()


def answer_to(message: Message, embed: Embed) -> Message:
    """Prepare the pages of a request, or rank its one page."""
    asked = decode_question(message)
    return prepare(message, embed) if asked is None else rank(message, *asked, embed)


def rank(message: Message, question: str, limit: int, embed: Embed) -> Message:
    """The best passages of one page, whether they answer the question or not."""
    import numpy as np

    from kindly.read.chunk import split
    from kindly.read.ranking.rank import Index

    ((url, text),), size = decode_texts(message)
    chunks = split(text, url, size=size)
    try:
        halves, model = embed([question, *(chunk.text for chunk in chunks)])
        vectors = np.frombuffer(halves, "<f2").astype(np.float32).reshape(-1, model.dimension)
        index, asked = Index(chunks, vectors[1:]), vectors[0]
    except EmbeddingsDown:
        index, asked = Index(chunks, None), None
    ranking = index.ask(question, asked, limit=limit, threshold=0.0)
    return encode_passages([replace(one, total=len(text)) for one in ranking.passages])


def prepare(message: Message, embed: Embed) -> Message:
    """Split and embed the pages of one request. Without a model, the pages are answered without vectors."""
    from kindly.read.chunk import split
    from kindly.read.ranking.prepared import with_prepared
    from kindly.read.ranking.rank import local_model
    from kindly.read.row_format import indexed_terms, storable_chunks

    pages, size = decode_texts(message)
    texts = [text for _, text in pages]
    model = local_model()
    chunks = [
        with_prepared(storable_chunks(split(text, url, size=size)), model) for url, text in pages
    ]
    terms = [[" ".join(indexed_terms(one)) for one in page] for page in chunks]
    made = [Preparation(*page) for page in zip(chunks, terms, strict=True)]
    try:
        vectors, embedding = embed([one.text for page in chunks for one in page])
    except EmbeddingsDown:
        return encode_prepared(made, texts)
    return encode_prepared(made, texts, vectors, embedding)


def embed_locally(texts: Sequence[str]) -> tuple[bytes, EmbeddingModel]:
    """The vectors of the local model."""
    from kindly.read.ranking import static_model

    model = static_model.load()
    rows = model.embed(texts)
    return rows.astype("<f2").tobytes(), EmbeddingModel(static_model.NAME, model.table.shape[1])


if __name__ == "__main__":
    main()
