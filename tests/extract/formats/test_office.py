import io
import sys
import zipfile

import pytest

from kindly.errors import (
    ExtractionFailed,
    InputError,
    KindlyError,
    MediaUnsupported,
    NoContent,
)
from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.extract.formats import archive, office, workbook
from kindly.extract.formats.office import OfficeLimits
from kindly.extract.html import ExtractedText
from kindly.models import Document, Format, Link
from tests.support.html_pages import page
from tests.support.office_files import whole_document, whole_workbook
from tests.support.zip_files import (
    docx,
    para,
    related,
    row,
    run,
    with_declared_size,
    xlsx,
    zipped,
)

pytest.importorskip("mammoth")
pytest.importorskip("python_calamine")

DRAWING = "http://schemas.openxmlformats.org/drawingml/2006"
ODT = "application/vnd.oasis.opendocument.text"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
TABLE = (
    "<w:tbl>"
    + "".join(
        f"<w:tr>{''.join(f'<w:tc>{para(run(cell))}</w:tc>' for cell in cells)}</w:tr>"
        for cells in (("a", "b"), ("1", "2|3"))
    )
    + "</w:tbl>"
)
LETTER = (
    para(run("Tides"), "heading1")
    + para(run("See ") + f'<w:hyperlink r:id="rId3">{run("the tables")}</w:hyperlink>' + run("."))
    + para(run("high"), "ListParagraph", 0)
    + para(run("higher"), "ListParagraph", 1)
    + TABLE
    + para(run("if x:"), "HTMLPreformatted")
    + para(run("    pass"), "HTMLPreformatted")
)


def read(body: bytes, media_type: str = "", format: Format = "markdown") -> Document:
    return extract(page(body, media_type=media_type), ExtractOptions(format))


def opened(body: bytes) -> archive.Archive:
    return archive.Archive(body, url="https://h.example/", media_type="x")


def word(body: bytes, **limits: int) -> ExtractedText:
    """A Word document, read with these limits."""
    return office.read_docx(opened(body), ExtractOptions(), OfficeLimits(**limits))


@pytest.mark.parametrize(
    "media_type", ["", "application/zip", "text/html", "application/octet-stream"]
)
def test_word_document_keeps_its_structure_under_any_declared_type(media_type: str) -> None:
    document = read(docx(LETTER), media_type)
    assert document.text == (
        "# Tides\n\nSee [the tables](https://l.example/x).\n\n- high\n  - higher\n\n"
        "| a | b |\n| --- | --- |\n| 1 | 2\\|3 |\n\n```\nif x:\n    pass\n```"
    )
    assert document.media_type.endswith("wordprocessingml.document")
    assert document.links == (Link("the tables", "https://l.example/x"),)
    assert (document.metadata.title, document.metadata.author, document.metadata.published) == (
        "Tides & moons", "A. Writer", "2024-01-02T03:04:05Z",
    )  # fmt: skip


@pytest.mark.parametrize(("format", "start"), [("text", "Tides\n\nSee"), ("html", "<h1>Tides</h1>")])  # fmt: skip
def test_word_document_in_other_formats(format: Format, start: str) -> None:
    assert read(docx(LETTER), format=format).text.startswith(start)


def test_hidden_runs_are_left_out_and_counted() -> None:
    body = docx(para(run("shown ") + run("secret", hidden=True) + run("too")))
    document = read(body)
    assert (document.text, document.hidden_dropped) == ("shown too", 1)


def test_title_of_the_text_is_used_if_the_properties_have_none() -> None:
    body = docx(para(run("Tides"), "heading1"), **{"docProps/core__xml": "<x/>"})
    assert read(body).metadata.title == "Tides"


def test_document_without_text_has_no_content() -> None:
    with pytest.raises(NoContent):
        read(docx(para("")))


def test_external_picture_is_not_fetched() -> None:
    picture = (
        f'<w:p><w:r><w:drawing><wp:inline xmlns:wp="{DRAWING}/wordprocessingDrawing">'
        f'<a:graphic xmlns:a="{DRAWING}/main"><a:graphicData><pic:pic xmlns:pic="{DRAWING}/picture"><pic:blipFill>'
        '<a:blip r:link="rId1"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline>'
        "</w:drawing></w:r></w:p>"
    )
    rels = related(("image", "file:///etc/passwd"))
    body = docx(picture + para(run("words")), **{"word/_rels/document__xml__rels": rels})
    assert read(body).text == "words"


def test_long_document_is_truncated_with_a_note() -> None:
    document = word(docx("".join(para(run(f"paragraph {n}")) for n in range(50))), markup=200)
    assert document.partial
    assert document.text.endswith("— the file is truncated: the rest was not read —")


def test_long_document_is_read_in_pieces_and_completely() -> None:
    body = TABLE * 3 + "".join(para(run(f"paragraph {n}")) for n in range(200)) + "<w:p/>"
    document = word(docx(body + para(run("gone", hidden=True))), piece=2_000)
    assert not document.partial
    assert [f"paragraph {n}\n" in f"{document.text}\n" for n in range(200)] == [True] * 200
    assert document.text.count("| --- |") == read(docx(TABLE * 3)).text.count("| --- |")
    assert document.hidden_dropped == 1


@pytest.mark.parametrize("pieces", [1, 3], ids=["at once", "after pieces"])
def test_document_with_too_much_markup_is_truncated_between_paragraphs(pieces: int) -> None:
    body = docx("".join(para(run(f"paragraph {n}")) for n in range(400)))
    document = word(body, word=20_000, piece=18_000 // pieces)
    assert document.partial
    assert document.text.endswith("— the file is truncated: the rest was not read —")
    assert "paragraph 50\n" in document.text


def test_document_that_is_one_huge_table_is_too_large() -> None:
    with pytest.raises(ExtractionFailed):
        word(docx(TABLE * 2), piece=50, whole=60)


def test_document_ends_before_a_table_that_is_too_large() -> None:
    document = word(docx(para(run("before")) + TABLE), piece=100, whole=150)
    assert document.text == "before\n\n— the file is truncated: the rest was not read —"


def test_document_that_takes_too_long_is_truncated() -> None:
    times = iter((0.0, 0.0, 99.0))
    body = docx("".join(para(run(f"paragraph {n}")) for n in range(9)))
    limits = OfficeLimits(piece=100)
    reading = office.read_docx(opened(body), ExtractOptions(), limits, lambda: next(times))
    assert reading.partial
    assert reading.text == "paragraph 0\n\n— the file is truncated: the rest was not read —"


def test_sheets_become_tables_and_hidden_ones_are_counted() -> None:
    prices = row(1, "item", "price") + row(2, "a|b", 2.5) + row(3, "c", 3)
    book = xlsx(
        {"Prices": prices, "Notes": row(1, "x", "y"), "Secret": row(1, "s")},
        hidden=frozenset({"Secret"}),
    )
    document = read(book)
    assert document.text == (
        "## Prices\n\n| item | price |\n| --- | --- |\n| a\\|b | 2.5 |\n| c | 3 |\n\n"
        "## Notes\n\n| x | y |\n| --- | --- |"
    )
    assert document.hidden_dropped == 1
    assert document.media_type.endswith("spreadsheetml.sheet")


def test_long_and_wide_sheets_are_truncated_with_a_note() -> None:
    rows = "".join(row(n, *range(60)) for n in range(1, workbook.MAX_ROWS + 3))
    document = read(xlsx({"Big": rows}))
    assert document.partial
    assert "the sheet is truncated: 1,001 rows and 50 columns of it were read" in document.text


def test_many_sheets_are_truncated_with_a_note() -> None:
    document = read(xlsx({f"S{n}": row(1, "v") for n in range(office.LIMITS.sheets + 1)}))
    assert document.partial
    assert "30 of 31 sheets" in document.text


def test_open_document_sheet_is_read() -> None:
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("mimetype", kind)
        made.writestr(
            "META-INF/manifest.xml",
            f'<m:manifest xmlns:m="m"><m:file-entry m:full-path="/" m:media-type="{kind}"/></m:manifest>',
        )
        made.writestr(
            "content.xml",
            '<office:document-content xmlns:office="o" xmlns:table="t" xmlns:text="x"><office:body><office:spreadsheet>'
            '<table:table table:name="One"><table:table-row><table:table-cell office:value-type="string">'
            "<text:p>cell</text:p></table:table-cell><table:table-cell office:value-type='string'><text:p>next</text:p>"
            "</table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document-content>",
        )
    document = read(out.getvalue())
    assert (document.media_type, document.text) == (
        kind,
        "## One\n\n| cell | next |\n| --- | --- |",
    )


def test_word_document_with_everything_keeps_it() -> None:
    assert (
        read(whole_document()).text
        == """\
# The Book of Tides

A survey

# Causes

The moon pulls[^1] and the sun too[^2].

## In detail

See [the tables](https://l.example/x).

### Very deep

- springs
  - at new moon
  - at full moon
- neaps
1. measure
   1. with a gauge
2. compare

| Region | Height | Height |
| --- | --- | --- |
| North | high | 4.1 |
| North | low | 0.3 |
| South | high | 3.2 |

Table 1: heights

```
for tide in tides:
    print(tide)
```

Run `tides` now.

They rise twice a day.

— picture: A tide gauge in the harbour —

> Quoted words.

[^1]: Mostly.

[^2]: A little."""
    )


def test_workbook_with_everything_keeps_it() -> None:
    document = read(whole_workbook())
    assert document.hidden_dropped == 1
    assert (
        document.text
        == """\
## Heights & more

Tide heights

| Region | Height high | Height low |
| --- | --- | --- |
| [North](https://tides.example/north?a=1&b=2) | 4.1 | 0.3 |
| South | 3 |  |
| Both | 7.1 | TRUE |

## Sources

| Source | A long text |
| --- | --- |
| [gauge](https://gauge.example/) |  |

## Empty"""
    )


@pytest.mark.parametrize(
    ("library", "body", "what"),
    [("mammoth", docx(LETTER), "Word"), ("python_calamine", xlsx({"A": row(1, "x", "y")}), "Excel"),
     ("pptx", zipped({"ppt/presentation.xml": "<x/>"}), "PowerPoint")],
    ids=["word", "excel", "powerpoint"],
)  # fmt: skip
def test_missing_library_names_the_extra(
    library: str, body: bytes, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MediaUnsupported) as caught:
        read(body)
    assert what in caught.value.detail
    assert "office" in caught.value.detail


def test_selector_on_an_office_file_is_an_input_error() -> None:
    with pytest.raises(InputError):
        extract(page(docx(LETTER)), ExtractOptions(selector="p"))


@pytest.mark.parametrize(
    "body",
    [
        docx(LETTER)[:-40],
        docx("<w:p>"),
        docx(LETTER, **{"word/document__xml": b"\xff\xfe\x00"}),
        zipped({"word/document.xml": "<x/>"}),
        zipped({"xl/workbook.xml": "<x/>"}),
        zipped({"xl/workbook.xml": "<x"}),
        zipped({"ppt/presentation.xml": "<x/>"}),
        zipped({"META-INF/container.xml": "<x/>"}),
        with_declared_size(docx(LETTER), b"word/document.xml", 10),
        OLE + "Workbook".encode("utf-16-le"),
    ],
    ids=["cut", "unclosed", "not text", "word", "excel", "excel xml", "powerpoint", "book", "short", "old excel"],
)  # fmt: skip
def test_broken_file_is_unsupported(body: bytes) -> None:
    with pytest.raises((MediaUnsupported, NoContent)) as caught:
        read(body)
    assert isinstance(caught.value, KindlyError)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (OLE + "WordDocument".encode("utf-16-le"), "application/msword"),
        (OLE + "PowerPoint Document".encode("utf-16-le"), "application/vnd.ms-powerpoint"),
        (OLE, "application/x-ole-storage"),
        (zipped({"mimetype": "x", "a.txt": "b"}), "application/zip"),
        (b"PK\x03\x04" + bytes(26) + b"mimetype" + ODT.encode(), ODT),
    ],
    ids=["doc", "ppt", "ole", "zip", "odt"],
)  # fmt: skip
def test_unsupported_container_is_reported_by_type(body: bytes, named: str) -> None:
    with pytest.raises(MediaUnsupported) as caught:
        read(body)
    assert caught.value.media_type == named
