"""Deduplication, the mark for unrelated results, and text that is safe to show."""

import subprocess
import sys
from dataclasses import replace

import pytest

from kindly.models import Hit, Hits, Query
from kindly.redact import Redactor
from kindly.search.ranking.postprocess import UNRELATED, clean, visible, without_copies
from tests.support.routing import hits_at

TEXT = (
    "Structural pattern matching has been added in the form of a match statement and case blocks."
)


def hit(url: str, title: str = "Tea", snippet: str = "About tea.") -> Hit:
    return Hit(title, url, snippet, "fake")


def urls(hits: tuple[Hit, ...]) -> list[str]:
    return [each.url for each in hits]


def test_copies_become_one_hit_that_names_the_others() -> None:
    first = hit("https://one.example/", "What’s new in Python", TEXT)
    copy = replace(
        hit("https://two.example/", "What's New in PYTHON!", TEXT + " Read more"),
        found_by=("brave",),
        engines=("bing",),
    )
    other = hit("https://three.example/", "What's new in Python", "Something else entirely.")
    kept = without_copies([first, copy, other])
    assert urls(kept) == ["https://one.example/", "https://three.example/"]
    assert (kept[0].found_by, kept[0].engines) == (("brave",), ("bing",))
    assert kept[0].reasons == ("the same text is at https://two.example/",)


@pytest.mark.parametrize(
    ("title", "snippet"),
    [
        pytest.param("Another title", TEXT, id="title-differs"),
        pytest.param("Title", "Quite another text about the history of tea in Japan.", id="text"),
        pytest.param("Title", "", id="no-text"),
        pytest.param("Title", "Read more.", id="short-text"),
    ],
)
def test_similar_hits_are_not_copies(title: str, snippet: str) -> None:
    hits = [hit("https://a.example/", "Title", TEXT), hit("https://b.example/", title, snippet)]
    assert without_copies(hits) == tuple(hits)


def test_equal_short_texts_are_not_copies() -> None:
    hits = [
        hit("https://a.example/", "Home", "Read more."),
        hit("https://b.example/", "Home", "Read more."),
    ]
    assert without_copies(hits) == tuple(hits)


def test_the_providers_order_remains_without_a_reason_to_move() -> None:
    hits = hits_at("a.example", "b.example", "c.example")
    assert clean(Query("title", 3), hits) == hits


def about(*titles: str) -> list[Hit]:
    return [hit(f"https://s{at}.example/", title, "") for at, title in enumerate(titles)]


def test_unrelated_hits_of_an_api_are_shown_and_marked() -> None:
    shown = clean(Query("python asyncio", 3), about("Casino", "Bonus", "Slots"))
    assert [each.reasons for each in shown] == [(UNRELATED,)] * 3


def test_shown_text_has_no_invisible_characters_and_no_keys() -> None:
    dirty = replace(
        hit("https://a.example/<x>", "Te\u200ba", "The key is canary-key-1."),
        published="2026\u202e",
        engines=("bing" * 40,),
    )
    raw = {"items": [{"title": "canary-key-1"}], "total": 7}
    hits = Hits(Query("tea"), (dirty,), "fake", engines=("can\u200bary",), raw=raw)

    shown = visible(hits, Redactor.of(("canary-key-1",)))

    assert shown.hits[0].title == "Tea"
    assert shown.hits[0].url == "https://a.example/%3Cx%3E"
    assert shown.hits[0].snippet == "The key is ***."
    assert shown.hits[0].published == "2026"
    assert len(shown.hits[0].engines[0]) == 60
    assert shown.engines == ("canary",)
    assert shown.raw == {"items": [{"title": "***"}], "total": 7}


def test_ranking_needs_no_model_and_no_network() -> None:
    code = (
        "import sys, kindly.search.ranking.postprocess, kindly.search.ranking.score; "
        "sys.exit(bool({'numpy', 'httpx2', 'tokenizers'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=120, check=False).returncode == 0
