"""PDF files → text page by page, with headings, links and metadata.

Text that is invisible on the page is left out: without ink, white on white, tiny, or outside the page. If a page is an
image and all its text is invisible, that text is the OCR layer and is kept.
"""

import ctypes
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from kindly.errors import MediaUnsupported, NoContent, PageWalled
from kindly.extract import ExtractOptions
from kindly.extract.formats.file_errors import broken_file, encrypted_file, missing_library
from kindly.extract.formats.html_fragment import note, read_fragment, with_metadata
from kindly.extract.formats.pdf_layout import Line, page_markup, sizes, without_running_headers
from kindly.extract.formats.pdf_visibility import NO_INK, VISIBLE, PdfVisibility
from kindly.extract.html import ExtractedText
from kindly.models import Link, Metadata
from kindly.text.invisible import clean

if TYPE_CHECKING:
    import pypdfium2 as pdfium  # type: ignore[import-untyped]

MEDIA_TYPE: Final = "application/pdf"
MAX_PAGES: Final = 600
MAX_CHARACTERS: Final = 1_500_000
MAX_SECONDS: Final = 10.0
MAX_LINKS: Final = 200
PASSWORD_ERRORS = (4, 5)
LINE_ENDS = "\r\n"
WORD_BREAKS = "\x02\ufffe\u00ad"
DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(?:(\d\d)(\d\d)(\d\d)?)?(?:([+-]\d\d)'?(\d\d)?|(Z))?")
NO_TITLE = re.compile(
    r"\s*(?:untitled|title|document\d*|microsoft \w+ - \S+|\S+\.\w{2,4})?\s*\Z", re.I
)


@dataclass(slots=True)
class _PdfContent:
    """The content that is read so far."""

    pages: list[list[Line]] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)
    characters: int = 0
    hidden: int = 0


def read_pdf(
    body: bytes, options: ExtractOptions, url: str, clock: Callable[[], float] = time.monotonic
) -> ExtractedText:
    """The text of a PDF file.

    Raises:
        PageWalled: it is encrypted.
        NoContent: it has no text.
        MediaUnsupported: it is broken, or the library is not installed.
    """
    try:
        import pypdfium2 as pdfium
    except ImportError as error:
        raise missing_library("PDF", url=url, media_type=MEDIA_TYPE) from error
    try:
        document = pdfium.PdfDocument(body)
    except pdfium.PdfiumError as error:
        raise _open_error(error, body, url) from error
    try:
        return _read(document, options, url, clock)
    finally:
        document.close()


def _open_error(error: Any, body: bytes, url: str) -> PageWalled | MediaUnsupported:
    if error.err_code in PASSWORD_ERRORS:
        return encrypted_file(url)
    return broken_file(body, url=url, media_type=MEDIA_TYPE)


def _read(
    document: "pdfium.PdfDocument", options: ExtractOptions, url: str, clock: Callable[[], float]
) -> ExtractedText:
    total = len(document)
    found = _PdfContent()
    until = clock() + MAX_SECONDS
    while len(found.pages) < min(total, MAX_PAGES) and clock() < until:
        _read_page(document, found)
        if found.characters >= MAX_CHARACTERS:
            break
    done = len(found.pages)
    if not any(found.pages):
        raise NoContent(
            f"The PDF has no text on its {total:,} {'page' if total == 1 else 'pages'}: "
            "it is a scan or has only images.",
            url=url,
        )
    markup = _markup(found.pages)
    if done < total:
        markup += note(f"the document is truncated: {done:,} of its {total:,} pages were read")
    extracted = read_fragment(markup, options, url)
    metadata = _metadata(document.get_metadata_dict(), extracted.metadata.title)
    cut = done < total or found.characters >= MAX_CHARACTERS
    complete = ExtractedText(
        extracted.text,
        metadata,
        tuple(Link(clean(label)[0], address) for address, label in found.links.items()),
        extracted.hidden_dropped,
    )
    return with_metadata(complete, metadata, hidden=found.hidden, partial=cut)


def _markup(pages: list[list[Line]]) -> str:
    cleaned = without_running_headers(pages)
    scale = sizes(cleaned)
    return "".join(
        note(f"page {number}") + page_markup(lines, scale)
        for number, lines in enumerate(cleaned, 1)
        if lines
    )


def _read_page(document: "pdfium.PdfDocument", found: _PdfContent) -> None:
    """Add the next page; a page that cannot be loaded counts as empty."""
    import pypdfium2 as pdfium

    try:
        page = document[len(found.pages)]
        text_page = page.get_textpage()
    except pdfium.PdfiumError:
        found.pages.append([])
        return
    try:
        lines, hidden = _lines(page, text_page, MAX_CHARACTERS - found.characters)
        _collect_links(document, page, text_page, found.links)
    finally:
        text_page.close()
        page.close()
    found.pages.append(lines)
    found.characters += sum(len(line.text) for line in lines)
    found.hidden += hidden


def _lines(page: Any, text_page: Any, limit: int) -> tuple[list[Line], int]:
    """The visible lines of a page, and the number of hidden pieces of text."""
    from pypdfium2.raw import FPDFText_GetUnicode  # type: ignore[import-untyped]

    raw = text_page.raw
    count = min(text_page.count_chars(), limit)
    codes = [FPDFText_GetUnicode(raw, index) for index in range(count)]
    visibility = PdfVisibility(page, text_page)
    kinds = [visibility.kind(index) for index in range(count)]
    if VISIBLE not in kinds and visibility.is_picture:
        kinds = [VISIBLE if kind == NO_INK else kind for kind in kinds]
    hidden = 0
    previous = None
    for kind in kinds:
        if kind is not None:
            hidden += kind != VISIBLE and kind != previous
            previous = kind
    box = page.get_bbox()
    lines: list[Line] = []
    for text, first, last, broken in _runs(codes, kinds):
        line = _positioned(text_page, text, (first, last), broken_word=broken)
        if _outside(line, box):
            hidden += 1
        else:
            lines.append(line)
    return lines, hidden


def _runs(codes: list[int], kinds: list[int | None]) -> Iterator[tuple[str, int, int, bool]]:
    """Visible text line by line: text, first and last index, and whether its last word continues."""
    text: list[int] = []
    first = last = -1
    for index, (code, kind) in enumerate(zip(codes, kinds, strict=True)):
        character = chr(code)
        ends = character in LINE_ENDS or character in WORD_BREAKS
        if not ends and (kind == VISIBLE or kind is None):
            text.append(code)
            if not character.isspace():
                first = index if first < 0 else first
                last = index
        elif ends and first >= 0:
            yield _decoded(text), first, last, character in WORD_BREAKS
            text, first = [], -1
        elif ends:
            text = []
    if first >= 0:
        yield _decoded(text), first, last, False


def _decoded(codes: list[int]) -> str:
    """The text of UTF-16 or UTF-32 code units; fonts may give either."""
    units = "".join(map(chr, codes)).encode("utf-16-le", "surrogatepass")
    return units.decode("utf-16-le", "ignore").strip()


def _positioned(text_page: Any, text: str, ends: tuple[int, int], *, broken_word: bool) -> Line:
    from pypdfium2.raw import FS_RECTF, FPDFText_GetLooseCharBox

    first, last = FS_RECTF(), FS_RECTF()
    FPDFText_GetLooseCharBox(text_page.raw, ends[0], first)
    FPDFText_GetLooseCharBox(text_page.raw, ends[1], last)
    size = abs(first.top - first.bottom)
    return Line(
        text,
        min(first.left, last.left),
        max(first.right, last.right),
        first.bottom,
        size,
        broken_word,
    )


def _outside(line: Line, box: tuple[float, float, float, float]) -> bool:
    left, bottom, right, top = box
    return (
        line.right < left
        or line.left > right
        or line.bottom > top
        or line.bottom + line.size < bottom
    )


def _collect_links(document: Any, page: Any, text_page: Any, links: dict[str, str]) -> None:
    from pypdfium2.raw import (
        FPDF_LINK,
        FS_RECTF,
        FPDFLink_Enumerate,
        FPDFLink_GetAnnotRect,
    )

    position, link, area = ctypes.c_int(0), FPDF_LINK(), FS_RECTF()
    while len(links) < MAX_LINKS and FPDFLink_Enumerate(page.raw, position, link):
        address = _address(document, link)
        if address.startswith(("http://", "https://")) and address not in links:
            FPDFLink_GetAnnotRect(link, area)
            label = text_page.get_text_bounded(area.left, area.bottom, area.right, area.top)
            links[address] = " ".join(label.split())[:MAX_LINKS] or address


def _address(document: Any, link: Any) -> str:
    from pypdfium2.raw import FPDFAction_GetURIPath, FPDFLink_GetAction

    action = FPDFLink_GetAction(link)
    length = FPDFAction_GetURIPath(document.raw, action, None, 0)
    buffer = ctypes.create_string_buffer(length)
    FPDFAction_GetURIPath(document.raw, action, buffer, length)
    return buffer.value.decode("utf-8", "replace").strip()


def _metadata(properties: dict[str, str], first_heading: str) -> Metadata:
    def entry(name: str) -> str:
        return " ".join(properties.get(name, "").replace("\x00", "").split())[:500]

    title = entry("Title")
    return Metadata(
        title=first_heading if NO_TITLE.match(title) else title,
        description=entry("Subject") or None,
        author=entry("Author") or None,
        published=iso_date(entry("CreationDate")),
        modified=iso_date(entry("ModDate")),
    )


def iso_date(text: str) -> str | None:
    """A PDF date such as `D:20240102030405+01'00'` in ISO 8601."""
    found = DATE.match(text)
    if found is None:
        return None
    year, month, day, hour, minute, second, offset, offset_minutes, zulu = found.groups()
    date = "-".join(filter(None, (year, month, day)))
    if hour is None or day is None:
        return date
    zone = "+00:00" if zulu else f"{offset}:{offset_minutes or '00'}" if offset else ""
    return f"{date}T{hour}:{minute}:{second or '00'}{zone}"
