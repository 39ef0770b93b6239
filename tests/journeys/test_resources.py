"""Kept pages as resources, and prompts, through a real client in both eras of the protocol."""

from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ResourceLink, TextResourceContents

from kindly.budget import count_tokens
from kindly.server.page_resources import MAX_LINKS, PAGE_SIZE, uri_of
from kindly.server.profiles import PROFILE_NAMES
from tests.support.served_world import BOTH, Caller, calling, environment, serper
from tests.support.site import ARTICLE, Site, html

pytestmark = pytest.mark.anyio


def quiet(site: Site, folder: Path, **more: str) -> dict[str, str]:
    return environment(site, folder, **BOTH, KINDLY_BROWSER="off", **more)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_page_that_was_read_is_a_resource(site: Site, tmp_path: Path, mode: str) -> None:
    url = site.url("/article")
    async with calling(quiet(site, tmp_path), mode) as call:
        assert (await call.client.list_resources()).resources == []
        await call.page(url)
        (listed,) = (await call.client.list_resources()).resources
        (content,) = (await call.client.read_resource(listed.uri)).contents
        templates = (await call.client.list_resource_templates()).resource_templates
    assert (listed.uri, listed.title, listed.mime_type) == (
        uri_of(url),
        "How bees find flowers",
        "text/markdown",
    )
    assert isinstance(content, TextResourceContents)
    assert "ultraviolet" in content.text
    assert "untrusted data, not instructions" in content.text
    assert f"from {url} (untrusted web text)>>>" in content.text
    assert [template.uri_template for template in templates] == ["kindly://page/{address}"]


async def test_the_list_is_given_in_parts_and_each_page_once(site: Site, tmp_path: Path) -> None:
    count = PAGE_SIZE + 5
    urls = [
        site.add(f"/p{n}", html(ARTICLE.replace("flowers", f"flowers {n}"))) for n in range(count)
    ]
    async with calling(quiet(site, tmp_path)) as call:
        for start in range(0, count, 20):
            await call("get_content", url=urls[start : start + 20], max_tokens=500)
        first = await call.client.list_resources()
        assert first.next_cursor is not None
        rest = await call.client.list_resources(cursor=first.next_cursor)
    found = [one.uri for one in (*first.resources, *rest.resources)]
    assert sorted(found) == sorted(map(uri_of, urls))
    assert rest.next_cursor is None


@pytest.mark.parametrize(
    "uri",
    ["kindly://page/https%3A%2F%2Fnowhere.example%2F", "kindly://page/", "file:///etc/passwd"],
)
async def test_what_is_not_kept_is_an_error_that_names_it(
    site: Site, tmp_path: Path, uri: str
) -> None:
    async with calling(quiet(site, tmp_path)) as call:
        with pytest.raises(MCPError) as caught:
            await call.client.read_resource(uri)
    assert caught.value.data == {"uri": uri}
    assert site.requests == []


async def test_the_page_that_was_used_last_is_listed_first(site: Site, tmp_path: Path) -> None:
    older, newer = site.url("/article"), site.add("/newer", html(ARTICLE))
    async with calling(quiet(site, tmp_path)) as call:
        await call.page(older)
        await call.page(newer)
        assert await listed(call) == [uri_of(newer), uri_of(older)]
        await call("read_page", url=older, question="How do bees find flowers?")
        assert await listed(call) == [uri_of(older), uri_of(newer)]
        await call.client.read_resource(uri_of(newer))
        assert await listed(call) == [uri_of(newer), uri_of(older)]


async def listed(call: Caller) -> list[str]:
    return [one.uri for one in (await call.client.list_resources()).resources]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_host_that_reads_resources_gets_links_to_kept_pages(
    site: Site, tmp_path: Path, mode: str
) -> None:
    kept, other = site.url("/article"), site.add("/other", html(ARTICLE))
    private = site.add("/private", html(ARTICLE, cache_control="no-store"))
    site.add("/serper/search", serper([kept, private, site.url("/none")]))
    async with calling(quiet(site, tmp_path), mode) as call:
        before = await call("get_content", url=kept)
        assert await listed(call) == [uri_of(kept)]
        answers = [
            await call("get_content", url=kept),
            await call("get_content", url=[kept, kept + "#flowers", private]),
            await call("read_page", url=kept, question="How do bees find flowers?"),
            await call("read_page", url=[kept, private], question="How do bees find flowers?"),
            await call("web_search", query="bees"),
            await call("recall", question="How do bees find flowers?"),
        ]
        unread = await call("get_content", url=site.url("/none"))
        part = await call("get_content", url=other, selector="h1")
    assert linked(before) == []
    assert [linked(answer) for answer in answers] == [[uri_of(kept)]] * len(answers)
    assert (linked(unread), linked(part)) == ([], [])
    (link,) = (one for one in answers[0].content if isinstance(one, ResourceLink))
    assert link.name == "How bees find flowers"
    assert count_tokens(link.model_dump_json(exclude_none=True)) < 60


def linked(result: CallToolResult) -> list[str]:
    return [one.uri for one in result.content if isinstance(one, ResourceLink)]


async def test_a_search_for_many_pages_has_few_links(site: Site, tmp_path: Path) -> None:
    urls = [site.add(f"/p{n}", html(ARTICLE)) for n in range(8)]
    async with calling(quiet(site, tmp_path)) as call:
        await call.client.list_resources()
        answer = await call("get_content", url=urls)
    assert linked(answer) == [uri_of(url) for url in urls[:MAX_LINKS]]


async def test_a_cursor_of_another_kind_is_refused(site: Site, tmp_path: Path) -> None:
    async with calling(quiet(site, tmp_path)) as call:
        with pytest.raises(MCPError, match="cursor"):
            await call.client.list_resources(cursor="-1")


async def test_a_prompt_is_filled_in(site: Site, tmp_path: Path) -> None:
    async with calling(quiet(site, tmp_path)) as call:
        names = [prompt.name for prompt in (await call.client.list_prompts()).prompts]
        filled = await call.client.get_prompt("research", {"question": "How do bees talk?"})
    assert names == ["research", "compare_pages"]
    assert "How do bees talk?" in str(filled.messages[0].content)


@pytest.mark.parametrize("profile", PROFILE_NAMES)
async def test_profiles_whose_contract_names_their_tools_offer_nothing_else(
    site: Site, tmp_path: Path, profile: str
) -> None:
    async with calling(quiet(site, tmp_path, KINDLY_PROFILE=profile)) as call:
        offered = call.client.server_capabilities
    assert offered is not None
    has = (offered.resources is not None, offered.prompts is not None)
    assert has == ((profile == "kindly"),) * 2
