"""What the journeys of profile `pages` share: its settings, a double of Google's API, and the data of an answer."""

import hashlib
import json
from pathlib import Path
from typing import Any

from anyio.abc import SocketStream
from mcp_types import CallToolResult

from tests.support.postgres import postgres as postgres
from tests.support.served_world import (
    as_json,
    environment,
    text_of,
)
from tests.support.site import Answer, Handler, Site, SiteRequest

GOOGLE = "/google/customsearch/v1"
KEYS = {"GOOGLE_API_KEY": "canary-google-77aa", "GOOGLE_SEARCH_ENGINE_ID": "engine-1"}
SERVER = {
    "EMBEDDING_SERVER_API_KEY": "canary-embedder-31bc",
    "EMBEDDING_MODEL_NAME": "tiny-embedder",
}
SMALL = {"EMBEDDING_TOKENS_SIZE": "64"}
"""Chunks as small as the sections of `GUIDE`, so that the vector of each is that of its own words."""
ELSEWHERE = "zenith"
"""A query that shares no word with any page."""
TEA = "<title>Tea</title><h1>Tea</h1><p>Green tea is steeped at eighty degrees for two minutes.</p>"


def settings(site: Site, folder: Path, **more: str) -> dict[str, str]:
    own = {
        "KINDLY_PROFILE": "pages",
        "GOOGLE_BASE_URL": site.url("/google"),
        "KINDLY_BROWSER": "off",
    }
    return environment(site, folder, **own) | more


def by_server(site: Site, folder: Path, **more: str) -> dict[str, str]:
    """Settings with the embedding server on the site, and chunks as small as the sections of its pages."""
    own = {"EMBEDDING_SERVER_URL": site.url("/embedder"), "EMBEDDING_TOKENS_SIZE": "100"}
    return settings(site, folder, **{**SERVER, **own, **more})


def google_json(text: str, *, start: int = 1, count: int = 2, more: bool = False) -> dict[str, Any]:
    """Google's answer: some results, and whether there are further ones."""
    page = {"title": f"Google Custom Search - {text}", "searchTerms": text, "startIndex": start}
    items = [
        {
            "kind": "customsearch#result",
            "title": f"{text} {number}",
            "htmlTitle": f"<b>{text}</b> {number}",
            "link": f"https://example.com/{text}/{number}",
            "displayLink": "example.com",
            "snippet": f"Of {text}.",
            "pagemap": {"metatags": [{"og:title": text}]},
        }
        for number in range(start, start + count)
    ]
    following = {"nextPage": [page | {"startIndex": start + count}]} if more else {}
    return {
        "kind": "customsearch#search",
        "url": {"type": "application/json", "template": "https://www.googleapis.com/{?}"},
        "queries": {"request": [page], **following},
        "context": {"title": "Everything"},
        "searchInformation": {"searchTime": 0.2, "totalResults": "123"},
        "items": items,
    }


def google(**failing: Answer) -> Handler:
    """Google, that fails on some queries."""

    async def answer(request: SiteRequest, stream: SocketStream) -> Answer:
        text = request.query["q"]
        return failing.get(text) or as_json(google_json(text))

    return answer


def asked(site: Site) -> list[SiteRequest]:
    return [request for request in site.requests if request.path == GOOGLE]


def data(answer: CallToolResult) -> dict[str, Any]:
    """The data of a successful answer, the same as text and as structured content."""
    assert not answer.is_error, text_of(answer)
    structured = answer.structured_content
    assert structured is not None
    assert json.loads(text_of(answer)) == structured
    return dict(structured)


def chunk_id(url: str, chunk: dict[str, Any]) -> str:
    key = f"{url}|{' > '.join(chunk.get('sectionPath', []))}|{chunk['text']}"
    return hashlib.sha256(key.encode()).hexdigest()
