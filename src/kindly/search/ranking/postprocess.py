"""A provider's or a fusion's hits → what is shown: each page once, weighed, and marked where it seems off the subject.

Pure. Only copies are left out, and the hit that stands for them says so; everything else is reordered at most.
"""

from collections.abc import Sequence
from dataclasses import replace

from kindly.models import Hit, Query
from kindly.search.ranking.fusion import distinct
from kindly.search.ranking.quality import judged
from kindly.search.ranking.query_words import terms, words
from kindly.search.ranking.relevance import looks_unrelated

MIN_TERMS = 6
"""Snippets with fewer are too short to call two pages copies."""
NEARLY_EQUAL = 0.9
"""Share of the shorter snippet's terms that the longer one has too."""
UNRELATED = "shares no word with the query"


def clean(query: Query, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits without copies, weighed, at most as many as were asked for."""
    unique = without_copies(tuple(distinct(hits).values()))
    if looks_unrelated(query.text, unique):
        unique = tuple(replace(hit, reasons=(*hit.reasons, UNRELATED)) for hit in unique)
    return judged(unique)[: query.count]


def without_copies(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The first of each set of hits with the same title and nearly the same snippet; it tells where the others are."""
    by_title: dict[str, list[int]] = {}
    kept: list[Hit] = []
    for hit in hits:
        same = by_title.setdefault(" ".join(words(hit.title)), [])
        copied = next((at for at in same if _are_copies(kept[at].snippet, hit.snippet)), None)
        if copied is None:
            same.append(len(kept))
            kept.append(hit)
        else:
            kept[copied] = _standing_for(kept[copied], hit)
    return tuple(kept)


def _are_copies(one: str, other: str) -> bool:
    first, second = terms(one), terms(other)
    shorter = min(len(first), len(second))
    return shorter >= MIN_TERMS and len(first & second) >= NEARLY_EQUAL * shorter


def _standing_for(hit: Hit, copy: Hit) -> Hit:
    return replace(
        hit,
        found_by=tuple(dict.fromkeys((*hit.found_by, *copy.found_by))),
        engines=tuple(dict.fromkeys((*hit.engines, *copy.engines))),
        reasons=(*hit.reasons, f"the same text is at {copy.url}"),
    )
