"""DuckDuckGo: Query → hits without a key, through the library `ddgs`, which parses its pages.

Optional: the extra `keyless` installs the library. It has its own HTTP client, and is called in a thread.

| filter        | is sent as                                                                         |
|---------------|-------------------------------------------------------------------------------------|
| `site`        | `site:` operator in the query                                                       |
| domains       | `site:` operators in the query, with `OR` and `-`                                   |
| dates         | not sent: the library has no such field                                             |
| `time_range`  | `timelimit` = `d`, `w`, `m`, `y`                                                    |
| `language`    | with `region`, or alone, picks one of DuckDuckGo's regions: `de-de`, `ch-fr`        |
| `region`      | `region`, the same                                                                  |
| `safe_search` | `safesearch` = `off`, `moderate`, `on`; web results have none in the library        |
| `category`    | `news`, `images` and `videos`; every other searches the web                         |
| `page`        | `page`: DuckDuckGo's own pages                                                      |
| `count`       | not sent: the results are cut to it                                                   |
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import anyio
import anyio.to_thread

from kindly.budget import Deadline
from kindly.errors import (
    ProviderBlocked,
    ProviderFailed,
    ProviderRateLimited,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnreachable,
    SearchError,
)
from kindly.frozen import frozen
from kindly.models import Category, Hit, ProviderResults, Query, SafeSearch, TimeRange
from kindly.search.challenge_page import challenge_in, challenged
from kindly.search.parse_hits import HitFields, hits_from
from kindly.search.provider import Need, Pace, ProviderSpec
from kindly.search.ranking.filters import DOMAINS, with_sites
from kindly.search.vendor_api import invalid_answer
from kindly.version import SERVER_NAME

SPEC = ProviderSpec(
    name="duckduckgo",
    label="DuckDuckGo",
    needs=(Need("KINDLY_KEYLESS", "flag", "Search DuckDuckGo without a key."),),
    build=lambda access: DuckDuckGo(),
    # It documents no limit, and blocks clients that call it quickly.
    pace=Pace(calls=1, per_s=2),
    library=("ddgs", "keyless"),
    # It documents `site:` and `-site:`, but not several of the former.
    filters=lambda query: DOMAINS - ({"include_domains"} if query.include_domains[1:] else set()),
    scraped=True,
)
NOT_INSTALLED = (
    "KINDLY_KEYLESS needs the library ddgs, which is not installed: "
    f'pip install "{SERVER_NAME}[keyless]", or unset KINDLY_KEYLESS.'
)
BACKEND = "duckduckgo"
MAX_TIMEOUT_S = 10
MAX_THREADS = 4
"""A call that timed out occupies its thread until the library's own time-out."""
RANGES: dict[TimeRange, str] = {"day": "d", "week": "w", "month": "m", "year": "y"}
SAFETY: dict[SafeSearch, str] = {"off": "off", "moderate": "moderate", "strict": "on"}
ANYWHERE = "wt-wt"
# fmt: off
REGIONS = (
    "us-en", "ar-es", "at-de", "au-en", "be-fr", "be-nl", "bg-bg", "br-pt", "ca-en",
    "ca-fr", "ch-de", "ch-fr", "ch-it", "cl-es", "cn-zh", "co-es", "cz-cs", "de-de",
    "dk-da", "ee-et", "es-es", "fi-fi", "fr-fr", "gr-el", "hk-tzh", "hr-hr", "hu-hu",
    "id-id", "ie-en", "il-he", "in-en", "it-it", "jp-jp", "kr-kr", "lt-lt", "lv-lv",
    "mx-es", "my-ms", "nl-nl", "no-no", "nz-en", "pe-es", "ph-en", "pl-pl", "pt-pt",
    "ro-ro", "ru-ru", "se-sv", "sg-en", "sk-sk", "sl-sl", "th-th", "tr-tr", "tw-tzh",
    "ua-uk", "uk-en", "us-es", "ve-es", "vn-vi", "za-en",
)
# fmt: on
"""DuckDuckGo's own list: country, then language; the first of a country is its default."""
HOME = {
    "en": "us",
    "de": "de",
    "fr": "fr",
    "es": "es",
    "pt": "pt",
    "it": "it",
    "nl": "nl",
    "zh": "cn",
}
"""The default country of a language that several countries of the list have."""
OWN_LANGUAGES = {"ja": "jp", "ko": "kr", "nb": "no"}
OWN_COUNTRIES = {"gb": "uk", "si": "sl"}


@frozen
class DdgsVertical:
    """One of DuckDuckGo's result types: what the library calls it and its fields."""

    name: str
    fields: HitFields


WEB = DdgsVertical("text", HitFields(url="href", title="title", snippet="body"))
VERTICALS: dict[Category, DdgsVertical] = {
    "news": DdgsVertical(
        "news", HitFields(url="url", title="title", snippet="body", published="date")
    ),
    "images": DdgsVertical("images", HitFields(url="url", title="title", snippet="source")),
    "videos": DdgsVertical(
        "videos",
        HitFields(url="content", title="title", snippet="description", published="published"),
    ),
}


@frozen
class DdgsLibrary:
    """The parts of `ddgs` that are used: engines by vertical and name, and what they raise."""

    engines: Mapping[str, Mapping[str, type[Any]]]
    error: type[Exception]
    timeout: type[Exception]
    rate_limit: type[Exception]
    broken: tuple[type[Exception], ...]
    """What its parsers raise on a page that they do not know."""


@frozen
class DdgsReply:
    """What came back: the HTTP status, the page itself, and the results that the library found in it."""

    status: int
    page: str
    rows: list[dict[str, object]]


def load_library(load: Callable[[str], Any] = import_module) -> DdgsLibrary:
    """The library, imported now.

    Raises:
        ProviderRejected: It is not installed.
    """
    try:
        engines = load("ddgs.engines").ENGINES
        errors = load("ddgs.exceptions")
        parser_error = load("lxml.etree").LxmlError
    except ImportError:
        engines = None
    if engines is None:
        raise ProviderRejected(NOT_INSTALLED, provider=SPEC.name)
    return DdgsLibrary(
        engines,
        error=errors.DDGSException,
        timeout=errors.TimeoutException,
        rate_limit=errors.RatelimitException,
        broken=(parser_error, ValueError, TypeError, AttributeError, KeyError),
    )


@frozen
class DuckDuckGo:
    """DuckDuckGo's pages, without a key."""

    library: Callable[[], DdgsLibrary] = load_library
    threads: anyio.CapacityLimiter = field(
        default_factory=lambda: anyio.CapacityLimiter(MAX_THREADS), repr=False
    )
    name: str = field(default=SPEC.name, init=False)

    async def search(self, query: Query, deadline: Deadline) -> ProviderResults:
        """The hits in DuckDuckGo's order."""
        vertical = VERTICALS.get(query.category, WEB)
        outcome: DdgsReply | SearchError = timed_out()
        if remaining_s := deadline.remaining_s():
            timeout_s = math.ceil(min(remaining_s, MAX_TIMEOUT_S))
            with anyio.move_on_after(remaining_s):
                outcome = await anyio.to_thread.run_sync(
                    lambda: run_search(self.library, vertical, query, timeout_s),
                    abandon_on_cancel=True,
                    limiter=self.threads,
                )
        if isinstance(outcome, SearchError):
            raise outcome
        return ProviderResults(to_hits(outcome, vertical)[: max(1, query.count)])


def run_search(
    load: Callable[[], DdgsLibrary], vertical: DdgsVertical, query: Query, timeout_s: int
) -> DdgsReply | SearchError:
    """One search through the library; blocks. Its errors contain the query, so they are replaced here."""
    try:
        library = load()
        engine = library.engines[vertical.name][BACKEND](timeout=timeout_s)
    except SearchError as error:
        return error
    except KeyError:
        return invalid_answer(SPEC, "the library no longer supports this kind of results")
    engine.http_client = watch = ResponseWatch(engine.http_client)
    try:
        rows = engine.search(**to_options(query))
        return DdgsReply(watch.status, watch.page, [dict(vars(row)) for row in rows or ()])
    except (library.error, *library.broken) as error:
        return translated(error, library, watch)


@dataclass
class ResponseWatch:
    """A wrapper of the library's HTTP client that keeps the last response, to tell "no results" from "refused"."""

    client: Any
    status: int = 0
    page: str = ""

    def request(self, *args: Any, **kwargs: Any) -> Any:
        self.status, self.page = 0, ""
        response = self.client.request(*args, **kwargs)
        self.status, self.page = response.status_code, response.text
        return response


def translated(error: Exception, library: DdgsLibrary, watch: ResponseWatch) -> SearchError:
    """The library's error as a `SearchError`."""
    if isinstance(error, library.timeout):
        return timed_out()
    if isinstance(error, library.rate_limit):
        return rate_limited()
    if not isinstance(error, library.error) and challenge_in(watch.page) is None:
        return invalid_answer(SPEC, "its page is not in the format that the library expects")
    return refusal(watch.status, watch.page) if watch.status else unreachable()


def to_options(query: Query) -> dict[str, Any]:
    """The arguments for the library's engine."""
    return {
        "query": with_sites(query),
        "region": to_region(query),
        "safesearch": SAFETY[query.safe_search or "moderate"],
        "timelimit": RANGES[query.time_range] if query.time_range else None,
        "page": max(1, query.page),
    }


def to_region(query: Query) -> str:
    """One of DuckDuckGo's regions: by country and language, by country, by language, or anywhere."""
    language, _, own_country = (query.language or "").lower().replace("_", "-").partition("-")
    country = (query.region or own_country).lower()
    country = OWN_COUNTRIES.get(country, country)
    language = OWN_LANGUAGES.get(language, language)
    if country:
        of_country = [each for each in REGIONS if each.startswith(f"{country}-")]
        exact = f"{country}-{language}"
        return exact if exact in of_country else next(iter(of_country), ANYWHERE)
    at_home = f"{HOME.get(language, language)}-{language}"
    speaking = (each for each in REGIONS if each.endswith(f"-{language}"))
    return at_home if at_home in REGIONS else next(speaking, ANYWHERE)


def to_hits(reply: DdgsReply, vertical: DdgsVertical = WEB) -> tuple[Hit, ...]:
    """The hits of a reply; an empty list only if the page was a results page.

    Raises:
        ProviderBlocked: It is a challenge.
        ProviderRateLimited: Its text or status says so.
        ProviderFailed: Its status is a server error.
    """
    if reply.rows:
        return hits_from(reply.rows, vertical.fields, SPEC)
    if reply.status != 200:
        raise refusal(reply.status, reply.page)
    if sign := challenge_in(reply.page):
        raise challenged(sign, SPEC)
    return ()


def timed_out() -> ProviderTimeout:
    """The error for no answer in time."""
    return ProviderTimeout(f"{SPEC.label} did not answer in time.", provider=SPEC.name)


def rate_limited(status: int | None = None) -> ProviderRateLimited:
    """The error for too many searches."""
    return ProviderRateLimited(
        f"{SPEC.label} limits the rate of searches from this address.",
        provider=SPEC.name,
        status=status,
    )


def unreachable() -> ProviderUnreachable:
    """The error for no answer at all."""
    return ProviderUnreachable(
        f"{SPEC.label} could not be reached: check the network and the proxy.", provider=SPEC.name
    )


def refusal(status: int, page: str) -> SearchError:
    """The error for a page that is no results page. DuckDuckGo sends challenges with HTTP 202."""
    if status == 429:
        return rate_limited(status)
    if status == 408:
        return timed_out()
    if status >= 500:
        return ProviderFailed(
            f"{SPEC.label} returned a server error (HTTP {status}).",
            provider=SPEC.name,
            status=status,
        )
    if sign := challenge_in(page):
        return challenged(sign, SPEC)
    return ProviderBlocked(
        f"{SPEC.label} refused the search (HTTP {status}).",
        provider=SPEC.name,
        status=status,
    )
