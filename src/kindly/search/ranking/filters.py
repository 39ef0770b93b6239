"""The domain and date filters of a query: as operators in its text, and checked on the results.

Pure. A provider sends what its vendor offers. Every hit is checked anyway, so that a filter holds wherever a hit says
enough: its address always does, its date only if the provider reports one.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime

from kindly.models import Hit, Hits, Query
from kindly.text.dates import to_date
from kindly.urls import domain

DOMAINS = frozenset({"include_domains", "exclude_domains"})
DATES = frozenset({"published_after", "published_before"})
ALL = DOMAINS | DATES
ON_RESULTS = "results"
"""Who applied a filter, if the provider did not."""
SPARE = 3
"""So many times the wanted results are asked for if some will be left out."""
MAX_SPARE = 50
LONG_AGO = "1990-01-01"


def used(query: Query) -> tuple[str, ...]:
    """The names of these filters that a query sets."""
    names = ("include_domains", "exclude_domains", "published_after", "published_before")
    return tuple(name for name in names if getattr(query, name))


def spare_count(query: Query, sent: Iterable[str]) -> int:
    """How many results to ask a provider for that is sent only some of the filters."""
    if set(used(query)) <= set(sent):
        return query.count
    return max(query.count, min(query.count * SPARE, MAX_SPARE))


def days(query: Query) -> tuple[str, str]:
    """The first and the last day that a page may be from; an open beginning is long ago, an open end is today."""
    today = datetime.now(UTC).date().isoformat()
    return query.published_after or LONG_AGO, query.published_before or today


def with_sites(query: Query, without: str = "-site:") -> str:
    """The text of a query with its domains as operators; `without` is how the vendor writes an excluded one."""
    only = (*filter(None, [query.site]), *query.include_domains)
    sites = " OR ".join(f"site:{name}" for name in only)
    excluded = (f"{without}{name}" for name in query.exclude_domains)
    return " ".join(filter(None, [query.text, sites, *excluded]))


def matching(query: Query, hits: Iterable[Hit], today: date) -> tuple[Hit, ...]:
    """The hits that no filter excludes; one without a date passes."""
    return tuple(
        hit
        for hit in hits
        if _is_wanted(query, domain(hit.url)) and is_in_time(query, hit.published, today)
    )


def is_in_time(query: Query, published: str | None, today: date) -> bool:
    """Whether a date, as a page or a provider writes it, is not outside the wanted time."""
    day = to_date(published, today)
    if day is None:
        return True
    return (query.published_after or day) <= day <= (query.published_before or day)


def applied(query: Query, provider: str, sent: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Each filter that a query sets, with who applied it: the provider, or the check of the results."""
    known = frozenset(sent)
    return tuple((name, provider if name in known else ON_RESULTS) for name in used(query))


def without(hits: Hits, left_out: frozenset[str]) -> Hits:
    """The hits without those at some addresses, which are counted."""
    kept = tuple(hit for hit in hits.hits if hit.url not in left_out)
    return replace(hits, hits=kept, left_out=hits.left_out + len(hits.hits) - len(kept))


def _is_wanted(query: Query, host: str) -> bool:
    if any(_is_within(host, name) for name in query.exclude_domains):
        return False
    return not query.include_domains or any(
        _is_within(host, name) for name in query.include_domains
    )


def _is_within(host: str, name: str) -> bool:
    return host == name or host.endswith(f".{name}")
