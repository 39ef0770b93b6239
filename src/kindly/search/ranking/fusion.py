"""Several providers' lists → one, by reciprocal-rank fusion over canonical addresses (Cormack, Clarke, Büttcher 2009).

Pure. The same lists give the same result; what all agree on comes first, and each hit says who found it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from kindly.models import Hit
from kindly.urls import canonical

K = 60
"""How little the first ranks weigh more than the next; the paper's value."""


@dataclass(frozen=True, slots=True)
class FusedRank:
    """Where one provider had a hit."""

    rank: int
    """From 1."""
    provider: str
    hit: Hit


def fuse(
    answers: Sequence[tuple[str, Sequence[Hit]]], url_key: Callable[[str], str] = canonical
) -> tuple[Hit, ...]:
    """The hits of all providers, each once, the best first; `answers` are pairs of provider and hits in its order."""
    places: dict[str, list[FusedRank]] = {}
    for provider, hits in answers:
        for rank, (key, hit) in enumerate(distinct(hits, url_key).items(), start=1):
            places.setdefault(key, []).append(FusedRank(rank, provider, hit))
    fused = [merged(found) for found in places.values()]
    return tuple(sorted(fused, key=lambda hit: -(hit.score or 0.0)))


def distinct(hits: Iterable[Hit], url_key: Callable[[str], str] = canonical) -> dict[str, Hit]:
    """The hits in order by their key, the first of each."""
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(url_key(hit.url), hit)
    return first


def merged(places: Sequence[FusedRank]) -> Hit:
    """One hit of the same page at several providers: the best ranked, with the best that each told of it."""
    best = min(places, key=lambda place: place.rank).hit
    hits = [place.hit for place in places]
    return replace(
        best,
        title=_best_title(best, hits),
        snippet=max((best, *hits), key=lambda hit: len(hit.snippet)).snippet,
        published=best.published or next((hit.published for hit in hits if hit.published), None),
        engines=tuple(dict.fromkeys(engine for hit in hits for engine in hit.engines)),
        found_by=tuple(dict.fromkeys(place.provider for place in places)),
        score=round(sum(1 / (K + place.rank) for place in places), 6),
    )


def _best_title(best: Hit, hits: Sequence[Hit]) -> str:
    """The best ranked whole title, or the longest of those that were cut."""
    for hit in (best, *hits):
        if hit.title and not hit.title.rstrip().endswith(("…", "...")):
            return hit.title
    return max((hit.title for hit in hits), key=len)
