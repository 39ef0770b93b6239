"""Dispatch by format: Page → Document for web pages, PDF, office files, books, pictures, feeds,
data and text. Pure, synchronous.

This module loads the HTML parser, so only worker processes import it. Libraries for a single format are imported when
such a file arrives.
"""

import hashlib
from html import escape

from kindly.errors import ExtractionFailed, InputError, NoContent
from kindly.extract import ExtractOptions
from kindly.extract.formats.archive import Archive
from kindly.extract.formats.data import fenced, json_lines, json_text, read_table
from kindly.extract.formats.feed import read_feed
from kindly.extract.formats.file_errors import unsupported_file
from kindly.extract.formats.sniff import Sniffed, decode, sniff, type_name
from kindly.extract.html import ExtractedText, read_html, within_elements
from kindly.models import Document, Metadata, Page
from kindly.text.invisible import clean

FILE_KINDS = frozenset({"pdf", "word", "sheets", "slides", "epub", "picture"})
"""Formats that cannot be read without their end."""
KINDS_WITHOUT_SELECTOR = frozenset(
    {"pdf", "word", "sheets", "slides", "epub", "picture", "table", "json", "json_lines"}
)


def extract(page: Page, options: ExtractOptions) -> Document:
    """The readable text of a page.

    Raises:
        MediaUnsupported: the format is not supported, or the file is broken.
        NoContent, PageWalled, NeedsBrowser: the page has no text, or something else in its place.
        InputError, SelectorNotMatched: `options.selector` is not valid or matches nothing.
        ExtractionFailed: the page is too large.
    """
    sniffed = sniff(page)
    if options.selector is not None and sniffed.kind in KINDS_WITHOUT_SELECTOR:
        raise InputError(
            f"A selector applies to HTML only; this address has {type_name(sniffed.media_type)}.",
            field="selector",
        )
    if page.cut and sniffed.kind in FILE_KINDS:
        raise ExtractionFailed(
            f"The file is larger than the limit of {_megabytes(page)} for a page.", url=page.url
        )
    extracted = _read(page, sniffed, options)
    if not extracted.text:
        raise NoContent("The page has no readable text.", url=page.url)
    return Document(
        url=page.url,
        text=extracted.text,
        fetched_at=page.fetched_at,
        media_type=sniffed.media_type,
        how=page.how,
        format=options.format,
        metadata=extracted.metadata,
        links=extracted.links,
        hidden_dropped=extracted.hidden_dropped,
        partial=extracted.partial or page.cut,
        cut=page.cut or extracted.cut,
        excerpt=extracted.excerpt,
        protected=not page.cut and extracted.gap is not None and extracted.gap.protected,
        content_hash=hashlib.sha256(extracted.text.encode("utf-8", "surrogatepass")).hexdigest(),
        note=_note(page, extracted),
    )


def _note(page: Page, extracted: ExtractedText) -> str:
    if page.cut:
        return f"The page is larger than the size limit: only its beginning was read, up to {_megabytes(page)}."
    return extracted.gap.sentence if extracted.gap is not None else extracted.note


def _megabytes(page: Page) -> str:
    """The size of the body."""
    return f"{len(page.body) / 1_000_000:.3g} MB"


def _read(page: Page, sniffed: Sniffed, options: ExtractOptions) -> ExtractedText:
    match sniffed.kind:
        case "html":
            markup = within_elements(decode(page)) if page.cut else decode(page)
            return read_html(markup, options, page.url, composed=page.composed)
        case "pdf":
            from kindly.extract.formats.pdf.pdf_reader import read_pdf

            return read_pdf(page.body, options, page.url)
        case "picture":
            from kindly.extract.formats.picture_file import read_picture_file

            return read_picture_file(page.body, sniffed.media_type, options, page.url)
        case "word" | "sheets" | "slides" | "epub":
            return _read_package(page, sniffed, options)
        case "binary":
            raise unsupported_file(page.body, url=page.url, media_type=sniffed.media_type)
        case _:
            return _read_text(decode(page), sniffed, options, page.url)


def _read_package(page: Page, sniffed: Sniffed, options: ExtractOptions) -> ExtractedText:
    """Read an office file or an EPUB book."""
    from kindly.extract.formats.epub import read_epub
    from kindly.extract.formats.office import read_docx, read_sheets
    from kindly.extract.formats.slides import read_slides

    if sniffed.media_type == "application/vnd.ms-excel":
        return read_sheets(page.body, None, options, page.url)
    archive = Archive(page.body, url=page.url, media_type=sniffed.media_type)
    match sniffed.kind:
        case "word":
            return read_docx(archive, options)
        case "sheets":
            return read_sheets(page.body, archive, options, page.url)
        case "slides":
            return read_slides(archive, options)
        case _:
            return read_epub(archive, options)


def _read_text(text: str, sniffed: Sniffed, options: ExtractOptions, url: str) -> ExtractedText:
    """Read a text format other than HTML."""
    text, invisible = clean(text.replace("\r\n", "\n"))
    if sniffed.kind == "xml" and (feed := read_feed(text, options, url)):
        return feed
    if sniffed.kind == "table" and (table := read_table(text, options, url)):
        return table
    more: str | None = None
    if sniffed.kind == "json":
        text = json_text(text)
    elif sniffed.kind == "json_lines":
        text, more = json_lines(text)
    formatted = _formatted(text.strip("\n"), sniffed, options)
    return ExtractedText(
        f"{formatted}\n\n— {more} —" if more else formatted,
        Metadata(title=_title(text, sniffed)),
        (),
        invisible,
        partial=more is not None,
    )


def _formatted(text: str, sniffed: Sniffed, options: ExtractOptions) -> str:
    if not text.strip():
        return ""
    if options.format == "html":
        return f"<pre>{escape(text, quote=False)}</pre>"
    if options.format == "markdown" and sniffed.kind in ("json", "json_lines", "xml"):
        return fenced(text, "xml" if sniffed.kind == "xml" else "json")
    return text


def _title(text: str, sniffed: Sniffed) -> str:
    """The first heading of a Markdown text."""
    if sniffed.kind != "markdown":
        return ""
    lines = (line.strip() for line in text[:5_000].splitlines())
    return next((line.lstrip("#").strip() for line in lines if line.startswith("# ")), "")
