"""Hits of a provider or a fusion → finished hits: deduplicated, ordered by quality, safe to show.

Pure. Only copies are left out, and the hit that remains says where they are; everything else is reordered at most.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from urllib.parse import quote

from kindly.models import Hit, Hits, Query
from kindly.redact import Redactor
from kindly.search.ranking.fusion import distinct
from kindly.search.ranking.quality import by_quality
from kindly.search.ranking.query_words import terms, words
from kindly.search.ranking.relevance import looks_unrelated
from kindly.text import invisible
from kindly.urls import without_tracking

MIN_TERMS = 6
"""Shorter snippets say too little to call two pages copies."""
NEARLY_EQUAL = 0.9
"""Share of the shorter snippet's terms that the longer one contains too."""
UNRELATED = "shares no word with the query"
MAX_ENGINE_NAME = 60
BRACKETS = {ord(sign): quote(sign) for sign in "<>＜＞﹤‹❮〈⟨《«≪"}
"""Characters that must be percent-encoded in an address: unencoded, they could imitate the markup around it."""


def clean(query: Query, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits without copies, ordered by quality, at most `query.count`."""
    found = unique(hits)
    if looks_unrelated(query.text, found):
        found = tuple(replace(hit, reasons=(*hit.reasons, UNRELATED)) for hit in found)
    return by_quality(found)[: query.count]


def unique(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits without those that have the address or the text of an earlier one."""
    return without_copies(tuple(distinct(hits).values()))


def without_copies(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The first of each set of hits with the same title and nearly the same snippet; it says where the others are."""
    by_title: dict[str, list[int]] = {}
    unique: list[Hit] = []
    for hit in hits:
        same = by_title.setdefault(" ".join(words(hit.title)), [])
        copied = next((at for at in same if _are_copies(unique[at].snippet, hit.snippet)), None)
        if copied is None:
            same.append(len(unique))
            unique.append(hit)
        else:
            unique[copied] = _with_copy(unique[copied], hit)
    return tuple(unique)


def visible(hits: Hits, redactor: Redactor) -> Hits:
    """Hits as a person would see them: without invisible characters, without our keys if a vendor echoes them, and with
    addresses without tracking parameters.
    """

    def shown(text: str) -> str:
        return redactor.text(invisible.clean(text)[0])

    def engines(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(shown(name)[:MAX_ENGINE_NAME] for name in names)

    raw = hits.raw and {name: _map_strings(item, shown) for name, item in hits.raw.items()}
    return replace(
        hits,
        hits=tuple(
            replace(
                hit,
                title=shown(hit.title),
                url=without_tracking(shown(hit.url)).translate(BRACKETS),
                snippet=shown(hit.snippet),
                published=hit.published and shown(hit.published),
                engines=engines(hit.engines),
            )
            for hit in hits.hits
        ),
        engines=engines(hits.engines),
        raw=raw,
    )


def _map_strings(value: object, change: Callable[[str], str]) -> object:
    """A JSON value with every string in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: _map_strings(item, change) for name, item in value.items()}
    return [_map_strings(item, change) for item in value] if isinstance(value, list) else value


def _are_copies(one: str, other: str) -> bool:
    first, second = terms(one), terms(other)
    shorter = min(len(first), len(second))
    return shorter >= MIN_TERMS and len(first & second) >= NEARLY_EQUAL * shorter


def _with_copy(hit: Hit, copy: Hit) -> Hit:
    return replace(
        hit,
        found_by=tuple(dict.fromkeys((*hit.found_by, *copy.found_by))),
        engines=tuple(dict.fromkeys((*hit.engines, *copy.engines))),
        reasons=(*hit.reasons, f"the same text is at {copy.url}"),
    )
