"""A session is recorded from a local site and replayed without the network."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream

import kindly
from kindly.errors import PageUnreachable, ProviderUnreachable, SearchError
from tests.support.served_world import (
    BOTH,
    CANARIES,
    EMBEDDINGS,
    GUIDE,
    QUESTION,
    embedder,
    environment,
    serper,
)
from tests.support.site import Answer, Site, SiteRequest, html

pytestmark = pytest.mark.anyio


async def session(settings: dict[str, str], url: str) -> list[object]:
    """Search, fetch and read; the results."""
    with anyio.fail_after(120):
        async with kindly.open(settings) as web:
            found = await web.search("frobnicator", count=1)
            page = await web.fetch(url)
            answer = await web.read(url, QUESTION)
    passages = [cited.passage for finding in answer.findings for cited in finding.citations]
    return [found.hits.hits, passages, page, answer.page.crawled_at]


@pytest.fixture
async def recorded(site: Site, tmp_path: Path) -> tuple[Path, str, list[object]]:
    """The file, the page's address, and the results while recording."""

    async def echo(request: SiteRequest, stream: SocketStream) -> Answer:
        """A page that shows every request header, and sets a cookie."""
        shown = html(f"<title>Guide</title>{GUIDE}<p>{request.headers}</p>")
        return Answer(shown.body, headers=shown.headers | {"Set-Cookie": "canary-cookie=1"})

    async def leaky(request: SiteRequest, stream: SocketStream) -> Answer:
        """A provider that returns the key of the request."""
        answer = json.loads(serper([url]).body) | {"you_sent": request.headers}
        return Answer(json.dumps(answer).encode(), headers={"Content-Type": "application/json"})

    url = site.add("/guide", echo)
    site.add("/serper/search", leaky)
    site.add(EMBEDDINGS, embedder)
    path = tmp_path / "session.jsonl"
    environ = environment(
        site,
        tmp_path / "data",
        KINDLY_BROWSER="off",
        KINDLY_CASSETTE=str(path),
        EMBEDDING_SERVER_URL=site.url("/embedder"),
        **BOTH,
    )
    return path, url, await session(environ, url)


async def test_a_replay_gives_the_same_results_without_network_and_keys(
    site: Site, tmp_path: Path, recorded: tuple[Path, str, list[object]]
) -> None:
    path, url, before = recorded
    requests = len(site.requests)
    again = {"KINDLY_CASSETTE": str(path), "DATA_DIR": str(tmp_path / "other")}
    first, second = await session(again, url), await session(again, url)
    assert first == second
    assert first[:2] == before[:2]
    assert len(site.requests) == requests
    assert not (tmp_path / "other").exists()


async def test_no_secret_and_no_cookie_is_recorded(
    recorded: tuple[Path, str, list[object]],
) -> None:
    text = recorded[0].read_text()
    assert "you_sent" in text
    assert not [secret for secret in (*CANARIES, "canary-cookie") if secret in text]


async def test_a_request_that_was_not_recorded_fails(
    tmp_path: Path, recorded: tuple[Path, str, list[object]]
) -> None:
    again = {"KINDLY_CASSETTE": str(recorded[0]), "DATA_DIR": str(tmp_path / "other")}
    with pytest.raises(PageUnreachable, match="recording has no answer"):
        async with kindly.open(again) as web:
            await web.fetch(recorded[1] + "/other")
    with pytest.raises(SearchError):
        async with kindly.open(again) as web:
            await web.search("something else")


async def test_failures_are_replayed_too(site: Site, tmp_path: Path) -> None:
    environ = environment(site, tmp_path, KINDLY_BROWSER="off", KINDLY_CASSETTE=str(tmp_path / "c"))
    details = []
    for _ in range(2):
        with pytest.raises(PageUnreachable) as caught:
            async with kindly.open(environ) as web:
                await web.fetch(site.url("/reset"))
        details.append(str(caught.value))
    assert details[0] == details[1]


async def test_a_rendered_page_is_replayed_without_a_browser(site: Site, tmp_path: Path) -> None:
    app = """<title>App</title><div id=root></div><script>
      document.getElementById("root").innerHTML = "<h1>Made by script</h1><p>" + "Words. ".repeat(60) + "</p>"
    </script>"""
    url = site.add("/app", html(app))
    environ = environment(site, tmp_path, KINDLY_CASSETTE=str(tmp_path / "c"))
    pages: list[Any] = []
    with anyio.fail_after(120):
        for more in ({}, {"KINDLY_BROWSER": "off"}):
            async with kindly.open(environ | more) as web:
                pages.append(await web.fetch(url))
    assert [str(page.how) for page in pages] == ["browser", "browser"]
    assert pages[0].text == pages[1].text
    assert "Made by script" in pages[1].text


async def test_the_failure_of_a_provider_is_replayed(site: Site, tmp_path: Path) -> None:
    environ = environment(
        site, tmp_path, KINDLY_CASSETTE=str(tmp_path / "c"), SERPER_API_KEY="canary-serper-1"
    )
    environ["SERPER_BASE_URL"] = "http://127.0.0.1:9/none"
    for _ in range(2):
        with pytest.raises(SearchError) as caught:
            async with kindly.open(environ) as web:
                await web.search("bees")
        assert isinstance(caught.value, ProviderUnreachable) or "Serper" in str(caught.value)
