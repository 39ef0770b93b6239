"""PDF files → text page by page, with headings, links and metadata.

Invisible text is left out: without ink, white on white, transparent, tiny, or outside the page. If a page is an image
and all its text has no ink or is transparent, that text is the OCR layer and is kept.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from kindly.concurrency.process_limits import memory_use, use_reserve
from kindly.errors import MediaUnsupported, NoContent, PageWalled
from kindly.extract import ExtractOptions
from kindly.extract.formats.file_errors import broken_file, encrypted_file, missing_library
from kindly.extract.formats.html_fragment import note, read_fragment, with_metadata
from kindly.extract.formats.pdf.page_choice import (
    LONG_PAGES,
    is_worth_choosing,
    page_texts,
    pages_for,
)
from kindly.extract.formats.pdf.pdf_headings import outline_key
from kindly.extract.formats.pdf.pdf_layout import UNREAD, PageContent, layout
from kindly.extract.formats.pdf.pdf_lines import Box
from kindly.extract.formats.pdf.pdf_links import read_links, with_links
from kindly.extract.formats.pdf.pdf_scans import ScannedPage, is_too_large, may_be_scan, read_scan
from kindly.extract.formats.pdf.pdf_tables.drawings import Rules, read_rules
from kindly.extract.formats.pdf.pdf_tags import NO_TAGS, read_tags
from kindly.extract.formats.pdf.pdf_title import file_title
from kindly.extract.formats.pdf.pdf_words import read_words
from kindly.extract.formats.recognition import Recogniser, open_recogniser
from kindly.extract.formats.recognition_notes import no_text, scan_note, sure
from kindly.extract.html import ExtractedText
from kindly.frozen import frozen
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


@frozen
class PdfLimits:
    """How much of a file is read."""

    pages: int = 600
    characters: int = 1_500_000
    page_characters: int = 100_000
    """Of a single page: a page of a newspaper has 30,000."""
    seconds: float = 10.0
    links: int = 200
    memory: int = 120 * 1024 * 1024
    """How much memory the words of all pages may take; the layout takes about as much again."""
    choice_share: float = 0.3
    """The part of the time for choosing pages that may answer a question."""
    text_share: float = 0.5
    """The part of the time for text, if that is less than `seconds`."""
    scan_share: float = 0.65
    """The part of the time after which no further picture is read."""
    table_share: float = 0.75
    """The part of the time after which tables are no longer looked for."""


LIMITS: Final = PdfLimits()
RESERVE_BYTES: Final = 256 * 1024 * 1024
"""The part of the worker's reserve that a file may use: hundreds of pages need more memory than any web page."""


@dataclass(slots=True)
class _PdfContent:
    """The content that is read so far."""

    pages: list[PageContent] = field(default_factory=list)
    links: set[str] = field(default_factory=set)
    tagged: bool = False
    characters: int = 0
    hidden: int = 0
    cut: bool = False
    """Whether a page has more text than was read."""
    without_text: list[int] = field(default_factory=list)
    """The indexes of pages that may be scans: without text, or with a stamp as their only text."""
    too_large: list[int] = field(default_factory=list)
    """The indexes of pages whose pictures have too many pixels."""
    layers: set[int] = field(default_factory=set)
    """The indexes of pictures whose text is invisible: their maker's character recognition."""
    scans: dict[int, ScannedPage] = field(default_factory=dict)
    """The pages that were read by character recognition."""


@frozen
class _Choice:
    """The pages of a long file that may answer some questions."""

    pages: frozenset[int]
    searched: int
    """Of how many pages they were chosen."""
    is_all_readable: bool
    """Whether the whole file is within the limits."""


def read_pdf(
    body: bytes,
    options: ExtractOptions,
    url: str,
    *,
    limits: PdfLimits = LIMITS,
    clock: Callable[[], float] = time.monotonic,
    recogniser: Callable[[], Recogniser | None] = open_recogniser,
) -> ExtractedText:
    """The text of a PDF file. Pages without text are read by character recognition, if there is a recogniser.

    With questions, only the pages of a long file that may answer them are read.

    Raises:
        PageWalled: it is encrypted.
        NoContent: it has no text.
        MediaUnsupported: it is broken, or the library is not installed.
    """
    try:
        import pypdfium2 as pdfium
    except ImportError as error:
        raise missing_library("PDF", url=url, media_type=MEDIA_TYPE) from error
    use_reserve(RESERVE_BYTES)
    try:
        document = pdfium.PdfDocument(body)
    except pdfium.PdfiumError as error:
        raise _open_error(error, body, url) from error
    try:
        return _Reading(document, options, url, limits, clock).read(recogniser)
    finally:
        document.close()


def _open_error(error: Any, body: bytes, url: str) -> PageWalled | MediaUnsupported:
    if error.err_code in PASSWORD_ERRORS:
        return encrypted_file(url)
    return broken_file(body, url=url, media_type=MEDIA_TYPE)


class _Reading:
    """Reads one file: first the text of all pages, then the pictures of pages without text."""

    def __init__(
        self,
        document: "pdfium.PdfDocument",
        options: ExtractOptions,
        url: str,
        limits: PdfLimits,
        clock: Callable[[], float],
    ) -> None:
        self._document = document
        self._options = options
        self._url = url
        self._limits = limits
        self._clock = clock
        self._began = clock()
        self._found = _PdfContent(tagged=_is_tagged(document))

    def read(self, recogniser: Callable[[], Recogniser | None]) -> ExtractedText:
        """The text of the file.

        Raises:
            NoContent: it has none.
        """
        found, total = self._found, len(self._document)
        choice = self._choice(total)
        self._read_texts(total, choice)
        done = len(found.pages)
        recognise = recogniser() if found.without_text else None
        if recognise is not None:
            self._read_scans(recognise)
        found.without_text = [index for index in found.without_text if index not in found.layers]
        if not any(
            page.words and number not in found.without_text
            for number, page in enumerate(found.pages)
        ):
            raise NoContent(
                no_text(
                    total,
                    installed=recognise is not None,
                    late=bool(found.without_text),
                    too_large=bool(found.too_large),
                ),
                url=self._url,
            )
        markup = layout(
            found.pages,
            _outline(self._document),
            lambda: self._is_past(self._limits.table_share),
            {index: sure(scan.confidence) for index, scan in found.scans.items()},
        )
        if done < total and choice is None:
            markup += note(f"the document is truncated: {done:,} of its {total:,} pages were read")
        extracted = read_fragment(markup, self._options, self._url)
        first = found.pages[0]
        metadata = _metadata(
            self._document.get_metadata_dict(),
            lambda: file_title(first.words, first.box, extracted.metadata.title, self._url),
        )
        unread = len(found.without_text)
        cut = done < total or found.cut or found.characters >= self._limits.characters
        text = with_metadata(
            extracted,
            metadata,
            hidden=found.hidden,
            partial=cut or self._is_short(unread, recognised=recognise is not None),
            note=scan_note(
                {index + 1: scan.confidence for index, scan in found.scans.items()},
                [index + 1 for index in found.without_text],
                [index + 1 for index in found.too_large],
                [index + 1 for index in found.layers],
                installed=recognise is not None,
            ),
        )
        return text if choice is None else self._as_excerpt(text, choice, total)

    def _choice(self, total: int) -> _Choice | None:
        """The pages that the questions need; None if all are to be read."""
        if not self._options.questions or total <= LONG_PAGES:
            return None
        limits = self._limits
        texts = page_texts(self._document, lambda: self._is_past(limits.choice_share))
        if not is_worth_choosing(texts):
            return None
        readable = total <= limits.pages and sum(map(len, texts)) < limits.characters
        chosen = frozenset(pages_for(texts, self._options.questions))
        return _Choice(chosen, len(texts), readable and len(texts) == total)

    def _as_excerpt(self, text: ExtractedText, choice: _Choice, total: int) -> ExtractedText:
        read = sum(page is not UNREAD for page in self._found.pages)
        asked = "question" if len(self._options.questions) == 1 else "questions"
        said = f"{read:,} of the file's {total:,} pages were read: those with words of the {asked}."
        if choice.searched < total:
            said += f" Only its first {choice.searched:,} pages were searched for them."
        return replace(
            text,
            excerpt=True,
            cut=not choice.is_all_readable,
            partial=True,
            note=" ".join(filter(None, (said, text.note))),
        )

    def _is_short(self, unread: int, *, recognised: bool) -> bool:
        """Whether much text is probably missing: in scans for which there was no time, or most pages."""
        parts = any(not scan.complete for scan in self._found.scans.values())
        return parts or (unread > 0 if recognised else unread * 2 >= len(self._found.pages))

    def _is_past(self, share: float) -> bool:
        """Whether a part of the time has passed."""
        return self._clock() > self._began + share * self._options.seconds

    def _read_texts(self, total: int, choice: _Choice | None) -> None:
        found, limits = self._found, self._limits
        before = memory_use().data_bytes
        began = self._began if choice is None else self._clock()
        until = min(began + limits.seconds, self._began + limits.text_share * self._options.seconds)
        end = min(total, limits.pages) if choice is None else max(choice.pages) + 1
        while len(found.pages) < end and self._clock() < until:
            if choice is not None and len(found.pages) not in choice.pages:
                found.pages.append(UNREAD)
                continue
            _read_page(self._document, found, limits)
            if found.characters >= limits.characters:
                break
            if memory_use().data_bytes - before > limits.memory:
                break

    def _read_scans(self, recognise: Recogniser) -> None:
        """Read pages without text by character recognition, while there is time; the others stay in the list.

        Those with a text layer come last.
        """
        found = self._found
        found.without_text.sort(key=lambda index: index in found.layers)

        def is_late() -> bool:
            return self._is_past(self._limits.scan_share)

        while found.without_text and not is_late():
            index = found.without_text.pop(0)
            page = self._document[index]
            try:
                too_large = is_too_large(page)
                scan = None if too_large else read_scan(page, recognise, is_late)
            finally:
                page.close()
            if scan is not None:
                found.pages[index] = scan.content
                found.scans[index] = scan
                found.layers.discard(index)
            elif too_large and index not in found.layers:
                found.too_large.append(index)
            elif is_late() and not too_large:
                found.without_text.insert(0, index)


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
        left = min(limits.characters - found.characters, limits.page_characters)
        words = read_words(page, text_page, left)
        lines = words.lines
        if lines and len(found.links) < limits.links:
            links = read_links(document, page, limits.links - len(found.links))
            lines = with_links(lines, links)
            found.links.update({link.address for link in links})
        if words.stamped or (not lines and may_be_scan(page)):
            found.without_text.append(len(found.pages))
        if words.recognised:
            found.layers.add(len(found.pages))
        tags = read_tags(page) if found.tagged and lines else NO_TAGS
        rules = read_rules(page) if lines else NO_RULES
        rough = words.recognised and words.stamped
        found.pages.append(PageContent(lines, rules, Box(*page.get_bbox()), tags, rough))
    finally:
        text_page.close()
        page.close()
    found.characters += words.characters
    found.hidden += words.hidden
    found.cut = found.cut or not words.complete


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


def _metadata(properties: dict[str, str], other_title: Callable[[], str]) -> Metadata:
    def entry(name: str) -> str:
        return " ".join(properties.get(name, "").replace("\x00", "").split())[:500]

    title = entry("Title")
    return Metadata(
        title=other_title() if NO_TITLE.match(title) else title,
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
