"""`web_search` as a model and its host see it."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream

from kindly.budget import count_tokens
from kindly.server.render.formatting import compact
from tests.support.served_world import (
    BOTH,
    GUIDE,
    QUESTION,
    TAVILY_KEY,
    calling,
    environment,
    serper,
    tavily,
    text_of,
)
from tests.support.site import ARTICLE, Answer, Route, Site, SiteRequest, hang_up, html

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
async def test_results_come_in_both_protocol_eras(site: Site, tmp_path: Path, mode: str) -> None:
    site.add("/serper/search", serper([site.url("/article"), site.url("/markdown")]))
    async with calling(environment(site, tmp_path, **BOTH), mode) as call:
        results = await call.search()
    assert [result["status"] for result in results] == ["ok", "ok"]


async def test_text_and_data_say_the_same(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url("/article"), site.url("/status/404")]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        result = await call("web_search", query="bees")
    assert result.structured_content is not None
    for item in result.structured_content["results"]:
        assert all(
            item[key] in text_of(result) for key in ("title", "link", "snippet", "page_content")
        )


async def test_with_only_tavilys_key_tavily_answers_with_page_content(
    site: Site, tmp_path: Path
) -> None:
    site.add("/tavily/search", tavily([site.url("/article")]))
    async with calling(environment(site, tmp_path, TAVILY_API_KEY=TAVILY_KEY)) as call:
        (result,) = await call.search()
    assert result["provider"] == "tavily"
    assert "ultraviolet" in result["page_content"]
    assert site.count("/serper/search") == 0


async def test_with_both_keys_serper_answers(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url("/article")]))
    site.add("/tavily/search", tavily([site.url("/plain")]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        (result,) = await call.search()
    assert (result["provider"], result["link"]) == ("serper", site.url("/article"))
    assert site.count("/tavily/search") == 0


async def test_without_a_key_the_error_names_both_variables(site: Site, tmp_path: Path) -> None:
    async with calling(environment(site, tmp_path)) as call:
        result = await call("web_search", query="bees")
    assert result.is_error
    assert "SERPER_API_KEY" in text_of(result)
    assert "TAVILY_API_KEY" in text_of(result)


TEMPORARY: dict[str, Route] = {
    "500": Answer(status=500),
    "503": Answer(status=503),
    "429": Answer(status=429),
    "408": Answer(status=408),
    "not JSON": Answer(b"<html>"),
    "wrong shape": Answer(b"[]"),
    "reset": hang_up,
}


@pytest.mark.parametrize("failure", TEMPORARY)
async def test_a_temporary_failure_of_serper_is_answered_by_tavily(
    site: Site, tmp_path: Path, failure: str
) -> None:
    site.add("/serper/search", TEMPORARY[failure])
    site.add("/tavily/search", tavily([site.url("/article")]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        assert [result["provider"] for result in await call.search()] == ["tavily"]


@pytest.mark.parametrize("status", [400, 401, 403])
async def test_a_refusal_by_serper_does_not_fall_back(
    site: Site, tmp_path: Path, status: int
) -> None:
    site.add("/serper/search", Answer(status=status))
    site.add("/tavily/search", tavily([site.url("/article")]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        result = await call("web_search", query="bees")
    assert result.is_error
    assert site.count("/tavily/search") == 0


async def test_an_empty_result_does_not_fall_back(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        assert await call.search() == []
    assert site.count("/tavily/search") == 0


async def test_when_both_fail_the_error_is_serpers_with_a_note(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", Answer(status=429))
    site.add("/tavily/search", Answer(status=401))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        result = await call("web_search", query="bees")
    assert result.is_error
    assert "Serper" in text_of(result)
    assert "fallback failed too" in text_of(result)


async def test_fewer_results_than_asked_for_are_returned(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url("/article"), site.url("/plain")]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        assert len(await call.search(num_results=10)) == 2


async def test_page_content_is_always_a_string(site: Site, tmp_path: Path) -> None:
    paths = [
        "/article",
        "/status/404",
        "/status/500",
        "/reset",
        "/binary",
        "/garbage",
        "/loop",
        "/bomb/gzip",
    ]
    addresses = [*(site.url(path) for path in paths), "ftp://example.com/x", "http://10.0.0.1/"]
    site.add("/serper/search", serper(addresses))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        with anyio.fail_after(120):
            results = await call.search(num_results=20)
    assert len(results) >= len(paths)
    for result in results:
        assert isinstance(result["page_content"], str)
        assert result["page_content"]


async def test_filters_reach_the_provider(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        await call.search("bees", site="example.org", time_range="week", num_results="7")
    (request,) = site.requests
    assert b'"num":7' in request.body.replace(b" ", b"")
    assert b"site:example.org" in request.body
    assert b"qdr:w" in request.body


async def test_the_same_failure_has_the_same_note(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url("/status/404"), "http://169.254.169.254/latest"]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        first = await call.search()
        second = await call.search()
    assert first == second
    assert [result["status"] for result in first] == ["not_found", "refused"]


async def test_pages_are_read_at_the_same_time(site: Site, tmp_path: Path) -> None:
    """Every page waits until all of them are requested: sequential requests would never end."""
    asked, all_asked = [], anyio.Event()

    async def meet(request: SiteRequest, stream: SocketStream) -> Answer:
        asked.append(request)
        if len(asked) == 5:
            all_asked.set()
        await all_asked.wait()
        return html("<main><h1>Met</h1><p>All of us met here at the same time.</p></main>")

    site.add("/serper/search", serper([site.add(f"/meet/{n}", meet) for n in range(5)]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        with anyio.fail_after(120):
            results = await call.search(num_results=5)
    assert ["met" in result["page_content"] for result in results] == [True] * 5


async def test_a_page_that_never_answers_does_not_hold_the_others(
    site: Site, tmp_path: Path
) -> None:
    site.add("/serper/search", serper([site.url("/slow-headers"), site.url("/article")]))
    settings = environment(site, tmp_path, **BOTH, REQUEST_TIMEOUT_MS="4000")
    async with calling(settings) as call:
        await call.page(site.url("/plain"))  # starts the worker: only the pages use the time below
        with anyio.fail_after(120):
            results = await call.search()
    assert [result["status"] for result in results] == ["timeout", "ok"]


async def test_a_deadline_ends_a_call_with_what_was_found(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url("/slow-drip"), site.url("/article")]))
    settings = environment(site, tmp_path, **BOTH, KINDLY_DEADLINE_S="8")
    async with calling(settings) as call:
        await call.page(site.url("/plain"))  # starts the worker: only the pages use the time below
        with anyio.fail_after(120):
            results = await call.search()
    assert [result["status"] for result in results] == ["timeout", "ok"]


@pytest.mark.parametrize("max_tokens", [500, 900, 3000])
async def test_no_answer_exceeds_its_budget(site: Site, tmp_path: Path, max_tokens: int) -> None:
    long_page = f"<main><h1>Long</h1>{'<p>Words about bees and flowers.</p>' * 3000}</main>"
    links = [site.add(f"/long/{n}", html(long_page)) for n in range(4)]
    site.add("/serper/search", serper(links))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        result = await call("web_search", query="bees", num_results=4, max_tokens=max_tokens)
    assert count_tokens(text_of(result)) <= max_tokens
    assert count_tokens(compact(result.structured_content)) <= max_tokens


async def test_a_context_bounds_the_answer(site: Site, tmp_path: Path) -> None:
    long_page = f"<main><h1>Long</h1>{'<p>Words about bees and flowers.</p>' * 5000}</main>"
    site.add("/serper/search", serper([site.add("/long", html(long_page))]))
    settings = environment(site, tmp_path, **BOTH, KINDLY_CONTEXT="codex")
    async with calling(settings) as call:
        result = await call("web_search", query="bees", max_tokens=50_000)
    assert 7_000 < count_tokens(text_of(result)) <= 9_000


async def test_a_cut_goes_on_by_cursor_without_another_download(site: Site, tmp_path: Path) -> None:
    lines = "".join(f"<p>Line {n} of the long page.</p>" for n in range(2000))
    link = site.add("/long", html(f"<main><h1>Long</h1>{lines}</main>"))
    site.add("/serper/search", serper([link]))
    seen = ""
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        (part,) = await call.search(max_tokens=4000)
        seen += part["page_content"]
        for _ in range(20):
            if "cursor" not in part:
                break
            part = await call.page(link, cursor=part["cursor"], max_tokens=8000)
            seen += part["page_content"]
    assert all(f"Line {n} of" in seen for n in range(2000))
    assert site.count("/long") == 1


async def test_progress_is_sent(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url("/article"), site.url("/plain")]))
    steps: list[tuple[float, float | None]] = []

    async def watch(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total))

    async with calling(environment(site, tmp_path, **BOTH)) as call:
        await call.client.call_tool("web_search", {"query": "bees"}, progress_callback=watch)
    assert steps == [(1.0, 3.0), (2.0, 3.0), (3.0, 3.0)]


async def test_a_cancelled_call_closes_its_connections(site: Site, tmp_path: Path) -> None:
    asked, hung_up = anyio.Event(), anyio.Event()

    async def wait(request: SiteRequest, stream: SocketStream) -> None:
        asked.set()
        with pytest.raises(anyio.EndOfStream):
            await stream.receive()
        hung_up.set()

    site.add("/serper/search", serper([site.add("/wait", wait)]))
    async with calling(environment(site, tmp_path, **BOTH), "legacy") as call:
        with anyio.fail_after(120):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call.search)
                await asked.wait()
                tasks.cancel_scope.cancel()
            await hung_up.wait()
            assert (await call.page(site.url("/article")))["status"] == "ok"


async def test_page_text_is_fenced_with_another_mark_each_time(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url("/article")]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        (first,) = await call.search()
        (second,) = await call.search()
    marks = [result["page_content"].split(" from ")[0] for result in (first, second)]
    assert all(mark.startswith("<<<web-page ") for mark in marks)
    assert marks[0] != marks[1]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": "x", "num_results": 99}, "num_results"),
        ({"query": "x", "time_range": "decade"}, "time_range"),
        ({"query": "x", "time_range": "none"}, "time_range"),
        ({"query": "x", "safe_search": "none"}, "safe_search"),
        ({"query": "x", "return_full_pages": False}, "return_full_pages"),
        ({"query": "\ud800"}, "query"),
    ],
    ids=[
        "missing",
        "empty",
        "too many",
        "unknown range",
        "no range, as a word",
        "no safe search, as a word",
        "unknown argument",
        "lone surrogate",
    ],
)
async def test_bad_input_is_named_before_any_network_call(
    site: Site, tmp_path: Path, arguments: dict[str, Any], named: str
) -> None:
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        result = await call("web_search", **arguments)
    assert result.is_error
    assert named in text_of(result)
    assert site.requests == []


async def test_an_unknown_tool_is_named(site: Site, tmp_path: Path) -> None:
    async with calling(environment(site, tmp_path)) as call:
        result = await call.client.call_tool("web_surf", {})
    assert result.is_error
    assert "web_search" in text_of(result)


async def test_long_page_of_a_search_is_cut_to_what_the_query_needs(
    site: Site, tmp_path: Path
) -> None:
    site.add("/serper/search", serper([site.add("/guide", html(GUIDE))]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        (result,) = await call.search(QUESTION, max_tokens=1_500)
    content = result["page_content"]
    assert "4096 widgets" in content
    assert "characters left out" in content
    assert "Cut to what the query needs" in content
    assert result["cursor"]


async def test_filters_reach_the_provider_hold_on_the_results_and_are_reported(
    site: Site, tmp_path: Path
) -> None:
    old = site.add(
        "/old",
        html(ARTICLE.replace("<head>", '<head><meta name="date" content="2019-05-06">')),
    )
    new = site.add(
        "/new",
        html(ARTICLE.replace("<head>", '<head><meta name="date" content="2024-05-06">')),
    )
    elsewhere = "https://elsewhere.example/"
    site.add("/serper/search", serper([old, new, elsewhere, site.url("/article")]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        answer = await call(
            "web_search",
            query="bees",
            num_results=4,
            include_domains=[site.host],
            published_after="2024-01-01",
        )
    assert answer.structured_content is not None
    results = answer.structured_content["results"]
    assert [result["link"] for result in results] == [new, site.url("/article")]
    assert (results[0]["published"], results[0]["published_from"]) == ("2024-05-06", "meta")
    assert answer.structured_content["filters"] == {
        "include_domains": "serper",
        "published_after": "serper",
    }
    assert "Left out by them: 2. Without a known date: 1." in text_of(answer)
    sent = json.loads(next(one.body for one in site.requests if one.path == "/serper/search"))
    assert sent["q"] == f"bees site:{site.host} after:2023-12-31"


async def test_a_time_that_ends_before_it_begins_is_refused(site: Site, tmp_path: Path) -> None:
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        answer = await call(
            "web_search",
            query="bees",
            published_after="2024-02-02",
            published_before="2024-02-01",
        )
    assert answer.is_error
    assert "published_after" in text_of(answer)
    assert site.requests == []
