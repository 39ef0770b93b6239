import pypdfium2 as pdfium  # type: ignore[import-untyped]
import pytest

from kindly.extract.formats.pdf.pdf_words import PageWords, read_words
from tests.support.pdf_files import line, pdf, transparent

PICTURE = "q 612 0 0 792 0 0 cm /Im1 Do Q\n"


def read(content: str, limit: int = 10_000) -> PageWords:
    with pdfium.PdfDocument(pdf([content])) as document:
        page = document[0]
        return read_words(page, page.get_textpage(), limit)


def test_words_have_boxes_and_sizes() -> None:
    (words,) = read(line("two words", x=100, y=500, size=20)).lines
    first, second = words
    assert [word.text for word in words] == ["two", "words"]
    assert first.left == pytest.approx(100, abs=1)
    assert first.right < second.left
    assert (first.size, first.turned, first.tag) == (20, 0, -1)
    assert first.bottom < 500 < first.top


def test_marks_far_apart_are_words_of_their_own() -> None:
    (words,) = read("BT /F1 10 Tf 1 0 0 1 100 500 Tm [(X) -5000 (X)] TJ ET").lines
    assert [word.text for word in words] == ["X", "X"]


def test_turned_text_is_marked() -> None:
    (words,) = read("BT /F1 10 Tf 0 1 -1 0 100 300 Tm (upward) Tj ET").lines
    assert words[0].turned == 1


def test_word_that_a_hyphen_breaks_is_marked() -> None:
    found = read(line("hyphen-", y=500) + "\n" + line("ation", y=486)).lines
    assert [words[-1].broken for words in found] == [True, False]


def test_smaller_text_beside_a_word_is_glued_to_it() -> None:
    (words,) = read("BT /F1 12 Tf 1 0 0 1 100 500 Tm (word) Tj /F1 7 Tf (2) Tj ET").lines
    assert [(word.text, word.glued) for word in words] == [("word", False), ("2", True)]


def test_limit_cuts_the_text() -> None:
    found = read(line("a long line of text"), limit=6)
    assert [word.text for words in found.lines for word in words] == ["a", "long"]
    assert not found.complete


@pytest.mark.parametrize(
    ("content", "stamped", "recognised"),
    [
        (line("typed", y=400), False, False),
        (PICTURE + line("typed", y=400), False, False),
        (PICTURE + line("12", y=20), True, False),
        (PICTURE + line("layer", mode=3, y=400), False, True),
        (PICTURE + line("12", y=20) + line("layer", mode=3, y=400), False, True),
        (PICTURE + transparent(line("layer", y=400)), True, True),
        (PICTURE + transparent(line("12", y=20)), True, False),
        (PICTURE, False, False),
    ],
    ids=[
        *("text", "text on a picture", "stamp", "layer", "stamp and layer", "transparent layer"),
        *("transparent stamp", "picture"),
    ],
)
def test_text_over_a_picture_is_a_stamp_or_a_layer(
    content: str, stamped: bool, recognised: bool
) -> None:
    found = read(content)
    assert (found.stamped, found.recognised) == (stamped, recognised)


def test_hidden_text_is_counted_and_left_out() -> None:
    found = read(line("shown") + "\n" + line("hidden", mode=3, y=400))
    assert ([word.text for words in found.lines for word in words], found.hidden) == (["shown"], 1)


@pytest.mark.parametrize(
    ("drawn", "words"),
    [
        ("[(Min) -111 (´) 444 (ac)] TJ", [("Min", False), ("ác", True)]),
        ("[(Min a) 444 (´) 111 (c)] TJ", [("Min", False), ("á", False), ("c", True)]),
        ("[(la ) -111 (´) 444 (ecole)] TJ", [("la", False), ("école", False)]),
    ],
    ids=["before its letter", "after its letter", "after a space"],
)
def test_accent_drawn_apart_from_its_letter_leaves_no_gap(
    drawn: str, words: list[tuple[str, bool]]
) -> None:
    (found,) = read(f"BT /F1 12 Tf 1 0 0 1 100 500 Tm {drawn} ET").lines
    assert [(word.text, word.glued) for word in found] == words
