import numpy as np
import pytest

from kindly.read.chunk import split
from kindly.read.ranking import static_model
from kindly.read.ranking.prepared import WINDOW_TOKENS, prepare
from kindly.read.ranking.sentence_index import SentenceIndex, build_index, inverse_frequency

URL = "https://example.com/bees"
TEXT = "# Bees\n\nBees dance. Bees sleep at night.\n\nWasps hunt."


def index(text: str = TEXT, window_tokens: int = WINDOW_TOKENS) -> SentenceIndex:
    return build_index(split(text, URL), None, window_tokens=window_tokens)


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
    bee = postings.number("bee")
    assert postings.sentences[postings.of(bee)].tolist() == [0, 1, 2]
    assert postings.idf[postings.number("wasp")] > postings.idf[bee]


def test_a_window_for_each_sentence_or_one_for_all_that_fit() -> None:
    alone = index(window_tokens=0).windows
    assert (alone.begin.tolist(), alone.end.tolist()) == ([0, 1, 2, 3], [1, 2, 3, 4])
    together = index().windows
    assert (together.begin.tolist(), together.end.tolist()) == ([0], [4])
    assert together.chunk.tolist() == [0]


def test_words_with_the_same_beginning_share_a_prefix() -> None:
    postings = index("Flowers flow. Rivers flowed.").postings
    assert len(postings.of_prefix("flow")) == 3
    assert len(postings.of_prefix("lake")) == 0


def test_a_term_that_no_sentence_has_has_no_number() -> None:
    assert index().postings.number("hornet") == -1


def test_without_a_model_vectors_are_zero() -> None:
    found = index()
    assert not found.vectors.lengths.any()
    assert not found.vectors.products(found.vectors.rows(), np.ones((2, 1), np.float32)).any()
    assert not found.sentences.vector_lengths.any()
    assert not found.windows.vector_lengths.any()


def test_a_sentence_that_the_overlap_cuts_counts_once() -> None:
    text = "\n\n".join(" ".join(f"word{n}x{m}" for m in range(60)) + "." for n in range(20))
    chunks = split(text, URL, size=256)
    cut = sum(len(one.sizes) for one in prepare(chunks, None))
    assert len(build_index(chunks, None).sentences) < cut


def test_word_vectors_are_the_sums_of_their_tokens() -> None:
    model = static_model.load()
    found = build_index(split(TEXT, URL), model)
    vectors = model.words(["night", "wasps"])
    products = found.vectors.products(found.vectors.rows(), vectors)
    lengths = np.linalg.norm(vectors, axis=1)
    for row, term in enumerate(["night", "wasp"]):
        number = found.postings.number(term)
        assert found.vectors.lengths[number] == pytest.approx(lengths[row], rel=1e-4)
        assert products[row, number] == pytest.approx(lengths[row], rel=1e-4)
    only = np.zeros(len(found.postings), np.float32)
    only[found.postings.number("wasp")] = lengths[1]
    assert found.vectors.total(found.vectors.rows(), only) == pytest.approx(vectors[1], abs=1e-3)


@pytest.mark.parametrize("text", ["", "# Heading only"])
def test_a_text_without_sentences_has_an_index(text: str) -> None:
    assert len(index(text).windows) == len(split(text, URL))


def test_rare_terms_weigh_more_and_none_is_negative() -> None:
    rare, common = inverse_frequency(np.array([1, 10]), 10)
    assert rare > common > 0
