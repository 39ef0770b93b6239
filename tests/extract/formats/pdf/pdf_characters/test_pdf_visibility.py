import pytest

from kindly.extract import ExtractOptions
from kindly.extract.formats.pdf import pdf_reader as reader
from kindly.extract.html import ExtractedText
from tests.support.pdf_files import PROSE, line, lines, pdf, read_pdf, transparent

URL = "https://files.example/scan.pdf"
PICTURE = "q 612 0 0 792 0 0 cm /Im1 Do Q"


def read_unrecognised(content: str) -> ExtractedText:
    """A page with this content, without character recognition."""
    return reader.read_pdf(pdf([content]), ExtractOptions(), URL, recogniser=lambda: None)


@pytest.mark.parametrize(
    "hidden",
    [
        line("secret", mode=3, y=500),
        line("secret", colour="1", y=500),
        transparent(line("secret", y=500)),
        line("secret", size=0.5, y=500),
        line("secret", x=2000, y=500),
        line("secret", y=-100),
        "1 g 60 490 200 30 re f\n" + line("secret", colour="1", y=500),
        "60 490 200 30 re S\n" + line("secret", colour="0.99", y=500),
    ],
    ids=[
        *("no ink", "white", "transparent", "tiny", "beside", "below"),
        *("white on white box", "white in a frame"),
    ],
)
def test_hidden_text_is_left_out_and_counted(hidden: str) -> None:
    document = read_pdf(lines(PROSE) + "\n" + hidden)
    assert "secret" not in document.text
    assert document.hidden_dropped == 1


@pytest.mark.parametrize(
    "shown",
    [
        "0 g 60 490 200 30 re f\n" + line("shown", colour="1", y=500),
        PICTURE + "\n" + line("shown", colour="1", y=500),
        line("shown", mode=1, colour="1", y=500),
    ],
    ids=["white on black", "white on a picture", "outlined"],
)
def test_white_text_on_a_dark_background_is_kept(shown: str) -> None:
    assert "shown" in read_pdf(line("words") + "\n" + shown).text


LAYERS = [line("what the scan says", mode=3), transparent(line("what the scan says"))]
KINDS = ["no ink", "transparent"]


@pytest.mark.parametrize("layer", LAYERS, ids=KINDS)
def test_ocr_layer_of_a_scan_is_kept(layer: str) -> None:
    document = read_unrecognised(PICTURE + "\n" + layer)
    assert document.text == "— page 1 —\n\nwhat the scan says"


@pytest.mark.parametrize("layer", LAYERS, ids=KINDS)
@pytest.mark.parametrize(
    ("picture", "visible", "shown"),
    [
        (PICTURE, line("Downloaded from archive.example", y=20), True),
        (PICTURE, line("Ordinary words of the page", y=500), False),
        ("q 200 0 0 200 0 0 cm /Im1 Do Q", line("Downloaded from archive.example", y=20), False),
    ],
    ids=["scan with a stamp", "page with text", "small picture"],
)
def test_text_layer_of_a_stamped_scan_is_read(
    picture: str, visible: str, shown: bool, layer: str
) -> None:
    document = read_unrecognised("\n".join((picture, visible, layer)))
    assert ("what the scan says" in document.text) is shown
