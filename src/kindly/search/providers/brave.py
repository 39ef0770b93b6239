"""Brave: Query → hits of its own index, through its JSON API.

| filter        | is sent as                                                                           |
|---------------|---------------------------------------------------------------------------------------|
| `site`        | `site:` operator in `q`                                                               |
| domains       | `site:` operators in `q`, with `OR` and `NOT`                                         |
| dates         | `freshness` = `2024-02-20to2024-03-01`, in place of `time_range`; images have none    |
| `time_range`  | `freshness` = `pd`, `pw`, `pm`, `py`; images have none                                |
| `language`    | `search_lang`, as the vendor writes it (`jp`, `zh-hans`, `pt-br`); left out if unknown |
| `region`      | `country`; left out if the vendor does not list it                                    |
| `safe_search` | `safesearch`, the same words; for images `moderate` is sent as `strict`              |
| `category`    | `news`, `videos`, `images` have their own addresses; every other searches the web     |
| `page`        | `offset`, up to the tenth page; images have none                                      |
| `count`       | `count`, up to 20 and then further pages; news and videos 50, images 200              |
"""

from dataclasses import field, replace

from kindly.budget import Deadline
from kindly.errors import ProviderAuth
from kindly.frozen import frozen
from kindly.models import Category, Hit, ProviderResults, Query, SafeSearch, TimeRange
from kindly.redact import Secret
from kindly.search.parse_hits import HitFields, hits_from, plain
from kindly.search.provider import Need, Pace, ProviderApi, ProviderSpec, reveal
from kindly.search.ranking.filters import ALL, DOMAINS, days, with_sites
from kindly.search.vendor_api import invalid_answer

SPEC = ProviderSpec(
    name="brave",
    label="Brave",
    needs=(Need("BRAVE_API_KEY", "secret", "The key for Brave."),),
    base_url_setting="BRAVE_BASE_URL",
    base_url="https://api.search.brave.com",
    build=lambda access: Brave(access.api, access.base_url, access.values["BRAVE_API_KEY"]),
    pages=lambda query: to_pages(query),
    filters=lambda query: DOMAINS if query.category == "images" else ALL,
    # The free plan allows one query a second; other plans report theirs in X-RateLimit-*.
    pace=Pace(calls=1, per_s=1),
    status_notes={422: "Brave accepts queries of at most 400 characters and 50 words."},
    # An unknown key is HTTP 422, like a bad parameter.
    reasons={
        "SUBSCRIPTION_TOKEN_INVALID": ProviderAuth,
        "SUBSCRIPTION_TOKEN_MISSING": ProviderAuth,
        "SUBSCRIPTION_NOT_FOUND": ProviderAuth,
    },
)
KEY_HEADER = "X-Subscription-Token"
MAX_OFFSET = 9
FIELDS = HitFields(url="url", title="title", snippet="description", published="published")
RANGES: dict[TimeRange, str] = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}
IMAGE_SAFETY: dict[SafeSearch, str] = {"off": "off", "moderate": "strict", "strict": "strict"}
# fmt: off
COUNTRIES = frozenset({
    "AR", "AU", "AT", "BE", "BR", "CA", "CL", "CN", "DE", "DK", "ES", "FI", "FR", "GB",
    "HK", "ID", "IN", "IT", "JP", "KR", "MX", "MY", "NL", "NO", "NZ", "PH", "PL", "PT",
    "RU", "SA", "SE", "TR", "TW", "US", "ZA", "CH",
})
# fmt: on
OWN_COUNTRIES = {"UK": "GB"}
# fmt: off
LANGUAGES = frozenset({
    "ar", "bg", "bn", "ca", "cs", "da", "de", "en", "en-gb", "es", "et", "eu", "fi", "fr",
    "gl", "gu", "he", "hi", "hr", "hu", "is", "it", "jp", "kn", "ko", "lt", "lv", "ml",
    "mr", "ms", "nb", "nl", "pa", "pl", "pt-br", "pt-pt", "ro", "ru", "sk", "sl", "sr",
    "sv", "ta", "te", "th", "tr", "uk", "vi", "zh-hans", "zh-hant",
})
# fmt: on
OWN_LANGUAGES = {
    "ja": "jp",
    "no": "nb",
    "pt": "pt-pt",
    "zh": "zh-hans",
    "zh-cn": "zh-hans",
    "zh-sg": "zh-hans",
    "zh-hk": "zh-hant",
    "zh-tw": "zh-hant",
}


@frozen
class BraveVertical:
    """One of Brave's result types: its path, and how many results a call returns."""

    path: str
    max_results: int
    is_web: bool = False
    """Whether its list is in `web`, beside other result types."""
    is_filtered: bool = True
    """Whether it accepts `offset` and `freshness`."""


WEB = BraveVertical("/res/v1/web/search", 20, is_web=True)
VERTICALS: dict[Category, BraveVertical] = {
    "news": BraveVertical("/res/v1/news/search", 50),
    "videos": BraveVertical("/res/v1/videos/search", 50),
    "images": BraveVertical("/res/v1/images/search", 200, is_filtered=False),
}


@frozen
class Brave:
    """The Brave Search API."""

    api: ProviderApi
    base_url: str
    key: Secret = field(repr=False)
    name: str = field(default=SPEC.name, init=False)

    async def search(self, query: Query, deadline: Deadline) -> ProviderResults:
        """The hits in Brave's order."""
        vertical = VERTICALS.get(query.category, WEB)
        request = self.api.client.build_request(
            "GET",
            self.base_url.rstrip("/") + vertical.path,
            headers={KEY_HEADER: reveal(self.key, SPEC), "Accept": "application/json"},
            params=to_params(query, vertical),
        )
        return ProviderResults(to_hits(await self.api.json(request, deadline), vertical))


def to_pages(query: Query) -> tuple[Query, ...]:
    """The searches that together give `query.count` results: Brave serves at most ten pages."""
    size = VERTICALS.get(query.category, WEB).max_results
    if query.count <= size or query.page > 1:
        return (query,)
    last = min(-(-query.count // size), MAX_OFFSET + 1)
    return tuple(replace(query, count=size, page=page) for page in range(1, last + 1))


def to_params(query: Query, vertical: BraveVertical = WEB) -> dict[str, str]:
    """The URL's parameters."""
    params = {
        "q": with_sites(query, "NOT site:"),
        "count": str(max(1, min(query.count, vertical.max_results))),
    }
    if vertical.is_web:
        params |= {"result_filter": "web", "text_decorations": "false"}
    if country := to_country(query.region):
        params["country"] = country
    if language := to_language(query.language):
        params["search_lang"] = language
    if query.safe_search:
        levels = {} if vertical.is_filtered else IMAGE_SAFETY
        params["safesearch"] = levels.get(query.safe_search, query.safe_search)
    if vertical.is_filtered and (freshness := to_freshness(query)):
        params["freshness"] = freshness
    if vertical.is_filtered and query.page > 1:
        params["offset"] = str(min(query.page - 1, MAX_OFFSET))
    return params


def to_freshness(query: Query) -> str | None:
    """A time in Brave's words, or as two days."""
    if query.published_after or query.published_before:
        return "to".join(days(query))
    return RANGES[query.time_range] if query.time_range else None


def to_country(region: str | None) -> str | None:
    """A region as Brave writes it, or None for one that it would refuse."""
    code = (region or "").upper()
    code = OWN_COUNTRIES.get(code, code)
    return code if code in COUNTRIES else None


def to_language(language: str | None) -> str | None:
    """A language as Brave writes it, or None for one that it would refuse."""
    tag = (language or "").lower().replace("_", "-")
    for candidate in (tag, tag.partition("-")[0]):
        own = OWN_LANGUAGES.get(candidate, candidate)
        if own in LANGUAGES:
            return own
    return None


def to_hits(body: dict[str, object], vertical: BraveVertical = WEB) -> tuple[Hit, ...]:
    """The hits of an answer. One that echoes the query but has no web part is an empty result.

    Raises:
        ProviderAnswerInvalid: It is in another format.
    """
    part: object = body.get("web") if vertical.is_web else body
    if part is None and isinstance(body.get("query"), dict):
        return ()
    items = part.get("results") if isinstance(part, dict) else None
    if not isinstance(items, list):
        raise invalid_answer(SPEC, "it has no list of results")
    return hits_from([_flat(item) for item in items], FIELDS, SPEC)


def _flat(item: object) -> object:
    """A result with plain text, and its best date as `published`."""
    if not isinstance(item, dict):
        return item
    return item | {
        "title": plain(item.get("title")),
        "description": plain(item.get("description")),
        "published": item.get("page_age") or item.get("age"),
    }
