import numpy as np
import pypdfium2 as pdfium  # type: ignore[import-untyped]
import pytest
from numpy.typing import NDArray

from kindly.extract.formats.pdf.pdf_lines import Box
from kindly.extract.formats.pdf.pdf_scans import is_too_large, may_be_scan, read_scan, scanned_page
from kindly.extract.formats.recognition import Recognised, RecognisedLine
from tests.support.pdf_files import line, pdf, scans
from tests.support.picture_files import recognised

GREY = np.full((80, 60), 128, np.uint8)


def test_words_share_the_width_of_their_line_and_stand_from_the_bottom_up() -> None:
    made = Recognised((RecognisedLine("one two", 100, 200, 240, 220, 0.9),), 1200, 1600)
    page = scanned_page(made, 2.0)
    ((first, second),) = page.content.words
    assert page.content.box == Box(0, 0, 600, 800)
    assert (first.text, first.left, second.text, second.right) == ("one", 50, "two", 120)
    assert first.right < second.left
    assert 690 <= first.bottom < first.top <= 700


def test_nearly_equal_heights_are_one_size() -> None:
    heights = (20, 22, 19, 60)
    made = Recognised(
        tuple(RecognisedLine("word", 10, 100 * n, 99, 100 * n + height, 0.9) for n, height in enumerate(heights)),
        600, 800,
    )  # fmt: skip
    sizes = [words[0].size for words in scanned_page(made, 1.0).content.words]
    assert len(set(sizes[:3])) == 1
    assert sizes[3] > 2 * sizes[0]


def test_line_that_runs_upwards_is_turned() -> None:
    made = Recognised((RecognisedLine("up the side", 10, 100, 30, 300, 0.9),), 600, 800)
    words = scanned_page(made, 1.0).content.words[0]
    assert [word.turned for word in words] == [1, 1, 1]
    assert words[0].bottom < words[2].bottom


def test_page_is_rendered_and_read() -> None:
    seen: list[tuple[int, ...]] = []

    def recognise(picture: NDArray[np.uint8], is_late: object) -> Recognised:
        seen.append(picture.shape)
        return recognised("Read from a picture", confidence=0.9)

    page = pdfium.PdfDocument(scans(GREY))[0]
    scan = read_scan(page, recognise, lambda: False)
    assert scan is not None
    assert scan.confidence == pytest.approx(0.9)
    assert scan.complete
    assert seen == [(1700, 1314, 3)]


@pytest.mark.parametrize(("claimed", "outcome"), [(30_000_000, True), (0, False)])
def test_picture_with_too_many_pixels_is_too_large(claimed: int, outcome: bool) -> None:
    assert is_too_large(pdfium.PdfDocument(scans(GREY, claimed=claimed))[0]) is outcome


def test_page_that_is_drawn_too_slowly_is_not_read() -> None:
    content = "\n".join(f"0 {n % 790} m 600 {n % 780} l S" for n in range(5_000))
    page = pdfium.PdfDocument(pdf([content]))[0]
    assert read_scan(page, lambda *_: recognised("never"), lambda: True) is None


def test_picture_without_text_is_no_page() -> None:
    page = pdfium.PdfDocument(scans(GREY))[0]
    assert read_scan(page, lambda *_: Recognised(), lambda: False) is None


@pytest.mark.parametrize(
    ("body", "outcome"),
    [(scans(GREY), True), (pdf([""]), False), (pdf([line("Words")]), False)],
    ids=["picture", "empty", "text"],
)
def test_page_with_a_picture_may_be_a_scan(body: bytes, outcome: bool) -> None:
    assert may_be_scan(pdfium.PdfDocument(body)[0]) is outcome
