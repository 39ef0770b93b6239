"""The chunks of a page that are similar to a question: by cosine, else by words, else the longest."""

import numpy as np
import pytest

from kindly.models import Chunk
from kindly.read.similarity import by_cosine, by_length, by_words, word_scores
from tests.support.library_world import BEES, URL, LibraryWorld, document

pytestmark = pytest.mark.anyio

TEXTS = ("Bees see ultraviolet light.", "Bees dance. Bees dance.", "Iron melts at great heat.")


def chunk(position: int, text: str) -> Chunk:
    return Chunk(f"chunk {position}", URL, text, 0, len(text), (), 10)


CHUNKS = [chunk(position, text) for position, text in enumerate(TEXTS)]


@pytest.mark.parametrize(
    ("cosines", "threshold", "expected"),
    [
        ([0.1, 0.9, 0.5], 0.5, [(1, 0.9), (2, 0.5)]),
        ([0.1, 0.9, 0.5], -1, [(1, 0.9), (2, 0.5), (0, 0.1)]),
        ([0.71994, 0.71996, -1], 0.72, [(1, 0.72)]),
        ([1.00001, -1.00001, 0], -1, [(0, 1.0), (2, 0.0), (1, -1.0)]),
        ([0.5, 0.5, 0.5], 0.5, [(1, 0.5), (0, 0.5), (2, 0.5)]),
        ([0.1, 0.1, 0.1], 0.72, []),
    ],
    ids=["at and above", "all", "as shown", "rounding errors", "equal: by words", "none"],
)
def test_cosine_decides(
    cosines: list[float], threshold: float, expected: list[tuple[int, float]]
) -> None:
    given = np.array(cosines, dtype=np.float32)
    assert by_cosine("how do bees dance", CHUNKS, given, threshold) == expected


def test_words_rank_chunks_that_have_any() -> None:
    found = by_words("bees that dance", CHUNKS)
    assert [position for position, _ in found] == [1, 0]
    assert all(0 < score < 1 for _, score in found)
    assert by_words("xyzzy", CHUNKS) == []


def test_a_question_without_words_matches_none() -> None:
    assert word_scores("?!", CHUNKS).tolist() == [0, 0, 0]


def test_the_longest_come_first_with_score_zero() -> None:
    assert by_length(CHUNKS) == [(0, 0.0), (2, 0.0), (1, 0.0)]


async def test_results_are_whole_stored_chunks() -> None:
    library = LibraryWorld().library(chunk_tokens=32, cosine_threshold=0.25)
    stored, _ = await library.keep(URL, document())
    first, second = await library.similar(
        stored, ["waggle dance of a forager", "income tax on steel pipes"], 8
    )
    kept = {one.id: one for one in stored.chunks}
    assert first.answered
    for cited in first.citations:
        own = kept[cited.passage.id]
        assert (cited.passage.text, cited.passage.section) == (own.text, own.section)
        assert cited.passage.total == len(BEES)
    assert (second.answered, second.citations, second.note) == (False, (), "")


async def test_chunks_with_the_same_words_come_once() -> None:
    said = "The forager tells the others by a waggle dance whose angle points the way"
    text = f"## One\n\n{said}.\n\n## Two\n\n{said}!\n\n## Three\n\n{said}: so it does."
    library = LibraryWorld().library(chunk_tokens=16, cosine_threshold=0)
    stored, _ = await library.keep(URL, document(text))
    (finding,) = await library.similar(stored, ["waggle dance"], 8)
    texts = [cited.passage.text for cited in finding.citations]
    assert len(texts) == len({text.rstrip(".!") for text in texts})
    assert len(texts) < len(stored.chunks)


async def test_without_vectors_words_decide_and_notes_say_so_once() -> None:
    world = LibraryWorld()
    library = world.library(chunk_tokens=32)
    stored, _ = await library.keep(URL, document())
    world.embedder.down = True
    first, second = await library.similar(stored, ["waggle dance", "xyzzy"], 2)
    assert "waggle dance" in first.citations[0].passage.text
    assert "asleep" in first.note
    assert "not cosines" in first.note
    assert second.answered
    assert {cited.passage.score for cited in second.citations} == {0}
    assert second.note.startswith("The longest parts")
