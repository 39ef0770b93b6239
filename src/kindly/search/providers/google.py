"""Google: Query → hits of a Programmable Search Engine, through the Custom Search JSON API.

| filter        | is sent as                                                                            |
|---------------|----------------------------------------------------------------------------------------|
| `site`        | `siteSearch` and `siteSearchFilter=i`                                                  |
| domains       | `site:` operators in `q`, with `OR` and `-`                                            |
| dates         | `sort` = `date:r:20240220:20240301`; images have none                                  |
| `time_range`  | `dateRestrict` = `d1`, `w1`, `m1`, `y1`                                                |
| `language`    | `lr` = `lang_de` and `hl`; a text that is no language code, in both as it is            |
| `region`      | `gl`: a country code in lower case, any other text as it is                            |
| `safe_search` | `safe`: `off` as it is, `moderate` and `strict` both as `active`                       |
| `category`    | `images` sets `searchType`; every other searches the web                               |
| `page`        | `start`; the vendor serves the first 100 results of a search                           |
| `count`       | `num`, in tens: up to 50 results are requested at once; each ten is a billed query     |

The key goes in the header `X-Goog-Api-Key`, which all of Google's APIs take for `key=` (its "system parameters").
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field, replace

import anyio

from kindly.budget import Deadline
from kindly.errors import ProviderAuth, ProviderRateLimited, ProviderRejected, SearchError
from kindly.frozen import frozen
from kindly.models import Hit, ProviderResults, Query, SafeSearch, TimeRange
from kindly.redact import Secret
from kindly.search.parse_hits import HitFields, hits_from, total_from
from kindly.search.provider import Need, Pace, ProviderApi, ProviderSpec, reveal
from kindly.search.ranking.filters import ALL, DOMAINS, days, with_sites
from kindly.search.vendor_api import invalid_answer

SPEC = ProviderSpec(
    name="google",
    label="Google",
    needs=(
        Need("GOOGLE_API_KEY", "secret", "The key for Google's Custom Search JSON API."),
        Need(
            "GOOGLE_SEARCH_ENGINE_ID",
            "text",
            "The id of the Programmable Search Engine.",
            title="Google search engine",
            example="0123456789abcdef0",
        ),
    ),
    base_url_setting="GOOGLE_BASE_URL",
    base_url="https://www.googleapis.com",
    build=lambda access: Google(
        access.api,
        access.base_url,
        access.values["GOOGLE_API_KEY"],
        access.values["GOOGLE_SEARCH_ENGINE_ID"],
    ),
    filters=lambda query: DOMAINS if query.category == "images" else ALL,
    # 100 queries a minute per user; 100 a day are free.
    pace=Pace(calls=100, per_s=60),
    # An exhausted quota may be HTTP 403, a wrong key HTTP 400: the error codes tell them apart.
    reasons={
        "rateLimitExceeded": ProviderRateLimited,
        "userRateLimitExceeded": ProviderRateLimited,
        "dailyLimitExceeded": ProviderRateLimited,
        "quotaExceeded": ProviderRateLimited,
        "RATE_LIMIT_EXCEEDED": ProviderRateLimited,
        "RESOURCE_EXHAUSTED": ProviderRateLimited,
        "API_KEY_INVALID": ProviderAuth,
        "keyInvalid": ProviderAuth,
    },
)
KEY_HEADER = "X-Goog-Api-Key"
PATH = "/customsearch/v1"
PAGE_SIZE = 10
MAX_RESULTS = 50
LAST_RESULT = 100
FIELDS = HitFields(url="url", title="title", snippet="snippet", published="published")
RANGES: dict[TimeRange, str] = {"day": "d1", "week": "w1", "month": "m1", "year": "y1"}
SAFETY: dict[SafeSearch, str] = {"off": "off", "moderate": "active", "strict": "active"}
WHOLE_LANGUAGES = {"zh-cn": "lang_zh-CN", "zh-tw": "lang_zh-TW", "zh": "lang_zh-CN"}
LANGUAGE_CODE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
COUNTRY_CODE = re.compile(r"[A-Za-z]{2}")
DATES = ("article:published_time", "og:article:published_time", "datepublished")
"""Meta tags of a page that Google passes on, the best first."""


@frozen
class Google:
    """One Programmable Search Engine."""

    api: ProviderApi
    base_url: str
    key: Secret = field(repr=False)
    engine_id: Secret = field(repr=False)
    name: str = field(default=SPEC.name, init=False)

    async def search(self, query: Query, deadline: Deadline) -> ProviderResults:
        """The hits in Google's order, with the JSON of all pages as one.

        The first page must arrive; of the others, those that arrive in time are used.
        """
        windows = list(to_windows(query))
        if not windows:
            return ProviderResults(())
        first = await self._page(query, windows[0], deadline)
        pages = [first]
        if has_next(first):
            pages += await self._further_pages(query, windows[1:], deadline)
        return to_found(merged(pages))

    async def _further_pages(
        self, query: Query, windows: list["ResultWindow"], deadline: Deadline
    ) -> list[dict[str, object]]:
        outcomes: dict[ResultWindow, dict[str, object] | SearchError] = {}

        async def fetch(window: ResultWindow) -> None:
            try:
                outcomes[window] = await self._page(query, window, deadline)
            except SearchError as error:
                outcomes[window] = error

        async with anyio.create_task_group() as tasks:
            for window in windows:
                tasks.start_soon(fetch, window)
        answers = [outcomes[window] for window in windows]
        refused = next((answer for answer in answers if isinstance(answer, ProviderAuth)), None)
        if refused is not None:
            raise refused
        return [answer for answer in answers if isinstance(answer, dict)]

    async def _page(
        self, query: Query, window: "ResultWindow", deadline: Deadline
    ) -> dict[str, object]:
        engine_id = self.engine_id.get_secret_value().strip()
        if not engine_id:
            raise ProviderRejected(
                "Google needs the id of a search engine: set GOOGLE_SEARCH_ENGINE_ID.",
                provider=SPEC.name,
            )
        request = self.api.client.build_request(
            "GET",
            self.base_url.rstrip("/") + PATH,
            headers={KEY_HEADER: reveal(self.key, SPEC)},
            params={"cx": engine_id} | to_params(query, window),
        )
        return await self.api.json(request, deadline)


@frozen
class ResultWindow:
    """A range of results; the first result is 1."""

    start: int
    size: int


def to_windows(query: Query) -> Iterator[ResultWindow]:
    """The pages of ten that contain the requested results, up to the last one that Google serves."""
    count = max(1, min(query.count, MAX_RESULTS))
    first = (query.page - 1) * count + 1
    end = min(first + count, LAST_RESULT + 1)
    for start in range(first, end, PAGE_SIZE):
        yield ResultWindow(start, min(PAGE_SIZE, end - start))


def to_params(query: Query, window: ResultWindow) -> dict[str, str]:
    """The URL's parameters, except the engine's id."""
    params = {"q": with_sites(replace(query, site=None)), "num": str(window.size)}
    if window.start > 1:
        params["start"] = str(window.start)
    if query.site:
        params |= {"siteSearch": query.site, "siteSearchFilter": "i"}
    if query.time_range:
        params["dateRestrict"] = RANGES[query.time_range]
    if (query.published_after or query.published_before) and query.category != "images":
        params["sort"] = to_sort(query)
    if query.language:
        params |= {"hl": query.language, "lr": to_restriction(query.language)}
    if query.region:
        params["gl"] = to_country(query.region)
    if query.safe_search:
        params["safe"] = SAFETY[query.safe_search]
    if query.category == "images":
        params["searchType"] = "image"
    return params


def to_sort(query: Query) -> str:
    """The days between which a page is from, in Google's form."""
    first, last = (day.replace("-", "") for day in days(query))
    return f"date:r:{first}:{last}"


def to_restriction(language: str) -> str:
    """A language in the form of `lr`: without its region, except for Chinese. Another text is passed on as it is."""
    if not LANGUAGE_CODE.fullmatch(language):
        return language
    tag = language.lower().replace("_", "-")
    return WHOLE_LANGUAGES.get(tag) or f"lang_{tag.partition('-')[0]}"


def to_country(region: str) -> str:
    """A country in the form of `gl`. Another text is passed on as it is."""
    return region.lower() if COUNTRY_CODE.fullmatch(region) else region


def has_next(page: Mapping[str, object]) -> bool:
    """Whether Google says that there is another page."""
    queries = page.get("queries")
    return isinstance(queries, dict) and bool(queries.get("nextPage"))


def merged(pages: list[dict[str, object]]) -> dict[str, object]:
    """Pages as one answer: the first's fields, and the items of all."""
    first = pages[0]
    if "items" not in first:
        return first
    lists = [items for page in pages if isinstance(items := page.get("items"), list)]
    return first | {"items": [item for items in lists for item in items]} if lists else first


def to_found(body: dict[str, object]) -> ProviderResults:
    """The results of an answer. One without items but with search information is an empty result.

    Raises:
        ProviderAnswerInvalid: It is in another format.
    """
    information = body.get("searchInformation")
    if "items" not in body and not isinstance(information, dict):
        raise invalid_answer(SPEC, "it has neither results nor search information")
    total = total_from(information.get("totalResults")) if isinstance(information, dict) else None
    return ProviderResults(to_hits(body.get("items", [])), total=total, raw=body)


def to_hits(items: object) -> tuple[Hit, ...]:
    """The hits of a list of items. An image's address is that of the page that shows it."""
    return hits_from(
        [_flat(item) for item in items] if isinstance(items, list) else items, FIELDS, SPEC
    )


def _flat(item: object) -> object:
    if not isinstance(item, dict):
        return item
    image = item.get("image")
    page = image.get("contextLink") if isinstance(image, dict) else None
    return item | {"url": page or item.get("link"), "published": _date_of(item.get("pagemap"))}


def _date_of(pagemap: object) -> object:
    tags = pagemap.get("metatags") if isinstance(pagemap, dict) else None
    first = tags[0] if isinstance(tags, list) and tags else None
    if not isinstance(first, dict):
        return None
    return next((first[name] for name in DATES if first.get(name)), None)
