"""Several pages or queries in one call, through a real client."""

from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream

from tests.support.served_world import (
    BOTH,
    GUIDE,
    QUESTION,
    calling,
    environment,
    serper,
    text_of,
)
from tests.support.site import Site, SiteRequest, html

pytestmark = pytest.mark.anyio


def quiet(site: Site, folder: Path, **more: str) -> dict[str, str]:
    return environment(site, folder, **BOTH, KINDLY_BROWSER="off", **more)


async def test_pages_come_in_order_each_once_and_a_failure_is_one_entry(
    site: Site, tmp_path: Path
) -> None:
    article, missing = site.url("/article"), site.url("/missing")
    guide = site.add("/guide", html(f"<main>{GUIDE}</main>"))
    async with calling(quiet(site, tmp_path)) as call:
        answer = await call("get_content", url=[guide, missing, article, f"{guide}?utm_source=x"])
    assert not answer.is_error
    assert answer.structured_content is not None
    pages = answer.structured_content["pages"]
    assert [(page["url"], page["status"]) for page in pages] == [
        (guide, "ok"),
        (missing, "not_found"),
        (article, "ok"),
    ]
    assert "ultraviolet" in pages[2]["page_content"]
    assert "ultraviolet" in text_of(answer)
    assert site.count("/guide") == 1


async def test_the_page_that_answers_best_is_named_first(site: Site, tmp_path: Path) -> None:
    guide = site.add("/guide", html(f"<title>Guide</title><main>{GUIDE}</main>"))
    addresses = [site.url("/article"), guide, site.url("/missing")]
    async with calling(quiet(site, tmp_path)) as call:
        answer = await call("read_page", url=addresses, question=QUESTION)
    assert answer.structured_content is not None
    (best,) = answer.structured_content["best"]
    assert (best["url"], best["answered"]) == (guide, True)
    assert [page["url"] for page in answer.structured_content["pages"]] == addresses
    assert guide in text_of(answer).splitlines()[0]
    assert "at most 4096 widgets" in text_of(answer)


async def test_if_no_page_can_be_read_the_call_is_an_error(site: Site, tmp_path: Path) -> None:
    addresses = [site.url("/missing"), site.url("/status/403")]
    async with calling(quiet(site, tmp_path)) as call:
        for tool, more in (("get_content", {}), ("read_page", {"question": "bees?"})):
            answer = await call(tool, url=addresses, **more)
            assert answer.is_error
            assert answer.structured_content is not None
            statuses = [page["status"] for page in answer.structured_content["pages"]]
            assert statuses == ["not_found", "blocked"]


async def test_several_queries_are_searched_in_one_call(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url("/article"), site.url("/french")]))
    async with calling(quiet(site, tmp_path)) as call:
        answer = await call("web_search", query=["bees", "wasps", "bees"])
    assert answer.structured_content is not None
    results = answer.structured_content["results"]
    assert [one["queries"] for one in results] == [["bees", "wasps"]] * len(results)
    assert [one["query"] for one in answer.structured_content["searches"]] == ["bees", "wasps"]
    assert site.count("/article") == 1
    assert site.count("/serper/search") == 2


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("get_content", {"url": ["https://a.example/"] * 21}, "url: at most 20 at once, not 21"),
        (
            "read_page",
            {"url": ["https://a.example/"] * 21, "question": "x"},
            "url: at most 20 at once, not 21",
        ),
        ("web_search", {"query": ["x"] * 6}, "query: at most 5 at once, not 6"),
        ("get_content", {"url": []}, "at least 1"),
        ("get_content", {"url": ["https://a.example/"], "cursor": "0123456789ab-5"}, "cursor"),
    ],
)
async def test_a_list_that_is_too_long_is_refused_with_the_limit(
    site: Site, tmp_path: Path, tool: str, arguments: dict[str, object], said: str
) -> None:
    async with calling(quiet(site, tmp_path)) as call:
        answer = await call(tool, **arguments)
    assert answer.is_error
    assert said in text_of(answer)
    assert site.requests == []


async def test_a_list_may_come_as_json_text(site: Site, tmp_path: Path) -> None:
    async with calling(quiet(site, tmp_path)) as call:
        answer = await call("get_content", url=f'["{site.url("/article")}"]')
    assert answer.structured_content is not None
    assert [page["status"] for page in answer.structured_content["pages"]] == ["ok"]


async def test_a_single_address_keeps_its_shape(site: Site, tmp_path: Path) -> None:
    url = site.url("/article")
    async with calling(quiet(site, tmp_path)) as call:
        page = await call.page(url)
        asked = await call("read_page", url=url, question="bees?")
        (found,) = [await call("web_search", query="bees")]
    assert "pages" not in page
    assert page["url"] == url
    assert asked.structured_content is not None
    assert set(asked.structured_content) >= {"url", "title", "findings"}
    assert "searches" not in (found.structured_content or {})


async def test_a_cancelled_call_closes_the_connections_of_all_its_pages(
    site: Site, tmp_path: Path
) -> None:
    asked, hung_up = anyio.Semaphore(0), anyio.Semaphore(0)

    async def wait(request: SiteRequest, stream: SocketStream) -> None:
        asked.release()
        with pytest.raises(anyio.EndOfStream):
            await stream.receive()
        hung_up.release()

    addresses = [site.add(f"/wait{n}", wait) for n in range(20)]
    async with calling(quiet(site, tmp_path), "legacy") as call:
        with anyio.fail_after(120):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lambda: call("get_content", url=addresses))
                for _ in addresses:
                    await asked.acquire()
                tasks.cancel_scope.cancel()
            for _ in addresses:
                await hung_up.acquire()
            assert (await call.page(site.url("/article")))["status"] == "ok"
