"""The table of quality rules."""

import pytest

from kindly.models import Hit
from kindly.search.ranking.quality import HOSTS, MAX_BONUS, MAX_PENALTY, by_quality, points_of


def hit(url: str, title: str = "Tea", snippet: str = "About tea.") -> Hit:
    return Hit(title, url, snippet, "fake")


def urls(hits: tuple[Hit, ...]) -> list[str]:
    return [each.url for each in hits]


@pytest.mark.parametrize(
    ("url", "title", "direction"),
    [
        ("https://docs.python.org/3/", "datetime", 1),
        ("https://developer.mozilla.org/x", "Array", 1),
        ("https://requests.readthedocs.io/", "Requests", 1),
        ("https://docs.stripe.com/api", "API", 1),
        ("https://www.rfc-editor.org/rfc/rfc9110", "RFC 9110", 1),
        ("https://www.nasa.gov/", "NASA", 1),
        ("https://www.gov.uk/vat", "VAT", 1),
        ("https://www.mofa.go.jp/", "外務省", 1),
        ("https://cs.stanford.edu/", "CS", 1),
        ("https://www.cam.ac.uk/", "Cambridge", 1),
        ("https://en.wikipedia.org/wiki/Tea", "Tea", 1),
        ("https://de.wikipedia.org/wiki/Tee", "Tee", 1),
        ("https://arxiv.org/abs/1", "A paper", 1),
        ("https://github.com/python/cpython", "cpython", 1),
        ("https://stackoverflow.com/q/1", "How to", 1),
        ("https://example.com/", "Tea", 0),
        ("https://notwikipedia.org/", "Tea", 0),
        ("https://docs.google.com/document/1", "Notes", 0),
        ("https://www.ehow.com/how_1", "How to", -1),
        ("https://programmersought.com/article/1", "Python", -1),
        ("https://bit.ly/3abc", "Tea", -1),
        ("https://www.sedo.com/x", "x", -1),
        ("https://shop.example/", "Tea Promo Codes & Coupons 2026", -1),
        ("https://tea.example/", "tea.example: this domain is for sale", -1),
        (
            "https://tea.example/",
            "Buy tea, green tea, cheap tea, best tea, tea shop, tea online, tea",
            -1,
        ),
        ("https://tea.example/", "Kettle kettle kettle best kettle", -1),
        ("https://soft.example/", "Photo Suite Crack + Keygen Free Download 2026", -1),
        ("https://best-cheap-tea-shop-online.example/", "Tea", -1),
        ("https://tea.click/", "Tea", -1),
        ("https://tea.example/search?lang=en&q=tea", "Results", -1),
        ("https://tea.example/search?page=2", "Search", 0),
        ("not a url", "Tea", 0),
        ("http://[::1", "Tea", 0),
        ("https://a.example/", "The history of the tea of the East and of the West", 0),
        ("https://a.example/", "Как заваривать чай", 0),
    ],
)
def test_hits_are_ordered_by_the_quality_table(url: str, title: str, direction: int) -> None:
    points = points_of(hit(url, title))
    assert (points > 0) - (points < 0) == direction
    assert -MAX_PENALTY <= points <= MAX_BONUS


def test_the_table_lists_every_host_once() -> None:
    names = [name for group in HOSTS for name in group.names]
    assert len(names) == len(set(names))


def test_moved_hits_say_why_and_nothing_is_dropped() -> None:
    plain = [hit(f"https://site{at}.example/") for at in range(4)]
    spam = hit("https://bit.ly/x")
    official = hit("https://docs.python.org/3/")
    moved = by_quality([spam, *plain, official])
    assert urls(moved) == [
        "https://site0.example/",
        "https://site1.example/",
        "https://bit.ly/x",
        "https://site2.example/",
        "https://docs.python.org/3/",
        "https://site3.example/",
    ]
    assert sorted(urls(moved)) == sorted(urls((spam, *plain, official)))
    by_url = {each.url: each for each in moved}
    assert by_url[spam.url].reasons == ("down: address shortener: its target is unknown",)
    assert by_url[official.url].reasons == (
        "up: official documentation",
        "up: documentation of its project",
    )
    assert all(by_url[each.url].reasons == () for each in plain)


@pytest.mark.parametrize("rank", range(10))
def test_no_hit_moves_further_than_the_bounds(rank: int) -> None:
    for url, most in (("https://www.sedo.com/", MAX_PENALTY), ("https://docs.rs/", MAX_BONUS)):
        hits = [hit(f"https://site{at}.example/") for at in range(10)]
        hits[rank] = hit(url)
        moved = urls(by_quality(hits)).index(url) - rank
        assert abs(moved) <= most


def test_a_hit_that_does_not_move_has_no_reason() -> None:
    only = hit("https://docs.python.org/3/")
    assert by_quality([only]) == (only,)
