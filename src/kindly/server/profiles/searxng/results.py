"""Results of profile `searxng` as frozen values, and their one rendering: JSON, and its summary as the text."""

from math import ceil
from typing import assert_never

from kindly.frozen import frozen
from kindly.models import Category, OutcomeKind
from kindly.server.json_schema import Json


@frozen
class SearxngPage:
    """The page of a result."""

    markdown: str
    word_count: int
    took_ms: int
    summary: str


@frozen
class SearxngPageFailure:
    """Why a result has no page."""

    kind: OutcomeKind
    details: str


@frozen
class SearxngHit:
    """One result of a search."""

    title: str
    url: str
    description: str
    score: float
    engine: str
    page: SearxngPage | SearxngPageFailure | None = None
    """None if the call asks for no pages."""


@frozen
class PageCounts:
    """How many pages were fetched, and how long that took in total."""

    attempted: int
    successful: int
    total_ms: int


@frozen
class SearxngFacts:
    """Facts about a search that fetched pages."""

    category: Category
    language: str | None
    took_ms: int
    instance: str | None
    total: int
    engines: tuple[str, ...]
    pages: PageCounts


@frozen
class SearxngResult:
    """The answer to a search."""

    query: str
    hits: tuple[SearxngHit, ...]
    """Those that are shown."""
    facts: SearxngFacts | None = None
    """None if the call asks for no pages."""
    notes: tuple[str, ...] = ()


@frozen
class SearxngFailure:
    """A failed search."""

    query: str
    headline: str
    error_type: str
    details: str
    attempted: tuple[str, ...]
    """The instances that were tried."""
    retry_after_s: float | None


def to_text(result: SearxngResult | SearxngFailure) -> str:
    """The summary: how many results, or what failed; then what was cut or left out."""
    match result:
        case SearxngResult(query, hits):
            headline = f"Found {len(hits)} search results for query '{query}'"
            return "\n".join((headline, *result.notes))
        case SearxngFailure():
            return f"Search failed: {result.headline}"
        case _:
            assert_never(result)


def to_json(result: SearxngResult | SearxngFailure) -> Json:
    """The result as JSON."""
    match result:
        case SearxngResult():
            return _result_json(result)
        case SearxngFailure():
            return _failure_json(result)
        case _:
            assert_never(result)


def _result_json(result: SearxngResult) -> Json:
    facts = {"fetch_content": False} if result.facts is None else _facts_json(result.facts)
    return {
        "content": _text_block(result),
        "is_error": False,
        "metadata": {
            "query": result.query,
            "results_count": len(result.hits),
            **facts,
            "results": [_hit_json(hit) for hit in result.hits],
        },
    }


def _failure_json(failure: SearxngFailure) -> Json:
    wait_s = failure.retry_after_s
    return {
        "content": _text_block(failure),
        "is_error": True,
        "metadata": {
            "query": failure.query,
            "error_type": failure.error_type,
            "error_details": failure.details,
            "attempted_instances": list(failure.attempted),
            "retry_after": None if wait_s is None else ceil(wait_s),
        },
    }


def _text_block(result: SearxngResult | SearxngFailure) -> list[Json]:
    return [{"type": "text", "text": to_text(result)}]


def _facts_json(facts: SearxngFacts) -> Json:
    pages = facts.pages
    return {
        "category": facts.category,
        "language": facts.language,
        "search_time_ms": facts.took_ms,
        "instance_used": facts.instance,
        "total_results": facts.total,
        "engines_used": list(facts.engines),
        "content_fetch_stats": {
            "attempted": pages.attempted,
            "successful": pages.successful,
            "failed": pages.attempted - pages.successful,
            "total_time_ms": pages.total_ms,
        },
    }


def _hit_json(hit: SearxngHit) -> Json:
    data: Json = {
        "title": hit.title,
        "url": hit.url,
        "description": hit.description,
        "score": hit.score,
        "engine": hit.engine,
    }
    match hit.page:
        case None:
            return data
        case SearxngPage():
            return data | {"content": _page_json(hit.page)}
        case SearxngPageFailure(kind, details):
            return data | {"content_error": {"error_type": kind.value, "error_details": details}}
        case _:
            assert_never(hit.page)


def _page_json(page: SearxngPage) -> Json:
    return {
        "markdown": page.markdown,
        "word_count": page.word_count,
        "fetch_time_ms": page.took_ms,
        "summary": page.summary,
    }
