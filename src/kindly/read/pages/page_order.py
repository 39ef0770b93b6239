"""Candidates of a question to the whole library → a score for each page, by which its passages are ordered."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kindly.read.pages import page_model
from kindly.read.pages.page_features import Asked, BestWindows, PageCandidate, page_features
from kindly.read.pages.page_outline import from_bytes, key_of, keys, outline_of
from kindly.read.ranking.passage_features import content_of
from kindly.text.terms import term_words, tokens
from kindly.text.terms import terms as text_terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kindly.read.ranking.passage_features import QuestionTerms
    from kindly.read.store import Candidate

    Floats = NDArray[np.floating[Any]]


class PageOrder:
    """Scores the pages of some candidates."""

    def __init__(self, candidates: "Sequence[Candidate]") -> None:
        self._texts = [one.chunk.text for one in candidates]
        self._pages = candidate_pages(candidates)

    def __call__(
        self, question: str, terms: "QuestionTerms", first: "Floats", again: "Floats"
    ) -> "Floats":
        """The score of each chunk's page, from the scores of each chunk's best window in both stages of ranking."""
        of_pages = page_model.load().scores(self.features(question, terms, first, again))
        scores = np.zeros(len(self._texts), dtype=np.float32)
        for page, score in zip(self._pages, of_pages, strict=True):
            scores[list(page.chunks)] = score
        return scores

    def features(
        self, question: str, terms: "QuestionTerms", first: "Floats", again: "Floats"
    ) -> "Floats":
        """Pages × features, in the order of the first candidate of each page."""
        asked = asked_of(question, terms)
        return page_features(asked, self._pages, self._texts, BestWindows(first, again))

    @property
    def urls(self) -> list[str]:
        """The addresses of the pages, in the order of the features."""
        return [page.url for page in self._pages]


def candidate_pages(candidates: "Sequence[Candidate]") -> list[PageCandidate]:
    """The pages of the candidates. An outline that is missing is made from the chunks at hand."""
    places: dict[str, list[int]] = {}
    for place, one in enumerate(candidates):
        places.setdefault(one.entry.url, []).append(place)
    return [_page([candidates[place] for place in own], own) for own in places.values()]


def _page(candidates: "Sequence[Candidate]", places: Sequence[int]) -> PageCandidate:
    entry = candidates[0].entry
    outline = from_bytes(candidates[0].outline)
    if outline is None:
        chunks = sorted((one.chunk for one in candidates), key=lambda one: one.start)
        outline = outline_of(entry, chunks)
    return PageCandidate(entry.url, entry.total, outline, tuple(places))


def asked_of(question: str, terms: "QuestionTerms") -> Asked:
    """The question for comparing pages.

    Half of a word's weight is what it weighs among the candidates, half what it means: a word that the candidates were
    found by is in most of them, and would weigh less than the "work" of "how generators work".
    """
    compound = {
        term_words(token)[-1][0] for token in tokens(question) if len(term_words(token)) > 1
    }
    key_of_term = dict(zip(reversed(text_terms(question)), reversed(keys(question)), strict=True))
    content = content_of(terms.specificity)
    weights = (terms.weights + content / max(1e-6, float(content.sum()))) / 2
    return Asked(
        tuple(key_of_term.get(term) or key_of(term, term) for term in terms.terms),
        np.asarray(weights, dtype=np.float32),
        np.array([term in compound for term in terms.terms], dtype=bool),
    )
