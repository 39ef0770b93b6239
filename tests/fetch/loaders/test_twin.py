"""Markdown twins: used where they exist, probed once where they do not."""

import anyio
import pytest

from kindly.errors import FetchError, PageNotFound
from kindly.fetch.loader_kit.loader import NotLoaded
from kindly.fetch.loaders.twin import TWIN, Twin, twins_of
from kindly.urls import parse
from tests.support.loader_api import FakeApi, Recorded, recorded

pytestmark = pytest.mark.anyio

SITE = "https://docs.thing.example"
GUIDE = recorded("twin", "guide.md").body


def served(body: bytes = GUIDE, media_type: str = "text/markdown; charset=utf-8") -> Recorded:
    return Recorded(body, headers=(("content-type", media_type), ("etag", '"1"')))


@pytest.mark.parametrize(
    ("url", "matches"),
    [
        (f"{SITE}/guide", True),
        (f"{SITE}/guide/", True),
        ("https://thing.example/docs/guide.html", True),
        ("https://thing.example/en/documentation/x", True),
        ("https://thing.readthedocs.io/en/latest/", True),
        ("https://thing.dev/guide/start", True),
        ("https://developers.thing.example/x", True),
        ("https://thing.example/llms.txt", True),
        ("https://thing.example/docs/llms-full.txt", True),
        (f"{SITE}/", False),
        (f"{SITE}/guide?page=2", False),
        (f"{SITE}/logo.png", False),
        (f"{SITE}/guide.md", False),
        ("https://thing.example/blog/post", False),
        ("http://10.0.0.7/docs/guide", False),
        ("http://localhost/docs/guide", False),
        ("http://wiki.internal/page", False),
    ],
)
def test_documentation_is_known_by_its_address(url: str, matches: bool) -> None:
    assert Twin().matches(parse(url)) is matches


@pytest.mark.parametrize(
    ("url", "twins"),
    [
        ("/guide", ("/guide.md", "/guide/index.md")),
        ("/guide/", ("/guide/index.md", "/guide.md")),
        ("/docs/guide.html", ("/docs/guide.md", "/docs/guide/index.md")),
        ("/docs/index.html", ("/docs.md", "/docs/index.md")),
    ],
)
def test_twins_stand_beside_or_within(url: str, twins: tuple[str, str]) -> None:
    assert tuple(twin.target for twin in twins_of(parse(SITE + url))) == twins


async def test_a_twin_is_the_page_in_markdown() -> None:
    page = await FakeApi({f"{SITE}/guide.md": served()}).load(Twin(), f"{SITE}/guide")
    assert (page.url, page.media_type, page.body) == (f"{SITE}/guide", "text/markdown", GUIDE)
    assert page.etag is None


async def test_plain_text_counts_as_markdown() -> None:
    twin = served(media_type="text/plain")
    page = await FakeApi({f"{SITE}/guide.md": twin}).load(Twin(), f"{SITE}/guide")
    assert page.media_type == "text/markdown"


@pytest.mark.parametrize(
    "answer",
    [
        served(media_type="text/html"),
        served(b"<!-- app --><!DOCTYPE html><html>" + GUIDE),
        served(b"Not found"),
        served(b"\x00" + GUIDE),
        Recorded(status=404),
        Recorded(status=403),
        Recorded(status=500),
    ],
    ids=["html", "html as markdown", "short", "binary", "missing", "forbidden", "broken"],
)
async def test_host_without_twins_is_probed_once_a_day(answer: Recorded) -> None:
    twin = Twin()
    api = FakeApi({f"{SITE}/guide.md": answer})
    for path in ("/guide", "/guide", "/other", "/other/"):
        with pytest.raises(FetchError):
            await api.load(twin, SITE + path)
    assert api.paths == ["/guide.md"]
    await api.time.sleep(86_400)
    with pytest.raises(FetchError):
        await api.load(twin, f"{SITE}/other")
    assert api.paths == ["/guide.md", "/other.md"]


async def test_calls_at_the_same_time_ask_once() -> None:
    twin = Twin()
    api = FakeApi({})

    async def load(path: str) -> None:
        with pytest.raises(FetchError):
            await api.load(twin, SITE + path)

    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            for path in ("/a", "/b", "/c"):
                tasks.start_soon(load, path)
    assert api.paths == ["/a.md"]


async def test_host_with_twins_is_tried_with_both_spellings_and_keeps_its_name() -> None:
    twin = Twin()
    api = FakeApi({f"{SITE}/guide.md": served(), f"{SITE}/other/index.md": served()})
    await api.load(twin, f"{SITE}/guide")
    await api.load(twin, f"{SITE}/other")
    with pytest.raises(PageNotFound):
        await api.load(twin, f"{SITE}/third")
    await api.load(twin, f"{SITE}/guide")
    assert api.paths == [
        "/guide.md",
        "/other.md",
        "/other/index.md",
        "/third.md",
        "/third/index.md",
        "/guide.md",
    ]


async def test_llms_txt_is_markdown() -> None:
    text = recorded("twin", "llms.txt").body
    url = "https://thing.example/llms.txt"
    page = await FakeApi({url: served(text, "text/plain")}).load(Twin(), url)
    assert (page.media_type, page.body, page.etag) == ("text/markdown", text, '"1"')


async def test_llms_txt_that_is_a_web_page_is_given_up() -> None:
    url = "https://thing.example/llms.txt"
    with pytest.raises(NotLoaded):
        await FakeApi({url: served(b"<html>" + GUIDE, "text/html")}).load(Twin(), url)


async def test_a_host_that_is_slow_to_show_a_twin_is_left_alone() -> None:
    with pytest.raises(NotLoaded):
        await FakeApi({}).load(Twin(probe_s=0.0), f"{SITE}/guide")


async def test_apps_do_not_share_what_they_probed() -> None:
    first, second = FakeApi({}), FakeApi({f"{SITE}/guide.md": served()})
    with pytest.raises(FetchError):
        await first.load(TWIN, f"{SITE}/guide")
    assert (await second.load(TWIN, f"{SITE}/guide")).media_type == "text/markdown"
