import pypdfium2 as pdfium  # type: ignore[import-untyped]
import pytest

from kindly.extract.formats.pdf.pdf_lines import Box
from kindly.extract.formats.pdf.pdf_links import PageLink, read_links, with_links
from tests.support.pdf_files import line, pdf
from tests.support.pdf_parts import words


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("https://l.example/x", ["https://l.example/x"]),
        ("file:///etc/passwd", []),
        ("javascript:1", []),
    ],
)
def test_only_web_addresses_are_links(address: str, found: list[str]) -> None:
    with pdfium.PdfDocument(pdf([line("see")], link=address)) as document:
        links = read_links(document, document[0], 10)
    assert [link.address for link in links] == found


def test_words_in_the_area_get_the_address() -> None:
    link = PageLink("https://l.example/", Box(60, -5, 90, 15))
    (line_words,) = with_links([words("see the tables", left=50)], [link])
    assert [word.link for word in line_words] == ["", "https://l.example/", ""]
