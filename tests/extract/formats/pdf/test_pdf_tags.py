from kindly.extract.formats.pdf.pdf_tags import (
    NO_TAGS,
    PageTags,
    TaggedCell,
    read_tags,
    tagged_tables,
)
from tests.support.pdf_files import pdf
from tests.support.pdf_parts import rows_of, words


def test_file_without_tags_has_none() -> None:
    import pypdfium2 as pdfium  # type: ignore[import-untyped]

    with pdfium.PdfDocument(pdf([""])) as document:
        assert read_tags(document[0]) == NO_TAGS


def cell(row: int, tag: int, *, header: bool = False) -> TaggedCell:
    return TaggedCell(row, header, 1, 1, [tag])


CELLS = [
    cell(0, 0, header=True),
    cell(0, 1, header=True),
    cell(1, 2),
    cell(1, 3),
    cell(2, 4),
    cell(2, 5),
]
TEXT = [
    word
    for n, text in enumerate(("Port", "Tide", "Hull", "high", "Goole", "low"))
    for word in words(text, left=50 + 100 * (n % 2), bottom=140 - 20 * (n // 2), tag=n)
]


def test_tagged_table_has_the_cells_of_its_tags() -> None:
    (table,) = tagged_tables(PageTags(tables=[CELLS]), TEXT)
    assert rows_of(table) == [["Port", "Tide"], ["Hull", "high"], ["Goole", "low"]]
    assert table.header == 1


def test_table_that_goes_on_in_the_next_column_is_two_parts() -> None:
    moved = [
        word._replace(
            left=word.left + 300,
            right=word.right + 300,
            bottom=word.bottom + 100,
            top=word.top + 100,
        )
        if word.tag > 3
        else word
        for word in TEXT
    ]
    first, second = tagged_tables(PageTags(tables=[CELLS]), moved)
    assert (rows_of(first)[-1], rows_of(second)) == (["Hull", "high"], [["Goole", "low"]])


def test_table_without_words_on_the_page_is_none() -> None:
    assert tagged_tables(PageTags(tables=[CELLS]), words("other text", tag=9)) == []
