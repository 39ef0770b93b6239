"""Profile `media` through a real client: the workflows of its specification, every shape of answer, bad input."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_types import CallToolResult

from kindly.budget import count_tokens
from tests.support.paths import DATA
from tests.support.processes import stdio_client
from tests.support.served_world import as_json, calling, environment, serper, text_of
from tests.support.site import Answer, Site, html, running_site

pytestmark = pytest.mark.anyio

EXAMPLES = DATA / "contracts" / "media_profile"
BRAVE = "/brave/res/v1/web/search"
CAST = """<!doctype html><html lang="en"><head><title>Full cast</title>
<meta name="description" content="Everybody in it."><meta property="og:site_name" content="Film Base">
<meta property="article:published_time" content="2024-03-01T08:00:00Z"></head><body><main><article>
<h1>The Last of Us</h1><p>A story about two people who cross a country after everything has ended.
The man is played by <a href="/name/1">Pedro Pascal</a>, whom many know from another series.</p>
<table class="cast_list"><tr><th>Actor</th><th>Role</th></tr>
<tr><td>Pedro Pascal</td><td>Joel</td></tr>
<tr><td>Bella Ramsey</td><td>Ellie</td></tr></table>
<p><img src="/poster.jpg" alt="Poster of the series"></p></article></main></body></html>"""


def brave(*results: dict[str, str]) -> Answer:
    """Brave's answer with these results."""
    return as_json(
        {"type": "search", "query": {"original": "x"}, "web": {"results": list(results)}}
    )


def result(url: str, n: int = 1, **more: str) -> dict[str, str]:
    return {"title": f"Result {n}", "url": url, "description": f"Snippet {n}."} | more


def settings(site: Site, folder: Path, **more: str) -> dict[str, str]:
    own = {
        "KINDLY_PROFILE": "media",
        "BRAVE_API_KEY": "canary-brave-5d",
        "BRAVE_BASE_URL": site.url("/brave"),
    }
    return environment(site, folder, **own) | more


def example(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((EXAMPLES / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


def data(answer: CallToolResult) -> dict[str, Any]:
    structured = answer.structured_content
    assert structured is not None
    assert json.loads(text_of(answer)) == structured
    return dict(structured)


async def in_parallel(environ: dict[str, str], count: int) -> list[CallToolResult]:
    """The answers to as many searches, all sent at once."""
    answers: list[CallToolResult] = []
    async with calling(environ) as call:

        async def search(n: int) -> None:
            answers.append(await call("WebSearch", query=f"Dune {n}"))

        with anyio.fail_after(120):
            async with anyio.create_task_group() as tasks:
                for n in range(count):
                    tasks.start_soon(search, n)
    return answers


def asked(site: Site) -> dict[str, str]:
    (request,) = [request for request in site.requests if request.path == BRAVE]
    return request.query


async def test_movie_information_comes_from_snippets(site: Site, tmp_path: Path) -> None:
    given = example("search")
    site.add(
        BRAVE,
        brave(
            *(
                {
                    "title": item["title"],
                    "url": item["url"],
                    "description": item["snippet"],
                    "page_age": item["datePublished"] or "",
                }
                for item in given["results"]
            )
        ),
    )
    async with calling(settings(site, tmp_path)) as call:
        answer = await call("WebSearch", query="Dune Part Two release date 2024", maxResults=5)
    found = data(answer)
    assert set(found) == set(given)
    assert sorted(found["results"], key=lambda item: str(item["url"])) == sorted(
        given["results"], key=lambda item: str(item["url"])
    )
    assert found["searchEngine"] == "brave"
    assert asked(site)["count"] == "5"
    assert asked(site)["safesearch"] == "strict"
    assert asked(site)["q"] == "Dune Part Two release date 2024"


async def test_a_cast_list_is_read_by_its_selector(site: Site, tmp_path: Path) -> None:
    url = site.add("/title/tt3581920/fullcredits/", html(CAST))
    site.add(BRAVE, brave(result(url)))
    async with calling(settings(site, tmp_path)) as call:
        found = await call(
            "WebSearch", query="The Last of Us TV series cast", site="imdb.com", maxResults=3
        )
        (first,) = data(found)["results"]
        page = data(
            await call("WebFetch", url=first["url"], selector=".cast_list", format="markdown")
        )
    assert "site:imdb.com" in asked(site)["q"]
    assert set(page) == set(example("fetch_selector"))
    assert (page["status"], page["selector"], page["selectorMatched"]) == (
        "success",
        ".cast_list",
        True,
    )
    assert "Pedro Pascal" in page["content"]
    assert "| " in page["content"]
    assert "A story about" not in page["content"]


async def test_streaming_information_of_the_last_month(site: Site, tmp_path: Path) -> None:
    site.add(BRAVE, brave(result("https://streams.example/oppenheimer", age="2 days ago")))
    async with calling(settings(site, tmp_path)) as call:
        found = data(
            await call(
                "WebSearch", query="Oppenheimer streaming where to watch 2024", dateRange="month"
            )
        )
    assert asked(site)["freshness"] == "pm"
    assert len(found["results"][0]["datePublished"]) == len("2024-01-01")


async def test_documentation_is_read_up_to_20000_characters(site: Site, tmp_path: Path) -> None:
    paragraphs = "".join(
        f"<h2>Call {n}</h2><p>Call {n}: {'The API answers so. ' * 40}</p>" for n in range(60)
    )
    url = site.add("/qbittorrent/wiki", html(f"<title>WebUI API</title><main>{paragraphs}</main>"))
    site.add(BRAVE, brave(result(url)))
    async with calling(settings(site, tmp_path)) as call:
        await call("WebSearch", query="qBittorrent Web API documentation", site="github.com")
        page = data(await call("WebFetch", url=url, format="markdown", maxLength=20000))
    assert page["truncated"] is True
    assert 13_000 < len(page["content"]) == page["contentLength"] <= 20_000
    assert "characters" in page["message"]
    assert page["status"] == "success"


async def test_recent_news_is_found(site: Site, tmp_path: Path) -> None:
    site.add(BRAVE, brave(*(result(f"https://news.example/{n}", n) for n in range(8))))
    async with calling(settings(site, tmp_path)) as call:
        found = data(
            await call(
                "WebSearch", query="Shogun FX season 2 news", dateRange="month", maxResults=5
            )
        )
    assert len(found["results"]) == 5
    assert asked(site)["freshness"] == "pm"


@pytest.mark.parametrize(
    ("query", "site_name"),
    [
        ("TV shows similar to Severance 2024", None),
        ("The Batman 2022 movie runtime cast", "imdb.com"),
    ],
    ids=["enrichment", "verification"],
)
async def test_library_workflows_are_served(
    site: Site, tmp_path: Path, query: str, site_name: str | None
) -> None:
    site.add(BRAVE, brave(result("https://www.imdb.com/title/tt1877830/")))
    async with calling(settings(site, tmp_path)) as call:
        found = data(await call("WebSearch", query=query, site=site_name))
    assert found["results"][0]["domain"] == "imdb.com"


async def test_a_page_comes_with_metadata_and_links(site: Site, tmp_path: Path) -> None:
    url = site.add("/cast", html(CAST))
    async with calling(settings(site, tmp_path)) as call:
        page = data(await call("WebFetch", url=url))
    assert set(page) == set(example("fetch"))
    own_data = page["metadata"].pop("structuredData")
    assert own_data["open_graph"]["og:site_name"] == "Film Base"
    assert page["metadata"] == {
        "description": "Everybody in it.",
        "author": None,
        "datePublished": "2024-03-01",
        "siteName": "Film Base",
    }
    assert page["links"] == [{"text": "Pedro Pascal", "url": site.url("/name/1")}]
    assert (page["title"], page["truncated"]) == ("Full cast", False)
    assert page["contentLength"] == len(page["content"])
    assert "Poster" not in page["content"]


async def test_links_and_images_are_as_asked(site: Site, tmp_path: Path) -> None:
    url = site.add("/cast", html(CAST))
    async with calling(settings(site, tmp_path)) as call:
        page = data(await call("WebFetch", url=url, includeLinks=False, includeImages=True))
    assert "links" not in page
    assert "/name/1" not in page["content"]
    assert "Poster of the series" in page["content"]


@pytest.mark.parametrize(
    ("form", "mark"), [("text", "Pedro Pascal"), ("markdown", "[Pedro Pascal]("), ("html", "<td")]
)
async def test_a_page_comes_in_three_forms(
    site: Site, tmp_path: Path, form: str, mark: str
) -> None:
    url = site.add("/cast", html(CAST + "<script>evil()</script>"))
    async with calling(settings(site, tmp_path)) as call:
        page = data(await call("WebFetch", url=url, format=form))
        short = data(await call("WebFetch", url=url, format=form, maxLength=60))
    assert mark in page["content"]
    assert "evil" not in page["content"]
    assert len(short["content"]) <= 60
    assert short["truncated"] is True


async def test_no_results_come_with_a_suggestion(site: Site, tmp_path: Path) -> None:
    site.add(BRAVE, as_json({"type": "search", "query": {"original": "x"}}))
    async with calling(settings(site, tmp_path)) as call:
        answer = await call("WebSearch", query="xyzzy123 nonexistent movie 2099")
    assert data(answer) == example("search_empty")
    assert not answer.is_error


@pytest.mark.parametrize(
    ("path", "code", "words"),
    [
        ("/status/404", 404, "Page not found"),
        ("/status/403", 403, "Access denied"),
        ("/status/401", 401, "Access denied"),
        ("/status/500", 500, "500"),
        ("/limited/429?after=3600", 429, "wait"),
        ("/slow-headers", None, "did not answer in time"),
        ("/binary", None, "image/png"),
        ("/redirect/6", None, "redirect"),
        ("/redirect-to?url=http://10.0.0.1/", None, "10.0.0.1"),
    ],
)
async def test_a_page_that_cannot_be_had_is_an_error(
    site: Site, tmp_path: Path, path: str, code: int | None, words: str
) -> None:
    short = {"REQUEST_TIMEOUT_MS": "1500"} if path == "/slow-headers" else {}
    async with calling(settings(site, tmp_path, **short)) as call:
        with anyio.fail_after(120):
            answer = await call("WebFetch", url=site.url(path))
    page = data(answer)
    assert answer.is_error
    assert set(page) == set(example("fetch_error"))
    assert (page["url"], page["status"], page["errorCode"]) == (site.url(path), "error", code)
    assert words in page["message"]
    assert page["suggestion"]


@pytest.mark.parametrize("path", ["/huge", "/declared"])
async def test_a_page_beyond_the_byte_cap_is_truncated_with_a_warning(
    site: Site, tmp_path: Path, path: str
) -> None:
    site.add(
        "/declared", html(f"<main>{'<p>One more line of a very long page.</p>' * 9000}</main>")
    )
    async with calling(settings(site, tmp_path, KINDLY_MAX_PAGE_BYTES="200000")) as call:
        page = data(await call("WebFetch", url=site.url(path), maxLength=500))
        again = data(await call("WebFetch", url=site.url(path), maxLength=500))
    assert (page["status"], page["truncated"]) == ("success", True)
    assert page["message"].startswith("Content too large: only the beginning")
    assert page["content"]
    assert again == page


async def test_a_missing_page_is_reported_in_the_example_s_words(
    site: Site, tmp_path: Path
) -> None:
    async with calling(settings(site, tmp_path)) as call:
        page = data(await call("WebFetch", url=site.url("/404-page")))
    assert page == example("fetch_error") | {"url": site.url("/404-page")}


LOCKED = '<script type="application/ld+json">{"@type":"NewsArticle","isAccessibleForFree":false}</script>'
WALL = "Subscribe to continue reading this article."


@pytest.mark.parametrize("form", ["markdown", "text", "html"])
@pytest.mark.parametrize("words", [5, 90], ids=["a line", "a beginning of some length"])
async def test_a_paywalled_page_is_partial_and_keeps_its_title_and_its_teaser(
    site: Site, tmp_path: Path, words: int, form: str
) -> None:
    body = f"<p>The council met on Monday. {'word ' * words}</p><p>{WALL}</p>"
    url = site.add(
        "/premium",
        html(f"<title>Premium Article Title</title>{LOCKED}<main><article>{body}</article></main>"),
    )
    async with calling(settings(site, tmp_path)) as call:
        answer = await call("WebFetch", url=url, format=form)
    page = data(answer)
    assert not answer.is_error
    assert set(page) >= set(example("fetch_partial"))
    assert (page["status"], page["truncated"]) == ("partial", True)
    assert page["title"] == "Premium Article Title"
    assert "The council met on Monday." in page["content"]
    assert WALL in page["content"]
    assert page["message"] == "Content appears to be behind a paywall"
    assert page["contentLength"] == len(page["content"])


async def test_the_example_of_a_paywalled_page_is_kept(site: Site, tmp_path: Path) -> None:
    stated = example("fetch_partial")
    text = "This article requires a subscription to read."
    url = site.add(
        "/article-2",
        html(f"<title>{stated['title']}</title><main><p>{text}</p><p>{WALL}</p></main>"),
    )
    async with calling(settings(site, tmp_path)) as call:
        page = data(await call("WebFetch", url=url))
    assert {name: page[name] for name in ("status", "title", "truncated", "message")} == {
        name: stated[name] for name in ("status", "title", "truncated", "message")
    }
    assert page["content"].startswith(text)


async def test_a_paywalled_page_without_any_text_is_partial_too(site: Site, tmp_path: Path) -> None:
    wall = '<div class="paywall"></div>'
    url = site.add("/bare", html(f"<title>Bare</title>{LOCKED}<main>{wall}</main>"))
    async with calling(settings(site, tmp_path)) as call:
        page = data(await call("WebFetch", url=url))
    assert (page["status"], page["truncated"]) == ("partial", True)
    assert "subscription" in page["content"]
    assert page["message"] == "Content appears to be behind a paywall"


async def test_a_selector_that_matches_nothing_is_reported(site: Site, tmp_path: Path) -> None:
    async with calling(settings(site, tmp_path)) as call:
        answer = await call("WebFetch", url=site.url("/article"), selector=".infobox")
    page = data(answer)
    assert answer.is_error
    assert (page["status"], page["selector"], page["selectorMatched"]) == (
        "error",
        ".infobox",
        False,
    )
    assert ".infobox" in page["message"]


async def test_a_page_that_needs_scripts_is_not_rendered(site: Site, tmp_path: Path) -> None:
    script = 'document.getElementById("root").innerHTML="<p>drawn</p>"'
    shell = f'<title>App</title><div id="root"></div><script>{script}</script>'
    async with calling(settings(site, tmp_path)) as call:
        page = data(await call("WebFetch", url=site.add("/app", html(shell))))
    assert page["status"] == "error"
    assert "JavaScript" in page["message"]


async def test_robots_are_respected(tmp_path: Path) -> None:
    async with (
        running_site("User-agent: *\nDisallow: /article") as site,
        calling(settings(site, tmp_path)) as call,
    ):
        page = data(await call("WebFetch", url=site.url("/article")))
    assert page["status"] == "error"
    assert "robots.txt" in page["message"]
    assert site.count("/article") == 0


async def test_a_blocked_domain_is_not_fetched(site: Site, tmp_path: Path) -> None:
    environ = settings(site, tmp_path, KINDLY_BLOCKED_DOMAINS="evil.example")
    async with calling(environ) as call:
        page = data(await call("WebFetch", url="https://www.evil.example/page"))
    assert page["status"] == "error"
    assert site.requests == []


@pytest.mark.parametrize(
    ("tool", "arguments", "named", "allowed"),
    [
        ("WebSearch", {}, "query", "required"),
        ("WebSearch", {"query": ""}, "query", "1 character"),
        ("WebSearch", {"query": "x" * 501}, "query", "500"),
        ("WebSearch", {"query": {"a": 1}}, "query", "string"),
        ("WebSearch", {"query": "x", "maxResults": 21}, "maxResults", "20"),
        ("WebSearch", {"query": "x", "maxResults": 0}, "maxResults", "1"),
        ("WebSearch", {"query": "x", "maxResults": "all"}, "maxResults", "integer"),
        ("WebSearch", {"query": "x", "site": "not a domain"}, "site", "domain name"),
        ("WebSearch", {"query": "x", "dateRange": "decade"}, "dateRange", "month"),
        ("WebSearch", {"query": "x", "dateRange": "none"}, "dateRange", "month"),
        ("WebSearch", {"query": "x", "safeSearch": "none"}, "safeSearch", "boolean"),
        ("WebSearch", {"query": "x", "safeSearch": "strictly"}, "safeSearch", "boolean"),
        ("WebSearch", {"query": "x", "language": "en"}, "language", "dateRange"),
        ("WebFetch", {}, "url", "required"),
        ("WebFetch", {"url": ""}, "url", "1 character"),
        ("WebFetch", {"url": "not a url"}, "url", "URL"),
        ("WebFetch", {"url": "www.imdb.com/title"}, "url", "https://"),
        ("WebFetch", {"url": "file:///etc/passwd"}, "url", "http and https"),
        ("WebFetch", {"url": "ftp://example.com/"}, "url", "http and https"),
        ("WebFetch", {"url": "https://user:pass@example.com/"}, "url", "password"),
        ("WebFetch", {"url": "https://x.org", "format": "pdf"}, "format", "markdown"),
        ("WebFetch", {"url": "https://x.org", "maxLength": 0}, "maxLength", "1"),
        ("WebFetch", {"url": "https://x.org", "maxLength": 100_001}, "maxLength", "100000"),
        ("WebFetch", {"url": "https://x.org", "includeLinks": "some"}, "includeLinks", "boolean"),
    ],
    ids=lambda value: (value or "nothing") if isinstance(value, str) else None,
)
async def test_bad_input_is_named_before_any_network_call(
    site: Site, tmp_path: Path, tool: str, arguments: dict[str, Any], named: str, allowed: str
) -> None:
    async with calling(settings(site, tmp_path)) as call:
        answer = await call(tool, **arguments)
    told = data(answer)
    assert answer.is_error
    assert told["status"] == "error"
    assert named in f"{told['message']} {told['suggestion']}"
    assert allowed in told["message"]
    assert site.requests == []


@pytest.mark.parametrize(
    ("answer", "code"),
    [(Answer(status=500), 500), (Answer(status=401), 401), (as_json({"no": 1}), None)],
    ids=["server error", "bad key", "unreadable"],
)
async def test_a_failed_search_is_never_an_empty_one(
    site: Site, tmp_path: Path, answer: Answer, code: int | None
) -> None:
    site.add(BRAVE, answer)
    async with calling(settings(site, tmp_path)) as call:
        with anyio.fail_after(120):
            told = await call("WebSearch", query="Dune")
    assert told.is_error
    assert data(told)["errorCode"] == code
    assert "results" not in data(told)
    assert "canary" not in text_of(told)


async def test_without_a_key_the_variable_is_named(site: Site, tmp_path: Path) -> None:
    async with calling(environment(site, tmp_path, KINDLY_PROFILE="media")) as call:
        told = await call("WebSearch", query="Dune")
    assert told.is_error
    assert "set BRAVE_API_KEY" in data(told)["message"]
    assert "configuration" in data(told)["suggestion"]


async def test_a_burst_within_the_minute_s_allowance_goes_at_once(
    site: Site, tmp_path: Path
) -> None:
    """No search is answered before all have arrived."""
    arrived, all_there = 0, anyio.Event()

    async def answer(*_: object) -> Answer:
        nonlocal arrived
        arrived += 1
        if arrived == 8:
            all_there.set()
        await all_there.wait()
        return brave(result("https://a.example/"))

    site.add(BRAVE, answer)
    answers = await in_parallel(settings(site, tmp_path), 8)
    assert [one.is_error for one in answers] == [False] * 8


async def test_a_search_beyond_the_rate_waits_longer_than_a_search_may_take(
    site: Site, tmp_path: Path
) -> None:
    site.add(BRAVE, brave(result("https://a.example/")))
    # The seventh waits for 10 seconds; a busy machine takes two for the first six.
    limits = {"KINDLY_SEARCHES_PER_MINUTE": "6", "KINDLY_SEARCH_TIMEOUT_S": "9.5"}
    answers = await in_parallel(settings(site, tmp_path, **limits), 7)
    assert [one.is_error for one in answers] == [False] * 7
    assert site.count(BRAVE) == 7


@pytest.mark.parametrize(
    ("refusals", "wait", "asked", "failed"),
    [(1, "0.05", 2, False), (2, "0.05", 2, True), (1, "3600", 1, True)],
    ids=["once", "twice", "after the deadline"],
)
async def test_a_rate_limit_of_the_vendor_is_waited_for_once(
    site: Site, tmp_path: Path, refusals: int, wait: str, asked: int, failed: bool
) -> None:
    async def answer(*_: object) -> Answer:
        if site.count(BRAVE) <= refusals:
            return Answer(status=429, headers={"Retry-After": wait})
        return brave(result("https://a.example/"))

    site.add(BRAVE, answer)
    async with calling(settings(site, tmp_path)) as call:
        told = await call("WebSearch", query="Dune")
    assert (site.count(BRAVE), bool(told.is_error)) == (asked, failed)
    if failed:
        assert data(told)["errorCode"] == 429
        assert "Brave's rate limit" in data(told)["message"]


async def test_brave_is_asked_first_and_the_others_behind_it(site: Site, tmp_path: Path) -> None:
    site.add(BRAVE, Answer(status=503))
    site.add("/serper/search", serper(["https://a.example/"]))
    environ = settings(site, tmp_path, SERPER_API_KEY="canary-serper-1")
    async with calling(environ) as call:
        found = data(await call("WebSearch", query="bees"))
    assert found["searchEngine"] == "serper"
    assert next(request.path for request in site.requests) == BRAVE


async def test_no_answer_exceeds_its_size(site: Site, tmp_path: Path) -> None:
    links = "".join(f'<p><a href="/page/{n}">Link number {n}</a> leads on.</p>' for n in range(900))
    url = site.add("/links", html(f"<title>Links</title><main><article>{links}</article></main>"))
    site.add(
        BRAVE,
        brave(
            *(result(f"https://a{n}.example/", n, description=f"{n} bees " * 30) for n in range(20))
        ),
    )
    environ = settings(site, tmp_path, KINDLY_MAX_TOKENS="900")
    async with calling(environ) as call:
        page = await call("WebFetch", url=url, maxLength=50_000)
        found = await call("WebSearch", query="bees", maxResults=20)
    for answer in (page, found):
        assert count_tokens(text_of(answer)) <= 900
    assert data(page)["truncated"] is True
    assert "links are listed" in data(page)["message"]
    assert data(page)["content"]
    assert "did not fit" in data(found)["suggestion"]
    assert data(found)["totalResults"] == 20


async def test_long_snippets_are_cut_and_copies_left_out(site: Site, tmp_path: Path) -> None:
    long = result("https://a.example/x", description="word " * 100)
    site.add(BRAVE, brave(long, result("https://www.a.example/x?utm_source=y")))
    async with calling(settings(site, tmp_path)) as call:
        (found,) = data(await call("WebSearch", query="word"))["results"]
    assert 150 < len(found["snippet"]) <= 200
    assert found["snippet"].endswith("…")


async def test_settings_of_the_json_file_take_effect(site: Site, tmp_path: Path) -> None:
    file = tmp_path / "appsettings.json"
    wanted = example("settings")
    wanted["WebSearch"]["MaxResultsPerQuery"] = 3
    wanted["WebFetch"]["MaxContentLength"] = 2000
    file.write_text(json.dumps(wanted), encoding="utf-8")
    site.add(BRAVE, brave(result("https://a.example/")))
    environ = settings(site, tmp_path / "data", KINDLY_CONFIG=str(file))
    async with calling(environ) as call:
        too_many = await call("WebSearch", query="x", maxResults=4)
        too_long = await call("WebFetch", url=site.url("/article"), maxLength=2001)
        await call("WebSearch", query="x")
        page = data(await call("WebFetch", url=site.url("/echo"), maxLength=2000))
    assert "3" in data(too_many)["message"]
    assert "2000" in data(too_long)["message"]
    assert "JackAgent" in page["content"]
    (request,) = [request for request in site.requests if request.path == BRAVE]
    assert request.headers["x-subscription-token"] == "canary-brave-5d"


@pytest.mark.parametrize(
    ("variables", "names"),
    [
        ({}, ["WebSearch", "WebFetch"]),
        ({"WEB_SEARCH_ENABLED": "false"}, ["WebFetch"]),
        ({"WEB_FETCH_ENABLED": "false"}, ["WebSearch"]),
        ({"WEB_SEARCH_ENABLED": "true", "WEB_FETCH_ENABLED": "true"}, ["WebSearch", "WebFetch"]),
    ],
    ids=str,
)
async def test_the_tools_are_those_that_are_enabled(
    tmp_path: Path, variables: dict[str, str], names: list[str]
) -> None:
    environ = {"DATA_DIR": str(tmp_path), **variables}
    async with stdio_client(environ, "--profile", "media", "--plain-names") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == names
