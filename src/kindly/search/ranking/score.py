"""What a result is worth, from 0 to 1, by its place, its words, its source and, where it was read, its page. Pure.

The place counts most, so that the engines' order mostly stands; the rest decides between neighbours.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kindly.models import Hit
from kindly.search.ranking.quality import MOST_DOWN, MOST_UP, points_of
from kindly.search.ranking.query_words import terms, words
from kindly.search.ranking.relevance import subject_of, telling

PLACE, RELEVANCE, QUALITY, DENSITY = 0.4, 0.3, 0.2, 0.1
NEUTRAL = 0.5
"""For what is not known."""
LOOKED_AT = 20_000
"""Characters of a page; its subject stands in them."""
RICH = 0.5
"""Share of distinct words from which a text counts as dense."""


@dataclass(frozen=True, slots=True)
class ScoredHit:
    """A result and the text of its page, if that was read."""

    hit: Hit
    text: str | None = None


def scores(query: str, candidates: Sequence[ScoredHit]) -> list[float]:
    """The worth of each candidate, in their order, which is that of the engines."""
    wanted = telling(terms(subject_of(query)))
    return [
        round(
            PLACE * (1 - rank / len(candidates))
            + RELEVANCE * _relevance(wanted, candidate)
            + QUALITY * _quality(candidate.hit)
            + DENSITY * _density(candidate.text),
            2,
        )
        for rank, candidate in enumerate(candidates)
    ]


def _relevance(wanted: frozenset[str], candidate: ScoredHit) -> float:
    """Share of the query's terms that the result or its page has."""
    if not wanted:
        return NEUTRAL
    hit = candidate.hit
    return len(
        wanted & terms(f"{hit.title} {hit.snippet} {(candidate.text or '')[:LOOKED_AT]}")
    ) / len(wanted)


def _quality(hit: Hit) -> float:
    return (points_of(hit) + MOST_DOWN) / (MOST_UP + MOST_DOWN)


def _density(text: str | None) -> float:
    """How much of a text is new, word by word; a page that repeats itself is thin."""
    found = words(text[:LOOKED_AT]) if text else []
    return min(1.0, len(set(found)) / len(found) / RICH) if found else NEUTRAL
