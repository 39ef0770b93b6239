"""Pages of the web, of files and of one long text, asked for again only where they changed."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from kindly.budget import Deadline
from kindly.clock import Clock
from kindly.crawl.files import FileTree
from kindly.crawl.llms_txt import FullPage
from kindly.crawl.page_sources import FullTextSource, TreeSource, WebSource
from kindly.errors import PageNotFound
from kindly.models import Page
from kindly.read.crawls.collection import PageTask
from kindly.read.store import StoreSettings
from kindly.read.stores import open_store
from kindly.stages import Stages
from kindly.urls import Url
from tests.support.fake_stages import FakeExtractor, FakeFetcher, FakeSearcher, page
from tests.support.stored_pages import NOON

pytestmark = pytest.mark.anyio

URL = "https://e.com/a"


@dataclass
class Slow:
    """A clock that only moves when something sleeps."""

    now: datetime = NOON
    slept: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)

    def clock(self) -> Clock:
        return Clock(time=lambda: self.now.timestamp(), sleep=self.sleep)


@dataclass
class AsksAgain:
    """Answers a conditional request with a page, or with none if it is unchanged."""

    changed: Page | None = None
    known: list[Page] = field(default_factory=list)

    async def if_changed(self, url: Url, deadline: Deadline, known: Page) -> Page | None:
        self.known.append(known)
        return self.changed


def stages(fetcher: FakeFetcher | None = None) -> Stages:
    return Stages(FakeSearcher(), fetcher or FakeFetcher({URL: "The text."}), FakeExtractor())


async def test_a_new_page_is_fetched_and_extracted() -> None:
    source = WebSource(stages(), AsksAgain(), Slow().clock(), lambda url: 1.0)
    fetched = await source.fetch(PageTask(URL))
    assert fetched.document is not None
    assert fetched.document.text == "The text."


async def test_a_known_page_is_asked_with_its_validators() -> None:
    fetcher, again = FakeFetcher({URL: "Old."}), AsksAgain()
    source = WebSource(stages(fetcher), again, Slow().clock(), lambda url: 0.0)
    fetched = await source.fetch(PageTask(URL, etag='"e"', last_modified="Mon"))
    assert (fetched.page, fetched.document, fetcher.fetched) == (None, None, [])
    (known,) = again.known
    assert (known.url, known.etag, known.last_modified) == (URL, '"e"', "Mon")


async def test_a_changed_page_is_downloaded_once() -> None:
    fetcher, again = FakeFetcher({URL: "Old."}), AsksAgain(page(URL, "New."))
    source = WebSource(stages(fetcher), again, Slow().clock(), lambda url: 0.0)
    fetched = await source.fetch(PageTask(URL, etag='"e"'))
    assert fetched.document is not None
    assert (fetched.document.text, fetcher.fetched) == ("New.", [])


async def test_servers_that_share_a_queue_share_the_pace() -> None:
    slow = Slow()
    crawls = open_store("memory", StoreSettings(None)).crawls
    source = WebSource(stages(), AsksAgain(), slow.clock(), lambda url: 2.0, crawls)
    for _ in range(3):
        await source.fetch(PageTask(URL))
    assert slow.slept == [2.0, 2.0]


async def test_a_file_is_read_again_only_if_its_bytes_changed(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Title")
    source = TreeSource(stages(), FileTree(tmp_path, "file:///x/"), Slow().clock())
    first = await source.fetch(PageTask("file:///x/a.md"))
    assert first.document is not None
    assert first.page is not None
    again = PageTask("file:///x/a.md", etag=first.page.etag)
    assert (await source.fetch(again)).document is None
    (tmp_path / "a.md").write_text("# Other")
    assert (await source.fetch(again)).document is not None


async def test_pages_of_a_full_text_come_from_it_while_it_has_them() -> None:
    pages = {URL: FullPage(URL, "A", "# A\n\nText.")}
    source = FullTextSource(stages(), pages, Slow().clock())
    first = await source.fetch(PageTask(URL))
    assert first.document is not None
    assert first.page is not None
    assert first.document.text == "# A\n\nText."
    assert (await source.fetch(PageTask(URL, etag=first.page.etag))).document is None
    with pytest.raises(PageNotFound):
        await source.fetch(PageTask("https://e.com/gone"))
