import numpy as np
import pytest

from kindly.read.chunk import split
from kindly.read.ranking.sentence_index import SentenceIndex, build_index, inverse_frequency

URL = "https://example.com/bees"
TEXT = "# Bees\n\nBees dance. Bees sleep at night.\n\nWasps hunt."


def index(text: str = TEXT, **options: int) -> SentenceIndex:
    return build_index(split(text, URL), None, **options)


def words(found: SentenceIndex, text: str = TEXT) -> list[str]:
    (chunk,) = split(text, URL)
    return [chunk.text[one.start : one.end] for one in found.sentences.spans]


def test_a_text_is_cut_into_headings_and_sentences() -> None:
    found = index()
    assert [sentence.strip() for sentence in words(found)] == [
        "# Bees",
        "Bees dance.",
        "Bees sleep at night.",
        "Wasps hunt.",
    ]
    assert [one.kind for one in found.sentences.spans] == ["heading", "prose", "prose", "prose"]
    assert found.sentences.chunk_bounds.tolist() == [0, 4]


def test_each_line_of_code_is_a_sentence() -> None:
    text = "```\nx = 1\n\ny = 2\n```"
    assert words(index(text), text) == ["```", "x = 1", "y = 2", "```"]


def test_postings_lead_from_a_term_to_its_sentences() -> None:
    postings = index().postings
    bee = postings.vocabulary["bee"]
    assert postings.sentences[postings.of(bee)].tolist() == [0, 1, 2]
    assert postings.idf[postings.vocabulary["wasp"]] > postings.idf[bee]


def test_a_window_for_each_sentence_or_one_for_all_that_fit() -> None:
    alone = index(window_tokens=0).windows
    assert (alone.begin.tolist(), alone.end.tolist()) == ([0, 1, 2, 3], [1, 2, 3, 4])
    together = index().windows
    assert (together.begin.tolist(), together.end.tolist()) == ([0], [4])
    assert together.chunk.tolist() == [0]


def test_words_with_the_same_beginning_share_a_prefix() -> None:
    found = index("Flowers flow. Rivers flowed.")
    prefixes = found.prefixes.of_occurrences.tolist()
    assert prefixes.count(found.prefixes.numbers["flow"]) == 3


def test_without_a_model_vectors_are_zero() -> None:
    found = index()
    assert not found.vectors.units.any()
    assert not found.sentences.vector_lengths.any()
    assert not found.windows.vector_lengths.any()


@pytest.mark.parametrize("text", ["", "# Heading only"])
def test_a_text_without_sentences_has_an_index(text: str) -> None:
    assert len(index(text).windows) == len(split(text, URL))


def test_rare_terms_weigh_more_and_none_is_negative() -> None:
    rare, common = inverse_frequency(np.array([1, 10]), 10)
    assert rare > common > 0
