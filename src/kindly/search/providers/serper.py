"""Serper: Query → hits of Google's results, through its JSON API.

| filter        | goes out as                                     |
|---------------|-------------------------------------------------|
| `site`        | `site:` operator in `q`                         |
| `time_range`  | `tbs` = `qdr:d`, `qdr:w`, `qdr:m`, `qdr:y`      |
| `language`    | `hl`                                            |
| `region`      | `gl`                                            |
| `category`    | `news` asks `/news`; every other asks `/search` |
| `safe_search` | not sent: the vendor documents no such field    |
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kindly.budget import Deadline
from kindly.models import Hit, Query, TimeRange
from kindly.search.exchange import ask, invalid_answer
from kindly.search.provider import ProviderSpec, Secret, reveal
from kindly.search.shape import Fields, hits_from

if TYPE_CHECKING:
    import httpx2

SPEC = ProviderSpec(
    name="serper",
    label="Serper",
    key_setting="SERPER_API_KEY",
    base_url_setting="SERPER_BASE_URL",
    base_url="https://google.serper.dev",
    build=lambda client, base_url, key: Serper(client, base_url, key),
    status_notes={400: "Serper answers so, too, when the account has no credits left."},
)
MAX_RESULTS = 100
KEY_HEADER = "X-API-KEY"
FIELDS = Fields(url="link", title="title", snippet="snippet", published="date")
RANGES: dict[TimeRange, str] = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}


@dataclass(frozen=True, slots=True)
class Vertical:
    """One of Google's result types: where Serper serves it, and what its list is called."""

    path: str
    results: str


WEB = Vertical(path="/search", results="organic")
NEWS = Vertical(path="/news", results="news")


@dataclass(frozen=True, slots=True)
class Serper:
    """Serper behind one key."""

    client: "httpx2.AsyncClient"
    base_url: str
    key: Secret = field(repr=False)
    name: str = field(default=SPEC.name, init=False)

    async def search(self, query: Query, deadline: Deadline) -> tuple[Hit, ...]:
        """The hits in Google's order."""
        vertical = NEWS if query.category == "news" else WEB
        request = self.client.build_request(
            "POST",
            self.base_url.rstrip("/") + vertical.path,
            headers={KEY_HEADER: reveal(self.key, SPEC)},
            json=to_body(query),
        )
        return to_hits(await ask(self.client, request, SPEC, deadline), vertical)


def to_body(query: Query) -> dict[str, object]:
    """The request's JSON: `q` and `num`, and what the set filters add."""
    body: dict[str, object] = {
        "q": f"{query.text} site:{query.site}" if query.site else query.text,
        "num": max(1, min(query.count, MAX_RESULTS)),
    }
    if query.time_range:
        body["tbs"] = RANGES[query.time_range]
    if query.language:
        body["hl"] = query.language
    if query.region:
        body["gl"] = query.region.lower()
    return body


def to_hits(body: dict[str, object], vertical: Vertical = WEB) -> tuple[Hit, ...]:
    """The hits of an answer. One that echoes the search but has no list found nothing.

    Raises:
        ProviderAnswerInvalid: It has another shape.
    """
    if vertical.results in body:
        return hits_from(body[vertical.results], FIELDS, SPEC)
    if isinstance(body.get("searchParameters"), dict):
        return ()
    raise invalid_answer(SPEC, "it has no results and names no search")
