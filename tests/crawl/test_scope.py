"""Which links a crawl follows, and what ends the crawl of a site without end."""

import pytest

from kindly import urls
from kindly.crawl.scope import (
    MAX_DATED,
    MAX_QUERIES,
    LeftOut,
    SiteScope,
    allowed,
    in_words,
    without_session,
)
from kindly.read.crawls.collection import CrawlRules

BASE = "https://docs.example.com/guide/"


def scope(start: str = BASE, **rules: object) -> SiteScope:
    return SiteScope(urls.parse(start), CrawlRules(**rules))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("start", "address", "inside"),
    [
        (BASE, "https://docs.example.com/guide/a", True),
        (BASE, "https://docs.example.com/guide", True),
        (BASE, "http://docs.example.com/guide/a", True),
        (BASE, "https://docs.example.com/guidelines", False),
        (BASE, "https://docs.example.com/other", False),
        (BASE, "https://example.com/guide/a", False),
        (BASE, "https://docs.example.com:8443/guide/a", False),
        (BASE, "https://docs.example.com/guide/logo.PNG", False),
        (BASE, "ftp://docs.example.com/guide/a", False),
        (
            "https://docs.example.com/guide/index.html",
            "https://docs.example.com/guide/b.html",
            True,
        ),
        ("https://docs.example.com/guide", "https://docs.example.com/guide/b", True),
        ("https://docs.example.com/", "https://docs.example.com/anything", True),
    ],
)
def test_a_page_is_on_the_site_and_below_the_path(
    start: str, address: str, *, inside: bool
) -> None:
    assert (scope(start).parsed(address) is not None) is inside


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/api/a", True), ("/api/old/a", False), ("/blog/a", False), ("/deep/api/a", False)],
)
def test_globs_choose_pages(path: str, *, expected: bool) -> None:
    assert allowed(path, CrawlRules(include=("/api/*",), exclude=("old/*",))) is expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://e.com/a;jsessionid=1F2?b=1", "https://e.com/a?b=1"),
        ("https://e.com/a?PHPSESSID=9&b=1", "https://e.com/a?b=1"),
        ("https://e.com/a?sid=9", "https://e.com/a"),
        ("https://e.com/(S(abcdef123))/a", "https://e.com/a"),
        ("https://e.com/a?sidebar=1", "https://e.com/a?sidebar=1"),
    ],
)
def test_session_ids_do_not_make_new_pages(address: str, expected: str) -> None:
    assert without_session(address) == expected


def test_a_calendar_has_an_end() -> None:
    own = scope()
    days = [
        f"{BASE}calendar/{year}/{month:02}" for year in range(2000, 2030) for month in range(1, 13)
    ]
    assert len(own.linked(days, 0)) == MAX_DATED
    assert own.refused[LeftOut.CALENDAR] == len(days) - MAX_DATED
    assert own.linked(days[:3], 1) == days[:3]


def test_queries_without_end_are_bounded() -> None:
    own = scope()
    found = own.linked([f"{BASE}list?page={n}" for n in range(500)], 0)
    assert len(found) == MAX_QUERIES
    assert own.refused[LeftOut.QUERIES] == 500 - MAX_QUERIES


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("a/b/" * 5, LeftOut.LOOP),
        ("/".join(map(str, range(30))), LeftOut.LONG),
        ("x" * 1200, LeftOut.LONG),
    ],
)
def test_addresses_that_grow_are_left_out(path: str, reason: LeftOut) -> None:
    own = scope()
    assert own.linked([BASE + path], 0) == []
    assert own.refused == {reason: 1}


def test_links_beyond_the_depth_are_left_out() -> None:
    own = scope(depth=2)
    assert own.linked([f"{BASE}a"], 1) == [f"{BASE}a"]
    assert own.linked([f"{BASE}b"], 2) == []
    assert in_words(own.refused) == "Left out: 1 links beyond the depth."


def test_a_list_gives_each_page_once() -> None:
    assert scope().listed([f"{BASE}a", f"{BASE}a#b", "https://else.example/"]) == [f"{BASE}a"]
