"""Further result pages: until there are enough results, or a page is missing or brings nothing new."""

import pytest

from kindly.models import Hit, ProviderResults, Query
from kindly.search.searxng.result_pages import MAX_PAGES, with_further_pages

pytestmark = pytest.mark.anyio

PER_PAGE = 20


def page(number: int, size: int = PER_PAGE) -> ProviderResults:
    first = (number - 1) * PER_PAGE
    urls = (f"https://site{one}.example/" for one in range(first, first + size))
    hits = tuple(Hit(f"Title of {url}", url, "", "searxng") for url in urls)
    return ProviderResults(hits, engines=(f"engine {number}",))


class Pages:
    """Answers by page number, and the numbers that were asked for."""

    def __init__(self, answers: dict[int, ProviderResults | None]) -> None:
        self.answers = answers
        self.asked: list[int] = []

    async def __call__(self, query: Query) -> ProviderResults | None:
        self.asked.append(query.page)
        return self.answers.get(query.page)


async def test_pages_are_asked_for_until_there_are_enough_results() -> None:
    pages = Pages({2: page(2), 3: page(3), 4: page(4)})
    found = await with_further_pages(page(1), Query("bees", count=50), pages)
    assert pages.asked == [2, 3]
    assert len(found.hits) == 60
    assert found.engines == ("engine 1", "engine 2", "engine 3")


@pytest.mark.parametrize(
    ("answers", "asked"),
    [({}, [2]), ({2: page(1)}, [2]), ({2: page(2), 3: page(2)}, [2, 3])],
    ids=["missing", "the first page again", "a later page again"],
)
async def test_a_page_that_brings_nothing_new_is_the_last(
    answers: dict[int, ProviderResults | None], asked: list[int]
) -> None:
    pages = Pages(answers)
    await with_further_pages(page(1), Query("bees", count=50), pages)
    assert pages.asked == asked


async def test_the_number_of_pages_is_bounded() -> None:
    pages = Pages({number: page(number, size=1) for number in range(2, 40)})
    await with_further_pages(page(1, size=1), Query("bees", count=50), pages)
    assert pages.asked == list(range(2, MAX_PAGES + 1))


async def test_an_empty_first_page_is_the_last() -> None:
    pages = Pages({2: page(2)})
    found = await with_further_pages(page(1, size=0), Query("bees", count=50), pages)
    assert (found.hits, pages.asked) == ((), [])
