"""Hits, findings or an error → the results of profile `pages`, within a number of tokens.

The text for the model is the compact JSON of the data. Page text is inside JSON strings, which it cannot end, and what
in it looks like a fence mark is defused.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

from kindly.budget import fair_shares, fit
from kindly.errors import InputError, SearchError
from kindly.models import Citation, Hit, Hits, PageFindings
from kindly.server.profiles.pages.results import (
    ChunksMetadata,
    ChunksResult,
    GoogleJson,
    OtherHits,
    PageChunk,
    QueriesResult,
    QueryChunks,
    QueryFailure,
    QueryResult,
    chunk_json,
    items_json,
    query_json,
    shown_items,
    to_json,
)
from kindly.server.render.failures import sentence
from kindly.server.render.formatting import TITLE_TOKENS, address, clip, json_size
from kindly.server.render.look_alikes import defused, defused_data
from kindly.text.plain_line import MAX_SNIPPET, plain_line

Result = TypeVar("Result", QueriesResult, ChunksResult)

CONTENT_PROTECTED = "content protected"
LEFT_OUT = (
    "left out, because the answer would exceed {tokens} tokens: ask for fewer results per query."
)
UNAVAILABLE = 503
"""The code of a failure without an HTTP status."""


def queries_result(
    texts: Sequence[str],
    outcomes: Sequence[Hits | SearchError],
    tokens: int,
    *,
    page_tool: str = "",
) -> QueriesResult:
    """Google's JSON for each query, in order, as many items as `tokens` allow.

    `page_tool` is the name of the tool that reads a page, for the advice after a failure.

    Raises:
        InputError: the queries alone exceed `tokens`.
    """
    results = [query_result(outcome, page_tool) for outcome in outcomes]
    sizes = [json_size(query_json(result)) for result in results]

    def build(available: int) -> QueriesResult:
        shares = fair_shares(sizes, available)
        shown = [
            result if size <= share else _shortened(result, share)
            for result, size, share in zip(results, sizes, shares, strict=True)
        ]
        note = _left_out(results, shown, tokens)
        return QueriesResult(tuple(zip(texts, shown, strict=True)), note)

    return _fitting(build, tokens)


def query_result(outcome: Hits | SearchError, page_tool: str = "") -> QueryResult:
    """What Google said; another provider's hits, or a failure, in Google's shape."""
    if isinstance(outcome, SearchError):
        return QueryFailure(outcome.status or UNAVAILABLE, sentence(outcome, page_tool))
    if outcome.raw is not None and outcome.provider == "google":
        return GoogleJson(defused_data(outcome.raw))
    return OtherHits(replace(outcome, hits=tuple(map(_shown, outcome.hits))))


def _shown(hit: Hit) -> Hit:
    """A hit whose texts are plain lines."""
    return replace(
        hit,
        title=clip(hit.title, TITLE_TOKENS),
        url=address(hit.url),
        snippet=defused(plain_line(hit.snippet, MAX_SNIPPET)),
    )


def page_chunks(
    url: str, found: PageFindings, tokens: int, *, include_metadata: bool
) -> ChunksResult:
    """The chunks of one page that match each query, as many as `tokens` allow.

    Raises:
        InputError: the queries alone exceed `tokens`.
    """
    whole = ChunksResult(
        url,
        found.page.crawled_at,
        tuple(
            QueryChunks(finding.question, tuple(map(_chunk, finding.citations)))
            for finding in found.findings
        ),
        clip(found.page.title, TITLE_TOKENS),
        metadata=_metadata(found) if include_metadata else None,
    )
    return _fitting(lambda available: _cut(whole, found, available), tokens)


def without_chunks(url: str, queries: Sequence[str], note: str) -> ChunksResult:
    """A page that gave no chunks, and why."""
    return ChunksResult(url, datetime.now(UTC), tuple(map(QueryChunks, queries)), note=note)


def _shortened(result: QueryResult, available: int) -> QueryResult:
    """A result that does not fit, without the last of its items."""
    items = items_json(result)
    if isinstance(result, QueryFailure) or not items:
        return result
    available -= json_size(query_json(replace(result, shown=0)))
    kept = 0
    for item in items:
        available -= json_size(item) + 1
        if available < 0:
            break
        kept += 1
    return replace(result, shown=kept)


def _left_out(results: Sequence[QueryResult], shown: Sequence[QueryResult], tokens: int) -> str:
    """How many items are not shown; empty if all are."""
    all_items, kept = sum(map(shown_items, results)), sum(map(shown_items, shown))
    missing = all_items - kept
    if not missing:
        return ""
    what = "1 item was" if missing == 1 else f"{missing} items were"
    return f"{what} {LEFT_OUT.format(tokens=tokens)}"


def _fitting(build: Callable[[int], Result], limit: int) -> Result:
    """The largest result within the limit.

    Raises:
        InputError: the queries alone exceed it.
    """
    result = fit(build, _size, limit)
    if _size(result) > limit:
        raise InputError(
            f"query: the answer to so many queries would exceed {limit} tokens; ask fewer at once.",
            field="query",
        )
    return result


def _size(result: QueriesResult | ChunksResult) -> int:
    return json_size(to_json(result))


def _cut(whole: ChunksResult, found: PageFindings, available: int) -> ChunksResult:
    """The first chunks for each query, and notes on what is missing."""
    each = available // max(1, len(whole.queries))
    queries = tuple(replace(one, chunks=_within(one.chunks, each)) for one in whole.queries)
    return replace(whole, queries=queries, note=_note(found, cut=queries != whole.queries))


def _note(found: PageFindings, *, cut: bool) -> str:
    notes = [found.note, *(finding.note for finding in found.findings)]
    if not any(finding.answered for finding in found.findings):
        notes.append("no part of the page matches")
    if cut:
        notes.append("some chunks left out: the answer would be too large")
    return " ".join(dict.fromkeys(filter(None, notes)))


def _within(chunks: Sequence[PageChunk], available: int) -> tuple[PageChunk, ...]:
    kept: list[PageChunk] = []
    for chunk in chunks:
        available -= json_size(chunk_json(chunk))
        if available < 0:
            break
        kept.append(chunk)
    return tuple(kept)


def _metadata(found: PageFindings) -> ChunksMetadata:
    page = found.page
    return ChunksMetadata(
        page.content_hash,
        page.etag and clip(page.etag, TITLE_TOKENS),
        page.last_modified and clip(page.last_modified, TITLE_TOKENS),
        page.language and clip(page.language, TITLE_TOKENS),
        found.how,
    )


def _chunk(cited: Citation) -> PageChunk:
    """A stored chunk under its own id."""
    chunk = cited.passage
    section = tuple(clip(heading, TITLE_TOKENS) for heading in chunk.section)
    return PageChunk(chunk.id, defused(chunk.text), chunk.score or 0.0, section)
