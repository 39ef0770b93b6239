"""Copies of dead pages: the answer of the availability API, and what is made of a copy."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from kindly.budget import Deadline
from kindly.errors import FetchError, PageNotFound, PageUnreachable
from kindly.fetch.chain.types import PageRequest
from kindly.fetch.chain.wayback import HOW, Snapshot, WaybackMachine, closest, is_public_name
from kindly.models import Page
from kindly.urls import parse

pytestmark = pytest.mark.anyio

DEAD = "https://gone.example/a?b=1&c=2"
COPY = "http://web.archive.org/web/20130919044612/https://gone.example/a?b=1&c=2"
RAW = "http://web.archive.org/web/20130919044612id_/https://gone.example/a?b=1&c=2"
GONE = PageNotFound("The site has no such page (HTTP 404).", url=DEAD, status=404)


def answer(**changed: object) -> bytes:
    """An answer as the archive documents it."""
    found: dict[str, object] = {
        "available": True,
        "url": COPY,
        "timestamp": "20130919044612",
        "status": "200",
    }
    return json.dumps({"archived_snapshots": {"closest": found | changed}}).encode()


@dataclass
class FakeArchive:
    """Answers the API and serves copies from a table; any other address fails."""

    api: bytes
    copies: dict[str, bytes] = field(default_factory=lambda: {RAW: b"<p>Old text.</p>"})
    asked: list[str] = field(default_factory=list)

    async def __call__(self, request: PageRequest) -> Page:
        url = str(request.url)
        self.asked.append(url)
        body = self.api if "/wayback/available" in url else self.copies.get(url)
        if body is None:
            raise PageUnreachable("No copy.", url=url)
        return Page(url, url, 200, "text/html", body, datetime(2026, 1, 1, tzinfo=UTC))


async def copy_from(archive: FakeArchive, url: str = DEAD, gone: FetchError = GONE) -> Page | None:
    request = PageRequest(parse(url), Deadline.after(60))
    return await WaybackMachine(archive, "https://archive.org/").copy_of(request, gone)


async def test_a_copy_has_the_address_of_the_page_and_says_what_it_is() -> None:
    archive = FakeArchive(answer())
    page = await copy_from(archive)
    assert page is not None
    assert (page.url, page.requested_url, page.body) == (DEAD, DEAD, b"<p>Old text.</p>")
    assert page.how == HOW
    assert page.note == (
        "The site has no such page (HTTP 404). This is the copy of 2013-09-19 in the Wayback Machine."
    )
    assert "no-store" in page.cache_control
    assert archive.asked == [
        "https://archive.org/wayback/available?url=https%3A%2F%2Fgone.example%2Fa%3Fb%3D1%26c%3D2",
        RAW,
    ]


@pytest.mark.parametrize(
    "api",
    [
        b'{"archived_snapshots": {}}',
        b'{"archived_snapshots": {"closest": []}}',
        b"[]",
        b"<html>busy</html>",
        answer(available=False),
        answer(status="404"),
        answer(timestamp="2013"),
        answer(url="http://web.archive.org/other"),
        answer(url=None),
    ],
)
async def test_without_a_usable_copy_there_is_none(api: bytes) -> None:
    assert closest(api) is None
    assert await copy_from(FakeArchive(api)) is None


@pytest.mark.parametrize("url", ["file:///web/20130919044612/x", "http://h ost/20130919044612/"])
async def test_an_address_that_may_not_be_fetched_is_no_copy(url: str) -> None:
    assert await copy_from(FakeArchive(answer(url=url))) is None


async def test_a_copy_that_does_not_arrive_is_none() -> None:
    assert await copy_from(FakeArchive(answer(), copies={})) is None


@pytest.mark.parametrize(
    ("url", "is_public"),
    [
        ("https://gone.example/", True),
        ("https://intranet/", False),
        ("http://10.0.0.1/", False),
        ("http://[2001:db8::1]/", False),
    ],
)
async def test_only_public_names_are_looked_up(url: str, is_public: bool) -> None:
    archive = FakeArchive(answer())
    await copy_from(archive, url)
    assert is_public_name(parse(url)) is is_public
    assert bool(archive.asked) is is_public


def test_the_day_of_a_copy_is_that_of_its_time() -> None:
    assert closest(answer()) == Snapshot(RAW, "2013-09-19")
