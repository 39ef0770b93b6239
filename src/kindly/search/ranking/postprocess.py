"""Hits of a provider or a fusion → finished hits: deduplicated, ordered by quality, safe to show.

Pure. Only copies are left out, and the hit that remains says where they are; everything else is reordered at most.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from kindly.models import Hit, Hits, Query
from kindly.redact import Redactor
from kindly.search.ranking.fusion import distinct
from kindly.search.ranking.quality import by_quality
from kindly.search.ranking.query_words import terms, words
from kindly.search.ranking.relevance import looks_unrelated
from kindly.text import invisible
from kindly.text.plain_line import MAX_ADDRESS, MAX_SNIPPET, MAX_TITLE, plain_address, plain_line
from kindly.urls import without_tracking

MIN_TERMS = 6
"""Shorter snippets say too little to call two pages copies."""
NEARLY_EQUAL = 0.9
"""Share of the shorter snippet's terms that the longer one contains too."""
UNRELATED = "shares no word with the query"
MAX_ENGINE_NAME = 60


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
    """Hits that are safe to show: each text one plain line, no invisible characters, and no key that a vendor echoes.

    Addresses have no tracking parameters; a hit whose address is too long to show is left out. The vendor's own JSON
    keeps its markup.
    """

    def shown(text: str) -> str:
        return redactor.text(invisible.clean(text)[0])

    def engines(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(plain_line(shown(name), MAX_ENGINE_NAME) for name in names)

    raw = hits.raw and {name: _map_strings(item, shown) for name, item in hits.raw.items()}
    return replace(
        hits,
        hits=tuple(
            replace(
                hit,
                title=plain_line(shown(hit.title), MAX_TITLE),
                url=url,
                snippet=plain_line(shown(hit.snippet), MAX_SNIPPET),
                published=hit.published and shown(hit.published),
                engines=engines(hit.engines),
            )
            for hit in hits.hits
            if len(url := plain_address(without_tracking(shown(hit.url)))) <= MAX_ADDRESS
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
        reasons=(*hit.reasons, f"the same text is at {plain_address(copy.url)}"),
    )
