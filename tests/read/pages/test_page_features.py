"""What distinguishes the candidate pages of a question."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kindly.models import StoredPageInfo
from kindly.read.chunk import split
from kindly.read.pages.page_features import (
    BEGINNING,
    LOWEST,
    Asked,
    BestWindows,
    PageCandidate,
    PageColumn,
    page_features,
)
from kindly.read.pages.page_outline import keys, outline_of
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
    words = dict(zip(terms(question), keys(question), strict=True))
    weights = np.full(len(words), 1 / len(words), dtype=np.float32)
    compound = np.array([word == "useeffect" for word in words])
    scores = -np.arange(len(texts), dtype=np.float32)
    best = BestWindows(scores, 8 * scores)
    return page_features(Asked(tuple(words.values()), weights, compound), found, texts, best)


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


def test_a_word_with_the_same_beginning_counts_less_than_the_word_itself() -> None:
    generators, general = rows_of(
        "generators",
        ("https://r.example/a", "# Generator\n\nSee the [general part](b).\n\n## Generators"),
        ("https://r.example/b", "# General\n\nText.\n\n## Generated"),
    )
    columns = (PageColumn.TITLE, PageColumn.HEADING, PageColumn.TITLE_AND_HEADINGS)
    assert [generators[one] for one in columns] == [1, 1, 1]
    assert [general[one] for one in columns] == [BEGINNING] * 3
    assert general[PageColumn.ANCHOR] == BEGINNING


def test_the_best_window_counts_by_its_distance_in_both_stages() -> None:
    first, second, third = rows_of("useEffect", HOOK, GUIDE, NEWS)
    assert [row[PageColumn.BEST] for row in (first, second, third)] == [0, -1, -2]
    assert [row[PageColumn.BEST_AGAIN] for row in (first, second, third)] == [0, -8, LOWEST]
