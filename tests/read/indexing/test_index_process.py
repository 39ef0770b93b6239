"""The index process: splits and embeds the pages of a request, whatever happens to the model."""

import subprocess
import sys
from collections.abc import Sequence
from io import BytesIO

import numpy as np
import pytest

from kindly.concurrency.pipe_frames import encode_frame, read_frame
from kindly.errors import EmbeddingsDown
from kindly.read.chunk import split
from kindly.read.indexing.index_process import Embed, Indexing, embed_locally, serve
from kindly.read.indexing.index_protocol import (
    QueuedPage,
    decode_passages,
    decode_prepared,
    encode_question,
    encode_texts,
)
from kindly.read.row_format import indexed_terms
from kindly.read.store import EmbeddingModel, PreparedPage
from tests.support.queued_pages import embed, queued
from tests.support.stored_pages import vector

LONG = queued("long", "\n\n".join(f"## Part {n}\n\nSentence {n} is here. " * 20 for n in range(9)))


def exchange(*requests: Sequence[QueuedPage], how: Embed = embed) -> list[list[PreparedPage]]:
    """The answers of the process to these requests."""
    sent = [piece for pages in requests for piece in encode_frame(encode_texts(pages, 128))]
    answers = BytesIO()
    serve(BytesIO(b"".join(sent)), answers, Indexing(how))
    answers.seek(0)
    found = []
    for pages in requests:
        message = read_frame(answers)
        assert message is not None
        found.append(decode_prepared(message, pages))
    return found


def test_pages_are_split_and_embedded_as_the_library_does_it() -> None:
    tea = queued("tea")
    ((first, second), (third,)) = exchange([LONG, tea], [tea])
    assert first.chunks == split(LONG.text, LONG.entry.url, size=128)
    assert len(first.chunks) > 1
    assert second == third
    for page in (first, second):
        for chunk in page.chunks:
            assert page.terms[chunk.id] == " ".join(indexed_terms(chunk))
            half = np.frombuffer(page.halves[chunk.id], "<f2")
            np.testing.assert_allclose(half, vector(chunk.text), atol=1e-3)


def test_a_page_without_text_has_no_chunks() -> None:
    ((empty, full),) = exchange([queued("empty", " "), queued("tea")])
    assert (empty.chunks, empty.halves) == ((), {})
    assert set(full.halves) == {chunk.id for chunk in full.chunks}


def test_without_a_model_pages_come_without_vectors() -> None:
    def down(texts: Sequence[str]) -> tuple[bytes, EmbeddingModel]:
        raise EmbeddingsDown("The model is missing.")

    ((page,),) = exchange([LONG], how=down)
    assert page.chunks
    assert (page.halves, page.model) == ({}, None)


def test_characters_that_no_database_takes_are_replaced() -> None:
    ((page,),) = exchange([queued("odd", "A\x00b \ud800 c.")])
    assert page.chunks[0].text == "A\ufffdb \ufffd c."


@pytest.mark.parametrize("texts", [[], ["Green tea is steamed.", ""]])
def test_the_local_model_gives_a_vector_for_each_text(texts: list[str]) -> None:
    vectors, model = embed_locally(texts)
    assert len(vectors) == 2 * model.dimension * len(texts)


@pytest.mark.parametrize("has_model", [True, False])
def test_the_passages_of_one_page_are_ranked(has_model: bool) -> None:
    def down(texts: Sequence[str]) -> tuple[bytes, EmbeddingModel]:
        raise EmbeddingsDown("The model is missing.")

    request = encode_question(LONG, 128, "Sentence 7", 3)
    found = decode_passages(Indexing(embed_locally if has_model else down).answer(request))
    assert 0 < len(found) <= 3
    assert "Sentence 7" in found[0].text
    assert all(one.total == len(LONG.text) for one in found)


def test_a_page_that_was_ranked_is_not_split_and_embedded_again_to_be_stored() -> None:
    tea, embedded = queued("tea"), list[str]()

    def counting(texts: Sequence[str]) -> tuple[bytes, EmbeddingModel]:
        embedded.extend(texts)
        return embed(texts)

    indexing = Indexing(counting)
    indexing.answer(encode_question(LONG, 128, "Sentence 7", 3))
    ranked = len(embedded)
    pages = [tea, LONG, tea]
    found = decode_prepared(indexing.answer(encode_texts(pages, 128)), pages)
    assert found == exchange(pages)[0]
    assert embedded[ranked:] == [
        chunk.text for page in (found[0], found[2]) for chunk in page.chunks
    ]


def test_what_was_ranked_and_is_not_stored_takes_little_memory() -> None:
    indexing = Indexing(embed, ranked_bytes=0)
    pages = [LONG, queued("tea")]
    for page in pages:
        indexing.answer(encode_question(page, 128, "Sentence 7", 3))
    assert decode_prepared(indexing.answer(encode_texts(pages, 128)), pages) == exchange(pages)[0]


LOADED = "import sys; print(*sorted(name for name in sys.modules if name.startswith('kindly.')))"


@pytest.mark.slow
def test_a_process_that_will_rank_has_loaded_what_a_page_needs_before_the_first_one() -> None:
    rank = "indexing._passages(('https://a.example/', 'Tea grows here.', 512), 'tea', 1)"
    start = "from kindly.read.indexing.index_process import Indexing, embed_locally; indexing = Indexing(embed_locally)"
    loaded, ranked = (
        subprocess.run(
            [sys.executable, "-c", "; ".join((start, *steps, LOADED))],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.split()
        for steps in (("indexing.load_ranking()",), ("indexing.load_ranking()", rank))
    )
    assert "kindly.read.ranking.rerank_model" in loaded
    assert loaded == ranked
