"""Further result pages of one instance, until there are as many results as the query asks for.

SearXNG has no field for the number of results: a page has as many as its engines return. The caller sends the requests
and decides when.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from kindly.models import Hit, ProviderResults, Query

MAX_PAGES = 10
"""Of one search; SearXNG's own default allows its engines no more."""
FINISH_S = 0.5
"""Kept back from the deadline, to deliver the pages that arrived."""

NextPage = Callable[[Query], Awaitable[ProviderResults | None]]
"""The results of a page; None if it cannot be had now."""


async def with_further_pages(
    first: ProviderResults, query: Query, next_page: NextPage
) -> ProviderResults:
    """The first page and those after it. The first of them that is missing or brings nothing new is the last one."""
    found = replace(first, hits=_unique(first.hits))
    for number in range(query.page + 1, query.page + MAX_PAGES):
        if not found.hits or len(found.hits) >= query.count:
            break
        page = await next_page(replace(query, page=number))
        more = joined(found, page) if page is not None else found
        if len(more.hits) == len(found.hits):
            break
        found = more
    return found


def joined(found: ProviderResults, page: ProviderResults) -> ProviderResults:
    """The results with those of one more page; the facts about the search are the first page's."""
    return replace(
        found,
        hits=_unique((*found.hits, *page.hits)),
        engines=tuple(dict.fromkeys((*found.engines, *page.engines))),
    )


def _unique(hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """The hits without repetitions. The import is here because settings import this module at every start."""
    from kindly.search.ranking.postprocess import unique

    return unique(hits)
