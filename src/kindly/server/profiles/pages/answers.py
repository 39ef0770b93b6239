"""Hits, findings or an error → the answers of profile `pages`, within a number of tokens.

The text for the model is the compact JSON of the data. Page text is inside JSON strings, which it cannot end, and what
in it looks like a fence mark is defused.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from hashlib import sha256

from kindly.budget import count_tokens, fair_shares, fit
from kindly.errors import InputError, KindlyError
from kindly.models import Citation, Finding, Hit, Hits, PageFindings
from kindly.server.json_schema import Json
from kindly.server.render.failures import sentence
from kindly.server.render.fence import defused
from kindly.server.render.formatting import compact, json_output, json_size
from kindly.server.tool import Output
from kindly.urls import domain

CONTENT_PROTECTED = "content protected"
ITEMS_LEFT_OUT = (
    "Items were left out, as the answer would be too large: ask for fewer results per query."
)


def searched(texts: list[str], outcomes: Sequence[Hits | KindlyError], tokens: int) -> Output:
    """Google's JSON for each query, in order, as many items as `tokens` allow."""
    results = [google_json(outcome) for outcome in outcomes]
    return _fitting(lambda available: _searched(texts, results, available), tokens)


def page_answer(url: str, found: PageFindings, tokens: int, *, include_metadata: bool) -> Output:
    """The chunks of one page that match each query, as many as `tokens` allow."""
    return _fitting(
        lambda available: _page(url, found, available, include_metadata=include_metadata), tokens
    )


def without_chunks(url: str, queries: list[str], note: str) -> Output:
    """A page that gave no chunks, and why."""
    return json_output(
        {
            "url": url,
            "lastCrawled": datetime.now(UTC).isoformat(timespec="seconds"),
            "queries": [{"query": query, "results": []} for query in queries],
            "note": note,
        }
    )


def _searched(texts: list[str], results: list[Json], available: int) -> Output:
    shares = fair_shares([count_tokens(compact(result)) for result in results], available)
    shown = [_shortened(result, share) for result, share in zip(results, shares, strict=True)]
    answer: Json = {
        "queries": [
            {"query": text, "result": result} for text, result in zip(texts, shown, strict=True)
        ]
    }
    return json_output(answer if shown == results else answer | {"note": ITEMS_LEFT_OUT})


def _shortened(result: Json, available: int) -> Json:
    """A result without the last of its items, if they do not fit."""
    if "items" not in result or count_tokens(compact(result)) <= available:
        return result
    available -= count_tokens(compact(result | {"items": []}))
    kept = []
    for item in result["items"]:
        available -= count_tokens(compact(item)) + 1
        if available < 0:
            break
        kept.append(item)
    return result | {"items": kept}


def google_json(outcome: Hits | KindlyError) -> Json:
    """What Google said; another provider's hits, or a failure, in Google's shape."""
    if isinstance(outcome, KindlyError):
        status = getattr(outcome, "status", None) or 503
        return {"error": {"code": status, "message": sentence(outcome)}}
    if outcome.raw is not None and outcome.provider == "google":
        return dict(outcome.raw)
    query = outcome.query
    request = {
        "title": f"{outcome.provider} - {query.text}",
        "searchTerms": query.text,
        "count": len(outcome.hits),
        "startIndex": 1,
        "totalResults": str(outcome.total or len(outcome.hits)),
    }
    found: Json = {
        "kind": "customsearch#search",
        "queries": {"request": [request]},
        "searchInformation": {
            "searchTime": outcome.took_ms / 1000,
            "totalResults": request["totalResults"],
        },
    }
    return found | ({"items": [_item(hit) for hit in outcome.hits]} if outcome.hits else {})


def _item(hit: Hit) -> Json:
    return {
        "kind": "customsearch#result",
        "title": hit.title,
        "link": hit.url,
        "displayLink": domain(hit.url),
        "snippet": hit.snippet,
        "formattedUrl": hit.url,
    }


def _fitting(build: Callable[[int], Output], limit: int) -> Output:
    """The largest answer within the limit.

    Raises:
        InputError: the queries alone exceed it.
    """
    answer = fit(build, json_size, limit)
    if json_size(answer) > limit:
        raise InputError(
            f"query: the answer to so many queries would exceed {limit} tokens; ask fewer at once.",
            field="query",
        )
    return answer


def _page(url: str, found: PageFindings, available: int, *, include_metadata: bool) -> Output:
    entry = found.page
    each = available // max(1, len(found.findings))
    shown = [_within(finding, each) for finding in found.findings]
    notes = [found.note, *(finding.note for finding in found.findings)]
    if not any(finding.answered for finding in found.findings):
        notes.append("no part of the page matches")
    if sum(map(len, shown)) < sum(len(finding.citations) for finding in found.findings):
        notes.append("some chunks left out: the answer would be too large")
    answer: Json = {
        "url": url,
        **({"title": defused(entry.title)} if entry.title else {}),
        "lastCrawled": entry.crawled_at.isoformat(timespec="seconds"),
        "queries": [
            {"query": finding.question, "results": [_chunk(cited) for cited in cited_here]}
            for finding, cited_here in zip(found.findings, shown, strict=True)
        ],
    }
    if note := " ".join(dict.fromkeys(filter(None, notes))):
        answer["note"] = note
    if include_metadata:
        about = {
            "contentHash": entry.content_hash,
            "etag": entry.etag,
            "lastModified": entry.last_modified,
            "language": entry.language,
            "how": str(found.how),
        }
        answer["metadata"] = {key: value for key, value in about.items() if value is not None}
    return json_output(answer)


def _within(finding: Finding, available: int) -> list[Citation]:
    kept: list[Citation] = []
    for cited in finding.citations:
        available -= count_tokens(compact(_chunk(cited)))
        if available < 0:
            break
        kept.append(cited)
    return kept


def _chunk(cited: Citation) -> Json:
    """A passage under the id that its own fields give: of one stored chunk there may be several."""
    passage = cited.passage
    text = defused(passage.text)
    section = [defused(heading) for heading in passage.section]
    key = "|".join((cited.page.url, " > ".join(section), text))
    chunk: Json = {
        "id": sha256(key.encode("utf-8", "surrogatepass")).hexdigest(),
        "text": text,
        "score": round(passage.score or 0.0, 4),
    }
    return chunk | ({"sectionPath": section} if section else {})
