"""`web_search`: how many results, links that are no pages, notes that do not change, and keys that are blank."""

import json
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream

from kindly.settings import NEEDS, TOKEN_NAMES, Settings
from tests.support.processes import run_kindly
from tests.support.served_world import (
    BOTH,
    EMBEDDINGS,
    GUIDE,
    QUESTION,
    SERPER_KEY,
    TAVILY_KEY,
    as_json,
    calling,
    embedder,
    environment,
    serper,
    tavily,
    text_of,
)
from tests.support.site import Answer, Site, SiteRequest, html

pytestmark = pytest.mark.anyio

BRAVE = "/brave/res/v1/web/search"
QUICK = {"X-RateLimit-Limit": "50, 15000", "X-RateLimit-Policy": "50;w=1, 15000;w=2592000"}
"""A plan on which further pages need not wait."""
LIMITED = Answer(b"", 429, {"Retry-After": "3600"})
UNSUPPORTED = (
    "_Page not read (unsupported): Only http and https URLs can be fetched. "
    "Look for an HTML or text version._"
)


async def test_fifty_results_come_with_their_pages(site: Site, tmp_path: Path) -> None:
    pages = [f"<main><h1>Page {n}</h1><p>Bees of garden number {n}.</p></main>" for n in range(50)]
    site.add(
        "/serper/search",
        serper([site.add(f"/garden/{n}", html(page)) for n, page in enumerate(pages)]),
    )
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        with anyio.fail_after(120):
            results = await call.search(num_results=50)
    assert [result["status"] for result in results] == ["ok"] * 50
    assert all(f"garden number {n}." in result["page_content"] for n, result in enumerate(results))
    (asked,) = (request for request in site.requests if request.path == "/serper/search")
    assert json.loads(asked.body)["num"] == 50


async def test_the_command_line_takes_fifty_results(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url(f"/none/{n}") for n in range(50)]))
    done = await run_kindly(
        environment(site, tmp_path, **BOTH), "search", "--json", "-n", "50", "bees"
    )
    assert done.code == 0, done.err
    assert len(json.loads(done.out)["results"]) == 50


def brave_page(urls: Sequence[str]) -> Answer:
    results = [
        {"title": f"Result at {url}", "url": url, "description": f"About {url}."} for url in urls
    ]
    body = as_json({"query": {"original": "bees"}, "web": {"results": results}})
    return Answer(body.body, headers={**body.headers, **QUICK})


async def test_a_provider_with_short_pages_is_asked_for_further_ones(
    site: Site, tmp_path: Path
) -> None:
    async def brave(request: SiteRequest, stream: SocketStream) -> Answer:
        first = 20 * int(request.query.get("offset", "0"))
        return brave_page([site.url(f"/none/{n}") for n in range(first, first + 20)])

    site.add(BRAVE, brave)
    keys = {"BRAVE_API_KEY": "canary-brave-1", "BRAVE_BASE_URL": site.url("/brave")}
    async with calling(environment(site, tmp_path, **keys)) as call:
        with anyio.fail_after(120):
            results = await call.search(num_results=50)
    assert [result["link"] for result in results] == [site.url(f"/none/{n}") for n in range(50)]
    asked = [request.query for request in site.requests if request.path == BRAVE]
    assert [(query["count"], query.get("offset")) for query in asked] == [
        ("20", None),
        ("20", "1"),
        ("20", "2"),
    ]


@pytest.mark.parametrize(
    ("second", "calls"),
    [(Answer(status=500), 2), (brave_page([]), 2), (brave_page(["https://a.invalid/"]), 2)],
    ids=["fails", "is empty", "is the last one"],
)
async def test_what_a_further_page_does_not_bring_is_not_missed(
    site: Site, tmp_path: Path, second: Answer, calls: int
) -> None:
    async def brave(request: SiteRequest, stream: SocketStream) -> Answer:
        full = brave_page([site.url(f"/none/{n}") for n in range(20)])
        return second if request.query.get("offset") else full

    site.add(BRAVE, brave)
    keys = {"BRAVE_API_KEY": "canary-brave-1", "BRAVE_BASE_URL": site.url("/brave")}
    async with calling(environment(site, tmp_path, **keys)) as call:
        with anyio.fail_after(120):
            results = await call.search(num_results=50)
    assert len(results) in {20, 21}
    assert site.count(BRAVE) == calls


@pytest.mark.parametrize(
    "link", ["ftp://ftp.example.com/pub/bees.txt", "mailto:keeper@example.com?subject=bees"]
)
async def test_a_link_that_is_no_page_is_kept_with_a_note(
    site: Site, tmp_path: Path, link: str
) -> None:
    site.add("/serper/search", serper([link, site.url("/article")]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        first, second = await call.search()
        again, _ = await call.search()
    assert (first["link"], first["status"]) == (link, "unsupported")
    assert first["page_content"] == UNSUPPORTED
    assert again == first
    assert second["status"] == "ok"


async def test_a_note_of_a_rate_limit_does_not_count_seconds(site: Site, tmp_path: Path) -> None:
    link = site.add("/limited", LIMITED)
    site.add("/serper/search", serper([link]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        answers = [await call("web_search", query="bees") for _ in range(2)]
        page = await call("get_content", url=link)
    found = [(answer.structured_content or {})["results"][0] for answer in answers]
    assert site.count("/limited") == 1
    assert found[0]["page_content"] == found[1]["page_content"]
    assert found[0]["page_content"] == (
        f"_Page not read (rate_limited): {site.host} limits the rate of requests (HTTP 429). "
        "Wait before the next request to this site, or use another source._"
    )
    assert [3500 < result["retry_after_s"] <= 3600 for result in found] == [True, True]
    assert "retry after 3" in text_of(answers[0])
    assert page.structured_content is not None
    assert page.structured_content["page_content"] == found[0]["page_content"]
    assert 3500 < page.structured_content["retry_after_s"] <= 3600


BLANKS = ["", " ", "\t \n"]


@pytest.mark.parametrize("blank", BLANKS, ids=repr)
async def test_a_blank_key_is_no_key(site: Site, tmp_path: Path, blank: str) -> None:
    site.add("/tavily/search", tavily([site.url("/article")]))
    keys = {"SERPER_API_KEY": blank, "TAVILY_API_KEY": TAVILY_KEY, "BRAVE_API_KEY": blank}
    async with calling(environment(site, tmp_path, **keys)) as call:
        result = await call("web_search", query="bees")
    assert result.structured_content is not None
    assert result.structured_content["why"] == "tavily: only one configured"
    assert "note" not in result.structured_content
    assert site.count("/serper/search") == 0


@pytest.mark.parametrize("blank", BLANKS, ids=repr)
async def test_with_blank_keys_only_the_error_names_the_variables(
    site: Site, tmp_path: Path, blank: str
) -> None:
    keys = {"SERPER_API_KEY": blank, "TAVILY_API_KEY": blank, "GITHUB_TOKEN": blank}
    async with calling(environment(site, tmp_path, **keys)) as call:
        result = await call("web_search", query="bees")
    assert result.is_error
    assert "SERPER_API_KEY" in text_of(result)
    assert "TAVILY_API_KEY" in text_of(result)
    assert site.requests == []


async def test_a_blank_key_in_the_settings_file_is_no_key(site: Site, tmp_path: Path) -> None:
    site.add("/tavily/search", tavily([site.url("/article")]))
    file = tmp_path / "config.toml"
    file.write_text(
        f'serper_api_key = " "\ntavily_api_key = "{TAVILY_KEY}"\ngithub_token = ""\nsearxng_base_url = []\n',
        encoding="utf-8",
    )
    async with calling(environment(site, tmp_path, KINDLY_CONFIG=str(file))) as call:
        (result,) = await call.search()
    assert result["provider"] == "tavily"


async def test_a_blank_embedding_key_is_not_sent(site: Site, tmp_path: Path) -> None:
    url = site.add("/guide", html(GUIDE))
    site.add(EMBEDDINGS, embedder)
    server = {"EMBEDDING_SERVER_URL": site.url("/embedder"), "EMBEDDING_MODEL_NAME": "tiny"}
    environ = environment(site, tmp_path, **server, EMBEDDING_SERVER_API_KEY=" ")
    async with calling(environ) as call:
        with anyio.fail_after(120):
            await call("read_page", url=url, question=QUESTION)
    asked = [request for request in site.requests if request.path == EMBEDDINGS]
    assert asked
    assert not any("authorization" in request.headers for request in asked)


def test_every_key_and_token_may_be_blank() -> None:
    settings = Settings.load(
        dict.fromkeys([*NEEDS, *TOKEN_NAMES, "EMBEDDING_SERVER_API_KEY"], "  ")
    )
    assert (settings.needed, settings.tokens) == ({}, {})
    assert settings.options["EMBEDDING_SERVER_API_KEY"] is None


async def test_http_408_of_a_provider_falls_back_like_a_time_out(
    site: Site, tmp_path: Path
) -> None:
    site.add("/serper/search", Answer(status=408))
    site.add("/tavily/search", tavily([site.url("/article")]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        assert [result["provider"] for result in await call.search()] == ["tavily"]
    async with calling(environment(site, tmp_path, SERPER_API_KEY=SERPER_KEY)) as call:
        result = await call("web_search", query="bees")
    assert result.is_error
    assert text_of(result).startswith("Serper did not answer in time (HTTP 408).")
