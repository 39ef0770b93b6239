import pytest

from kindly.text.page_marks import PAGE_MARK, headings_of, on_page_after, page_label, page_of


def test_mark_is_found_in_text() -> None:
    assert PAGE_MARK.findall("a\n\n— page 3 —\n\nb — page 4 — c") == ["3"]


@pytest.mark.parametrize(
    ("section", "page", "headings"),
    [((), None, ()), (("A", "B"), None, ("A", "B")), (("A", page_label(7)), 7, ("A",))],
)
def test_page_is_the_last_part_of_a_path(
    section: tuple[str, ...], page: int | None, headings: tuple[str, ...]
) -> None:
    assert (page_of(section), headings_of(section)) == (page, headings)


def test_text_after_a_mark_is_on_that_page() -> None:
    assert on_page_after(("A", "p. 1"), "x\n— page 2 —\ny\n— page 3 —\nz") == ("A", "p. 3")
    assert on_page_after(("A", "p. 1"), "no mark") == ("A", "p. 1")
