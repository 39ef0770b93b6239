import pytest

from kindly.extract.formats.recognition_notes import HOW, no_text, pages, percent, scan_note, sure


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([3], "page 3"),
        ([1, 2], "pages 1–2"),
        ([7, 1, 2, 3], "pages 1–3 and 7"),
        ([1, 3, 5], "pages 1, 3 and 5"),
        (list(range(1, 60, 2)), "pages 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23 and 18 more"),
    ],
)
def test_page_numbers_are_listed_as_ranges(numbers: list[int], words: str) -> None:
    assert pages(numbers) == words


@pytest.mark.parametrize(
    ("confidence", "words"), [(0.954, "95 %"), (1.0, "99 %"), (0.999, "99 %"), (0.0, "0 %")]
)
def test_recognition_is_never_all_sure(confidence: float, words: str) -> None:
    assert percent(confidence) == words
    assert sure(confidence) == f"read by character recognition, {words} sure"


def test_note_names_the_pages_and_how_sure_they_are() -> None:
    assert scan_note({2: 0.98, 3: 0.98, 9: 0.8}, [], installed=True) == (
        "Pages 2–3 and 9 were read by character recognition, 92 % sure, least on page 9."
    )


def test_note_on_one_doubtful_page_does_not_name_it_twice() -> None:
    assert scan_note({4: 0.5}, [], installed=True) == (
        "Page 4 was read by character recognition, 50 % sure."
    )


def test_note_names_pages_that_were_not_read_and_why() -> None:
    assert scan_note({}, [], installed=False) == ""
    assert scan_note({}, [5, 6], installed=True) == (
        "Pages 5–6 have no text but pictures; there was no time for character recognition."
    )
    assert scan_note({}, [5], installed=False) == (
        f"Page 5 has no text but pictures; to read it by character recognition, {HOW}."
    )


def test_note_names_pages_whose_text_is_a_layer_of_the_file() -> None:
    assert scan_note({}, [], layers=[2], installed=False) == (
        "Page 2 is a picture; its text is an invisible layer of the file, from character recognition by its maker, "
        "and may have errors."
    )
    assert scan_note({1: 0.98}, [], layers=[4, 2, 3], installed=True) == (
        "Page 1 was read by character recognition, 98 % sure. Pages 2–4 are pictures; their text is an invisible layer "
        "of the file, from character recognition by its maker, and may have errors."
    )


@pytest.mark.parametrize(
    ("installed", "late", "part"),
    [
        (False, True, "kindly-web-search-mcp-server[ocr]"),
        (True, True, "no time"),
        (True, False, "no picture with text"),
        (False, False, "no picture with text"),
    ],
)
def test_file_without_text_says_why(installed: bool, late: bool, part: str) -> None:
    said = no_text(3, installed=installed, late=late)
    assert said.startswith("The PDF has no text on its 3 pages")
    assert part in said


def test_single_page_is_not_plural() -> None:
    assert "on its 1 page:" in no_text(1, installed=True, late=True)
