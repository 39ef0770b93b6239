"""The captions of a page's own video, through a real client."""

from pathlib import Path

import pytest

from tests.support.served_world import calling, environment, text_of
from tests.support.site import ARTICLE, Site, html, text

pytestmark = pytest.mark.anyio

VIDEO = "<video controls src='/talk.mp4'><track kind='captions' srclang='en' src='{}'></video>"
VTT = "WEBVTT\n\n00:01:01.000 --> 00:01:04.000\nThe frobnicator was named by Ada.\n"


def talk(site: Site, captions: str) -> str:
    body = ARTICLE.replace("</article>", VIDEO.format(captions) + "</article>")
    assert body != ARTICLE
    return site.add("/talk", html(body))


async def test_what_is_said_in_a_video_is_part_of_the_page(site: Site, tmp_path: Path) -> None:
    site.add("/talk.vtt", text(VTT, "text/vtt"))
    url = talk(site, "/talk.vtt")
    async with calling(environment(site, tmp_path, KINDLY_BROWSER="off")) as call:
        page = await call.page(url)
        read = await call("read_page", url=url, question="Who named the frobnicator?")
        await call("get_content", url=url, selector="h1")
    assert "## Transcript (en)" in page["page_content"]
    assert "[1:01] The frobnicator was named by Ada." in page["page_content"]
    assert "named by Ada" in text_of(read)
    assert site.count("/talk.vtt") == 1


@pytest.mark.parametrize(
    "captions", ["/none.vtt", "/page.vtt", "http://10.0.0.1/x.vtt", "file:///x"]
)
async def test_captions_that_cannot_be_read_are_reported(
    site: Site, tmp_path: Path, captions: str
) -> None:
    site.add("/page.vtt", html("<p>Please log in.</p>"))
    url = talk(site, captions)
    async with calling(environment(site, tmp_path, KINDLY_BROWSER="off")) as call:
        page = await call.page(url)
    assert page["status"] == "ok"
    assert "ultraviolet" in page["page_content"]
    assert "The captions of the page's video could not be read." in page["page_content"]


async def test_a_video_without_captions_is_reported(site: Site, tmp_path: Path) -> None:
    body = ARTICLE.replace("</article>", "<video controls src='/talk.mp4'></video></article>")
    url = site.add("/talk", html(body))
    async with calling(environment(site, tmp_path, KINDLY_BROWSER="off")) as call:
        page = await call.page(url)
    assert "The page has a video without captions" in page["page_content"]
