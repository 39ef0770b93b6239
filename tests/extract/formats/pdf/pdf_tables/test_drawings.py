import pypdfium2 as pdfium  # type: ignore[import-untyped]
import pytest

from kindly.extract.formats.pdf.pdf_tables.drawings import Rules, read_rules
from tests.support.pdf_files import pdf


def rules(content: str) -> Rules:
    with pdfium.PdfDocument(pdf([content])) as document:
        return read_rules(document[0])


@pytest.mark.parametrize(
    ("content", "across", "down", "boxes"),
    [
        ("100 200 m 300 200 l S", 1, 0, 0),
        ("100 200 m 100 400 l S", 0, 1, 0),
        ("100 200 200 0.5 re f", 1, 0, 0),
        ("100 200 200 100 re S", 2, 2, 0),
        ("0.8 g 100 200 200 100 re f", 0, 0, 1),
        ("1 G 100 200 m 300 200 l S", 0, 0, 0),
        ("100 200 m 300 350 l S", 0, 0, 0),
        ("100 200 m 101 200 l S", 0, 0, 0),
    ],
    ids=["line", "vertical", "thin box", "frame", "filled box", "white", "slanted", "dot"],
)
def test_lines_are_read_by_direction(content: str, across: int, down: int, boxes: int) -> None:
    found = rules(content)
    assert (len(found.across), len(found.down), len(found.boxes)) == (across, down, boxes)


def test_grid_in_one_path_is_read_line_by_line() -> None:
    found = rules("100 200 m 300 200 l 100 250 m 300 250 l 100 200 m 100 250 l S")
    assert sorted(round(rule.at) for rule in found.across) == [200, 250]
    assert [round(rule.at) for rule in found.down] == [100]


def test_drawing_of_thousands_of_lines_has_no_borders() -> None:
    many = "\n".join(f"{n % 500} 100 m {n % 500} 200 l S" for n in range(4_100))
    assert rules(many) == Rules([], [], [])
