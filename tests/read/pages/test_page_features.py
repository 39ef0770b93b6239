"""What distinguishes the candidate pages of a question."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kindly.models import StoredPageInfo
from kindly.read.chunk import split
from kindly.read.pages.page_features import Asked, PageCandidate, PageColumn, page_features
from kindly.read.pages.page_outline import outline_of
from kindly.text.terms import terms
from tests.support.stored_pages import NOON

HOOK = (
    "https://r.example/reference/useEffect",
    "# useEffect\n\nA hook.\n\n## Usage of it\n\nCall it.",
)
GUIDE = (
    "https://r.example/learn/effects",
    "# Synchronizing with Effects\n\nSee [useEffect usage](../reference/useEffect) for more.",
)
NEWS = ("https://r.example/blog/2022/03/29/release", "# Release 18\n\nuseEffect changed.")


def rows_of(question: str, *pages: tuple[str, str]) -> "NDArray[np.floating[Any]]":
    found: list[PageCandidate] = []
    texts: list[str] = []
    for url, text in pages:
        chunks = split(text, url)
        entry = StoredPageInfo(url, "", NOON, "hash", len(text))
        places = tuple(range(len(texts), len(texts) + len(chunks)))
        found.append(PageCandidate(url, len(text), outline_of(entry, chunks), places))
        texts += [chunk.text for chunk in chunks]
    words = tuple(dict.fromkeys(terms(question)))
    weights = np.full(len(words), 1 / len(words), dtype=np.float32)
    compound = np.array([word == "useeffect" for word in words])
    return page_features(Asked(words, weights, compound), found, texts, np.zeros(len(texts)))


def test_an_identifier_in_the_title_is_told_from_a_mention() -> None:
    hook, guide, news = rows_of("useEffect usage", HOOK, GUIDE, NEWS)
    assert hook[PageColumn.IDENTIFIER_TITLE] == 1
    assert guide[PageColumn.IDENTIFIER_TITLE] == news[PageColumn.IDENTIFIER_TITLE] == 0
    assert hook[PageColumn.TITLE] > guide[PageColumn.TITLE] > news[PageColumn.TITLE] == 0
    assert hook[PageColumn.SLUG] == pytest.approx(0.75)


def test_a_field_that_says_little_else_fits_better() -> None:
    short, long = rows_of(
        "effects",
        ("https://r.example/a", "# Effects\n\nText."),
        ("https://r.example/b", "# Effects and many other subjects\n\nText."),
    )
    assert short[PageColumn.TITLE] == long[PageColumn.TITLE] == 1
    assert short[PageColumn.TITLE_FIT] > long[PageColumn.TITLE_FIT] > 0


def test_links_between_candidates_speak_for_their_target() -> None:
    hook, guide, news = rows_of("useEffect usage", HOOK, GUIDE, NEWS)
    assert hook[PageColumn.LINKED] == pytest.approx(np.log(2))
    assert hook[PageColumn.ANCHOR] == pytest.approx(1)
    assert guide[PageColumn.LINKED] == news[PageColumn.LINKED] == 0


def test_dated_pages_and_release_notes_are_marked() -> None:
    hook, _, news = rows_of("useEffect", HOOK, GUIDE, NEWS)
    assert (hook[PageColumn.DATED], hook[PageColumn.RELEASES]) == (0, 0)
    assert news[PageColumn.DATED] == 1


def test_headings_count_one_by_one_and_together() -> None:
    (row,) = rows_of(
        "usage of hooks", ("https://r.example/a", "# Hooks\n\nText.\n\n## Usage\n\nText.")
    )
    assert row[PageColumn.HEADING] == pytest.approx(1 / 3)
    assert row[PageColumn.HEADINGS] == pytest.approx(2 / 3)
