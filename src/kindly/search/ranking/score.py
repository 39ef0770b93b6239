"""A score from 0 to 1 for a result: by rank, relevance, source quality and, if its page was read, density. Pure.

The rank weighs most, so that the engines' order mostly remains; the rest decides between neighbours.
"""

from collections.abc import Sequence

from kindly.frozen import frozen
from kindly.models import Hit
from kindly.search.ranking.quality import MAX_BONUS, MAX_PENALTY, points_of
from kindly.search.ranking.query_words import terms, words
from kindly.search.ranking.relevance import distinctive, subject_of

RANK, RELEVANCE, QUALITY, DENSITY = 0.4, 0.3, 0.2, 0.1
NEUTRAL = 0.5
"""For an unknown part."""
MAX_CHARACTERS = 20_000
"""Of a page; the beginning contains its subject."""
DENSE = 0.5
"""Share of distinct words from which a text counts as dense."""


@frozen
class ScoredHit:
    """A result and the text of its page, if that was read."""

    hit: Hit
    text: str | None = None


def scores(query: str, candidates: Sequence[ScoredHit]) -> list[float]:
    """The score of each result; their order is that of the engines."""
    query_terms = distinctive(terms(subject_of(query)))
    return [
        round(
            RANK * (1 - rank / len(candidates))
            + RELEVANCE * _relevance(query_terms, candidate)
            + QUALITY * _quality(candidate.hit)
            + DENSITY * _density(candidate.text),
            2,
        )
        for rank, candidate in enumerate(candidates)
    ]


def _relevance(query_terms: frozenset[str], candidate: ScoredHit) -> float:
    """Share of the query's terms that the result or its page contains."""
    if not query_terms:
        return NEUTRAL
    hit = candidate.hit
    return len(
        query_terms & terms(f"{hit.title} {hit.snippet} {(candidate.text or '')[:MAX_CHARACTERS]}")
    ) / len(query_terms)


def _quality(hit: Hit) -> float:
    return (points_of(hit) + MAX_PENALTY) / (MAX_BONUS + MAX_PENALTY)


def _density(text: str | None) -> float:
    """Share of distinct words, scaled; a page that repeats itself scores low."""
    found = words(text[:MAX_CHARACTERS]) if text else []
    return min(1.0, len(set(found)) / len(found) / DENSE) if found else NEUTRAL
