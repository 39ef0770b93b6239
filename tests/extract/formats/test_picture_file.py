import numpy as np
import pytest

from kindly.errors import ExtractionFailed, InputError, MediaUnsupported, NoContent
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.extract.formats.picture_file import MAX_PIXELS, decoded, read_picture_file
from kindly.extract.formats.recognition import Recognised, Recogniser, is_installed
from kindly.extract.formats.recognition_notes import HOW
from kindly.extract.html import ExtractedText
from tests.support.html_pages import URL, page
from tests.support.pdf_files import PROSE, lines, pixels
from tests.support.picture_files import exif, jpeg_header, png, recognised

DESCRIBED = png(None, (b"tEXt", b"Description\x00A heron on a post"), (b"tEXt", b"Title\x00Heron"))


def read(
    body: bytes, found: Recognised | None = None, media_type: str = "image/png"
) -> ExtractedText:
    recognise: Recogniser | None = None if found is None else lambda *_: found
    return read_picture_file(body, media_type, ExtractOptions(), URL, recogniser=lambda: recognise)


def test_text_size_and_description_are_given() -> None:
    extracted = read(DESCRIBED, recognised("Words on the post", confidence=0.91))
    assert extracted.text == (
        "— a PNG picture of 30 × 20 pixels —\n\nDescription: A heron on a post\n\n"
        "— read by character recognition, 91 % sure —\n\nWords on the post"
    )
    assert extracted.note == "The text was read by character recognition, 91 % sure."
    assert (extracted.metadata.title, extracted.metadata.description) == (
        "Heron",
        "A heron on a post",
    )
    assert not extracted.partial


def test_without_the_extra_what_the_file_says_is_given_with_a_note() -> None:
    extracted = read(DESCRIBED)
    assert "Description: A heron on a post" in extracted.text
    assert HOW in extracted.note


def test_without_the_extra_a_file_that_says_nothing_is_unsupported() -> None:
    with pytest.raises(MediaUnsupported) as caught:
        read(png())
    assert "a PNG picture of 30 × 20 pixels" in caught.value.detail
    assert HOW in caught.value.detail


def test_picture_without_text_has_no_content() -> None:
    with pytest.raises(NoContent) as caught:
        read(png(), Recognised())
    assert "no text that can be recognised" in caught.value.detail


def test_reading_that_was_cut_short_is_partial() -> None:
    assert read(png(), recognised("Some words", complete=False)).partial


def test_pixel_bomb_is_refused_in_words() -> None:
    body = jpeg_header(width=60_000, height=60_000)
    with pytest.raises(ExtractionFailed) as caught:
        read(body, recognised("never"), "image/jpeg")
    assert "60,000 × 60,000 pixels" in caught.value.detail
    assert f"{MAX_PIXELS:,}" in caught.value.detail


@pytest.mark.parametrize(
    "body",
    [b"\x89PNG\r\n\x1a\n", png()[:60], jpeg_header((0xE1, b"Exif\x00\x00" + exif({0x010E: "x"})))],
    ids=["stub", "cut", "no pixels"],
)
def test_broken_picture_is_unsupported(body: bytes) -> None:
    with pytest.raises(MediaUnsupported):
        read(body, recognised("never"))


@pytest.mark.parametrize(("colour", "paper"), [(0, 255), (250, 0)], ids=["dark", "light"])
def test_transparent_parts_are_paper_of_another_colour(colour: int, paper: int) -> None:
    made = np.zeros((20, 30, 4), np.uint8)
    made[5:10, 5:10] = (colour, colour, colour, 255)
    picture = decoded(png(made))
    assert picture is not None
    assert (picture.shape, picture[0, 0, 0], picture[7, 7, 0]) == ((20, 30, 3), paper, colour)


def test_large_picture_is_made_smaller() -> None:
    picture = decoded(png(np.zeros((4_000, 1_000), np.uint8)))
    assert picture is not None
    assert picture.shape == (3_000, 750, 3)


def test_selector_on_a_picture_is_an_input_error() -> None:
    with pytest.raises(InputError):
        extract(page(png(), media_type="image/png"), ExtractOptions(selector="main"))


@pytest.mark.slow
@pytest.mark.skipif(not is_installed(), reason="the extra `ocr` is not installed")
def test_picture_of_a_page_is_read_as_text() -> None:
    body = png(pixels(lines(PROSE, y=600)))
    document = extract(page(body, media_type="image/png"), ExtractOptions(seconds=300))
    assert " ".join(PROSE) in " ".join(document.text.split())
    assert document.media_type == "image/png"
