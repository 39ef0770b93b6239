"""A research session recorded from the site, and replayed with no network."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream

import kindly
from kindly.errors import PageUnreachable, ProviderUnreachable, SearchError, SettingsError
from kindly.recording.recording_file import Player, RecordedAnswer, Recorder, Request, open_tape
from kindly.redact import Redactor
from kindly.settings import Settings
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

GET = Request("page", "GET", "https://example.com/")


async def session(settings: dict[str, str], url: str) -> list[object]:
    """Some research, and what came out."""
    with anyio.fail_after(60):
        async with kindly.open(settings) as web:
            found = await web.search("frobnicator", count=1)
            page = await web.fetch(url)
            answer = await web.read(url, QUESTION)
    passages = [cited.passage for finding in answer.findings for cited in finding.citations]
    return [found.hits.hits, passages, page, answer.page.crawled_at]


@pytest.fixture
async def recorded(site: Site, tmp_path: Path) -> tuple[Path, str, list[object]]:
    """The file, the page's address, and what the session said when it was recorded."""

    async def echo(request: SiteRequest, stream: SocketStream) -> Answer:
        """A page that shows every header it got, and sets a cookie."""
        shown = html(f"<title>Guide</title>{GUIDE}<p>{request.headers}</p>")
        return Answer(shown.body, headers=shown.headers | {"Set-Cookie": "canary-cookie=1"})

    async def leaky(request: SiteRequest, stream: SocketStream) -> Answer:
        """A provider that shows the key it was given."""
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


async def test_a_session_is_replayed_to_the_letter_with_no_network_and_no_key(
    site: Site, tmp_path: Path, recorded: tuple[Path, str, list[object]]
) -> None:
    path, url, before = recorded
    asked = len(site.requests)
    again = {"KINDLY_CASSETTE": str(path), "DATA_DIR": str(tmp_path / "other")}
    first, second = await session(again, url), await session(again, url)
    assert first == second
    assert first[:2] == before[:2]
    assert len(site.requests) == asked
    assert not (tmp_path / "other").exists()


async def test_no_secret_and_no_cookie_is_recorded(
    recorded: tuple[Path, str, list[object]],
) -> None:
    text = recorded[0].read_text()
    assert "you_sent" in text
    assert not [secret for secret in (*CANARIES, "canary-cookie") if secret in text]


async def test_what_was_not_recorded_is_told(
    tmp_path: Path, recorded: tuple[Path, str, list[object]]
) -> None:
    again = {"KINDLY_CASSETTE": str(recorded[0]), "DATA_DIR": str(tmp_path / "other")}
    with pytest.raises(PageUnreachable, match="cassette holds no answer"):
        async with kindly.open(again) as web:
            await web.fetch(recorded[1] + "/other")
    with pytest.raises(SearchError):
        async with kindly.open(again) as web:
            await web.search("something else")


async def test_failures_are_replayed_too(site: Site, tmp_path: Path) -> None:
    environ = environment(site, tmp_path, KINDLY_BROWSER="off", KINDLY_CASSETTE=str(tmp_path / "c"))
    said = []
    for _ in range(2):
        with pytest.raises(PageUnreachable) as caught:
            async with kindly.open(environ) as web:
                await web.fetch(site.url("/reset"))
        said.append(str(caught.value))
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is not a cassette"),
        ("{}", "is not a cassette"),
        ("nonsense", "is not a cassette"),
        ('{"kindly_cassette": 2, "recorded_at": "2026-01-01"}', "another version"),
        ('{"kindly_cassette": 1, "recorded_at": "yesterday"}', "is not a cassette"),
    ],
)
async def test_a_file_that_is_no_cassette_is_refused_at_start(
    tmp_path: Path, content: str, words: str
) -> None:
    (tmp_path / "c").write_text(content)
    with pytest.raises(SettingsError, match=words):
        Settings.load({"KINDLY_CASSETTE": str(tmp_path / "c")})


def test_a_file_that_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        Settings.load({"KINDLY_CASSETTE": str(tmp_path)})
    recorder = Recorder(tmp_path / "none" / "c", Redactor.of(()), {})
    with pytest.raises(SettingsError, match="cannot be written"):
        recorder.keep(GET, RecordedAnswer(200))
    recorder.close()


@pytest.mark.parametrize("body", [b"plain \xc3\xa9", b"\x89PNG\xff\xfe", b""])
def test_bytes_come_back_as_they_were(tmp_path: Path, body: bytes) -> None:
    nobody = Redactor.of(())
    recorder = open_tape(tmp_path / "c", nobody, {})
    recorder.keep(
        GET, RecordedAnswer(200, (("content-type", "text/plain"), ("set-cookie", "x=1")), body)
    )
    recorder.keep(GET, RecordedAnswer(404))
    recorder.close()
    player = Player(tmp_path / "c", nobody)
    found = [player.find(GET) for _ in range(3)]
    assert found[0] == RecordedAnswer(200, (("content-type", "text/plain"),), body)
    assert [one.status for one in found] == [200, 404, 404]


async def test_a_rendered_page_is_replayed_without_a_browser(site: Site, tmp_path: Path) -> None:
    app = """<title>App</title><div id=root></div><script>
      document.getElementById("root").innerHTML = "<h1>Made by script</h1><p>" + "Words. ".repeat(60) + "</p>"
    </script>"""
    url = site.add("/app", html(app))
    environ = environment(site, tmp_path, KINDLY_CASSETTE=str(tmp_path / "c"))
    pages: list[Any] = []
    with anyio.fail_after(90):
        for more in ({}, {"KINDLY_BROWSER": "off"}):
            async with kindly.open(environ | more) as web:
                pages.append(await web.fetch(url))
    assert [str(page.how) for page in pages] == ["browser", "browser"]
    assert pages[0].text == pages[1].text
    assert "Made by script" in pages[1].text


async def test_a_provider_that_was_down_is_down_again(site: Site, tmp_path: Path) -> None:
    environ = environment(
        site, tmp_path, KINDLY_CASSETTE=str(tmp_path / "c"), SERPER_API_KEY="canary-serper-1"
    )
    environ["SERPER_BASE_URL"] = "http://127.0.0.1:9/none"
    for _ in range(2):
        with pytest.raises(SearchError) as caught:
            async with kindly.open(environ) as web:
                await web.search("bees")
        assert isinstance(caught.value, ProviderUnreachable) or "Serper" in str(caught.value)
