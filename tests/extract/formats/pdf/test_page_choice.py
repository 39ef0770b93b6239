import pypdfium2 as pdfium  # type: ignore[import-untyped]
import pytest

from kindly.extract.formats.pdf.page_choice import (
    BEST_PAGES,
    is_worth_choosing,
    page_texts,
    pages_for,
)
from tests.support.pdf_files import line, pdf

FILLER = "The committee met again and spoke of the weather in the northern provinces.\n"


def texts(pages: int = 200, **said: str) -> list[str]:
    """Pages of filler; `p7="…"` is what page 7 says instead."""
    return [said.get(f"p{number}", FILLER * 8) for number in range(pages)]


def test_page_with_the_words_of_the_question_is_chosen() -> None:
    chosen = pages_for(
        texts(p150="Lactose is split by an enzyme."), ["Which enzymes split lactose?"]
    )
    assert chosen == [0, 1, 150]


def test_each_question_gets_its_pages() -> None:
    found = texts(p20=f"{FILLER}Tides rise.", p90="Bees dance.")
    assert {20, 90} <= set(pages_for(found, ["When do tides rise?", "Why do bees dance?"]))


def test_words_that_all_pages_have_choose_no_more_than_the_limit() -> None:
    assert (
        len(pages_for(texts(), ["What did the committee say of the weather?"])) <= BEST_PAGES + 10
    )


@pytest.mark.parametrize(
    ("said", "chosen"),
    [
        ("Lactose is split by an enzyme that is found in the gut of\n12", [0, 1, 50, 51]),
        ("and so on, until the whole of it is gone. Lactose is sweet.\n", [0, 1, 49, 50]),
        ("Lactose is split by an enzyme that is found in the gut.\n12", [0, 1, 50]),
        ("Lactose\n12", [0, 1, 50]),
    ],
    ids=["goes on on the next page", "began before", "is complete", "no prose"],
)
def test_neighbours_are_chosen_where_text_goes_on(said: str, chosen: list[int]) -> None:
    assert pages_for(texts(p50=said), ["lactose"]) == chosen


def test_question_without_any_word_of_the_file_gets_the_first_pages() -> None:
    assert pages_for(texts(), ["乳糖"]) == [0, 1]


@pytest.mark.parametrize(
    ("found", "worth"),
    [
        (texts(), True),
        (texts(60), False),
        (["Slide."] * 200, False),
        ([*texts(150), *[" "] * 50], False),
        ([*texts(195), *[" "] * 5], True),
    ],
    ids=["long", "few pages", "little text", "many pages without text", "some blank pages"],
)
def test_only_long_files_with_text_are_worth_choosing(found: list[str], worth: bool) -> None:
    assert is_worth_choosing(found) is worth


def test_texts_of_pages_are_read_until_it_is_late() -> None:
    document = pdfium.PdfDocument(pdf([line("One"), "", line("Three")]))
    late = iter([False, False, True])
    try:
        assert page_texts(document, lambda: False) == ["One", "", "Three"]
        assert page_texts(document, lambda: next(late)) == ["One", ""]
    finally:
        document.close()
