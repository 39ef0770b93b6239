"""Bytes and what the server said of them → what they are, and their text.

Content decides over headers. Encodings are taken from the WHATWG list only; a server cannot name any other decoder.
"""

import codecs
import json
import re
from dataclasses import dataclass
from typing import Literal

from turbohtml import detect

from kindly.models import Page

Kind = Literal["html", "markdown", "text", "json", "xml", "binary"]


@dataclass(frozen=True, slots=True)
class Sniffed:
    """What a body is."""

    kind: Kind
    media_type: str


MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"%PDF-", "application/pdf"),
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"II*\x00", "image/tiff"),
    (0, b"MM\x00*", "image/tiff"),
    (0, b"\x00\x00\x01\x00", "image/x-icon"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"PK\x05\x06", "application/zip"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xfd7zXZ\x00", "application/x-xz"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "application/vnd.rar"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (0, b"\x7fELF", "application/x-executable"),
    (0, b"\x00asm", "application/wasm"),
    (0, b"OggS", "application/ogg"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"fLaC", "audio/flac"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
    (0, b"wOFF", "font/woff"),
    (0, b"wOF2", "font/woff2"),
    (0, b"SQLite format 3\x00", "application/vnd.sqlite3"),
)

SPECIFIC_ZIP = re.compile(r"opendocument|openxmlformats|epub|java-archive|msword|ms-excel")
HTML_START = re.compile(
    rb"\s*(?:<!--.{0,2000}?-->\s*)*"
    rb"<(?:!doctype\s+html|html|head|body|script|style|title|meta|link|div|p|h[1-6]|table|a|br|ul|ol|main|article|section|"
    rb"center|font|span|b|iframe)[\s>/]",
    re.I | re.S,
)
HTML_DOCUMENT = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.{0,2000}?-->\s*)*<(?:!doctype\s+html|html)[\s>]", re.I | re.S
)
XML_START = re.compile(rb"\s*<(?:\?xml|rss|feed|rdf:rdf|urlset|sitemapindex)[\s>]", re.I)
JSON_START = re.compile(rb"\s*[\[{]")
HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
XML_TYPE = re.compile(r"(?:/|\+)xml\Z")
MARKDOWN_TYPES = frozenset({"text/markdown", "text/x-markdown"})
MARKDOWN_PATH = re.compile(r"\.(?:md|mkd|markdown)(?:[?#]|\Z)", re.I)
TEXT_APPLICATIONS = re.compile(
    r"application/(?:(?:x-)?javascript|ecmascript|(?:x-)?yaml|toml|x-sh|x-httpd-php|sql|x-ndjson|x-tex|rtf|graphql|x-www-form-"
    r"urlencoded)\Z"
)
UNKNOWN_TYPES = frozenset(
    {
        "",
        "application/octet-stream",
        "binary/octet-stream",
        "application/unknown",
        "unknown/unknown",
    }
)

HEAD_BYTES = 4096
DETECT_BYTES = 200_000
BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
LABEL = re.compile(r"[a-z0-9_:.()-]{1,40}\Z", re.I)
ESCAPE_SEQUENCE = re.compile(rb"\x1b[$(]")
GARBLED = 0.02
"""Share of unreadable characters above which a declared encoding is not believed."""


def sniff(page: Page) -> Sniffed:
    """What the page's bytes are, by content first and header second."""
    head = page.body[:HEAD_BYTES]
    declared = page.media_type
    if magic := _magic(head, declared):
        return Sniffed("binary", magic)
    if _has_nul(head, page.charset):
        return Sniffed("binary", declared or "application/octet-stream")
    text_head = _without_bom(head)
    if declared in MARKDOWN_TYPES:
        return Sniffed("markdown", declared)
    if HTML_DOCUMENT.match(text_head) or (
        not _is_textual(declared) and HTML_START.match(text_head)
    ):
        return Sniffed("html", "application/xhtml+xml" if "xhtml" in declared else "text/html")
    return _by_header(page, text_head)


def _by_header(page: Page, head: bytes) -> Sniffed:
    declared = page.media_type
    if declared in UNKNOWN_TYPES | HTML_TYPES and _is_json(head, page):
        return Sniffed("json", "application/json")
    if declared in UNKNOWN_TYPES and not XML_START.match(head):
        return Sniffed("text", "text/plain")
    return Sniffed(_kind(declared, head, page.url), declared or "application/xml")


def _kind(declared: str, head: bytes, url: str) -> Kind:
    if declared in HTML_TYPES:
        return "html"
    if declared in ("application/json", "text/json") or declared.endswith("+json"):
        return "json"
    if declared != "image/svg+xml" and (XML_START.match(head) or XML_TYPE.search(declared)):
        return "xml"
    if declared == "text/plain" and MARKDOWN_PATH.search(url):
        return "markdown"
    return "text" if declared.startswith("text/") or TEXT_APPLICATIONS.match(declared) else "binary"


def decode(page: Page) -> str:
    """The text of the body: byte-order mark, then header, then what the bytes themselves say."""
    body = page.body
    for mark, codec in BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(codec, "replace")
    declared = _codec(page.charset)
    if declared and "utf_16" in declared.replace("-", "_"):
        return body.decode(declared)
    if not ESCAPE_SEQUENCE.search(body):
        try:
            return body.decode("utf-8")
        except UnicodeDecodeError:
            pass
    return _decode_legacy(body, declared)


def _decode_legacy(body: bytes, declared: str | None) -> str:
    """Text of bytes that are not UTF-8, or only nearly: the first encoding that reads them without much loss."""
    head = body[:DETECT_BYTES]
    not_utf_8 = detect.Detection(excluded=frozenset({"UTF-8"}))
    for codec in (declared, detect.detect(head).codec, detect.detect(head, not_utf_8).codec):
        if codec is not None:
            text = body.decode(codec, "replace")
            if text.count("\ufffd") <= GARBLED * len(text):
                return text
    return body.decode("whatwg-windows-1252")


def _codec(label: str | None) -> str | None:
    """The decoder of a WHATWG label, or None for any other word."""
    if label is None or not LABEL.match(label.strip()):
        return None
    try:
        return codecs.lookup(f"whatwg-{label.strip()}").name
    except LookupError:
        return None


def _magic(head: bytes, declared: str) -> str | None:
    for offset, mark, media_type in MAGIC:
        if head.startswith(mark, offset):
            return declared if SPECIFIC_ZIP.search(declared) else media_type
    return None


def _has_nul(head: bytes, charset: str | None) -> bool:
    utf_16 = head.startswith((b"\xff\xfe", b"\xfe\xff")) or (charset or "").lower().startswith(
        "utf-16"
    )
    return b"\x00" in head and not utf_16


def _without_bom(head: bytes) -> bytes:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head.decode("utf-16", "replace").encode()
    return head.removeprefix(b"\xef\xbb\xbf")


def _is_textual(declared: str) -> bool:
    """Types whose text may start with a tag without being a page."""
    pictures = declared.startswith(("image/", "audio/", "video/", "font/"))
    return not pictures and declared not in UNKNOWN_TYPES | HTML_TYPES


def _is_json(head: bytes, page: Page) -> bool:
    if not JSON_START.match(head):
        return False
    try:
        json.loads(page.body)
    except (ValueError, RecursionError):
        return False
    return True
