"""Profile `searxng` through a real client: the use cases of its specification, partial delivery, errors, bad input."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_types import CallToolResult

from kindly.app import search as app_search
from kindly.budget import count_tokens
from kindly.clock import SYSTEM_CLOCK
from kindly.errors import ProviderUnreachable
from kindly.models import Hit, ProviderResults
from kindly.search.pool_settings import PoolSettings
from kindly.search.providers import searxng_pool
from kindly.server.render.formatting import compact
from tests.support.paths import DATA
from tests.support.processes import stdio_client
from tests.support.searxng_pool import PublicInstances, url_of
from tests.support.served_world import as_json, calling, environment, text_of
from tests.support.site import Answer, Handler, Site, SiteRequest, html

pytestmark = pytest.mark.anyio

EXAMPLES = DATA / "contracts" / "searxng_profile"
USE_CASES = (
    "technical_research",
    "current_events",
    "documentation_discovery",
    "quick_fact_checking",
)
PARAGRAPH = "Rust futures are polled by a runtime such as Tokio, and rust async code awaits them. "


def searxng(urls: Sequence[str], total: int = 0, words: str = "rust async") -> Answer:
    """An instance's JSON with these links."""
    results = [
        {
            "title": f"{words} result {n}",
            "url": url,
            "content": f"Snippet {n} about {words}.",
            "engines": ["duckduckgo"] if n % 2 else ["google", "bing"],
            "score": 9.0 / n,
        }
        for n, url in enumerate(urls, start=1)
    ]
    return as_json({"query": words, "results": results, "number_of_results": total, "answers": []})


def settings(site: Site, folder: Path, **more: str) -> dict[str, str]:
    own = {"KINDLY_PROFILE": "searxng", "SEARXNG_BASE_URL": site.url("/searx")}
    return environment(site, folder, **own) | more


def long_page(site: Site, path: str, paragraphs: int) -> str:
    body = "".join(f"<h2>Part {n}</h2><p>{n}. {PARAGRAPH * 8}</p>" for n in range(paragraphs))
    return site.add(path, html(f"<title>Long</title><main><article>{body}</article></main>"))


def metadata(result: CallToolResult) -> dict[str, Any]:
    assert result.structured_content is not None
    assert result.structured_content["content"] == [{"type": "text", "text": text_of(result)}]
    assert result.structured_content["is_error"] is bool(result.is_error)
    found: dict[str, Any] = result.structured_content["metadata"]
    return found


def asked_of(site: Site) -> list[SiteRequest]:
    """The searches that the instance received."""
    return [request for request in site.requests if request.path == "/searx/search"]


def paged(pages: Sequence[Sequence[str]]) -> Handler:
    """An instance that serves these links page by page; after the last page it repeats the last."""

    async def answer(request: SiteRequest, _: object) -> Answer:
        number = int(request.query.get("pageno", "1"))
        return searxng(pages[min(number, len(pages)) - 1])

    return answer


def links(first: int, last: int) -> list[str]:
    """Addresses that have nothing in common and are not fetched."""
    return [f"https://site{n}.example/" for n in range(first, last + 1)]


def page_of(first: int, last: int) -> ProviderResults:
    """A results page of a public instance."""
    found = (
        Hit(f"rust async result {link}", link, f"Snippet of {link} about rust async.", "searxng")
        for link in links(first, last)
    )
    return ProviderResults(tuple(found))


def with_pool(monkeypatch: pytest.MonkeyPatch, instances: PublicInstances) -> None:
    """Let the public pool call these instances, at the pace of their clock and without background work."""

    async def sleep(seconds: float) -> None:
        if seconds < PoolSettings().health_check_interval_s:
            await instances.sleep(seconds)
        else:
            await anyio.sleep_forever()

    clock = replace(SYSTEM_CLOCK, time=instances.clock, sleep=sleep, random=instances.random)
    monkeypatch.setattr(app_search, "SYSTEM_CLOCK", clock)
    monkeypatch.setattr(searxng_pool, "InstanceRequests", lambda *_: instances)


def written_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", USE_CASES)
async def test_use_case_is_served(site: Site, tmp_path: Path, name: str) -> None:
    wanted = json.loads((EXAMPLES / f"{name}.json").read_text(encoding="utf-8"))
    urls = [site.url("/article"), site.url("/markdown"), site.url("/plain")]
    site.add("/searx/search", searxng(urls, words=wanted["query"]))
    async with calling(settings(site, tmp_path)) as call:
        with anyio.fail_after(120):
            result = await call("web_search", **wanted)
    found = metadata(result)
    assert not result.is_error
    assert found["query"] == wanted["query"]
    assert {one["url"] for one in found["results"]} == set(urls)
    asked = asked_of(site)[0]
    assert asked.query["q"] == wanted["query"]
    assert asked.query["categories"] == wanted.get("category", "general")
    assert asked.query.get("time_range") == wanted.get("time_range")
    assert asked.query["language"] == "en"
    assert asked.query["safesearch"] == "1"
    wants_content = wanted.get("fetch_content", True)
    assert all(("content" in one) is wants_content for one in found["results"])
    assert bool(site.count("/article")) is wants_content


async def test_answer_with_content_has_the_example_s_fields(site: Site, tmp_path: Path) -> None:
    site.add("/searx/search", searxng([site.url("/article")], total=8450))
    async with calling(settings(site, tmp_path)) as call:
        result = await call("web_search", query="rust async")
    found = metadata(result)
    example = json.loads((EXAMPLES / "with_content.json").read_text(encoding="utf-8"))["metadata"]
    assert set(found) == set(example)
    assert set(found["results"][0]) == set(example["results"][0])
    assert set(found["results"][0]["content"]) == set(example["results"][0]["content"])
    assert found["instance_used"] == site.url("/searx")
    assert (found["total_results"], found["engines_used"]) == (8450, ["duckduckgo"])
    assert found["content_fetch_stats"] | {"total_time_ms": 0} == {
        "attempted": 1,
        "successful": 1,
        "failed": 0,
        "total_time_ms": 0,
    }
    content = found["results"][0]["content"]
    assert "ultraviolet" in content["markdown"]
    assert content["word_count"] == len(content["markdown"].split())
    assert 0 < len(content["summary"]) <= 500


async def test_answer_without_content_has_the_example_s_fields(site: Site, tmp_path: Path) -> None:
    site.add("/searx/search", searxng([site.url("/article"), site.url("/plain")]))
    async with calling(settings(site, tmp_path)) as call:
        result = await call("web_search", query="rust async", fetch_content=False)
    found = metadata(result)
    example = json.loads((EXAMPLES / "without_content.json").read_text(encoding="utf-8"))
    assert set(found) == set(example["metadata"])
    assert set(found["results"][0]) == set(example["metadata"]["results"][0])
    assert found["fetch_content"] is False
    assert result.structured_content is not None
    assert result.structured_content["content"][0] == {
        "type": "text",
        "text": "Found 2 search results for query 'rust async'",
    }


async def test_what_could_not_be_read_is_reported_and_the_rest_delivered(
    site: Site, tmp_path: Path
) -> None:
    wall = "<p>The beginning of it.</p>" + "<p>Subscribe to read the full article.</p>"
    site.add("/wall", html(f"<title>News</title><main><article>{wall}</article></main>"))
    paths = ["/article", "/status/404", "/status/403", "/binary", "/wall"]
    site.add("/searx/search", searxng([site.url(path) for path in paths]))
    async with calling(settings(site, tmp_path)) as call:
        found = metadata(await call("web_search", query="rust async"))
    told = {
        one["url"].removeprefix(site.url("")): one["content_error"]["error_type"]
        for one in found["results"]
        if "content_error" in one
    }
    assert told == {
        "/status/404": "not_found",
        "/status/403": "blocked",
        "/binary": "unsupported",
        "/wall": "paywalled",
    }
    stats = found["content_fetch_stats"]
    assert (stats["attempted"], stats["successful"], stats["failed"]) == (5, 1, 4)
    assert all(
        one["content_error"]["error_details"].endswith(".")
        for one in found["results"]
        if "content_error" in one
    )


async def test_no_answer_exceeds_its_size_and_cuts_are_reported(site: Site, tmp_path: Path) -> None:
    urls = [long_page(site, f"/long/{n}", 60) for n in range(6)]
    site.add("/searx/search", searxng(urls))
    environ = settings(site, tmp_path, KINDLY_MAX_TOKENS="3000")
    async with calling(environ) as call:
        with anyio.fail_after(120):
            result = await call("web_search", query="rust async")
    assert count_tokens(compact(result.structured_content)) <= 3000
    found = metadata(result)
    assert len(found["results"]) == 6
    assert any("left out" in one["content"]["markdown"] for one in found["results"])
    assert "6 pages are cut to fit" in text_of(result)


async def test_results_that_do_not_fit_are_counted(site: Site, tmp_path: Path) -> None:
    site.add("/searx/search", searxng([site.url(f"/p/{n}") for n in range(50)]))
    environ = settings(site, tmp_path, KINDLY_MAX_TOKENS="800")
    async with calling(environ) as call:
        result = await call("web_search", query="rust async", results_count=50, fetch_content=False)
    found = metadata(result)
    assert count_tokens(compact(result.structured_content)) <= 800
    assert 0 < found["results_count"] == len(found["results"]) < 50
    assert "did not fit" in text_of(result)


async def test_results_come_best_first_with_scores_from_0_to_1(site: Site, tmp_path: Path) -> None:
    urls = [site.url("/p/1"), site.url("/p/2"), site.url("/p/3")]
    site.add("/searx/search", searxng(urls))
    async with calling(settings(site, tmp_path)) as call:
        found = metadata(await call("web_search", query="rust async", fetch_content=False))
    scores = [one["score"] for one in found["results"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


async def test_nothing_found_is_no_error(site: Site, tmp_path: Path) -> None:
    site.add("/searx/search", searxng([]))
    async with calling(settings(site, tmp_path)) as call:
        result = await call("web_search", query="rust async")
    assert not result.is_error
    assert metadata(result)["results"] == []
    assert metadata(result)["content_fetch_stats"]["attempted"] == 0


async def test_pages_and_searches_leave_no_trace_on_disk(site: Site, tmp_path: Path) -> None:
    site.add("/searx/search", searxng([site.url("/article")]))
    async with calling(settings(site, tmp_path)) as call:
        await call("web_search", query="rust canary query")
    kept = written_in(tmp_path)
    assert b"canary query" not in kept
    assert b"/article" not in kept
    assert b"ultraviolet" not in kept


async def test_without_instances_the_error_has_its_shape(site: Site, tmp_path: Path) -> None:
    environ = environment(
        site, tmp_path, KINDLY_PROFILE="searxng", SEARX_SPACE_URL=site.url("/no-list")
    )
    async with calling(environ) as call:
        with anyio.fail_after(120):
            result = await call("web_search", query="rust programming")
    assert result.is_error
    found = metadata(result)
    example = json.loads((EXAMPLES / "error.json").read_text(encoding="utf-8"))
    assert set(found) == set(example["metadata"])
    assert found["error_type"] == example["metadata"]["error_type"]
    assert found["retry_after"] > 0
    assert result.structured_content is not None
    assert result.structured_content["content"] == example["content"]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(status=500), "instance_unavailable"),
        (Answer(status=429, headers={"Retry-After": "120"}), "rate_limited"),
        (as_json({"no": "results"}), "invalid_response"),
        (
            Answer(b"<html><title>Just a moment...</title>/cdn-cgi/challenge-platform/</html>"),
            "blocked",
        ),
    ],
    ids=["server error", "rate limit", "unreadable", "challenge"],
)
async def test_a_failed_search_is_reported_by_kind(
    site: Site, tmp_path: Path, answer: Answer, kind: str
) -> None:
    site.add("/searx/search", answer)
    async with calling(settings(site, tmp_path)) as call:
        with anyio.fail_after(120):
            result = await call("web_search", query="rust")
    assert result.is_error
    assert metadata(result)["error_type"] == kind
    if kind == "rate_limited":
        assert metadata(result)["retry_after"] == 120


@pytest.mark.parametrize(
    ("arguments", "named", "allowed"),
    [
        ({}, "query", "required"),
        ({"query": ""}, "query", "1 character"),
        ({"query": "x" * 501}, "query", "500"),
        ({"query": ["x"]}, "query", "string"),
        ({"query": "x", "category": "jokes"}, "category", "science"),
        ({"query": "x", "language": "english"}, "language", "language code"),
        ({"query": "x", "language": "zz"}, "language", "ISO 639-1"),
        ({"query": "x", "language": "EN"}, "language", "language code"),
        ({"query": "x", "results_count": 0}, "results_count", "1"),
        ({"query": "x", "results_count": 51}, "results_count", "50"),
        ({"query": "x", "results_count": "many"}, "results_count", "integer"),
        ({"query": "x", "fetch_content": "perhaps"}, "fetch_content", "boolean"),
        ({"query": "x", "safe_search": 3}, "safe_search", "0, 1 or 2"),
        ({"query": "x", "safe_search": "strict"}, "safe_search", "0, 1 or 2"),
        ({"query": "x", "safe_search": "none"}, "safe_search", "0, 1 or 2"),
        ({"query": "x", "time_range": "decade"}, "time_range", "week"),
        ({"query": "x", "time_range": "none"}, "time_range", "week"),
        ({"query": "x", "pages": 2}, "pages", "results_count"),
    ],
    ids=lambda value: (value or "nothing") if isinstance(value, str) else None,
)
async def test_bad_input_is_named_before_any_network_call(
    site: Site, tmp_path: Path, arguments: dict[str, Any], named: str, allowed: str
) -> None:
    async with calling(settings(site, tmp_path)) as call:
        result = await call("web_search", **arguments)
    assert result.is_error
    found = metadata(result)
    assert found["error_type"] == "invalid_parameters"
    assert named in found["error_details"]
    assert allowed in found["error_details"]
    assert site.requests == []


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"safe_search": 0}, {"safesearch": "0"}),
        ({"safe_search": "2"}, {"safesearch": "2"}),
        ({"language": "pt-BR"}, {"language": "pt-BR"}),
        ({"time_range": "week"}, {"time_range": "week"}),
        ({"category": "science"}, {"categories": "science"}),
        ({"category": "images"}, {"categories": "images"}),
        ({"category": "videos"}, {"categories": "videos"}),
        ({"category": "news"}, {"categories": "news"}),
    ],
    ids=str,
)
async def test_a_parameter_reaches_the_instance(
    site: Site, tmp_path: Path, given: dict[str, Any], sent: dict[str, str]
) -> None:
    site.add("/searx/search", searxng([]))
    async with calling(settings(site, tmp_path)) as call:
        await call("web_search", query="rust", fetch_content=False, **given)
    (request,) = asked_of(site)
    assert request.query.items() >= sent.items()


@pytest.mark.parametrize(
    ("wanted", "pages", "numbers", "found"),
    [
        (50, [links(1, 20), links(21, 40), links(41, 60)], [None, "2", "3"], 50),
        (20, [links(1, 20), links(21, 40)], [None], 20),
        (21, [links(1, 20), links(21, 40)], [None, "2"], 21),
        (50, [links(1, 20), links(11, 30)], [None, "2", "3"], 30),
        (50, [links(1, 20), []], [None, "2"], 20),
        (50, [[]], [None], 0),
        (50, [[f"https://site{n}.example/"] for n in range(40)], [None, *"23456789", "10"], 10),
    ],
    ids=["three pages", "one is enough", "one short", "repeated", "empty", "nothing", "tiny pages"],
)
async def test_results_count_is_met_from_further_pages(
    site: Site,
    tmp_path: Path,
    wanted: int,
    pages: list[list[str]],
    numbers: list[str | None],
    found: int,
) -> None:
    site.add("/searx/search", paged(pages))
    async with calling(settings(site, tmp_path)) as call:
        answer = await call(
            "web_search", query="rust async", results_count=wanted, fetch_content=False
        )
    assert [request.query.get("pageno") for request in asked_of(site)] == numbers
    told = metadata(answer)
    assert told["results_count"] == found
    urls = [one["url"] for one in told["results"]]
    assert len(set(urls)) == len(urls) == found


async def test_a_further_page_that_fails_leaves_the_earlier_ones(
    site: Site, tmp_path: Path
) -> None:
    async def answer(request: SiteRequest, _: object) -> Answer:
        return Answer(status=429) if "pageno" in request.query else searxng(links(1, 20))

    site.add("/searx/search", answer)
    async with calling(settings(site, tmp_path)) as call:
        result = await call("web_search", query="rust async", results_count=50, fetch_content=False)
    assert not result.is_error
    assert metadata(result)["results_count"] == 20
    assert len(asked_of(site)) == 2


async def test_further_pages_of_a_public_instance_keep_its_limits(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [page_of(1, 20), page_of(21, 40), page_of(41, 60)]
    instances = PublicInstances({"a": "A+", "b": "A+"}, {"a": [*pages]})
    with_pool(monkeypatch, instances)
    environ = environment(site, tmp_path, KINDLY_PROFILE="searxng")
    async with calling(environ) as call:
        result = await call("web_search", query="rust async", results_count=50, fetch_content=False)
    assert metadata(result)["results_count"] == 50
    assert instances.called == ["a", "a", "a"]
    assert [query.page for query in instances.queries] == [1, 2, 3]
    # Two calls in 20 seconds are what an instance allows; the third waits.
    assert 20 <= sum(instances.sleep.pauses) <= 23


async def test_a_further_page_that_would_come_too_late_is_left_out(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [page_of(1, 20), page_of(21, 40), page_of(41, 60)]
    instances = PublicInstances({"a": "A+"}, {"a": [*pages]})
    with_pool(monkeypatch, instances)
    environ = environment(site, tmp_path, KINDLY_PROFILE="searxng", KINDLY_SEARCH_TIMEOUT_S="15")
    async with calling(environ) as call:
        result = await call("web_search", query="rust async", results_count=50, fetch_content=False)
    assert metadata(result)["results_count"] == 40
    assert instances.called == ["a", "a"]


async def test_after_all_instances_failed_the_next_call_sends_no_request_and_says_when(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failure = ProviderUnreachable("down")
    instances = PublicInstances({"a": "A+", "b": "A"}, {"a": [failure], "b": [failure]})
    with_pool(monkeypatch, instances)
    environ = environment(site, tmp_path, KINDLY_PROFILE="searxng")
    async with calling(environ) as call:
        first = metadata(await call("web_search", query="rust"))
        instances.clock.advance(10)
        slept_s = sum(instances.sleep.pauses)
        second = await call("web_search", query="rust again")
        third = metadata(await call("web_search", query="rust once more"))
    assert first["attempted_instances"] == [url_of("a"), url_of("b")]
    assert instances.called == ["a", "b"]
    assert sum(instances.sleep.pauses) == slept_s
    assert text_of(second) == "Search failed: No available SearXNG instances"
    told = metadata(second)
    assert told["error_type"] == "no_instances_available"
    assert "all are resting" in told["error_details"]
    assert "plan" not in told["error_details"]
    assert told["attempted_instances"] == third["attempted_instances"] == []
    # The first instance rests for 30 seconds; 10 have passed, and the second call took some of its own.
    assert 19 <= told["retry_after"] == third["retry_after"] <= 20


async def test_after_the_rest_an_instance_is_asked_again(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies: list[ProviderResults | ProviderUnreachable] = [
        ProviderUnreachable("down"),
        page_of(1, 1),
    ]
    instances = PublicInstances({"a": "A+"}, {"a": [*replies]})
    with_pool(monkeypatch, instances)
    environ = environment(site, tmp_path, KINDLY_PROFILE="searxng")
    async with calling(environ) as call:
        first = metadata(await call("web_search", query="rust async"))
        instances.clock.advance(first["retry_after"])
        second = await call("web_search", query="rust async", results_count=1, fetch_content=False)
    assert not second.is_error
    assert instances.called == ["a", "a"]


@pytest.mark.parametrize(
    ("addresses", "listed"),
    [
        (["{site}"], ["{site}"]),
        (["{site}", "{other}"], ["{site}", "{other}"]),
        (["http://user:word@{host}/searx"], ["{site}"]),
    ],
    ids=["one", "several", "with a password"],
)
async def test_own_instances_that_were_asked_are_listed(
    site: Site, tmp_path: Path, addresses: list[str], listed: list[str]
) -> None:
    def filled(texts: Sequence[str]) -> list[str]:
        known = {
            "site": site.url("/searx"),
            "other": site.url("/other"),
            "host": site.url("").removeprefix("http://"),
        }
        return [text.format(**known) for text in texts]

    site.add("/searx/search", Answer(status=500))
    site.add("/other/search", Answer(status=500))
    environ = settings(site, tmp_path, SEARXNG_BASE_URL=",".join(filled(addresses)))
    async with calling(environ) as call:
        result = await call("web_search", query="rust")
    assert sorted(metadata(result)["attempted_instances"]) == sorted(filled(listed))
    assert text_of(result).startswith("Search failed: SearXNG returned a server error")


async def test_own_and_public_instances_that_were_asked_are_listed(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.add("/searx/search", Answer(status=500))
    instances = PublicInstances({"a": "A+"}, {"a": [ProviderUnreachable("down")]})
    with_pool(monkeypatch, instances)
    async with calling(settings(site, tmp_path, KINDLY_SEARXNG_POOL="1")) as call:
        result = await call("web_search", query="rust")
    assert metadata(result)["attempted_instances"] == [site.url("/searx"), url_of("a")]


@pytest.mark.parametrize("fetch_content", [True, False])
async def test_the_text_is_the_summary_and_nothing_else(
    site: Site, tmp_path: Path, fetch_content: bool
) -> None:
    site.add("/searx/search", searxng([site.url("/article"), site.url("/plain")]))
    async with calling(settings(site, tmp_path)) as call:
        result = await call("web_search", query="rust async", fetch_content=fetch_content)
    assert text_of(result) == "Found 2 search results for query 'rust async'"
    assert len(metadata(result)["results"]) == 2


async def test_settings_of_the_file_take_effect(site: Site, tmp_path: Path) -> None:
    file = tmp_path / "kindly.toml"
    table = "default_results_count = 1\nmax_results_count = 2\nmax_summary_length = 60\n"
    file.write_text(f"[web_search]\n{table}extract_code_blocks = false\n", encoding="utf-8")
    code = "<p>Rust async text before the code, long enough to be read as a page.</p><pre><code>canary()</code></pre>"
    site.add("/code", html(f"<title>Code</title><main><article>{code}</article></main>"))
    site.add("/searx/search", searxng([site.url("/code"), site.url("/article")]))
    environ = settings(site, tmp_path / "data", KINDLY_CONFIG=str(file))
    async with calling(environ) as call:
        one = metadata(await call("web_search", query="rust async"))
        three = await call("web_search", query="rust async", results_count=3)
    assert [result["url"] for result in one["results"]] == [site.url("/code")]
    assert "canary" not in one["results"][0]["content"]["markdown"]
    assert len(one["results"][0]["content"]["summary"]) <= 60
    assert three.is_error
    assert "2" in metadata(three)["error_details"]


async def test_summaries_can_be_turned_off(site: Site, tmp_path: Path) -> None:
    site.add("/searx/search", searxng([site.url("/article")]))
    async with calling(settings(site, tmp_path, KINDLY_SUMMARIES="0")) as call:
        found = metadata(await call("web_search", query="rust async"))
    assert found["results"][0]["content"]["summary"] == ""


@pytest.mark.parametrize("options", [[], ["--plain-names"]], ids=["", "plain names"])
async def test_the_tools_are_those_of_the_contract(tmp_path: Path, options: list[str]) -> None:
    environ = {"DATA_DIR": str(tmp_path)}
    async with stdio_client(environ, "--profile", "searxng", *options) as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["web_search"]
