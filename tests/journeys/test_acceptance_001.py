"""The acceptance criteria of seed 001, one test each, through a real client."""

import re
from pathlib import Path

import pytest

from tests.support.served_world import (
    BOTH,
    CANARIES,
    TAVILY_KEY,
    calling,
    environment,
    serper,
    tavily,
    text_of,
)
from tests.support.site import Answer, Site, hang_up

pytestmark = pytest.mark.anyio


async def test_ac1_only_tavily_key_needs_no_serper_key(site: Site, tmp_path: Path) -> None:
    site.add("/tavily/search", tavily([site.url("/article")]))
    async with calling(environment(site, tmp_path, TAVILY_API_KEY=TAVILY_KEY)) as call:
        assert [result["provider"] for result in await call.search()] == ["tavily"]


async def test_ac2_serper_is_the_default_of_the_two(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url("/article")]))
    site.add("/tavily/search", tavily([site.url("/plain")]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        assert [result["link"] for result in await call.search()] == [site.url("/article")]


@pytest.mark.parametrize(
    "failure",
    [
        Answer(status=500),
        Answer(status=503),
        Answer(status=429),
        Answer(b"<html>"),
        Answer(b"[]"),
        hang_up,
    ],
    ids=["500", "503", "429", "not JSON", "wrong shape", "reset"],
)
async def test_ac3_a_passing_failure_of_serper_falls_back(
    site: Site, tmp_path: Path, failure: Answer
) -> None:
    site.add("/serper/search", failure)
    site.add("/tavily/search", tavily([site.url("/article")]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        assert [result["provider"] for result in await call.search()] == ["tavily"]


@pytest.mark.parametrize("status", [400, 401, 403])
async def test_ac3_a_refusal_by_serper_does_not_fall_back(
    site: Site, tmp_path: Path, status: int
) -> None:
    site.add("/serper/search", Answer(status=status))
    site.add("/tavily/search", tavily([site.url("/article")]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        result = await call("web_search", query="bees")
    assert result.is_error
    assert site.count("/tavily/search") == 0


async def test_ac3_an_empty_result_is_an_answer(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        assert await call.search() == []
    assert site.count("/tavily/search") == 0


async def test_ac3_when_both_fail_the_first_error_stands_with_a_note(
    site: Site, tmp_path: Path
) -> None:
    site.add("/serper/search", Answer(status=429))
    site.add("/tavily/search", Answer(status=401))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        result = await call("web_search", query="bees")
    assert result.is_error
    assert "Serper" in text_of(result)
    assert "fallback failed too" in text_of(result)


async def test_ac4_without_keys_both_variables_are_named(site: Site, tmp_path: Path) -> None:
    async with calling(environment(site, tmp_path)) as call:
        result = await call("web_search", query="bees")
    assert result.is_error
    assert {"SERPER_API_KEY", "TAVILY_API_KEY"} <= set(re.findall(r"\w+", text_of(result)))


async def test_ac5_errors_never_include_keys(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", hang_up)
    site.add("/tavily/search", hang_up)
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        result = await call("web_search", query="bees")
    assert result.is_error
    assert not any(canary in result.model_dump_json() for canary in CANARIES)


async def test_ac6_fewer_results_than_asked_are_returned(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url("/article"), site.url("/plain")]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        assert len(await call.search(num_results=10)) == 2
