"""`recall` through a real client: what any tool has read, without a request."""

from pathlib import Path

import pytest

from kindly.api import open_kindly
from tests.support.served_world import BOTH, GUIDE, QUESTION, calling, environment, serper, text_of
from tests.support.site import Answer, Site, html

pytestmark = pytest.mark.anyio


async def test_recall_knows_what_every_tool_has_read(site: Site, tmp_path: Path) -> None:
    url = site.add("/guide", html(GUIDE))
    site.add(
        "/tea", html("<h1>Tea</h1><p>Green tea is steeped at eighty degrees for two minutes.</p>")
    )
    site.add("/serper/search", serper([site.url("/article")]))
    environ = environment(site, tmp_path, **BOTH)
    async with calling(environ) as call:
        await call.search("bees")
        await call.page(site.url("/tea"))
        await call("read_page", url=url, question=QUESTION)
    before = len(site.requests)
    async with calling(environ) as call:
        result = await call(
            "recall",
            question=["ultraviolet light flowers bees", "green tea steeped degrees", QUESTION],
        )
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    found = [finding["passages"][0]["url"] for finding in result.structured_content["findings"]]
    assert found == [site.url("/article"), site.url("/tea"), url]
    assert len(site.requests) == before


async def test_page_not_to_be_stored_is_not_recalled(site: Site, tmp_path: Path) -> None:
    body = html("<h1>Private</h1><p>The zanzibar parameter is forty-two for this account.</p>")
    assert isinstance(body, Answer)
    site.add("/private", Answer(body.body, 200, {**body.headers, "Cache-Control": "no-store"}))
    async with calling(environment(site, tmp_path)) as call:
        result = await call("read_page", url=site.url("/private"), question="zanzibar parameter")
        assert result.structured_content is not None
        assert result.structured_content["findings"][0]["answered"]
        result = await call("recall", question="zanzibar parameter")
    assert result.structured_content is not None
    assert not result.structured_content["findings"][0]["answered"]


async def test_recall_of_a_collection_names_the_version(site: Site, tmp_path: Path) -> None:
    environ = environment(site, tmp_path)
    for version, limit in (("1.0", 10), ("2.0", 99)):
        text = f"<h1>Limits</h1><p>The frobnicator accepts {limit} widgets in one batch.</p>"
        site.add(f"/v{version}/", html(text))
        async with open_kindly(environ) as web:
            await web.index(site.url(f"/v{version}/"), f"frob@{version}")
            assert [one.collection.name for one in await web.collections()][-1] == "frob"
    async with calling(environ) as call:
        for version, number in (("1.0", "10"), ("2.0", "99")):
            result = await call("recall", question=QUESTION, collection=f"frob@{version}")
            assert result.structured_content is not None
            (passage,) = result.structured_content["findings"][0]["passages"]
            assert (passage["collection"], number in passage["text"]) == (f"frob@{version}", True)
            assert f"frob@{version}" in text_of(result)
        both = await call("recall", question=QUESTION, collection="frob", since="1 day ago")
        assert both.structured_content is not None
        assert len(both.structured_content["findings"][0]["passages"]) == 2
        for wrong, said in (
            ({"collection": "other"}, "Collections: frob@1.0, frob@2.0"),
            ({"since": "some time"}, "2026-01-31"),
        ):
            refused = await call("recall", question=QUESTION, **wrong)
            assert refused.is_error
            assert said in text_of(refused)
        nothing = await call("recall", question=QUESTION, site="else.example")
        assert nothing.structured_content is not None
        assert nothing.structured_content["findings"][0]["passages"] == []


async def test_a_search_of_an_indexed_site_is_answered_by_its_collection(
    site: Site, tmp_path: Path
) -> None:
    environ = environment(site, tmp_path)
    site.add(
        "/docs/", html("<h1>Limits</h1><p>The frobnicator accepts 4096 widgets in one batch.</p>")
    )
    async with open_kindly(environ) as web:
        await web.index(site.url("/docs/"), "frob@1.0")
    async with calling(environ) as call:
        result = await call("web_search", query=QUESTION, site=site.host)
        assert not result.is_error, text_of(result)
        assert result.structured_content is not None
        (found,) = result.structured_content["results"]
        assert (found["link"], "4096 widgets" in found["page_content"]) == (
            site.url("/docs/"),
            True,
        )
        assert "collection frob@1.0, without a search" in text_of(result)
        for other in ({"site": "else.example"}, {}):
            assert (await call("web_search", query=QUESTION, **other)).is_error
