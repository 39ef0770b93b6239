"""Page → Document, by what the bytes are: web page, Markdown, text, JSON, XML or feed. Pure and synchronous.

This module and those it imports load the parser; only the worker process does that.
"""

import hashlib
from html import escape

from kindly.errors import MediaUnsupported, NoContent
from kindly.extract.characters import clean
from kindly.extract.data import feed_text, fenced, json_text, read_feed
from kindly.extract.html import Reading, read_html
from kindly.extract.options import ExtractOptions
from kindly.extract.sniff import Sniffed, decode, sniff
from kindly.models import Document, Metadata, Page


def extract(page: Page, options: ExtractOptions) -> Document:
    """The readable text of a page.

    Raises:
        MediaUnsupported: the bytes hold no text that we can read.
        NoContent, PageWalled: the page shows nothing, or something in place of its content.
        InputError, SelectorNotMatched: about `options.selector`.
        ExtractionFailed: the page is too deep or too large to be read.
    """
    sniffed = sniff(page)
    if sniffed.kind == "binary":
        raise MediaUnsupported(
            f"The address holds {sniffed.media_type} ({len(page.body):,} bytes), which cannot be read as text.",
            url=page.url,
            media_type=sniffed.media_type,
        )
    text = decode(page)
    reading = (
        read_html(text, options, page.url)
        if sniffed.kind == "html"
        else _read_other(text, sniffed, options, page.url)
    )
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
        content_hash=hashlib.sha256(reading.text.encode("utf-8", "surrogatepass")).hexdigest(),
    )


def _read_other(text: str, sniffed: Sniffed, options: ExtractOptions, url: str) -> Reading:
    """Text that is no web page; a selector has no meaning for it."""
    text, invisible = clean(text.replace("\r\n", "\n"))
    if sniffed.kind == "xml" and (feed := read_feed(text)):
        listed, links = feed_text(feed, options, url)
        return Reading(
            clean(listed)[0], Metadata(title=" ".join((feed.title or "").split())), links, invisible
        )
    if sniffed.kind == "json":
        text = json_text(text)
    return Reading(
        _laid_out(text.strip("\n"), sniffed, options),
        Metadata(title=_title(text, sniffed)),
        (),
        invisible,
    )


def _laid_out(text: str, sniffed: Sniffed, options: ExtractOptions) -> str:
    if not text.strip():
        return ""
    if options.format == "html":
        return f"<pre>{escape(text, quote=False)}</pre>"
    if options.format == "markdown" and sniffed.kind in ("json", "xml"):
        return fenced(text, sniffed.kind)
    return text


def _title(text: str, sniffed: Sniffed) -> str:
    """The first heading of a Markdown text."""
    if sniffed.kind != "markdown":
        return ""
    lines = (line.strip() for line in text[:5_000].splitlines())
    return next((line.lstrip("#").strip() for line in lines if line.startswith("# ")), "")
