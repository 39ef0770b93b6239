"""Content sniffing: bytes and headers → the format of a body, and its decoded text.

Content takes precedence over headers. Character encodings come only from the WHATWG list, so that a server cannot
select any other decoder.
"""

import codecs
import mimetypes
import re
from typing import Literal

from turbohtml import detect

from kindly.extract.formats.data import is_json, is_json_lines
from kindly.frozen import frozen
from kindly.models import HTML_TYPES, Page

Kind = Literal[
    "html",
    "markdown",
    "text",
    "json",
    "json_lines",
    "xml",
    "table",
    "pdf",
    "word",
    "sheets",
    "slides",
    "epub",
    "picture",
    "binary",
]


@frozen
class Sniffed:
    """The detected format of a body."""

    kind: Kind
    media_type: str


OLE_START = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
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
    (0, b"\x28\xb5\x2f\xfd", "application/zstd"),
    (257, b"ustar", "application/x-tar"),
    (0, b"\xfd7zXZ\x00", "application/x-xz"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "application/vnd.rar"),
    (0, OLE_START, "application/x-ole-storage"),
    (0, b"\x7fELF", "application/x-executable"),
    (0, b"MZ\x90\x00", "application/vnd.microsoft.portable-executable"),
    (0, b"\x00asm", "application/wasm"),
    (0, b"OggS", "application/ogg"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (8, b"WAVE", "audio/wav"),
    (8, b"AVI ", "video/x-msvideo"),
    (4, b"ftypavif", "image/avif"),
    (4, b"ftyphei", "image/heic"),
    (4, b"ftypM4A", "audio/mp4"),
    (0, b"fLaC", "audio/flac"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
    (0, b"\x00\x01\x00\x00\x00", "font/ttf"),
    (0, b"OTTO\x00", "font/otf"),
    (0, b"wOFF", "font/woff"),
    (0, b"wOF2", "font/woff2"),
    (0, b"SQLite format 3\x00", "application/vnd.sqlite3"),
)

PACKAGES: tuple[tuple[bytes, Kind, str], ...] = (
    (
        b"word/document.xml",
        "word",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ),
    (
        b"xl/workbook.",
        "sheets",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    (
        b"ppt/presentation.xml",
        "slides",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ),
    (b"META-INF/container.xml", "epub", "application/epub+zip"),
)
"""A member that identifies the package; names are uncompressed in the archive's directory."""
ODS_TYPE = b"application/vnd.oasis.opendocument.spreadsheet"
ODF_TYPE = re.compile(rb"mimetype(application/vnd\.oasis\.opendocument\.[a-z-]{4,30})")
ENCRYPTED_OFFICE = "application/x-encrypted-office"
OLE_STREAMS: tuple[tuple[str, Kind, str], ...] = (
    ("EncryptedPackage", "binary", ENCRYPTED_OFFICE),
    ("Workbook", "sheets", "application/vnd.ms-excel"),
    ("WordDocument", "binary", "application/msword"),
    ("PowerPoint Document", "binary", "application/vnd.ms-powerpoint"),
)
KNOWN_TYPES = frozenset(media_type for *_, media_type in (*MAGIC, *PACKAGES, *OLE_STREAMS))
PDF_WITHIN = 1024
"""PDF viewers search this far for the header."""
TABLE_TYPES = frozenset({"text/csv", "text/tab-separated-values", "application/csv"})
TABLE_PATH = re.compile(r"\.(?:csv|tsv)(?:[?#]|\Z)", re.I)
JSON_LINES_TYPE = re.compile(r"application/(?:x-)?(?:ndjson|jsonl|jsonlines|json-seq)\Z")
JSON_LINES_PATH = re.compile(r"\.(?:jsonl|ndjson)(?:[?#]|\Z)", re.I)
DIRECTORY_BYTES = 1_000_000
"""The part at the end of an archive that is searched for its directory."""
PICTURES = frozenset({"image/png", "image/jpeg", "image/webp"})
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
XML_TYPE = re.compile(r"(?:/|\+)xml\Z")
MARKDOWN_TYPES = frozenset({"text/markdown", "text/x-markdown"})
MARKDOWN_PATH = re.compile(r"\.(?:md|mkd|markdown)(?:[?#]|\Z)", re.I)
TEXT_APPLICATIONS = re.compile(
    r"application/(?:(?:x-)?javascript|ecmascript|(?:x-)?yaml|toml|x-sh|x-httpd-php|sql|x-tex|rtf|graphql|x-www-form-"
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
MAX_LOSS = 0.02
"""The share of replacement characters above which a declared encoding is rejected."""


def sniff(page: Page) -> Sniffed:
    """The format of a page's body, from its content first and its headers second."""
    head = page.body[:HEAD_BYTES]
    declared = page.media_type
    if packaged := _packaged(page, head):
        return packaged
    if magic := _magic(head, declared):
        return Sniffed("picture" if magic in PICTURES else "binary", magic)
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


def _packaged(page: Page, head: bytes) -> Sniffed | None:
    """A PDF file, or an office file or book in a zip or OLE container."""
    if head.startswith(b"%PDF-") or (
        page.media_type == "application/pdf" and b"%PDF-" in head[:PDF_WITHIN]
    ):
        return Sniffed("pdf", "application/pdf")
    if head.startswith(b"PK\x03\x04"):
        return _in_zip(page.body, head)
    if head.startswith(OLE_START):
        for name, kind, media_type in OLE_STREAMS:
            if name.encode("utf-16-le") in page.body:
                return Sniffed(kind, media_type)
    return None


def _in_zip(body: bytes, head: bytes) -> Sniffed | None:
    if found := ODF_TYPE.search(head[:200]):
        kind: Kind = "sheets" if found.group(1) == ODS_TYPE else "binary"
        return Sniffed(kind, found.group(1).decode())
    directory = body[-DIRECTORY_BYTES:]
    for member, kind, media_type in PACKAGES:
        if member in directory:
            return Sniffed(kind, media_type)
    return None


def _by_header(page: Page, head: bytes) -> Sniffed:
    declared = page.media_type
    data = _data(page, head)
    if data is not None:
        return data
    if declared in UNKNOWN_TYPES and not XML_START.match(head):
        return Sniffed("text", "text/plain")
    return Sniffed(_kind(declared, head, page.url), declared or "application/xml")


def _data(page: Page, head: bytes) -> Sniffed | None:
    """JSON, JSON Lines or a table, even if it is declared as another type."""
    declared = page.media_type
    vague = declared in UNKNOWN_TYPES | HTML_TYPES | {"text/plain"}
    if JSON_LINES_TYPE.match(declared) or (vague and JSON_LINES_PATH.search(page.url)):
        return Sniffed("json_lines", declared if not vague else "application/jsonl")
    if JSON_START.match(head) and (vague or _is_json_type(declared)):
        text = decode(page)
        if not is_json(text) and is_json_lines(text):
            return Sniffed("json_lines", "application/jsonl")
        if vague and is_json(text):
            return Sniffed("json", "application/json")
    if declared in TABLE_TYPES or (
        declared in UNKNOWN_TYPES | {"text/plain"} and TABLE_PATH.search(page.url)
    ):
        return Sniffed("table", declared if declared in TABLE_TYPES else "text/csv")
    return None


def _is_json_type(declared: str) -> bool:
    return declared in ("application/json", "text/json") or declared.endswith("+json")


def _kind(declared: str, head: bytes, url: str) -> Kind:
    if declared in HTML_TYPES:
        return "html"
    if _is_json_type(declared):
        return "json"
    if declared != "image/svg+xml" and (XML_START.match(head) or XML_TYPE.search(declared)):
        return "xml"
    if declared == "text/plain" and MARKDOWN_PATH.search(url):
        return "markdown"
    return "text" if declared.startswith("text/") or TEXT_APPLICATIONS.match(declared) else "binary"


def decode(page: Page) -> str:
    """The decoded body: by byte-order mark, then UTF-8, then header, then detection."""
    body = page.body
    for mark, codec in BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(codec, "replace")
    declared = _codec(page.charset)
    if declared and "utf_16" in declared.replace("-", "_"):
        return body.decode(declared)
    if b"\x1b" not in body or not ESCAPE_SEQUENCE.search(body):
        try:
            return body.decode("utf-8")
        except UnicodeDecodeError:
            pass
    return _decode_legacy(body, declared)


def _decode_legacy(body: bytes, declared: str | None) -> str:
    """Decode bytes that are not valid UTF-8 with the first encoding that loses little."""
    head = body[:DETECT_BYTES]
    not_utf_8 = detect.Detection(excluded=frozenset({"UTF-8"}))
    for codec in (declared, detect.detect(head).codec, detect.detect(head, not_utf_8).codec):
        if codec is not None:
            text = body.decode(codec, "replace")
            if text.count("\ufffd") <= MAX_LOSS * len(text):
                return text
    return body.decode("whatwg-windows-1252")


def _codec(label: str | None) -> str | None:
    """The codec of a WHATWG encoding label; None for any other label."""
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
    """Whether text of this declared type may start with a tag without being HTML."""
    media = declared.startswith(("image/", "audio/", "video/", "font/"))
    return not media and declared not in UNKNOWN_TYPES | HTML_TYPES


def type_name(media_type: str) -> str:
    """A media type for a message, if it is a known one: a server could send any text there."""
    known = media_type in KNOWN_TYPES or mimetypes.guess_extension(media_type) is not None
    return media_type if known else "data of an unknown type"
