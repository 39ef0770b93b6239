"""Page → Document, by what the bytes are: web page, PDF, office file, book, feed, data, text. Pure and synchronous.

This module and those it imports load the parser; only the worker process does that. Libraries for a single type
of file are loaded when such a file comes.
"""

import hashlib
from html import escape

from kindly.errors import InputError, MediaUnsupported, NoContent, PageWalled
from kindly.extract import ExtractOptions
from kindly.extract.formats.archive import Archive
from kindly.extract.formats.data import fenced, json_lines, json_text, read_table
from kindly.extract.formats.feed import read_feed
from kindly.extract.formats.sniff import MAGIC, OLE_STREAMS, PACKAGES, Sniffed, decode, sniff
from kindly.extract.html import HtmlText, read_html
from kindly.models import Document, Metadata, OutcomeKind, Page
from kindly.text.invisible import clean

KNOWN_TYPES = frozenset(named for *_, named in (*MAGIC, *PACKAGES, *OLE_STREAMS))
WITHOUT_ELEMENTS = frozenset(
    {"pdf", "word", "sheets", "slides", "epub", "table", "json", "json_lines"}
)


def extract(page: Page, options: ExtractOptions) -> Document:
    """The readable text of a page.

    Raises:
        MediaUnsupported: the bytes hold no text that we can read.
        NoContent, PageWalled: the page shows nothing, or something in place of its content.
        InputError, SelectorNotMatched: about `options.selector`.
        ExtractionFailed: the page is too deep or too large to be read.
    """
    sniffed = sniff(page)
    if options.selector is not None and sniffed.kind in WITHOUT_ELEMENTS:
        raise InputError(
            f"A selector applies to HTML only; this address holds {_named(sniffed.media_type)}.",
            field="selector",
        )
    reading = _read(page, sniffed, options)
    if not reading.text:
        raise NoContent("The page holds no readable text.", url=page.url)
    return Document(
        url=page.url,
        text=reading.text,
        fetched_at=page.fetched_at,
        media_type=sniffed.media_type,
        how=page.how,
        format=options.format,
        metadata=reading.metadata,
        links=reading.links,
        hidden_dropped=reading.hidden_dropped,
        partial=reading.partial or page.cut,
        cut=page.cut,
        content_hash=hashlib.sha256(reading.text.encode("utf-8", "surrogatepass")).hexdigest(),
    )


def _read(page: Page, sniffed: Sniffed, options: ExtractOptions) -> HtmlText:
    match sniffed.kind:
        case "html":
            return read_html(decode(page), options, page.url, composed=page.composed)
        case "pdf":
            from kindly.extract.formats.pdf import read_pdf

            return read_pdf(page.body, options, page.url)
        case "word" | "sheets" | "slides" | "epub":
            return _read_package(page, sniffed, options)
        case "binary":
            raise _unsupported(page, sniffed)
        case _:
            return _read_text(decode(page), sniffed, options, page.url)


def _read_package(page: Page, sniffed: Sniffed, options: ExtractOptions) -> HtmlText:
    """An office file or a book."""
    from kindly.extract.formats.epub import read_epub
    from kindly.extract.formats.office import read_docx, read_sheets, read_slides

    if sniffed.media_type == "application/vnd.ms-excel":
        return read_sheets(page.body, None, options, page.url)
    archive = Archive(page.body, url=page.url, media_type=sniffed.media_type)
    match sniffed.kind:
        case "word":
            return read_docx(archive, options)
        case "sheets":
            return read_sheets(page.body, archive, options, page.url)
        case "slides":
            return read_slides(page.body, archive, options)
        case _:
            return read_epub(archive, options)


def _named(media_type: str) -> str:
    """A type by its name, if it is one that is known: a server could write anything there."""
    import mimetypes

    known = media_type in KNOWN_TYPES or mimetypes.guess_extension(media_type) is not None
    return media_type if known else "data of an unknown type"


def _unsupported(page: Page, sniffed: Sniffed) -> MediaUnsupported | PageWalled:
    if sniffed.media_type == "application/x-encrypted-office":
        return PageWalled(
            "The file is encrypted and needs a password.", url=page.url, wall=OutcomeKind.AUTH
        )
    return MediaUnsupported(
        f"The address holds {_named(sniffed.media_type)} ({len(page.body):,} bytes), which cannot be read as text.",
        url=page.url,
        media_type=sniffed.media_type,
    )


def _read_text(text: str, sniffed: Sniffed, options: ExtractOptions, url: str) -> HtmlText:
    """Text that is no web page."""
    text, invisible = clean(text.replace("\r\n", "\n"))
    if sniffed.kind == "xml" and (listed := read_feed(text, options, url)):
        return listed
    if sniffed.kind == "table" and (drawn := read_table(text, options, url)):
        return drawn
    more: str | None = None
    if sniffed.kind == "json":
        text = json_text(text)
    elif sniffed.kind == "json_lines":
        text, more = json_lines(text)
    laid_out = _laid_out(text.strip("\n"), sniffed, options)
    return HtmlText(
        f"{laid_out}\n\n— {more} —" if more else laid_out,
        Metadata(title=_title(text, sniffed)),
        (),
        invisible,
        partial=more is not None,
    )


def _laid_out(text: str, sniffed: Sniffed, options: ExtractOptions) -> str:
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
