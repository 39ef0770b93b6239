"""Several lists into one."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kindly.models import Hit
from kindly.search.ranking.fusion import fuse
from kindly.urls import canonical


def hit(url: str, provider: str, title: str = "T", snippet: str = "s") -> Hit:
    return Hit(title, url, snippet, provider)


def test_what_several_found_comes_first_and_says_who_found_it() -> None:
    serper = [hit("https://a.example/", "serper"), hit("https://both.example/", "serper")]
    brave = [hit("https://both.example/", "brave"), hit("https://b.example/", "brave")]
    fused = fuse([("serper", serper), ("brave", brave)])
    assert [(each.url, each.found_by) for each in fused] == [
        ("https://both.example/", ("serper", "brave")),
        ("https://a.example/", ("serper",)),
        ("https://b.example/", ("brave",)),
    ]
    assert [each.score for each in fused] == pytest.approx(
        [1 / 61 + 1 / 62, 1 / 61, 1 / 62], abs=1e-6
    )


def test_spellings_of_one_address_are_one_hit_with_the_best_ranked_spelling() -> None:
    one = [hit("https://x.example/", "one"), hit("http://example.com/a?utm_source=x", "one")]
    two = [hit("http://www.example.com/a/", "two")]
    fused = fuse([("one", one), ("two", two)])
    assert fused[0].url == "http://www.example.com/a/"
    assert (fused[0].provider, fused[0].found_by) == ("two", ("one", "two"))


def test_best_title_longest_snippet_first_date_and_all_engines_are_kept() -> None:
    one = replace(
        hit("https://a.example/", "one", "A long title that was …", "short"), engines=("g",)
    )
    two = replace(
        hit("https://a.example/", "two", "A long title that was cut", "a longer snippet"),
        engines=("g", "b"),
        published="2026-01-02",
    )
    (fused,) = fuse([("one", [one]), ("two", [two])])
    assert (fused.title, fused.snippet) == ("A long title that was cut", "a longer snippet")
    assert (fused.published, fused.engines) == ("2026-01-02", ("g", "b"))


@pytest.mark.parametrize(
    ("titles", "kept"),
    [
        (("First", "Second"), "First"),
        (("", "Second"), "Second"),
        (("Cut...", "Cut off …"), "Cut off …"),
        (("", ""), ""),
    ],
)
def test_title_is_the_best_ranked_whole_one(titles: tuple[str, str], kept: str) -> None:
    answers = [(title, [hit("https://a.example/", "p", title)]) for title in titles]
    assert fuse(answers)[0].title == kept


def test_page_that_one_provider_lists_twice_counts_once() -> None:
    twice = [hit("https://a.example/", "one"), hit("https://a.example/#x", "one")]
    (fused,) = fuse([("one", twice)])
    assert fused.score == pytest.approx(1 / 61, abs=1e-6)
    assert fused.found_by == ("one",)


def test_nothing_gives_nothing() -> None:
    assert fuse([]) == fuse([("one", [])]) == ()


HOSTS = st.lists(st.sampled_from("abcdefgh"), max_size=8)


@given(st.lists(HOSTS, max_size=4))
def test_nothing_is_lost_nothing_doubled_and_scores_fall(lists: list[list[str]]) -> None:
    answers = [
        (f"p{at}", [hit(f"https://{host}.example/", f"p{at}") for host in hosts])
        for at, hosts in enumerate(lists)
    ]
    fused = fuse(answers)
    assert len({canonical(each.url) for each in fused}) == len(fused)
    assert {each.url for each in fused} == {one.url for _, hits in answers for one in hits}
    scores = [each.score or 0 for each in fused]
    assert scores == sorted(scores, reverse=True)
    for each in fused:
        finders = [name for name, hits in answers if any(one.url == each.url for one in hits)]
        assert list(each.found_by) == finders


@given(HOSTS)
def test_one_list_keeps_its_order(hosts: list[str]) -> None:
    hits = [hit(f"https://{host}.example/", "p") for host in dict.fromkeys(hosts)]
    assert [each.url for each in fuse([("p", hits)])] == [each.url for each in hits]
