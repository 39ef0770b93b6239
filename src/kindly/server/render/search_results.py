"""Search hits and their pages → `SearchResult` → text and data, within a token budget."""

from collections.abc import Sequence

from kindly.answer import compose
from kindly.budget import fit
from kindly.models import Hits, Source, SourceExcerpt
from kindly.search.ranking.filters import DATES, ON_RESULTS
from kindly.server.json_schema import Json
from kindly.server.render.fence import AnyFence
from kindly.server.render.formatting import (
    SNIPPET_TOKENS,
    TITLE_TOKENS,
    address,
    clip,
    dated,
    dated_by_page,
    larger_size,
    provenance,
    status_data,
    without_none,
)
from kindly.server.render.page import page_content
from kindly.server.render.results import FoundPage, SearchResult
from kindly.text.durations import seconds
from kindly.urls import domain

FROM_LIBRARY = "library"
"""The provider of results that a collection answered."""


def search_result(
    hits: Hits, sources: Sequence[Source], fence: AnyFence, tokens: int
) -> SearchResult:
    """The results of a search, as many and as much of each page as `tokens` allow."""
    for kept in range(len(sources), 0, -1):
        shown, left_out = sources[:kept], len(sources) - kept

        def build(
            available: int, shown: Sequence[Source] = shown, left_out: int = left_out
        ) -> SearchResult:
            return _result(hits, compose(shown, available).sources, left_out, fence)

        result = fit(build, _size, tokens)
        if _size(result) <= tokens:
            return result
    return _result(hits, (), len(sources), fence)


def search_data(result: SearchResult) -> Json:
    """The result as structured content."""
    data: Json = {"results": [found_data(page) for page in result.pages]}
    if result.why:
        data["why"] = f"{result.provider}: {result.why}"
    if result.filters:
        data["filters"] = dict(result.filters)
    if result.note:
        data["note"] = result.note
    return data


def search_text(result: SearchResult) -> str:
    """The result as Markdown for the model."""
    pages = [found_text(number, page) for number, page in enumerate(result.pages, start=1)]
    return "\n\n".join([_headline(result), *pages, *([result.note] if result.note else [])])


def _size(result: SearchResult) -> int:
    return larger_size(search_text(result), search_data(result))


def _result(
    hits: Hits, excerpts: Sequence[SourceExcerpt], left_out: int, fence: AnyFence
) -> SearchResult:
    pages = tuple(found_page(excerpt, fence) for excerpt in excerpts)
    notes = search_notes(hits, pages)
    if left_out:
        notes.append(f"{left_out} more results did not fit max_tokens.")
    return SearchResult(
        hits.query.text,
        hits.provider,
        len(hits.hits),
        pages,
        hits.why,
        " ".join(notes),
        fence.preamble(*(page.page_content for page in pages)),
        hits.filters,
    )


def search_notes(hits: Hits, pages: Sequence[FoundPage]) -> list[str]:
    """What to know about the results: providers that failed, and who applied the filters."""
    notes = [f"This was {hits.why}"] if hits.provider == FROM_LIBRARY else []
    if hits.failed:
        notes.append(f"{', '.join(hits.failed)} failed; {hits.provider} answered.")
    if hits.filters:
        notes.append(f"Filters: {', '.join(map(_applied, hits.filters))}.")
    if hits.left_out:
        notes.append(f"Left out by them: {hits.left_out}.")
    undated = sum(page.published is None for page in pages)
    if undated and any(name in DATES for name, _ in hits.filters):
        notes.append(f"Without a known date: {undated}.")
    return notes


def _applied(pair: tuple[str, str]) -> str:
    name, by = pair
    return f"{name} checked on the results" if by == ON_RESULTS else f"{name} by {by}"


def found_page(excerpt: SourceExcerpt, fence: AnyFence) -> FoundPage:
    """One result of a search, of whose page `excerpt` is shown."""
    hit, document = excerpt.source.hit, excerpt.source.document
    assert hit is not None  # noqa: S101 - sources of a search always have their hit
    published, published_from = dated(hit.published), hit.provider
    if published is None and document is not None:
        published, published_from = dated_by_page(document.metadata)
    return FoundPage(
        title=clip(hit.title, TITLE_TOKENS),
        link=address(hit.url),
        snippet=clip(hit.snippet, SNIPPET_TOKENS),
        page_content=page_content(excerpt, fence),
        outcome=excerpt.source.outcome,
        domain=domain(hit.url),
        provider=hit.provider,
        published=published,
        published_from=published_from,
        score=hit.score,
        fetched_at=document.fetched_at.isoformat(timespec="seconds") if document else None,
        content_hash=(document.content_hash or None) if document else None,
        hidden_dropped=(document.hidden_dropped or None) if document else None,
        cursor=excerpt.cursor,
        found_by=hit.found_by,
        reasons=hit.reasons,
    )


def found_data(page: FoundPage) -> Json:
    """One result as structured content."""
    return {
        "title": page.title,
        "link": page.link,
        "snippet": page.snippet,
        "page_content": page.page_content,
        **status_data(page.outcome),
        "domain": page.domain,
        "provider": page.provider,
        **without_none(
            {
                "published": page.published,
                "published_from": page.published_from if page.published else None,
                "score": page.score,
                "fetched_at": page.fetched_at,
                "content_hash": page.content_hash,
                "hidden_dropped": page.hidden_dropped,
                "cursor": page.cursor,
                "found_by": list(page.found_by) or None,
                "reasons": list(page.reasons) or None,
            }
        ),
    }


def found_text(number: int, page: FoundPage) -> str:
    """One result as Markdown for the model."""
    facts = [*filter(None, [page.domain, page.published]), page.outcome.kind.value]
    if page.outcome.retry_after_s is not None:
        facts.append(f"retry after {seconds(page.outcome.retry_after_s)}")
    line = " · ".join([*facts, *provenance(page.fetched_at, page.content_hash)])
    return (
        f"## {number}. {page.title}\n{page.link}\n{line}\n\n{page.snippet}\n\n{page.page_content}"
    )


def _headline(result: SearchResult) -> str:
    if not result.total:
        return f"No results for {result.query!r} ({result.provider}). Try other or fewer words."
    plural = "s" if result.total != 1 else ""
    counted = f"{result.total} result{plural} for {result.query!r} ({result.provider})."
    return f"{counted} {result.preamble}".rstrip()
