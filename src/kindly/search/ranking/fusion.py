"""Reciprocal-rank fusion of several providers' lists over canonical addresses (Cormack, Clarke, Büttcher 2009).

Pure and deterministic. Each hit names the providers that found it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from kindly.frozen import frozen
from kindly.models import Hit
from kindly.urls import canonical

K = 60
"""The smoothing constant of the formula; the paper's value."""


@frozen
class FusedRank:
    """The rank of a hit at one provider."""

    rank: int
    """From 1."""
    provider: str
    hit: Hit


def fuse(
    answers: Sequence[tuple[str, Sequence[Hit]]], url_key: Callable[[str], str] = canonical
) -> tuple[Hit, ...]:
    """The hits of all providers, each once, best first; `answers` are pairs of a provider and its hits in order."""
    ranks: dict[str, list[FusedRank]] = {}
    for provider, hits in answers:
        for rank, (key, hit) in enumerate(distinct(hits, url_key).items(), start=1):
            ranks.setdefault(key, []).append(FusedRank(rank, provider, hit))
    fused = [merged(found) for found in ranks.values()]
    return tuple(sorted(fused, key=lambda hit: -(hit.score or 0.0)))


def distinct(hits: Iterable[Hit], url_key: Callable[[str], str] = canonical) -> dict[str, Hit]:
    """The first hit of each address, in order, by canonical address."""
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(url_key(hit.url), hit)
    return first


def merged(ranks: Sequence[FusedRank]) -> Hit:
    """One hit from those of the same page: the best ranked, completed with fields of the others."""
    best = min(ranks, key=lambda each: each.rank).hit
    hits = [each.hit for each in ranks]
    return replace(
        best,
        title=_best_title(best, hits),
        snippet=max((best, *hits), key=lambda hit: len(hit.snippet)).snippet,
        published=best.published or next((hit.published for hit in hits if hit.published), None),
        engines=tuple(dict.fromkeys(engine for hit in hits for engine in hit.engines)),
        found_by=tuple(dict.fromkeys(each.provider for each in ranks)),
        score=round(sum(1 / (K + each.rank) for each in ranks), 6),
    )


def _best_title(best: Hit, hits: Sequence[Hit]) -> str:
    """The best ranked complete title, or the longest of the shortened ones."""
    for hit in (best, *hits):
        if hit.title and not hit.title.rstrip().endswith(("…", "...")):
            return hit.title
    return max((hit.title for hit in hits), key=len)
