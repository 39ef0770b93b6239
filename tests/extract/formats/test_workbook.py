"""Workbooks are cut to what is shown before the library reads them."""

import pytest

from kindly.errors import MediaUnsupported
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.extract.formats.workbook import MAX_COLUMNS, MAX_ROWS, column_letters, column_number
from kindly.models import Document
from tests.support.html_pages import page
from tests.support.zip_files import OFFICE, SHEET, related, row, xlsx, zipped

pytest.importorskip("python_calamine")
TRUNCATED = "the sheet is truncated"


def read(body: bytes) -> Document:
    return extract(page(body), ExtractOptions())


def book(sheet: str, strings: str = "", **more: str) -> bytes:
    """A workbook of one sheet, with shared strings."""
    parts: dict[str, str | bytes] = {
        "_rels/.rels": related((f"{OFFICE}/officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": (
            f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets>'
            "</workbook>"
        ),
        "xl/_rels/workbook.xml.rels": related(
            (f"{OFFICE}/worksheet", "worksheets/sheet1.xml"),
            (f"{OFFICE}/sharedStrings", "sharedStrings.xml"),
        ),
        "xl/worksheets/sheet1.xml": sheet,
        "xl/sharedStrings.xml": f'<sst xmlns="{SHEET}">{strings}</sst>',
        **more,
    }
    return zipped(parts)


def sheet(rows: str) -> str:
    return f'<worksheet xmlns="{SHEET}"><sheetData>{rows}</sheetData><mergeCells/></worksheet>'


@pytest.mark.parametrize(
    "far",
    [
        '<row r="1048576"><c r="XFD1048576"><v>9</v></c></row>',
        '<row r="2"><c r="XFD2"><v>9</v></c><c r="XFC2"><v>9</v></c></row>',
        f'<row r="{MAX_ROWS + 2}"><c r="A{MAX_ROWS + 2}"><v>9</v></c></row>',
        '<row r="99999999999999999999"><c/></row><row r="9000"/>',
    ],
    ids=["corner", "column", "row", "no such row"],
)
def test_distant_cells_do_not_hide_near_ones(far: str) -> None:
    document = read(xlsx({"S": row(1, "item", "price") + far}))
    assert document.text.startswith("## S\n\n| item | price |")
    assert document.partial
    assert TRUNCATED in document.text


def test_cells_without_references_follow_each_other() -> None:
    cells = "<row><c><v>1</v></c><c><v>2</v></c></row><row><c><v>3</v></c></row>"
    assert "| 1 | 2 |\n| --- | --- |\n| 3 |" in read(xlsx({"S": cells})).text


def test_shared_strings_belong_to_their_cells() -> None:
    strings = (
        "<si><t>unused</t></si><si><r><t>a </t></r><r><t>&amp; b</t></r><rPh><t>reading</t></rPh></si>"
        f"<si/><si><t>{'x' * 5_000}</t></si><si><t>after</t></si>"
    )
    cells = "".join(
        f'<c r="{letter}1" t="s"><v>{n}</v></c>' for letter, n in zip("ABC", (1, 2, 3), strict=True)
    )
    text = read(book(sheet(f'<row r="1">{cells}</row>'), strings)).text
    assert "| a & b |" in text
    assert f" {'x' * 1_000} |" in text
    assert "unused" not in text


def test_inline_text_keeps_its_parts_without_phonetic_runs() -> None:
    inline = (
        '<c r="A1" t="inlineStr"><is><r><t>a</t></r><r><t>b</t></r><rPh><t>no</t></rPh></is></c>'
    )
    cells = f'<row r="1">{inline}<c r="B1" t="str"><f>A1</f><v>c</v></c><c r="C1" t="b"><v>1</v></c></row>'
    assert "| ab | c | TRUE |" in read(xlsx({"S": cells})).text


def test_dates_are_kept_as_dates() -> None:
    styles = f'<styleSheet xmlns="{SHEET}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>'
    rels = related(
        (f"{OFFICE}/worksheet", "worksheets/sheet1.xml"), (f"{OFFICE}/styles", "styles.xml")
    )
    more = {"xl/styles.xml": styles, "xl/_rels/workbook.xml.rels": rels}
    cells = sheet('<row r="1"><c r="A1" s="1"><v>45292</v></c></row>')
    assert "2024-01-01" in read(book(cells, **more)).text


def test_markup_with_a_prefix_is_read() -> None:
    cells = '<x:row r="1"><x:c r="A1"><x:v>7</x:v></x:c></x:row>'
    start = f'<x:worksheet xmlns:x="{SHEET}"><x:sheetData>'
    assert "7" in read(book(f"{start}{cells}</x:sheetData></x:worksheet>")).text


@pytest.mark.parametrize("part", ["<worksheet><sheetData><row", "<worksheet>&x;</worksheet>"])
def test_broken_sheet_is_unsupported(part: str) -> None:
    with pytest.raises(MediaUnsupported):
        read(book(part))


@pytest.mark.parametrize(("letters", "number"), [("A", 1), ("Z", 26), ("AA", 27), ("xfd", 16_384)])
def test_columns_have_letters_and_numbers(letters: str, number: int) -> None:
    assert column_number(letters) == number
    assert column_letters(number) == letters.upper()


def test_wide_sheet_is_truncated() -> None:
    document = read(xlsx({"S": row(1, *range(MAX_COLUMNS + 1))}))
    assert document.partial
    assert f" {MAX_COLUMNS - 1} |" in document.text
    assert f"| {MAX_COLUMNS} |" not in document.text
