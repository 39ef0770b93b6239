"""Every provider that can be served on loopback, through a real client: set up by its variables alone."""

from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream

from tests.support.fakes import PROVIDER_DATA
from tests.support.served_world import BOTH, calling, environment, serper, tavily, text_of
from tests.support.site import Answer, Route, Site, SiteRequest

pytestmark = pytest.mark.anyio

JSON = {"Content-Type": "application/json"}
HTML = {"Content-Type": "text/html; charset=utf-8"}


def stored(name: str, file: str) -> bytes:
    return (PROVIDER_DATA / name / file).read_bytes()


async def searxng_without_json(request: SiteRequest, stream: SocketStream) -> Answer:
    """An instance as most are installed: JSON is refused, the page is served."""
    if "format" in request.query:
        return Answer(status=403, headers=HTML)
    page = next((PROVIDER_DATA / "searxng").glob("*.html"))
    return Answer(page.read_bytes(), headers=HTML)


PROVIDERS: dict[str, tuple[dict[str, str], str, Route]] = {
    "brave": (
        {"BRAVE_API_KEY": "canary-brave-1", "BRAVE_BASE_URL": "/vendor"},
        "/vendor/res/v1/web/search",
        Answer(stored("brave", "search.json"), headers=JSON),
    ),
    "google": (
        {
            "GOOGLE_API_KEY": "canary-google-1",
            "GOOGLE_SEARCH_ENGINE_ID": "engine",
            "GOOGLE_BASE_URL": "/vendor",
        },
        "/vendor/customsearch/v1",
        Answer(stored("google", "search.json"), headers=JSON),
    ),
    "searxng": (
        {"SEARXNG_BASE_URL": "/vendor"},
        "/vendor/search",
        Answer(stored("searxng", "search.json"), headers=JSON),
    ),
    "searxng, JSON off": ({"SEARXNG_BASE_URL": "/vendor"}, "/vendor/search", searxng_without_json),
}


@pytest.mark.parametrize("name", PROVIDERS)
async def test_a_provider_is_set_up_by_its_variables_alone(
    site: Site, tmp_path: Path, name: str
) -> None:
    variables, path, answer = PROVIDERS[name]
    site.add(path, answer)
    environ = {
        key: site.url(value) if value.startswith("/") else value for key, value in variables.items()
    }
    # The stored results lead to the internet, which no test may touch.
    nowhere = {"KINDLY_ALLOWED_DOMAINS": "nowhere.example"}
    async with calling(environment(site, tmp_path, **environ, **nowhere)) as call:
        with anyio.fail_after(120):
            results = await call.search("structural pattern matching", num_results=2)
    assert len(results) == 2
    assert {result["provider"] for result in results} == {name.partition(",")[0]}
    assert {result["status"] for result in results} == {"refused"}
    assert not any("canary" in request.target for request in site.requests)


async def test_another_order_can_be_set(site: Site, tmp_path: Path) -> None:
    site.add("/tavily/search", tavily([site.url("/article")]))
    environ = environment(site, tmp_path, **BOTH, KINDLY_PROVIDERS="tavily,serper")
    async with calling(environ) as call:
        (result,) = await call.search()
    assert result["provider"] == "tavily"
    assert site.count("/serper/search") == 0


async def test_two_asked_at_once_are_fused(site: Site, tmp_path: Path) -> None:
    both, one, other = site.url("/article"), site.url("/plain"), site.url("/markdown")
    site.add("/serper/search", serper([one, both]))
    site.add("/tavily/search", tavily([other, both]))
    async with calling(environment(site, tmp_path, **BOTH, KINDLY_FUSE="2")) as call:
        results = await call.search("bees")
    assert results[0]["link"] == both
    assert results[0]["found_by"] == ["serper", "tavily"]
    assert {result["link"] for result in results} == {both, one, other}


async def test_the_same_search_is_answered_from_memory(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url("/article")]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        first = await call.search()
        second = await call.search()
    assert [result["link"] for result in first] == [result["link"] for result in second]
    assert site.count("/serper/search") == 1


async def test_an_answer_says_why_its_provider_was_chosen(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", Answer(status=503))
    site.add("/tavily/search", tavily([site.url("/article")]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        result = await call("web_search", query="bees")
    assert result.structured_content is not None
    assert result.structured_content["why"] == "tavily: serper failed (HTTP 503)"


async def test_a_challenge_is_reported_as_blocked_and_not_as_no_results(
    site: Site, tmp_path: Path
) -> None:
    page = (
        b"<html><title>Just a moment...</title><script src=/cdn-cgi/challenge-platform/x></script>"
    )
    site.add("/vendor/search", Answer(page, headers=HTML))
    environ = environment(site, tmp_path, SEARXNG_BASE_URL=site.url("/vendor"))
    async with calling(environ) as call:
        result = await call("web_search", query="bees")
    assert result.is_error
    assert "SearXNG" in text_of(result)
