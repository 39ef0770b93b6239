"""Domain and date filters: operators for vendors, and the check of the results."""

from datetime import date

import pytest

from kindly.models import Hit, Hits, Query
from kindly.search.ranking.filters import (
    applied,
    is_in_time,
    matching,
    spare_count,
    used,
    with_sites,
    without,
)

TODAY = date(2024, 6, 10)


def hit(url: str, published: str | None = None) -> Hit:
    return Hit("t", url, "s", "fake", published)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        (Query("bees"), "bees"),
        (Query("bees", site="a.org"), "bees site:a.org"),
        (Query("bees", include_domains=("a.org",)), "bees site:a.org"),
        (Query("bees", include_domains=("a.org", "b.org")), "bees site:a.org OR site:b.org"),
        (Query("bees", exclude_domains=("a.org", "b.org")), "bees -site:a.org -site:b.org"),
        (
            Query("bees", site="c.org", include_domains=("a.org",), exclude_domains=("x.a.org",)),
            "bees site:c.org OR site:a.org -site:x.a.org",
        ),
    ],
)
def test_domains_become_operators(query: Query, text: str) -> None:
    assert with_sites(query) == text


def test_a_vendor_may_write_an_excluded_domain_in_its_own_way() -> None:
    query = Query("bees", exclude_domains=("a.org",))
    assert with_sites(query, "NOT site:") == "bees NOT site:a.org"


@pytest.mark.parametrize(
    ("url", "passes"),
    [
        ("https://a.org/x", True),
        ("https://www.a.org/x", True),
        ("https://sub.a.org/x", True),
        ("https://bad.a.org/x", False),
        ("https://deep.bad.a.org/x", False),
        ("https://nota.org/x", False),
        ("https://a.org.evil.example/x", False),
        ("https://evil.example/a.org", False),
    ],
)
def test_a_domain_means_itself_and_its_subdomains(url: str, passes: bool) -> None:
    query = Query("x", include_domains=("a.org",), exclude_domains=("bad.a.org",))
    assert bool(matching(query, [hit(url)], TODAY)) is passes


@pytest.mark.parametrize(
    ("published", "passes"),
    [
        ("2024-05-01", True),
        ("2024-05-31T23:00:00Z", True),
        ("2024-04-30", False),
        ("2024-06-01", False),
        ("20 May 2024", True),
        ("2 weeks ago", True),
        ("2 days ago", False),
        ("", True),
        (None, True),
        ("sometime in spring", True),
    ],
)
def test_both_days_belong_to_the_time_and_an_unknown_date_passes(
    published: str | None, passes: bool
) -> None:
    query = Query("x", published_after="2024-05-01", published_before="2024-05-31")
    assert is_in_time(query, published, TODAY) is passes


@pytest.mark.parametrize(
    ("query", "published", "passes"),
    [
        (Query("x", published_after="2024-05-01"), "2030-01-01", True),
        (Query("x", published_after="2024-05-01"), "2001-01-01", False),
        (Query("x", published_before="2024-05-01"), "2001-01-01", True),
        (Query("x", published_before="2024-05-01"), "2030-01-01", False),
        (Query("x"), "2001-01-01", True),
    ],
)
def test_either_end_may_be_open(query: Query, published: str, passes: bool) -> None:
    assert is_in_time(query, published, TODAY) is passes


def test_it_is_said_who_applied_each_filter() -> None:
    query = Query("x", exclude_domains=("a.org",), published_after="2024-05-01")
    assert used(query) == ("exclude_domains", "published_after")
    assert applied(query, "brave", {"exclude_domains", "include_domains"}) == (
        ("exclude_domains", "brave"),
        ("published_after", "results"),
    )


@pytest.mark.parametrize(
    ("query", "sent", "count"),
    [
        (Query("x", 5), set(), 5),
        (Query("x", 5, published_after="2024-05-01"), {"published_after"}, 5),
        (Query("x", 5, published_after="2024-05-01"), set(), 15),
        (Query("x", 30, published_after="2024-05-01"), set(), 50),
    ],
)
def test_more_results_are_requested_where_some_will_be_left_out(
    query: Query, sent: set[str], count: int
) -> None:
    assert spare_count(query, sent) == count


def test_results_that_are_left_out_are_counted() -> None:
    hits = Hits(Query("x"), (hit("https://a.org/"), hit("https://b.org/")), "fake", left_out=1)
    kept = without(hits, frozenset({"https://a.org/"}))
    assert [one.url for one in kept.hits] == ["https://b.org/"]
    assert kept.left_out == 2
