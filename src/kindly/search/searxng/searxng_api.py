"""SearXNG's HTTP interface, for any instance: Query → request; JSON or results page → results.

Follows SearXNG of 2023 to 2026 (its versions are dates): the JSON of `searx/webutils.py`, the HTML of its theme
`simple`. The caller decides which instance is called, and when.

| filter        | is sent as                                                                     |
|---------------|---------------------------------------------------------------------------------|
| `site`        | `site:` operator in `q`                                                         |
| domains       | `site:` operators in `q`; whether they apply depends on the engines             |
| dates         | not sent: SearXNG has no such field                                             |
| `time_range`  | `time_range`, the same words                                                    |
| `language`    | `language`, with the region where both are set: `de-AT`                         |
| `region`      | only together with `language`                                                   |
| `safe_search` | `safesearch` = `0`, `1`, `2`                                                    |
| `category`    | `categories`, the same words                                                    |
| `page`        | `pageno`: the instance's own pages, whose length depends on its engines         |
| `count`       | not sent: SearXNG has no such field; `result_pages` asks for further pages      |
"""

import json as jsonlib
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kindly.budget import Deadline
from kindly.errors import ProviderBlocked, SearchError
from kindly.models import ProviderResults, Query, SafeSearch
from kindly.search.challenge_page import challenge_in, challenged
from kindly.search.parse_hits import HitFields, engines_of, hits_from, total_from
from kindly.search.provider import ProviderApi, ProviderSpec
from kindly.search.ranking.filters import with_sites
from kindly.search.vendor_api import invalid_answer

if TYPE_CHECKING:
    import httpx2
    from turbohtml import Document, Element

FIELDS = HitFields(
    url="url",
    title="title",
    snippet="content",
    published="publishedDate",
    score="score",
    engines="engines",
)
SAFE_SEARCH: dict[SafeSearch, str] = {"off": "0", "moderate": "1", "strict": "2"}
LANGUAGE = re.compile(r"[a-z]{2,3}")
BROWSER_HEADERS = {
    # Its limiter blocks clients that accept no HTML or name no language, even for JSON.
    "Accept": "text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8",
    "Sec-Fetch-Dest": "document",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Site": "none",
}
ENGINES_FAILED = "#engines_msg .response-error, #sidebar .dialog-error"
"""The list of engines that did not answer; before 2024 it was a dialog."""
JSON_OFF = 403
"""SearXNG's status for a format that its settings do not list."""


async def search_instance(
    api: ProviderApi,
    base_url: str,
    query: Query,
    deadline: Deadline,
    *,
    json: bool,
    user_agent: str | None = None,
) -> ProviderResults:
    """One page of an instance's results, as JSON or from its results page. HTML in place of JSON is parsed too.

    Without results, a page after the first is empty, whatever else it says: the instance has just answered.

    Raises:
        SearchError: One of its provider classes; `json_is_off` tells whether the format was refused.
    """
    request = build_request(api.client, base_url, query, json=json, user_agent=user_agent)
    answer = await api.send(request, deadline)
    try:
        return parse(answer, api.spec, instance=shown(base_url))
    except ProviderBlocked:
        if query.page == 1:
            raise
        return ProviderResults((), instance=shown(base_url))


def json_is_off(error: SearchError) -> bool:
    """Whether a request for JSON failed because the instance does not serve it."""
    return error.status == JSON_OFF


def build_request(
    client: "httpx2.AsyncClient",
    base_url: str,
    query: Query,
    *,
    json: bool,
    user_agent: str | None = None,
) -> "httpx2.Request":
    """A search as a browser would send it; the default User-Agent is the client's own."""
    language = to_language(query) or "en"
    headers = BROWSER_HEADERS | {"Accept-Language": f"{language},en;q=0.5"}
    if user_agent:
        headers["User-Agent"] = user_agent
    params = to_params(query) | ({"format": "json"} if json else {})
    address = base_url.rstrip("/") + "/search"
    return client.build_request("GET", address, headers=headers, params=params)


def to_params(query: Query) -> dict[str, str]:
    """The URL's parameters, except the format."""
    params = {
        "q": with_sites(query),
        "categories": query.category,
    }
    if language := to_language(query):
        params["language"] = language
    if query.time_range:
        params["time_range"] = query.time_range
    if query.safe_search:
        params["safesearch"] = SAFE_SEARCH[query.safe_search]
    if query.page > 1:
        params["pageno"] = str(query.page)
    return params


def to_language(query: Query) -> str | None:
    """The language as SearXNG writes it (`de`, `de-AT`), or None: it refuses other forms."""
    language, _, own_region = (query.language or "").replace("_", "-").partition("-")
    language, region = language.lower(), query.region or own_region
    if not LANGUAGE.fullmatch(language):
        return None
    return f"{language}-{region.upper()}" if len(region) == 2 and region.isalpha() else language


def parse(answer: bytes, spec: ProviderSpec, *, instance: str | None = None) -> ProviderResults:
    """The results in an answer, JSON or HTML.

    Raises:
        ProviderBlocked: It is a challenge, or every engine behind the instance failed.
        ProviderRateLimited: It is the page of a rate limiter.
        ProviderAnswerInvalid: It is something else.
    """
    text = answer.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if text.startswith("<"):
        return parse_page(text, spec, instance=instance)
    try:
        body = jsonlib.loads(text)
    except (ValueError, RecursionError):
        body = None
    if isinstance(body, dict):
        return parse_json(body, spec, instance=instance)
    if sign := challenge_in(text):
        raise challenged(sign, spec)
    raise invalid_answer(spec, "it is neither JSON nor a results page")


def parse_json(
    body: dict[str, object], spec: ProviderSpec, *, instance: str | None = None
) -> ProviderResults:
    """The hits of a JSON answer, with engines, scores and dates.

    Raises:
        ProviderBlocked: It has no results, and engines that failed.
        ProviderAnswerInvalid: It is in another format.
    """
    results = body.get("results")
    if isinstance(results, list):
        results = [_with_engines(result) for result in results]
    hits = hits_from(results, FIELDS, spec)
    if not hits and body.get("unresponsive_engines") and not body.get("answers"):
        raise engines_failed(spec)
    # It writes 0 if its engines report no number.
    total = total_from(body.get("number_of_results")) or None
    return ProviderResults(hits, total=total, engines=engines_of(hits), instance=instance)


def parse_page(page: str, spec: ProviderSpec, *, instance: str | None = None) -> ProviderResults:
    """The hits of a results page of the theme `simple`.

    Raises:
        ProviderBlocked: It is a challenge, or it has no results and engines that failed.
        ProviderRateLimited: It is the page of a rate limiter.
        ProviderAnswerInvalid: It is another page.
    """
    from turbohtml import parse as parse_html

    document = parse_html(page)
    items = [_item(article) for article in document.select("article.result")]
    if items:
        hits = hits_from(items, FIELDS, spec)
        return ProviderResults(
            hits, total=_total_in(document), engines=engines_of(hits), instance=instance
        )
    if document.select_one("#results, #urls") is None:
        sign = challenge_in(page)
        raise challenged(sign, spec) if sign else invalid_answer(spec, "it is not a results page")
    if document.select_one(ENGINES_FAILED) is not None:
        raise engines_failed(spec)
    return ProviderResults((), instance=instance)


def engines_failed(spec: ProviderSpec) -> ProviderBlocked:
    """The error for an empty answer that lists engines that failed."""
    return ProviderBlocked(
        f"{spec.label} returned no results because the search engines behind it did not answer.",
        provider=spec.name,
    )


def shown(base_url: str) -> str:
    """The address of an instance without user and password."""
    parts = urlsplit(base_url.rstrip("/"))
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _with_engines(result: object) -> object:
    """A result with the list of its engines; old versions and some result types name only one."""
    if isinstance(result, dict) and not result.get("engines"):
        return result | {"engines": result.get("engine")}
    return result


def _item(article: "Element") -> dict[str, object]:
    """One result of the page, with the field names of the JSON."""
    is_image = "result-images" in _classes(article)
    link = article.select_one(".result-url a" if is_image else "h3 a")
    time = article.select_one("time.published_date")
    return {
        "url": link.attr("href") if link is not None else None,
        "title": _text(article, ".title, h4" if is_image else "h3 a"),
        "content": _text(
            article, "p.result-content" if is_image else "p.content:not(.empty_element)"
        ),
        "publishedDate": time.attr("datetime") if time is not None else None,
        "engines": _engines(article, is_image=is_image),
    }


def _engines(article: "Element", *, is_image: bool) -> list[str]:
    if is_image:
        return [_text(article, ".result-engine").rpartition(":")[2].strip()]
    return [engine.text.strip() for engine in article.select(".engines > span")]


def _text(article: "Element", selector: str) -> str:
    found = article.select_one(selector)
    return " ".join(found.text.split()) if found is not None else ""


def _classes(element: "Element") -> list[str]:
    return str(element.attr("class") or "").split()


def _total_in(document: "Document") -> int | None:
    """The number of results in any language's format: `1,234`, `1.234`, `1 234`."""
    count = document.select_one("#result_count")
    return total_from("".join(re.findall(r"[0-9]", count.text))) if count is not None else None
