"""The bombs that `hostile_load` fetches, and a site in its own process that serves them.

    python -m bench.hostile_site

Prints its port on the first line and serves until its standard input closes. `/bomb/<name>` is one of `BOMBS`,
built at its first request; `/ordinary` is an ordinary page.
"""

import random
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import cache

import anyio
from anyio.abc import SocketStream
from tests.support.pdf_files import line, pdf
from tests.support.site import (
    HTML,
    Answer,
    Handler,
    SiteRequest,
    compressed,
    head_of,
    html,
    running_site,
)
from tests.support.zip_files import CORE, OFFICE, docx, epub, para, related, row, run, xlsx, zipped

from bench.site import article

MIB = 1024 * 1024
PAGE = 1_990_000
"""Just below the size limit of a page."""
FILE = 19_900_000
"""Just below the size limit of a file."""
PDF = "application/pdf"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
SLIDES = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
EPUB = "application/epub+zip"


def typed(body: bytes, media_type: str, **headers: str) -> Answer:
    """An answer of any type."""
    extra = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(body, headers={"Content-Type": media_type, **extra})


def packed(coding: str, megabytes: int = 200) -> Answer:
    """A page that decompresses to `megabytes`."""
    return typed(
        compressed(coding, b"<p>bomb</p>\n" * (megabytes * MIB // 12)),
        HTML,
        Content_Encoding=coding,
    )


def nested(count: int, tag: str = "div") -> Answer:
    """Tags within tags."""
    return html(f"<{tag}>" * count + "deep")


def filled(start: str, piece: str, end: str = "", size: int = PAGE) -> str:
    """As many repetitions as fit."""
    return start + piece * ((size - len(start) - len(end)) // len(piece)) + end


def attributes() -> Answer:
    """A million attributes, as many as fit on one element."""
    names = " ".join(f"a{number:x}" for number in range(1_000_000))
    return html(f"<main><p {names}>x</p></main>"[:PAGE] + "><p>words")


def paragraphs() -> Answer:
    """Plain text up to the size limit of a page."""
    dice = random.Random(1)
    words = ["tea", "water", "leaf", "cup", "steam", "green", "harvest", "garden"]
    made = (f"<p>{' '.join(dice.choices(words, k=30))}</p>" for _ in range(1_000_000))
    body, size = [], 0
    for one in made:
        size += len(one)
        if size > PAGE - 100:
            break
        body.append(one)
    return html(f"<main><h1>Long</h1>{''.join(body)}</main>")


def deep_json(opening: bytes = b"[", closing: bytes = b"]") -> Answer:
    """Lists within lists."""
    half = PAGE // 2
    return typed(opening * half + closing * half, "application/json")


def entities() -> Answer:
    """A billion laughs."""
    rows = "".join(
        f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' if n else '<!ENTITY l0 "lol">' for n in range(12)
    )
    text = f'<?xml version="1.0"?><!DOCTYPE x [{rows}]><rss><channel><title>&l11;</title></channel></rss>'
    return typed(text.encode(), "application/xml")


def feed() -> Answer:
    """A feed of 100,000 items, or as many as fit."""
    items = "".join(f"<item><title>{n}</title></item>" for n in range(100_000))
    text = f"<?xml version='1.0'?><rss version='2.0'><channel><title>Many</title>{items}"
    return typed(text.encode()[:PAGE], "application/rss+xml")


def flate_pdf(megabytes: int = 400, *, text: bool = False) -> Answer:
    """A page whose content stream is a few kilobytes and then `megabytes`."""
    piece = line("Words on a page. ").encode() + b"\n" if text else b"0 0 m 1 1 l S\n"
    deflate = zlib.compressobj(9)
    block = piece * (MIB // len(piece))
    stream = b"".join(deflate.compress(block) for _ in range(megabytes)) + deflate.flush()
    return typed(written_pdf([b"/Filter /FlateDecode"], [stream]), PDF)


def twice_flated_pdf() -> Answer:
    """The same, with one filter over the other."""
    deflate = zlib.compressobj(9)
    block = b"0 0 m 1 1 l S\n" * (MIB // 14)
    inner = b"".join(deflate.compress(block) for _ in range(2_000)) + deflate.flush()
    stream = zlib.compress(inner, 9)
    return typed(written_pdf([b"/Filter [/FlateDecode /FlateDecode]"], [stream]), PDF)


def written_pdf(filters: list[bytes], streams: list[bytes], extra: bytes = b"") -> bytes:
    """A PDF of one page whose contents are these streams; without a table of objects, which readers rebuild."""
    out = bytearray(b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n")
    out += b"2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n"
    contents = b" ".join(b"%d 0 R" % (10 + n) for n in range(len(streams)))
    out += (
        b"3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents [%b] /Resources "
        b"<< /Font << /F1 4 0 R >> /XObject << /X 5 0 R >> >> >>\nendobj\n"
        b"4 0 obj\n<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>\nendobj\n" % contents
    )
    for n, (how, stream) in enumerate(zip(filters, streams, strict=True)):
        out += b"%d 0 obj\n<< /Length %d %b >>\nstream\n%b\nendstream\nendobj\n" % (
            10 + n, len(stream), how, stream,
        )  # fmt: skip
    return bytes(out + extra + b"trailer\n<< /Root 1 0 R >>\n%%EOF\n")


def million_objects() -> Answer:
    """A PDF of a million objects."""
    extra = b"".join(b"%d 0 obj\n1\nendobj\n" % number for number in range(100, 850_000))
    return typed(written_pdf([b""], [line("Hello").encode()], extra)[:FILE], PDF)


def many_pages() -> Answer:
    """A page tree with the same page a million times."""
    kids = b"3 0 R " * 1_000_000
    body = written_pdf([b""], [line("Hello").encode()])
    return typed(body.replace(b"[3 0 R] /Count 1", b"[%b] /Count 1000000" % kids), PDF)


def recursive_forms() -> Answer:
    """A form that draws itself, twice."""
    draw = b"q /X Do Q " * 2
    form = (
        b"5 0 obj\n<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >>"
        b" /Length %d >>\nstream\n%b\nendstream\nendobj\n" % (len(draw), draw)
    )
    return typed(written_pdf([b""], [draw + line("Hello").encode()], form), PDF)


def doubling_forms(depth: int = 24) -> Answer:
    """Forms that each draw the next one twice."""
    forms = bytearray()
    for n in range(depth):
        last = n == depth - 1
        draw = line("Again").encode() if last else b"/X Do /X Do"
        below = b"/Font << /F1 4 0 R >>" if last else b"/XObject << /X %d 0 R >>" % (1001 + n)
        number = 5 if n == 0 else 1000 + n
        forms += (
            b"%d 0 obj\n<< /Type /XObject /Subtype /Form /BBox [0 0 600 700] /Resources << %b >> /Length %d >>"
            b"\nstream\n%b\nendstream\nendobj\n" % (number, below, len(draw), draw)
        )
    return typed(written_pdf([b""], [b"/X Do"], bytes(forms)), PDF)


def long_pdf() -> Answer:
    """A valid PDF of many pages of text, up to the size limit of a file."""
    words = "\n".join(
        line(f"Line {n} of a page full of words.", y=780 - 10 * n, size=9) for n in range(76)
    )
    return typed(pdf([words] * 3_000), PDF)


def padded_pdf() -> Answer:
    """A PDF whose bytes are mostly not text."""
    stuffing = b"77 0 obj\n<< /Length 19500000 >>\nstream\n" + random.Random(2).randbytes(
        19_500_000
    )
    return typed(
        written_pdf([b""], [line("Hello").encode()], stuffing + b"\nendstream\nendobj\n"), PDF
    )


def far_cell() -> Answer:
    """A workbook of two cells at the ends of the sheet."""
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    return typed(xlsx({"S": row(1, "a") + far}), EXCEL)


def many_far_cells() -> Answer:
    """Several sheets, each with cells in the far corners."""
    far = '<row r="90000"><c r="A90000"><v>1</v></c><c r="ZZ90000"><v>1</v></c></row>'
    return typed(xlsx({f"S{n}": row(1, "a") + far for n in range(30)}), EXCEL)


def tall_sheet() -> Answer:
    """A sheet of as many rows as fit into the markup of a file."""
    rows = "".join(row(n, n, n) for n in range(1, 450_000))
    return typed(xlsx({"S": rows}), EXCEL)


def shared_strings(*, long: bool) -> Answer:
    """A workbook with a huge table of strings: many, or one that every cell names."""
    namespace = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    dice = random.Random(3)
    if long:
        items = f"<si><t>{dice.randbytes(5_000_000).hex()}</t></si>"
        cells = "".join(
            f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(1, 5_000)
        )
    else:
        items = "".join(f"<si><t>{dice.random()}</t></si>" for _ in range(900_000))
        cells = '<row r="1"><c r="A1" t="s"><v>0</v></c></row>'
    strings = f'<sst xmlns="{namespace}">{items}</sst>'
    book = (
        f'<workbook xmlns="{namespace}" xmlns:r="{OFFICE}"><sheets><sheet name="S" sheetId="1" r:id="rId1"/>'
        "</sheets></workbook>"
    )
    parts: dict[str, str | bytes] = {
        "_rels/.rels": related((f"{OFFICE}/officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": book,
        "xl/_rels/workbook.xml.rels": related(
            (f"{OFFICE}/worksheet", "worksheets/sheet1.xml"),
            (f"{OFFICE}/sharedStrings", "sharedStrings.xml"),
        ),
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{namespace}"><sheetData>{cells}</sheetData></worksheet>',
        "xl/sharedStrings.xml": strings,
    }
    return typed(zipped(parts), EXCEL)


def long_docx(count: int) -> Answer:
    """A Word document of many paragraphs."""
    return typed(docx("".join(para(run(f"Paragraph {n} of it.")) for n in range(count))), WORD)


def deep_docx() -> Answer:
    """Tables within tables."""
    table = "<w:tbl><w:tr><w:tc>"
    closing = "</w:tc></w:tr></w:tbl>"
    return typed(docx(table * 20_000 + para(run("deep")) + closing * 20_000), WORD)


def zip_bomb(member: str, media_type: str, megabytes: int = 500) -> Answer:
    """A package with a member that is all zeros."""
    parts: dict[str, str | bytes] = {member: b" " * (megabytes * MIB), "docProps/core.xml": CORE}
    return typed(zipped(parts), media_type)


def quiet_zip_bomb(member: str, media_type: str) -> Answer:
    """A package whose markup is just below the limit."""
    return typed(zipped({member: b"<a>" * (39 * MIB // 3), "docProps/core.xml": CORE}), media_type)


def wide_pptx() -> Answer:
    """A presentation with one slide of very many shapes."""
    drawn = "http://schemas.openxmlformats.org/drawingml/2006/main"
    shown = "http://schemas.openxmlformats.org/presentationml/2006/main"
    kinds = "application/vnd.openxmlformats-officedocument.presentationml"
    spaces = f'xmlns:a="{drawn}" xmlns:p="{shown}" xmlns:r="{OFFICE}"'
    shape = (
        '<p:sp><p:nvSpPr><p:cNvPr id="2" name="x"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/>'
        "<p:txBody><a:bodyPr/><a:p><a:r><a:t>words</a:t></a:r></a:p></p:txBody></p:sp>"
    )
    tree = shape * (30 * MIB // len(shape))
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": (
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/ppt/presentation.xml" ContentType="{kinds}.presentation.main+xml"/>'
            f'<Override PartName="/ppt/slides/slide1.xml" ContentType="{kinds}.slide+xml"/></Types>'
        ),
        "_rels/.rels": related((f"{OFFICE}/officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": (
            f'<p:presentation {spaces}><p:sldIdLst><p:sldId id="256" r:id="rId1"/></p:sldIdLst></p:presentation>'
        ),
        "ppt/_rels/presentation.xml.rels": related((f"{OFFICE}/slide", "slides/slide1.xml")),
        "ppt/slides/slide1.xml": f"<p:sld {spaces}><p:cSld><p:spTree>{tree}</p:spTree></p:cSld></p:sld>",
    }
    return typed(zipped(parts), SLIDES)


def long_epub() -> Answer:
    """A book of one chapter of 30 MB."""
    dice = random.Random(4)
    chapter = "".join(f"<p>{dice.randbytes(20).hex()}</p>" for _ in range(600_000))
    return typed(epub({"one": chapter}), EPUB)


BOMBS: dict[str, Callable[[], Answer]] = {
    "gzip": lambda: packed("gzip"),
    "br": lambda: packed("br"),
    "zstd": lambda: packed("zstd"),
    "8-mb-page": lambda: html(filled("<p>", "words ", size=8_000_000)),
    "full-page": paragraphs,
    "nested-100k": lambda: nested(100_000),
    "nested-200k": lambda: nested(200_000),
    "nested-spans": lambda: html(filled("", "<b><i>x")),
    "formatting": lambda: html("<a><b><i><u><s>" * 30_000 + "<p>x" * 100_000),
    "attributes": attributes,
    "one-attribute": lambda: html(filled('<p title="', "x", '">words')),
    "empty-tags": lambda: html(filled("", "<p>")),
    "tables": lambda: html(filled("", "<table><tr><td>x")),
    "templates": lambda: html(filled("", "<template><p>x")),
    "comments": lambda: html(filled("<p>a", "<!-- ")),
    "entities": lambda: html(filled("<p>", "&amp;&nbsp;&CounterClockwiseContourIntegral;")),
    "selectors": lambda: html(
        filled("<style>", ":not(:not(*)) a>b~c{display:none}", "</style><p>x")
    ),
    "script": lambda: html(filled("<div id=root></div><script>", "fetch('/x');<", "</script>")),
    "open-scripts": lambda: html(filled("<p>a", "<script ")),
    "plain-text": lambda: typed(filled("", "x" * 99 + "\n").encode(), "text/plain"),
    "one-line": lambda: typed(b"x" * PAGE, "text/plain"),
    "markdown": lambda: typed(filled("", "> * [").encode(), "text/markdown"),
    "deep-json": deep_json,
    "deep-objects": lambda: deep_json(b'{"a":', b"}"),
    "huge-number": lambda: typed(b"[" + b"9" * (PAGE - 2) + b"]", "application/json"),
    "small-json": lambda: typed(filled("[1", ",1", "]").encode(), "application/json"),
    "json-lines": lambda: typed(filled("", '{"a":1}\n').encode(), "application/x-ndjson"),
    "xml-entities": entities,
    "deep-xml": lambda: typed(filled("<?xml version='1.0'?>", "<a>").encode(), "application/xml"),
    "feed": feed,
    "csv-line": lambda: typed(filled("a,b\n", "x,").encode(), "text/csv"),
    "csv-quote": lambda: typed(filled('a,b\n"', "x\n").encode(), "text/csv"),
    "csv-rows": lambda: typed(filled("a,b\n", "1,2\n").encode(), "text/csv"),
    "pdf-flate": flate_pdf,
    "pdf-flate-text": lambda: flate_pdf(40, text=True),
    "pdf-flate-twice": twice_flated_pdf,
    "pdf-objects": million_objects,
    "pdf-page-tree": many_pages,
    "pdf-recursive-forms": recursive_forms,
    "pdf-doubling-forms": doubling_forms,
    "pdf-long": long_pdf,
    "pdf-padded": padded_pdf,
    "xlsx-far-cell": far_cell,
    "xlsx-far-cells": many_far_cells,
    "xlsx-tall": tall_sheet,
    "xlsx-strings": lambda: shared_strings(long=False),
    "xlsx-long-string": lambda: shared_strings(long=True),
    "docx-70k": lambda: long_docx(70_000),
    "docx-200k": lambda: long_docx(200_000),
    "docx-deep": deep_docx,
    "docx-zip-bomb": lambda: zip_bomb("word/document.xml", WORD),
    "docx-quiet-bomb": lambda: quiet_zip_bomb("word/document.xml", WORD),
    "xlsx-zip-bomb": lambda: zip_bomb("xl/workbook.xml", EXCEL),
    "pptx-zip-bomb": lambda: zip_bomb("ppt/presentation.xml", SLIDES),
    "pptx-shapes": wide_pptx,
    "epub-zip-bomb": lambda: zip_bomb("META-INF/container.xml", EPUB),
    "epub-long": long_epub,
}
"""By name; `STREAMS` has more."""


async def endless(_: SiteRequest, stream: SocketStream) -> None:
    """A page without an end."""
    await stream.send(head_of(200, {"Content-Type": HTML, "Connection": "close"}))
    while True:
        await stream.send(b"<p>" + b"x" * 65_000)


async def drip(_: SiteRequest, stream: SocketStream) -> None:
    """One byte at a time, with pauses."""
    await stream.send(head_of(200, {"Content-Type": HTML, "Connection": "close"}))
    while True:
        await stream.send(b"x")
        await anyio.sleep(0.2)


def informational(line: str) -> Handler:
    """Informational answers without an end, and never a final one."""

    async def answer(_: SiteRequest, stream: SocketStream) -> None:
        while True:
            await stream.send(f"HTTP/1.1 {line}\r\n\r\n".encode() * 2_500)

    return answer


STREAMS = {
    "endless": endless,
    "slow-drip": drip,
    "endless-100": informational("100 Continue"),
    "endless-103": informational("103 Early Hints"),
}


def names() -> Iterator[str]:
    """All bombs."""
    yield from BOMBS
    yield from STREAMS


@cache
def made(name: str) -> Answer:
    """A bomb; made once."""
    return BOMBS[name]()


async def serve() -> None:
    """Serve until standard input closes."""
    async with running_site() as site:
        site.add("/ordinary", html(article(1)))
        for name, route in STREAMS.items():
            site.add(f"/bomb/{name}", route)
        for name in BOMBS:

            async def bomb(_: SiteRequest, __: SocketStream, name: str = name) -> Answer:
                return await anyio.to_thread.run_sync(made, name)

            site.add(f"/bomb/{name}", bomb)
        print(site.port, flush=True)
        await anyio.to_thread.run_sync(sys.stdin.read)


if __name__ == "__main__":
    anyio.run(serve)
