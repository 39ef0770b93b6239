"""Loaders: first match wins, one that gives up leaves the page to the next."""

from dataclasses import dataclass, field
from typing import ClassVar

import pytest

from kindly.errors import KindlyError, PageNotFound
from kindly.fetch.calls import Fetch, Wanted
from kindly.fetch.loader import Loaders
from kindly.fetch.loaders import LOADERS
from kindly.fetch.loaders.web import WEB
from kindly.fetch.pages import to_page
from kindly.models import Page
from kindly.urls import Url, parse
from tests.fetch.fakes import START, FakeTime, reply

pytestmark = pytest.mark.anyio


class GaveUp(KindlyError):
    """A loader's own failure."""

    try_next: ClassVar[bool] = True


@dataclass
class FakeLoader:
    name: str
    host: str
    error: KindlyError | None = None
    loaded: list[str] = field(default_factory=list)

    def matches(self, url: Url) -> bool:
        return url.host == self.host

    async def load(self, wanted: Wanted, get: Fetch) -> Page:
        self.loaded.append(str(wanted.url))
        if self.error:
            raise self.error
        return await get(wanted)


async def get(wanted: Wanted) -> Page:
    return to_page(reply(body=b"page"), wanted.url, START)


def wanted(url: str) -> Wanted:
    return Wanted(parse(url), FakeTime().deadline())


def test_the_web_is_the_last_loader_and_matches_all() -> None:
    assert LOADERS[-1] is WEB
    assert WEB.matches(parse("https://example.com/"))
    assert len({loader.name for loader in LOADERS}) == len(LOADERS)


async def test_first_matching_loader_loads() -> None:
    other, fitting = FakeLoader("other", "a.example"), FakeLoader("fitting", "b.example")

    page = await Loaders((other, fitting, WEB), get)(wanted("https://b.example/"))

    assert page.body == b"page"
    assert (other.loaded, fitting.loaded) == ([], ["https://b.example/"])


async def test_loader_that_gives_up_leaves_the_page_to_the_next() -> None:
    first = FakeLoader("first", "a.example", GaveUp("no"))

    page = await Loaders((first, WEB), get)(wanted("https://a.example/"))

    assert page.body == b"page"
    assert len(first.loaded) == 1


async def test_loader_that_knows_there_is_nothing_ends_it() -> None:
    first = FakeLoader("first", "a.example", PageNotFound("no", url="https://a.example/"))

    with pytest.raises(PageNotFound):
        await Loaders((first, WEB), get)(wanted("https://a.example/"))
