"""Results of profile `pages` as frozen values, and their one rendering: JSON, which is the text too."""

from collections.abc import Mapping
from datetime import datetime
from typing import assert_never

from kindly.frozen import frozen
from kindly.models import Hit, Hits, How
from kindly.server.json_schema import Json
from kindly.server.render.formatting import without_none
from kindly.urls import domain


@frozen
class GoogleJson:
    """Google's own answer to a query."""

    raw: Mapping[str, object]
    shown: int | None = None
    """How many of its items are shown; None means all."""


@frozen
class OtherHits:
    """Another provider's answer to a query."""

    hits: Hits
    shown: int | None = None
    """How many of the hits are shown; None means all."""


@frozen
class QueryFailure:
    """Why a query has no answer."""

    code: int
    message: str


QueryResult = GoogleJson | OtherHits | QueryFailure


@frozen
class QueriesResult:
    """The answer to a search: a result for each query, in order."""

    queries: tuple[tuple[str, QueryResult], ...]
    note: str = ""


@frozen
class PageChunk:
    """A part of a page that matches a query."""

    id: str
    text: str
    score: float
    section: tuple[str, ...] = ()


@frozen
class QueryChunks:
    """The chunks that match one query."""

    query: str
    chunks: tuple[PageChunk, ...] = ()


@frozen
class ChunksMetadata:
    """Facts about the page, if the call asks for them."""

    content_hash: str
    etag: str | None
    last_modified: str | None
    language: str | None
    how: How


@frozen
class ChunksResult:
    """The answer of one page: the chunks that match each query."""

    url: str
    crawled_at: datetime
    queries: tuple[QueryChunks, ...]
    title: str = ""
    note: str = ""
    metadata: ChunksMetadata | None = None


def to_json(result: QueriesResult | ChunksResult) -> Json:
    """The result as JSON."""
    match result:
        case QueriesResult():
            return _queries_json(result)
        case ChunksResult():
            return _chunks_json(result)
        case _:
            assert_never(result)


def query_json(result: QueryResult) -> Json:
    """The result of one query, in the shape of Google's answer."""
    match result:
        case GoogleJson(raw):
            items = items_json(result)
            return {**raw, "items": items[: result.shown]} if items else dict(raw)
        case OtherHits():
            return _hits_json(result)
        case QueryFailure(code, message):
            return {"error": {"code": code, "message": message}}
        case _:
            assert_never(result)


def items_json(result: QueryResult) -> list[object]:
    """All items of a query's result, shown or not."""
    match result:
        case GoogleJson(raw):
            items = raw.get("items")
            return items if isinstance(items, list) else []
        case OtherHits(hits):
            return [_item_json(hit) for hit in hits.hits]
        case QueryFailure():
            return []
        case _:
            assert_never(result)


def shown_items(result: QueryResult) -> int:
    """How many items of a query's result are shown."""
    shown = None if isinstance(result, QueryFailure) else result.shown
    return len(items_json(result)[:shown])


def chunk_json(chunk: PageChunk) -> Json:
    """One chunk of a page."""
    data: Json = {"id": chunk.id, "text": chunk.text, "score": chunk.score}
    return data | ({"sectionPath": list(chunk.section)} if chunk.section else {})


def _queries_json(result: QueriesResult) -> Json:
    data: Json = {
        "queries": [
            {"query": text, "result": query_json(answer)} for text, answer in result.queries
        ]
    }
    return data | ({"note": result.note} if result.note else {})


def _hits_json(result: OtherHits) -> Json:
    hits = result.hits
    total = str(hits.total or len(hits.hits))
    request = {
        "title": f"{hits.provider} - {hits.query.text}",
        "searchTerms": hits.query.text,
        "count": len(hits.hits),
        "startIndex": 1,
        "totalResults": total,
    }
    data: Json = {
        "kind": "customsearch#search",
        "queries": {"request": [request]},
        "searchInformation": {"searchTime": hits.took_ms / 1000, "totalResults": total},
    }
    items = items_json(result)
    return data | ({"items": items[: result.shown]} if items else {})


def _item_json(hit: Hit) -> Json:
    return {
        "kind": "customsearch#result",
        "title": hit.title,
        "link": hit.url,
        "displayLink": domain(hit.url),
        "snippet": hit.snippet,
        "formattedUrl": hit.url,
    }


def _chunks_json(result: ChunksResult) -> Json:
    data: Json = {
        "url": result.url,
        **({"title": result.title} if result.title else {}),
        "lastCrawled": result.crawled_at.isoformat(timespec="seconds"),
        "queries": [
            {"query": one.query, "results": [chunk_json(chunk) for chunk in one.chunks]}
            for one in result.queries
        ],
    }
    if result.note:
        data["note"] = result.note
    if result.metadata is not None:
        data["metadata"] = _metadata_json(result.metadata)
    return data


def _metadata_json(metadata: ChunksMetadata) -> Json:
    return without_none(
        {
            "contentHash": metadata.content_hash,
            "etag": metadata.etag,
            "lastModified": metadata.last_modified,
            "language": metadata.language,
            "how": str(metadata.how),
        }
    )
