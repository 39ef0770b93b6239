"""Tavily: Query → hits with scores, through its JSON API.

| filter        | is sent as                                                       |
|---------------|-------------------------------------------------------------------|
| `site`        | `include_domains`                                                 |
| domains       | `include_domains`, `exclude_domains`                              |
| dates         | `start_date`, `end_date`                                          |
| `time_range`  | `time_range`, the same words                                      |
| `category`    | `news` sets `topic`; every other leaves the vendor's default      |
| `region`      | not sent: `country` takes English country names, not region codes |
| `page`        | not sent: the vendor has no pages                                 |
| `language`    | not sent: the vendor has no such field                            |
| `safe_search` | not sent: the vendor keeps it to some of its plans                |
"""

from dataclasses import field

from kindly.budget import Deadline
from kindly.frozen import frozen
from kindly.models import Hit, ProviderResults, Query
from kindly.redact import Secret
from kindly.search.parse_hits import HitFields, hits_from
from kindly.search.provider import Need, Pace, ProviderApi, ProviderSpec, reveal
from kindly.search.ranking.filters import ALL

SPEC = ProviderSpec(
    name="tavily",
    label="Tavily",
    needs=(Need("TAVILY_API_KEY", "secret", "The key for Tavily."),),
    base_url_setting="TAVILY_BASE_URL",
    base_url="https://api.tavily.com",
    build=lambda access: Tavily(access.api, access.base_url, access.values["TAVILY_API_KEY"]),
    # A development key allows 100 requests a minute.
    pace=Pace(calls=100, per_s=60),
    filters=lambda query: ALL,
    # Besides 429: 432 is the plan's limit, 433 the pay-as-you-go limit.
    limit_statuses=frozenset({429, 432, 433}),
    status_notes={400: "Tavily accepts queries of at most 400 characters."},
)
MAX_RESULTS = 20
FIELDS = HitFields(
    url="url", title="title", snippet="content", published="published_date", score="score"
)


@frozen
class Tavily:
    """The Tavily API."""

    api: ProviderApi
    base_url: str
    key: Secret = field(repr=False)
    name: str = field(default=SPEC.name, init=False)

    async def search(self, query: Query, deadline: Deadline) -> ProviderResults:
        """The hits in Tavily's order, the best score first."""
        request = self.api.client.build_request(
            "POST",
            self.base_url.rstrip("/") + "/search",
            headers={"Authorization": f"Bearer {reveal(self.key, SPEC)}"},
            json=to_body(query),
        )
        return ProviderResults(to_hits(await self.api.json(request, deadline)))


def to_body(query: Query) -> dict[str, object]:
    """The request's JSON: links and snippets only."""
    body: dict[str, object] = {
        "query": query.text,
        "max_results": max(1, min(query.count, MAX_RESULTS)),
        "search_depth": "basic",
        "include_answer": False,
        "include_images": False,
        "include_raw_content": False,
    }
    if query.site or query.include_domains:
        body["include_domains"] = [*filter(None, [query.site]), *query.include_domains]
    if query.exclude_domains:
        body["exclude_domains"] = list(query.exclude_domains)
    if query.published_after:
        body["start_date"] = query.published_after
    if query.published_before:
        body["end_date"] = query.published_before
    if query.time_range:
        body["time_range"] = query.time_range
    if query.category == "news":
        body["topic"] = "news"
    return body


def to_hits(body: dict[str, object]) -> tuple[Hit, ...]:
    """The hits of an answer.

    Raises:
        ProviderAnswerInvalid: It is in another format.
    """
    return hits_from(body.get("results"), FIELDS, SPEC)
