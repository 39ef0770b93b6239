"""Results of profile `media` as frozen values, and their one rendering: JSON, which is the text too."""

from collections.abc import Mapping
from typing import assert_never

from kindly.frozen import frozen
from kindly.models import Link
from kindly.server.json_schema import Json
from kindly.server.render.formatting import without_none


@frozen
class MediaHit:
    """One result of a search."""

    title: str
    url: str
    snippet: str
    domain: str
    published: str | None


@frozen
class MediaSearchResult:
    """The answer to a search."""

    query: str
    total: int
    """Results that the provider reports."""
    hits: tuple[MediaHit, ...]
    """Those that are shown."""
    engine: str | None = None
    """None, like the duration, if nothing was found."""
    took_s: float | None = None
    suggestion: str | None = None


@frozen
class MediaMetadata:
    """What a page states about itself."""

    description: str | None
    author: str | None
    published: str | None
    site: str | None
    structured: Mapping[str, object] | None


@frozen
class MediaPage:
    """A page, or the part of it that a selector names."""

    url: str
    partial: bool
    """Whether only subscribers can read the rest."""
    title: str | None
    content: str
    truncated: bool
    message: str | None = None
    selector: str | None = None
    metadata: MediaMetadata | None = None
    links: tuple[Link, ...] | None = None


@frozen
class MediaFailure:
    """Why a page or a search failed, and the next step."""

    code: int | None
    """The HTTP status, if there is one."""
    message: str
    suggestion: str


@frozen
class MediaSearchFailure:
    """A failed search."""

    query: str
    failure: MediaFailure


@frozen
class MediaPageFailure:
    """A page that cannot be read, or on which the selector matches nothing."""

    url: str
    failure: MediaFailure
    selector: str | None = None


MediaResult = MediaSearchResult | MediaPage | MediaSearchFailure | MediaPageFailure


def to_json(result: MediaResult) -> Json:
    """The result as JSON."""
    match result:
        case MediaSearchResult():
            return _search_json(result)
        case MediaPage():
            return _page_json(result)
        case MediaSearchFailure(query, failure):
            return {"query": query, **_failure_json(failure)}
        case MediaPageFailure(url, failure, None):
            return {"url": url, **_failure_json(failure)}
        case MediaPageFailure(url, failure, selector):
            failed = _failure_json(failure)
            return {"url": url, "selector": selector, **failed, "selectorMatched": False}
        case _:
            assert_never(result)


def _search_json(result: MediaSearchResult) -> Json:
    found = {"searchEngine": result.engine, "searchTime": result.took_s}
    return {
        "query": result.query,
        "totalResults": result.total,
        "results": [_hit_json(hit) for hit in result.hits],
        **without_none(found | {"suggestion": result.suggestion}),
    }


def _hit_json(hit: MediaHit) -> Json:
    return {
        "title": hit.title,
        "url": hit.url,
        "snippet": hit.snippet,
        "domain": hit.domain,
        "datePublished": hit.published,
    }


def _page_json(page: MediaPage) -> Json:
    links = page.links
    return {
        "url": page.url,
        **without_none({"selector": page.selector}),
        "status": "partial" if page.partial else "success",
        "title": page.title,
        "content": page.content,
        "contentLength": len(page.content),
        "truncated": page.truncated,
        **without_none(
            {
                "message": page.message,
                "selectorMatched": None if page.selector is None else True,
                "metadata": page.metadata and _metadata_json(page.metadata),
                "links": None if links is None else [_link_json(link) for link in links],
            }
        ),
    }


def _metadata_json(metadata: MediaMetadata) -> Json:
    return {
        "description": metadata.description,
        "author": metadata.author,
        "datePublished": metadata.published,
        "siteName": metadata.site,
        **without_none({"structuredData": metadata.structured}),
    }


def _link_json(link: Link) -> Json:
    return {"text": link.text, "url": link.url}


def _failure_json(failure: MediaFailure) -> Json:
    return {
        "status": "error",
        "errorCode": failure.code,
        "message": failure.message,
        "suggestion": failure.suggestion,
    }
