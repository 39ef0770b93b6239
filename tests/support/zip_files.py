"""Office files and EPUB books for tests: parts in, bytes out."""

import io
import zipfile
from collections.abc import Mapping

RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
EXTERNAL = ' TargetMode="External"'
HIDDEN = ' state="hidden"'
CORE = (
    '<cp:coreProperties xmlns:cp="c" xmlns:dc="d" xmlns:dcterms="t"><dc:title>Tides &amp; moons</dc:title>'
    "<dc:creator>A. Writer</dc:creator><dcterms:created>2024-01-02T03:04:05Z</dcterms:created></cp:coreProperties>"
)


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip file with these members, in this order."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def related(*targets: tuple[str, str]) -> str:
    """A relationships part: types and targets, numbered from rId1."""
    rows = "".join(
        f'<Relationship Id="rId{n}" Type="{kind}" Target="{target}"'
        f"{EXTERNAL if '://' in target else ''}/>"
        for n, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{RELATIONSHIPS}">{rows}</Relationships>'


def docx(body: str, **more: str | bytes) -> bytes:
    """A Word document with this body and other parts, their dots written as `__`."""
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{name.replace(" ", "")}"><w:name w:val="{name}"/></w:style>'
        for name in ("heading 1", "heading 2", "HTML Preformatted", "List Paragraph")
    )
    levels = "".join(
        f'<w:lvl w:ilvl="{level}"><w:numFmt w:val="bullet"/></w:lvl>' for level in (0, 1)
    )
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": related((f"{OFFICE}/officeDocument", "word/document.xml")),
        "word/document.xml": f'<w:document xmlns:w="{WORD}" xmlns:r="{OFFICE}"><w:body>{body}</w:body></w:document>',
        "word/styles.xml": f'<w:styles xmlns:w="{WORD}">{styles}</w:styles>',
        "word/numbering.xml": (
            f'<w:numbering xmlns:w="{WORD}"><w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>'
            '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
        ),
        "word/_rels/document.xml.rels": related(
            (f"{OFFICE}/styles", "styles.xml"),
            (f"{OFFICE}/numbering", "numbering.xml"),
            (f"{OFFICE}/hyperlink", "https://l.example/x"),
        ),
        "docProps/core.xml": CORE,
    }
    return zipped({**parts, **{name.replace("__", "."): part for name, part in more.items()}})


def run(text: str, *, hidden: bool = False) -> str:
    """Words of a Word document."""
    marks = "<w:rPr><w:vanish/></w:rPr>" if hidden else ""
    return f'<w:r>{marks}<w:t xml:space="preserve">{text}</w:t></w:r>'


def para(content: str, style: str = "", level: int | None = None) -> str:
    """A paragraph of a Word document; with a level, an item of a list."""
    marks = f'<w:pStyle w:val="{style}"/>' if style else ""
    if level is not None:
        marks += f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr>'
    return f"<w:p><w:pPr>{marks}</w:pPr>{content}</w:p>"


def xlsx(
    sheets: Mapping[str, str],
    *,
    hidden: frozenset[str] = frozenset(),
    after: Mapping[str, str] | None = None,
    links: Mapping[str, Mapping[str, str]] | None = None,
) -> bytes:
    """A workbook with these sheets; each is the inner part of `sheetData`, and `after` is what follows that.

    `links` are addresses by sheet and cell.
    """
    listed = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}"{HIDDEN if name in hidden else ""}/>'
        for n, name in enumerate(sheets, 1)
    )
    parts: dict[str, str] = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": related((f"{OFFICE}/officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": related(
            *(
                (f"{OFFICE}/worksheet", f"worksheets/sheet{n}.xml")
                for n in range(1, len(sheets) + 1)
            )
        ),
    }
    for n, (name, rows) in enumerate(sheets.items(), 1):
        end = (after or {}).get(name, "")
        if own := (links or {}).get(name, {}):
            cells = (f'<hyperlink ref="{at}" r:id="rId{m}"/>' for m, at in enumerate(own, 1))
            end += f"<hyperlinks>{''.join(cells)}</hyperlinks>"
            parts[f"xl/worksheets/_rels/sheet{n}.xml.rels"] = related(
                *((f"{OFFICE}/hyperlink", address) for address in own.values())
            )
        parts[f"xl/worksheets/sheet{n}.xml"] = (
            f'<worksheet xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheetData>{rows}</sheetData>{end}</worksheet>'
        )
    return zipped(parts)


def row(number: int, *cells: str | float) -> str:
    """A row of a sheet."""
    drawn = "".join(
        f'<c r="{column(n)}{number}" t="inlineStr"><is><t>{cell}</t></is></c>'
        if isinstance(cell, str)
        else f'<c r="{column(n)}{number}"><v>{cell}</v></c>'
        for n, cell in enumerate(cells)
    )
    return f'<row r="{number}">{drawn}</row>'


def column(number: int) -> str:
    """The letters of a column, from 0."""
    first, last = divmod(number, 26)
    return (chr(64 + first) if first else "") + chr(65 + last)


def epub(chapters: Mapping[str, str], **more: str | bytes) -> bytes:
    """A book with these chapters, in this order."""
    items = "".join(
        f'<item id="c{n}" href="{name}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    parts: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": (
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
        ),
        "OEBPS/book.opf": (
            '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
            "<dc:title>The Tide Book</dc:title><dc:creator>A. One</dc:creator><dc:creator>B. Two</dc:creator>"
            "<dc:language>en</dc:language><dc:date>2020-05-06</dc:date></metadata>"
            f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
        ),
        **{f"OEBPS/{name}": text for name, text in chapters.items()},
    }
    return zipped({**parts, **{name.replace("__", "."): part for name, part in more.items()}})


def with_declared_size(body: bytes, name: bytes, size: int) -> bytes:
    """The archive with a wrong unpacked size of one member in its directory."""
    start = body.index(b"PK\x01\x02")
    while body[start + 46 : start + 46 + len(name)] != name:
        start = body.index(b"PK\x01\x02", start + 1)
    return body[: start + 24] + size.to_bytes(4, "little") + body[start + 28 :]


def encrypted(body: bytes) -> bytes:
    """The archive with its first member marked as encrypted."""
    start = body.index(b"PK\x01\x02")
    return body[: start + 8] + b"\x01\x00" + body[start + 10 :]
