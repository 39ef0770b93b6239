"""The addresses that a page links to, from its markup: navigation included, which extraction leaves out. Pure."""

import re
from html import unescape

from kindly import urls
from kindly.errors import InputError
from kindly.models import HTML_TYPES, Document, Page
from kindly.urls import Url

HREF = re.compile(
    rb"<a\b[^<>]*?\shref\s*=\s*(?:\"([^\"<>]{1,4000})\"|'([^'<>]{1,4000})'|([^\s\"'<>]{1,4000}))",
    re.I,
)
BASE = re.compile(rb"<base\b[^<>]*?\shref\s*=\s*[\"']?([^\"'\s<>]{1,2000})", re.IGNORECASE)
IGNORED = ("mailto:", "javascript:", "tel:", "data:", "#", "ftp:")
MAX_LINKS = 5_000
"""Of one page."""


def links_on(page: Page, document: Document | None) -> tuple[list[str], int]:
    """The absolute addresses on a page, each once, up to the limit; and how many were beyond it."""
    found: dict[str, None] = {}
    beyond = 0
    base = urls.parse(page.url)
    if page.media_type in HTML_TYPES:
        base = _base(page, base)
        for match in HREF.finditer(page.body):
            if len(found) >= MAX_LINKS:
                beyond += 1
                continue
            written = (match[1] or match[2] or match[3]).decode("utf-8", "replace")
            if address := _absolute(base, unescape(written)):
                found.setdefault(address)
    for link in document.links if document else ():
        if len(found) < MAX_LINKS:
            found.setdefault(link.url.partition("#")[0])
    return list(found), beyond


def _base(page: Page, base: Url) -> Url:
    """The address that relative links start from."""
    written = BASE.search(page.body[:50_000])
    address = _absolute(base, unescape(written[1].decode("utf-8", "replace"))) if written else ""
    return urls.parse(address) if address else base


def _absolute(base: Url, written: str) -> str:
    """The address of a link; empty if it is none that could be fetched."""
    if written.lower().startswith(IGNORED):
        return ""
    try:
        return str(urls.join(base, written.partition("#")[0]))
    except InputError:
        return ""
