"""`web.search` of profile `pages` through a real client: Google's own JSON, query by query."""

import json
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream

from kindly.budget import count_tokens
from tests.support.google_items import google_item
from tests.support.pages_profile import (
    GOOGLE,
    KEYS,
    SERVER,
    asked,
    data,
    google,
    google_json,
    settings,
)
from tests.support.postgres import postgres as postgres
from tests.support.served_world import (
    EMBEDDINGS,
    GUIDE,
    QUESTION,
    as_json,
    calling,
    embedder,
    serper,
    text_of,
)
from tests.support.site import Answer, Handler, Site, SiteRequest, html, once

pytestmark = pytest.mark.anyio


async def test_each_query_gets_googles_own_json_in_order(site: Site, tmp_path: Path) -> None:
    site.add(GOOGLE, google())
    async with calling(settings(site, tmp_path, **KEYS)) as call:
        answer = data(await call("web.search", query=["cats", "dogs", "eels"]))
        alone = data(await call("web.search", query="newts"))
    expected = [{"query": text, "result": google_json(text)} for text in ("cats", "dogs", "eels")]
    assert answer == {"queries": expected}
    assert alone == {"queries": [{"query": "newts", "result": google_json("newts")}]}
    for request in asked(site):
        assert request.headers["x-goog-api-key"] == KEYS["GOOGLE_API_KEY"]
        assert request.query["cx"] == KEYS["GOOGLE_SEARCH_ENGINE_ID"]
        assert request.query["num"] == "10"


async def test_queries_that_come_as_the_text_of_a_list_are_a_list(
    site: Site, tmp_path: Path
) -> None:
    site.add(GOOGLE, google())
    async with calling(settings(site, tmp_path, **KEYS)) as call:
        answer = data(await call("web.search", query='["cats", "dogs"]'))
    assert [one["query"] for one in answer["queries"]] == ["cats", "dogs"]


@pytest.mark.parametrize(
    ("failure", "code"),
    [(Answer(status=400), 400), (Answer(status=429), 429), (Answer(b"<html>"), 503)],
    ids=["refused", "rate limit", "no JSON"],
)
async def test_a_query_that_fails_does_not_sink_the_others(
    site: Site, tmp_path: Path, failure: Answer, code: int
) -> None:
    site.add(GOOGLE, google(dogs=failure))
    async with calling(settings(site, tmp_path, **KEYS)) as call:
        with anyio.fail_after(120):
            answer = data(await call("web.search", query=["cats", "dogs", "eels"]))
    first, second, third = answer["queries"]
    assert first["result"] == google_json("cats")
    assert third["result"] == google_json("eels")
    assert second["query"] == "dogs"
    assert second["result"]["error"]["code"] == code
    assert "Google" in second["result"]["error"]["message"]
    assert "items" not in second["result"]
    assert KEYS["GOOGLE_API_KEY"] not in json.dumps(answer)


@pytest.mark.parametrize(
    ("status", "requests"), [(500, 2), (503, 2), (429, 1), (400, 1), (403, 1)], ids=str
)
async def test_a_server_error_is_tried_once_more_and_nothing_else(
    site: Site, tmp_path: Path, status: int, requests: int
) -> None:
    site.add(GOOGLE, Answer(status=status))
    async with calling(settings(site, tmp_path, **KEYS)) as call:
        with anyio.fail_after(120):
            answer = await call("web.search", query="cats")
    assert answer.is_error
    assert "Google" in text_of(answer)
    assert len(asked(site)) == requests


async def test_a_passing_fault_is_not_noticed(site: Site, tmp_path: Path) -> None:
    site.add(GOOGLE, once(Answer(status=502), as_json(google_json("cats"))))
    async with calling(settings(site, tmp_path, **KEYS)) as call:
        answer = data(await call("web.search", query="cats"))
    assert answer["queries"][0]["result"] == google_json("cats")


async def test_as_many_queries_run_at_once_as_set(site: Site, tmp_path: Path) -> None:
    """No request is answered before a second one has arrived; there are never three."""
    running, most, two = 0, 0, anyio.Event()

    async def meet(request: SiteRequest, stream: SocketStream) -> Answer:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 2:
            two.set()
        await two.wait()
        running -= 1
        return as_json(google_json(request.query["q"]))

    site.add(GOOGLE, meet)
    async with calling(settings(site, tmp_path, **KEYS)) as call:
        with anyio.fail_after(120):
            answer = data(await call("web.search", query=[f"q{n}" for n in range(6)]))
    assert len(answer["queries"]) == 6
    assert most == 2


async def test_searches_downloads_and_embeddings_share_one_cap(site: Site, tmp_path: Path) -> None:
    """Four searches and four pages with their embeddings at once: two requests run concurrently, never three."""
    running, most, two = 0, 0, anyio.Event()

    def counted(route: Handler) -> Handler:
        async def answer(request: SiteRequest, stream: SocketStream) -> Answer | None:
            nonlocal running, most
            running += 1
            most = max(most, running)
            if running == 2:
                two.set()
            await two.wait()
            found = await route(request, stream)
            running -= 1
            return found

        return answer

    async def page(request: SiteRequest, stream: SocketStream) -> Answer:
        return html(GUIDE)

    site.add(GOOGLE, counted(google()))
    site.add(EMBEDDINGS, counted(embedder))
    urls = [site.add(f"/guide/{number}", counted(page)) for number in range(4)]
    given = {**KEYS, **SERVER, "EMBEDDING_SERVER_URL": site.url("/embedder")}
    async with calling(settings(site, tmp_path, **given)) as call:
        with anyio.fail_after(120):
            async with anyio.create_task_group() as tasks:
                for number, url in enumerate(urls):
                    tasks.start_soon(partial(call, "web.search", query=f"q{number}"))
                    tasks.start_soon(partial(call, "web.readFromPage", url=url, query=QUESTION))
    assert most == 2
    assert {GOOGLE, EMBEDDINGS, "/guide/3"} <= {request.path for request in site.requests}


async def test_results_per_query_are_collected_in_tens(site: Site, tmp_path: Path) -> None:
    async def pages(request: SiteRequest, stream: SocketStream) -> Answer:
        start, count = int(request.query.get("start", "1")), int(request.query["num"])
        return as_json(google_json(request.query["q"], start=start, count=count, more=start < 21))

    site.add(GOOGLE, pages)
    async with calling(settings(site, tmp_path, **KEYS)) as call:
        answer = data(await call("web.search", query=["cats", "dogs"], resultsPerQuery=25))
    for one in answer["queries"]:
        links = [item["link"] for item in one["result"]["items"]]
        assert links == [f"https://example.com/{one['query']}/{n}" for n in range(1, 26)]
    cats = [request.query for request in asked(site) if request.query["q"] == "cats"]
    assert sorted((one.get("start", "1"), one["num"]) for one in cats) == [
        ("1", "10"),
        ("11", "10"),
        ("21", "5"),
    ]


@pytest.mark.parametrize(
    ("default", "arguments", "safe"),
    [
        (None, {}, "off"),
        (None, {"safeSearch": "off"}, "off"),
        (None, {"safeSearch": "moderate"}, "active"),
        (None, {"safeSearch": "strict"}, "active"),
        ("off", {}, "off"),
        ("moderate", {}, "active"),
        ("strict", {}, "active"),
        ("strict", {"safeSearch": "off"}, "off"),
    ],
    ids=str,
)
async def test_safe_search_goes_out_as_google_names_it(
    site: Site, tmp_path: Path, default: str | None, arguments: dict[str, str], safe: str
) -> None:
    site.add(GOOGLE, google())
    given = KEYS | ({"GOOGLE_SAFE_SEARCH": default} if default else {})
    async with calling(settings(site, tmp_path, **given)) as call:
        await call("web.search", query="cats", **arguments)
    assert asked(site)[0].query["safe"] == safe


async def test_region_and_language_reach_google(site: Site, tmp_path: Path) -> None:
    site.add(GOOGLE, google())
    async with calling(settings(site, tmp_path, **KEYS)) as call:
        await call("web.search", query="cats", region="DE", language="de", resultsPerQuery=3)
    sent = asked(site)[0].query
    assert (sent["gl"], sent["hl"], sent["lr"], sent["num"]) == ("de", "de", "lang_de", "3")


@pytest.mark.parametrize(
    ("region", "language", "gl", "hl", "lr"),
    [
        ("AT", "pt-BR", "at", "pt-BR", "lang_pt"),
        ("South Tyrol", "Klingon", "South Tyrol", "Klingon", "Klingon"),
        ("none", "lang_de", "none", "lang_de", "lang_de"),
    ],
    ids=["codes", "names", "other words"],
)
async def test_any_region_and_language_reach_google(
    site: Site, tmp_path: Path, region: str, language: str, gl: str, hl: str, lr: str
) -> None:
    site.add(GOOGLE, google())
    async with calling(settings(site, tmp_path, **KEYS)) as call:
        data(await call("web.search", query="cats", region=region, language=language))
    sent = asked(site)[0].query
    assert (sent["gl"], sent["hl"], sent["lr"]) == (gl, hl, lr)


@pytest.mark.parametrize(
    "given",
    [{}, {"GOOGLE_API_KEY": "x" * 20}, {"SERPER_API_KEY": "canary-serper-1"}],
    ids=["no key", "one of two", "another provider's"],
)
async def test_without_googles_keys_both_variables_are_named(
    site: Site, tmp_path: Path, given: dict[str, str]
) -> None:
    async with calling(settings(site, tmp_path, **given)) as call:
        answer = await call("web.search", query=["cats", "dogs"])
    assert answer.is_error
    assert "GOOGLE_API_KEY" in text_of(answer)
    assert "GOOGLE_SEARCH_ENGINE_ID" in text_of(answer)
    assert "KINDLY_PAGES_ANY_PROVIDER=1" in text_of(answer)
    assert site.requests == []


async def test_another_provider_answers_in_googles_shape_when_allowed(
    site: Site, tmp_path: Path
) -> None:
    site.add("/serper/search", serper(["https://www.example.org/bees", "https://example.net/"]))
    given = {"SERPER_API_KEY": "canary-serper-1", "KINDLY_PAGES_ANY_PROVIDER": "1"}
    async with calling(settings(site, tmp_path, **given)) as call:
        answer = data(await call("web.search", query="bees"))
    result = answer["queries"][0]["result"]
    assert result["kind"] == "customsearch#search"
    request = result["queries"]["request"][0]
    assert (request["searchTerms"], request["count"], request["startIndex"]) == ("bees", 2, 1)
    assert result["searchInformation"]["totalResults"] == request["totalResults"] == "2"
    assert result["searchInformation"]["searchTime"] >= 0
    assert result["items"][0] == {
        "kind": "customsearch#result",
        "title": "Result 1",
        "link": "https://www.example.org/bees",
        "displayLink": "example.org",
        "snippet": "Snippet 1.",
        "formattedUrl": "https://www.example.org/bees",
    }


async def test_nothing_found_is_an_answer_without_items(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([]))
    given = {"SERPER_API_KEY": "canary-serper-1", "KINDLY_PAGES_ANY_PROVIDER": "1"}
    async with calling(settings(site, tmp_path, **given)) as call:
        answer = data(await call("web.search", query="bees"))
    assert "items" not in answer["queries"][0]["result"]
    assert answer["queries"][0]["result"]["searchInformation"]["totalResults"] == "0"


async def test_an_answer_that_would_be_too_large_leaves_items_out_and_says_so(
    site: Site, tmp_path: Path
) -> None:
    async def many(request: SiteRequest, stream: SocketStream) -> Answer:
        return as_json(google_json(request.query["q"], count=10))

    site.add(GOOGLE, many)
    async with calling(settings(site, tmp_path, **KEYS, KINDLY_MAX_TOKENS="900")) as call:
        answer = await call("web.search", query=["cats", "dogs"])
        too_many = await call("web.search", query=[f"{n} {'x' * 1_000}" for n in range(9)])
    found = data(answer)
    assert count_tokens(text_of(answer)) <= 900
    assert "left out" in found["note"]
    for one in found["queries"]:
        whole = google_json(one["query"], count=10)
        kept = one["result"]["items"]
        assert one["result"] == whole | {"items": whole["items"][: len(kept)]}
        assert 1 <= len(kept) < 10
    assert too_many.is_error
    assert "query" in text_of(too_many)


async def realistic(request: SiteRequest, stream: SocketStream) -> Answer:
    """Google, with results as large as real ones."""
    text, count = request.query["q"], int(request.query["num"])
    start = int(request.query.get("start", "1"))
    whole = google_json(text, start=start, count=count, more=start < 41)
    items = [google_item(text, number) for number in range(start, start + count)]
    return as_json(whole | {"items": items})


@pytest.mark.parametrize(("queries", "results"), [(5, 10), (3, 20), (1, 50)], ids=str)
async def test_raw_json_is_complete_at_the_defaults(
    site: Site, tmp_path: Path, queries: int, results: int
) -> None:
    site.add(GOOGLE, realistic)
    texts = [f"range {number}" for number in range(queries)]
    async with calling(settings(site, tmp_path, **KEYS)) as call:
        answer = await call("web.search", query=texts, resultsPerQuery=results)
    found = data(answer)
    assert count_tokens(text_of(answer)) > 25_000
    assert set(found) == {"queries"}
    for text, one in zip(texts, found["queries"], strict=True):
        expected = [google_item(text, number) for number in range(1, results + 1)]
        assert one["result"]["items"] == expected


async def test_items_beyond_the_cap_of_the_host_are_left_out_whole_and_counted(
    site: Site, tmp_path: Path
) -> None:
    site.add(GOOGLE, realistic)
    environ = settings(site, tmp_path, **KEYS, KINDLY_CONTEXT="claude-code")
    async with calling(environ) as call:
        answer = await call("web.search", query=["east", "west"], resultsPerQuery=40)
    found = data(answer)
    assert 15_000 < count_tokens(text_of(answer)) <= 20_000
    kept = 0
    for one in found["queries"]:
        items = one["result"]["items"]
        assert items == [google_item(one["query"], number) for number in range(1, len(items) + 1)]
        kept += len(items)
    assert 0 < kept < 80
    assert found["note"].startswith(f"{80 - kept} items were left out")
