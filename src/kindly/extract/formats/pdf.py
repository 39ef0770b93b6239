"""The bytes of a PDF file → its text, page by page, with headings, links and what the file says of itself.

Text that nobody would see on the printed page is left out: invisible, white on white, tiny, beside the page. Where the
page is a picture and all its text is invisible, that text is what was recognised in the picture, and stays.
"""

import ctypes
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from kindly.errors import MediaUnsupported, NoContent, PageWalled
from kindly.extract import ExtractOptions
from kindly.extract.formats.markup_piece import described, note, read_fragment
from kindly.extract.formats.pdf_layout import Line, page_markup, sizes, without_running
from kindly.extract.formats.pdf_visibility import INVISIBLE, SEEN, PdfVisibility
from kindly.extract.formats.unreadable import broken_file, missing_library
from kindly.extract.html import HtmlText
from kindly.models import Link, Metadata, OutcomeKind
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
class _Found:
    """What was read so far."""

    pages: list[list[Line]] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)
    characters: int = 0
    hidden: int = 0


def read_pdf(
    body: bytes, options: ExtractOptions, url: str, clock: Callable[[], float] = time.monotonic
) -> HtmlText:
    """The text of a PDF file.

    Raises:
        PageWalled: it is encrypted.
        NoContent: its pages are pictures.
        MediaUnsupported: it is broken, or the library is not installed.
    """
    try:
        import pypdfium2 as pdfium
    except ImportError as error:
        raise missing_library("PDF", url=url, media_type=MEDIA_TYPE) from error
    try:
        document = pdfium.PdfDocument(body)
    except pdfium.PdfiumError as error:
        raise _refusal(error, body, url) from error
    try:
        return _read(document, options, url, clock)
    finally:
        document.close()


def _refusal(error: Any, body: bytes, url: str) -> PageWalled | MediaUnsupported:
    if error.err_code in PASSWORD_ERRORS:
        return PageWalled(
            "The PDF is encrypted and needs a password.", url=url, wall=OutcomeKind.AUTH
        )
    return broken_file(body, url=url, media_type=MEDIA_TYPE)


def _read(
    document: "pdfium.PdfDocument", options: ExtractOptions, url: str, clock: Callable[[], float]
) -> HtmlText:
    total = len(document)
    found = _Found()
    until = clock() + MAX_SECONDS
    while len(found.pages) < min(total, MAX_PAGES) and clock() < until:
        _read_page(document, found)
        if found.characters >= MAX_CHARACTERS:
            break
    done = len(found.pages)
    if not any(found.pages):
        raise NoContent(
            f"The PDF has no text on its {total:,} {'page' if total == 1 else 'pages'}: "
            "it is a scan or holds pictures only.",
            url=url,
        )
    markup = _markup(found.pages)
    if done < total:
        markup += note(f"the document goes on: {done:,} of its {total:,} pages were read")
    reading = read_fragment(markup, options, url)
    metadata = _metadata(document.get_metadata_dict(), reading.metadata.title)
    cut = done < total or found.characters >= MAX_CHARACTERS
    complete = HtmlText(
        reading.text,
        metadata,
        tuple(Link(clean(label)[0], address) for address, label in found.links.items()),
        reading.hidden_dropped,
    )
    return described(complete, metadata, hidden=found.hidden, partial=cut)


def _markup(pages: list[list[Line]]) -> str:
    cleaned = without_running(pages)
    scale = sizes(cleaned)
    return "".join(
        note(f"page {number}") + page_markup(lines, scale)
        for number, lines in enumerate(cleaned, 1)
        if lines
    )


def _read_page(document: "pdfium.PdfDocument", found: _Found) -> None:
    """Add the next page; one that cannot be loaded counts as empty."""
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
    """The lines of a page that a person sees, and how many pieces of text nobody does."""
    from pypdfium2.raw import FPDFText_GetUnicode  # type: ignore[import-untyped]

    raw = text_page.raw
    count = min(text_page.count_chars(), limit)
    codes = [FPDFText_GetUnicode(raw, index) for index in range(count)]
    ink = PdfVisibility(page, text_page)
    kinds = [ink.kind(index) for index in range(count)]
    if SEEN not in kinds and ink.is_picture:
        kinds = [SEEN if kind == INVISIBLE else kind for kind in kinds]
    hidden = 0
    previous = None
    for kind in kinds:
        if kind is not None:
            hidden += kind != SEEN and kind != previous
            previous = kind
    box = page.get_bbox()
    lines: list[Line] = []
    for text, first, last, broken in _runs(codes, kinds):
        line = _placed(text_page, text, (first, last), broken_word=broken)
        if _outside(line, box):
            hidden += 1
        else:
            lines.append(line)
    return lines, hidden


def _runs(codes: list[int], kinds: list[int | None]) -> Iterator[tuple[str, int, int, bool]]:
    """Visible characters line by line: text, first and last index, and whether a word goes on."""
    text: list[int] = []
    first = last = -1
    for index, (code, kind) in enumerate(zip(codes, kinds, strict=True)):
        character = chr(code)
        ends = character in LINE_ENDS or character in WORD_BREAKS
        if not ends and (kind == SEEN or kind is None):
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
    """Text of UTF-16 or UTF-32 units, whichever the file's fonts gave."""
    units = "".join(map(chr, codes)).encode("utf-16-le", "surrogatepass")
    return units.decode("utf-16-le", "ignore").strip()


def _placed(text_page: Any, text: str, ends: tuple[int, int], *, broken_word: bool) -> Line:
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


def _metadata(said: dict[str, str], first_heading: str) -> Metadata:
    def told(name: str) -> str:
        return " ".join(said.get(name, "").replace("\x00", "").split())[:500]

    title = told("Title")
    return Metadata(
        title=first_heading if NO_TITLE.match(title) else title,
        description=told("Subject") or None,
        author=told("Author") or None,
        published=iso_date(told("CreationDate")),
        modified=iso_date(told("ModDate")),
    )


def iso_date(text: str) -> str | None:
    """A PDF date such as `D:20240102030405+01'00'` as ISO 8601 has it."""
    found = DATE.match(text)
    if found is None:
        return None
    year, month, day, hour, minute, second, offset, offset_minutes, zulu = found.groups()
    date = "-".join(filter(None, (year, month, day)))
    if hour is None or day is None:
        return date
    zone = "+00:00" if zulu else f"{offset}:{offset_minutes or '00'}" if offset else ""
    return f"{date}T{hour}:{minute}:{second or '00'}{zone}"
