"""Sitemaps: XML, an index of further sitemaps, plain text, or one of these as gzip → addresses with dates. Pure.

Read with patterns, not with an XML parser: entities are never expanded, and a truncated file gives what it has.
"""

import re
import zlib
from html import unescape

from kindly.frozen import frozen

MAX_BYTES = 60_000_000
"""Of an unpacked sitemap; the format allows 50 MB."""
MAX_ENTRIES = 100_000
GZIP = b"\x1f\x8b"
ENTRY = re.compile(r"<(url|sitemap)\b[^>]*>(.*?)</\1\s*>", re.DOTALL | re.IGNORECASE)
LOC = re.compile(
    r"<loc\b[^>]*>\s*(?:<!\[CDATA\[)?\s*(.*?)\s*(?:\]\]>)?\s*</loc\s*>", re.DOTALL | re.I
)
LASTMOD = re.compile(r"<lastmod\b[^>]*>\s*([^<]{4,40}?)\s*</lastmod\s*>", re.IGNORECASE)
DIRECTIVE = re.compile(r"^\s*sitemap\s*:\s*(\S+)", re.IGNORECASE | re.MULTILINE)


@frozen
class Sitemap:
    """What one sitemap lists."""

    pages: dict[str, str]
    """The date of the last change of each address, as written; empty if there is none."""
    sitemaps: tuple[str, ...] = ()
    """Further sitemaps."""


def read_sitemap(body: bytes) -> Sitemap:
    """The pages and sitemaps that a file lists; nothing if it is not a sitemap."""
    text = unpacked(body).decode("utf-8", "replace")
    pages: dict[str, str] = {}
    further: list[str] = []
    for number, entry in enumerate(ENTRY.finditer(text)):
        if number >= MAX_ENTRIES:
            break
        address = LOC.search(entry[2])
        if address is None:
            continue
        lastmod = LASTMOD.search(entry[2])
        if entry[1].lower() == "sitemap":
            further.append(unescape(address[1]))
        else:
            pages[unescape(address[1])] = lastmod[1] if lastmod else ""
    if not pages and not further and "<" not in text[:200]:
        pages = dict.fromkeys(_addresses(text), "")
    return Sitemap(pages, tuple(further))


def _addresses(text: str) -> list[str]:
    """The lines of a plain sitemap."""
    lines = (line.strip() for line in text.splitlines()[:MAX_ENTRIES])
    return [line for line in lines if line.startswith(("http://", "https://"))]


def unpacked(body: bytes) -> bytes:
    """The file, unpacked if it is gzip, up to a limit."""
    if not body.startswith(GZIP):
        return body[:MAX_BYTES]
    unpacker = zlib.decompressobj(wbits=31)
    try:
        return unpacker.decompress(body, MAX_BYTES)
    except zlib.error:
        return b""


def named_in_robots(text: str) -> list[str]:
    """The sitemaps that a robots.txt names."""
    return DIRECTIVE.findall(text)
