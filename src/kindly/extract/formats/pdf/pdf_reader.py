"""PDF files → text page by page, with headings, links and metadata.

Text that is invisible on the page is left out: without ink, white on white, tiny, or outside the page. If a page is an
image and all its text is invisible, that text is the OCR layer and is kept.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from kindly.errors import MediaUnsupported, NoContent, PageWalled
from kindly.extract import ExtractOptions
from kindly.extract.formats.file_errors import broken_file, encrypted_file, missing_library
from kindly.extract.formats.html_fragment import note, read_fragment, with_metadata
from kindly.extract.formats.pdf.pdf_headings import outline_key
from kindly.extract.formats.pdf.pdf_layout import PageContent, layout
from kindly.extract.formats.pdf.pdf_lines import Box
from kindly.extract.formats.pdf.pdf_links import read_links, with_links
from kindly.extract.formats.pdf.pdf_tables.drawings import Rules, read_rules
from kindly.extract.formats.pdf.pdf_tags import NO_TAGS, read_tags
from kindly.extract.formats.pdf.pdf_words import read_words
from kindly.extract.html import ExtractedText
from kindly.models import Metadata

if TYPE_CHECKING:
    import pypdfium2 as pdfium  # type: ignore[import-untyped]

MEDIA_TYPE: Final = "application/pdf"
PASSWORD_ERRORS = (4, 5)
MAX_BOOKMARKS: Final = 2_000
NO_RULES: Final = Rules([], [], [])
EMPTY_PAGE: Final = PageContent([], NO_RULES, Box(0, 0, 0, 0))
DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(?:(\d\d)(\d\d)(\d\d)?)?(?:([+-]\d\d)'?(\d\d)?|(Z))?")
NO_TITLE = re.compile(
    r"\s*(?:untitled|title|document\d*|microsoft \w+ - \S+|\S+\.\w{2,4})?\s*\Z", re.I
)


@dataclass(frozen=True, slots=True)
class PdfLimits:
    """How much of a file is read."""

    pages: int = 600
    characters: int = 1_500_000
    seconds: float = 10.0
    links: int = 200


LIMITS: Final = PdfLimits()


@dataclass(slots=True)
class _PdfContent:
    """The content that is read so far."""

    pages: list[PageContent] = field(default_factory=list)
    links: set[str] = field(default_factory=set)
    tagged: bool = False
    characters: int = 0
    hidden: int = 0


def read_pdf(
    body: bytes,
    options: ExtractOptions,
    url: str,
    *,
    limits: PdfLimits = LIMITS,
    clock: Callable[[], float] = time.monotonic,
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
        return _read(document, options, url, limits, clock)
    finally:
        document.close()


def _open_error(error: Any, body: bytes, url: str) -> PageWalled | MediaUnsupported:
    if error.err_code in PASSWORD_ERRORS:
        return encrypted_file(url)
    return broken_file(body, url=url, media_type=MEDIA_TYPE)


def _read(
    document: "pdfium.PdfDocument",
    options: ExtractOptions,
    url: str,
    limits: PdfLimits,
    clock: Callable[[], float],
) -> ExtractedText:
    total = len(document)
    found = _PdfContent(tagged=_is_tagged(document))
    until = clock() + limits.seconds
    while len(found.pages) < min(total, limits.pages) and clock() < until:
        _read_page(document, found, limits)
        if found.characters >= limits.characters:
            break
    done = len(found.pages)
    if not any(page.words for page in found.pages):
        raise NoContent(
            f"The PDF has no text on its {total:,} {'page' if total == 1 else 'pages'}: "
            "it is a scan or has only images.",
            url=url,
        )
    markup = layout(found.pages, _outline(document), lambda: clock() > until + limits.seconds / 2)
    if done < total:
        markup += note(f"the document is truncated: {done:,} of its {total:,} pages were read")
    extracted = read_fragment(markup, options, url)
    metadata = _metadata(document.get_metadata_dict(), extracted.metadata.title)
    cut = done < total or found.characters >= limits.characters
    return with_metadata(extracted, metadata, hidden=found.hidden, partial=cut)


def _read_page(document: "pdfium.PdfDocument", found: _PdfContent, limits: PdfLimits) -> None:
    """Add the next page; a page that cannot be loaded counts as empty."""
    import pypdfium2 as pdfium

    try:
        page = document[len(found.pages)]
        text_page = page.get_textpage()
    except pdfium.PdfiumError:
        found.pages.append(EMPTY_PAGE)
        return
    try:
        words = read_words(page, text_page, limits.characters - found.characters)
        lines = words.lines
        if lines and len(found.links) < limits.links:
            links = read_links(document, page, limits.links - len(found.links))
            lines = with_links(lines, links)
            found.links.update({link.address for link in links})
        tags = read_tags(page) if found.tagged and lines else NO_TAGS
        rules = read_rules(page) if lines else NO_RULES
        found.pages.append(PageContent(lines, rules, Box(*page.get_bbox()), tags))
    finally:
        text_page.close()
        page.close()
    found.characters += words.characters
    found.hidden += words.hidden


def _is_tagged(document: "pdfium.PdfDocument") -> bool:
    from pypdfium2.raw import FPDFCatalog_IsTagged  # type: ignore[import-untyped]

    return bool(FPDFCatalog_IsTagged(document.raw))


def _outline(document: "pdfium.PdfDocument") -> dict[str, int]:
    """The titles of the outline with their levels."""
    found: dict[str, int] = {}
    for bookmark in islice(document.get_toc(max_depth=6), MAX_BOOKMARKS):
        key = outline_key(bookmark.get_title())
        if len(key) > 1:
            found.setdefault(key, bookmark.level + 1)
    return found


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
