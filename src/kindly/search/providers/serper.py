"""Serper: Query → hits of Google's results, through its JSON API.

| filter        | is sent as                                                                                     |
|---------------|-------------------------------------------------------------------------------------------------|
| `site`        | `site:` operator in `q`                                                                         |
| domains       | `site:` operators in `q`, with `OR` and `-`                                                     |
| dates         | `after:` and `before:` operators in `q`, for web pages and news                                 |
| `time_range`  | `tbs` = `qdr:d`, `qdr:w`, `qdr:m`, `qdr:y`                                                      |
| `language`    | `hl`                                                                                            |
| `region`      | `gl`                                                                                            |
| `page`        | `page`                                                                                          |
| `category`    | `news`, `images`, `videos` and `science` (`/scholar`) have their own addresses; else `/search`  |
| `safe_search` | not sent: the vendor documents no such field                                                    |
"""

from dataclasses import field
from datetime import date, timedelta

from kindly.budget import Deadline
from kindly.frozen import frozen
from kindly.models import Category, Hit, ProviderResults, Query, TimeRange
from kindly.redact import Secret
from kindly.search.parse_hits import HitFields, hits_from
from kindly.search.provider import Need, Pace, ProviderApi, ProviderSpec, reveal
from kindly.search.ranking.filters import ALL, DOMAINS, with_sites
from kindly.search.vendor_api import invalid_answer

SPEC = ProviderSpec(
    name="serper",
    label="Serper",
    needs=(Need("SERPER_API_KEY", "secret", "The key for Serper."),),
    base_url_setting="SERPER_BASE_URL",
    base_url="https://google.serper.dev",
    build=lambda access: Serper(access.api, access.base_url, access.values["SERPER_API_KEY"]),
    # Paid plans start at 50 queries a second.
    pace=Pace(calls=50, per_s=1),
    filters=lambda query: ALL if _has_dates(query) else DOMAINS,
    status_notes={400: "Serper also responds like this when the account has no credits left."},
)
MAX_RESULTS = 100
KEY_HEADER = "X-API-KEY"
FIELDS = HitFields(url="link", title="title", snippet="snippet", published="date")
RANGES: dict[TimeRange, str] = {"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}


@frozen
class SerperVertical:
    """One of Google's result types: its path, the name of its list, and the list's fields."""

    path: str
    results: str
    fields: HitFields = FIELDS


WEB = SerperVertical(path="/search", results="organic")
NEWS = SerperVertical(path="/news", results="news")
VERTICALS: dict[Category, SerperVertical] = {
    "news": NEWS,
    "images": SerperVertical(
        "/images", "images", HitFields(url="link", title="title", snippet="source")
    ),
    "videos": SerperVertical("/videos", "videos"),
    "science": SerperVertical("/scholar", "organic"),
}


@frozen
class Serper:
    """The Serper API."""

    api: ProviderApi
    base_url: str
    key: Secret = field(repr=False)
    name: str = field(default=SPEC.name, init=False)

    async def search(self, query: Query, deadline: Deadline) -> ProviderResults:
        """The hits in Google's order."""
        vertical = VERTICALS.get(query.category, WEB)
        request = self.api.client.build_request(
            "POST",
            self.base_url.rstrip("/") + vertical.path,
            headers={KEY_HEADER: reveal(self.key, SPEC)},
            json=to_body(query),
        )
        return ProviderResults(to_hits(await self.api.json(request, deadline), vertical))


def to_body(query: Query) -> dict[str, object]:
    """The request's JSON."""
    body: dict[str, object] = {
        "q": to_text(query),
        "num": max(1, min(query.count, MAX_RESULTS)),
    }
    if query.time_range:
        body["tbs"] = RANGES[query.time_range]
    if query.language:
        body["hl"] = query.language
    if query.region:
        body["gl"] = query.region.lower()
    if query.page > 1:
        body["page"] = query.page
    return body


def to_text(query: Query) -> str:
    """The query with Google's operators. They exclude the day itself, so each is a day further out."""
    text = with_sites(query)
    if _has_dates(query) and query.published_after:
        text += f" after:{_moved(query.published_after, -1)}"
    if _has_dates(query) and query.published_before:
        text += f" before:{_moved(query.published_before, 1)}"
    return text


def _has_dates(query: Query) -> bool:
    """Whether Google's operators for dates apply to the category."""
    return VERTICALS.get(query.category, WEB) in (WEB, NEWS)


def _moved(day: str, days: int) -> str:
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


def to_hits(body: dict[str, object], vertical: SerperVertical = WEB) -> tuple[Hit, ...]:
    """The hits of an answer. One that echoes the search but has no list is an empty result.

    Raises:
        ProviderAnswerInvalid: It is in another format.
    """
    if vertical.results in body:
        return hits_from(body[vertical.results], vertical.fields, SPEC)
    if isinstance(body.get("searchParameters"), dict):
        return ()
    raise invalid_answer(SPEC, "it has neither results nor search parameters")
