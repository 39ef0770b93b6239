"""`recall` must not put the wrong page of a documentation first more often than today: floors a little below it."""

import pytest
from bench import documentation

from tests.support.paths import SHARED_DATA
from tests.support.shared_data import needs_shared

pytestmark = [
    pytest.mark.slow,
    needs_shared(SHARED_DATA / "docs_search"),
]

FLOORS = {"react": (0.75, 0.90), "fastapi": (0.70, 0.90)}
"""The share of questions with a right page first, and among the first five."""


def same(url: str) -> str:
    return url.rstrip("/").removesuffix(".html").removesuffix(".md")


@pytest.mark.parametrize("name", FLOORS)
def test_the_page_that_a_question_means_comes_first_as_often_as_ever(name: str) -> None:
    search = documentation.open_index(
        [one for one in documentation.pages() if one["library"] == name]
    )
    places = []
    for query in (one for one in documentation.graded() if one["library"] == name):
        right = {same(one["url"]) for one in query["relevant"]}
        found = list(dict.fromkeys(map(same, search(query["query"]))))[:5]
        places.append(next((place for place, url in enumerate(found) if url in right), 5))

    figures = [sum(place < limit for place in places) / len(places) for limit in (1, 5)]
    assert all(one >= floor for one, floor in zip(figures, FLOORS[name], strict=True)), figures
