"""What a PNG, JPEG or WebP file says about its picture: size, alternative text, description, author, dates. Pure.

Only headers are read, nothing is decompressed. Alternative text is the IPTC field in the XMP packet, the description
that of XMP, Exif or PNG.
"""

import re
import struct
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from typing import Final, NamedTuple

from kindly.frozen import frozen

PNG_START: Final = b"\x89PNG\r\n\x1a\n"
JPEG_START: Final = b"\xff\xd8"
XMP_START: Final = b"http://ns.adobe.com/xap/1.0/\x00"
EXIF_START: Final = b"Exif\x00\x00"
MAX_PARTS: Final = 500
MAX_TEXT: Final = 2_000
MAX_XMP: Final = 200_000
FRAMES: Final = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""The JPEG markers with the size of the picture."""
EXIF_TAGS: Final = {0x010E: "description", 0x013B: "author", 0x9286: "comment"}
EXIF_DATES: Final = frozenset({0x9003, 0x0132})
EXIF_FOLDER: Final = 0x8769
EXIF_TITLE: Final = 0x9C9B
MAX_TAGS: Final = 200
ASCII: Final = 2
UNDEFINED: Final = 7
PNG_KEYS: Final = {
    "title": "title",
    "description": "description",
    "comment": "comment",
    "author": "author",
    "creation time": "created",
}
XMP_FIELDS: Final = {
    "alternative": "Iptc4xmpCore:AltTextAccessibility",
    "more": "Iptc4xmpCore:ExtDescrAccessibility",
    "title": "dc:title",
    "description": "dc:description",
    "author": "dc:creator",
    "created": "xmp:CreateDate",
}
TAG = re.compile(r"<[^>]*>")
DATE = re.compile(r"(\d{4})[:-](\d\d)[:-](\d\d)")
CAMERA = re.compile(
    r"(?:olympus|digital camera|sony dsc|dcim|dsc|img|kodak|exif_|default|ascii)\b.{0,30}", re.I
)
"""Descriptions that a camera writes into each picture."""


@frozen
class PictureMetadata:
    """What the headers of a picture say."""

    width: int = 0
    height: int = 0
    title: str = ""
    alternative: str = ""
    """Text for those who cannot see it."""
    description: str = ""
    author: str = ""
    created: str = ""

    @property
    def pixels(self) -> int:
        """The number of pixels."""
        return self.width * self.height


class _Part(NamedTuple):
    name: str
    data: memoryview


def read_picture_metadata(body: bytes) -> PictureMetadata:
    """The metadata of a picture; sizes are 0 if the file does not say them."""
    view = memoryview(body)
    if body.startswith(PNG_START):
        return _read(_png_parts(view))
    if body.startswith(JPEG_START):
        return _read(_jpeg_parts(view))
    return _read(_webp_parts(view))


def _png_parts(view: memoryview) -> Iterator[_Part]:
    at = len(PNG_START)
    for _ in range(MAX_PARTS):
        if at + 8 > len(view):
            return
        length, kind = struct.unpack_from(">I4s", view, at)
        data = view[at + 8 : at + 8 + length]
        match kind:
            case b"IHDR" if len(data) >= 8:
                yield _Part("size", memoryview(bytes(data[:8])))
            case b"eXIf":
                yield _Part("exif", data)
            case b"tEXt" | b"iTXt":
                yield _Part("text", data)
        at += 12 + length


def _jpeg_parts(view: memoryview) -> Iterator[_Part]:
    at = 2
    for _ in range(MAX_PARTS):
        if at + 4 > len(view) or view[at] != 0xFF:
            return
        marker, length = view[at + 1], int.from_bytes(view[at + 2 : at + 4], "big")
        data = view[at + 4 : at + 2 + length]
        if marker in FRAMES and len(data) >= 5:
            height, width = struct.unpack_from(">HH", data, 1)
            yield _Part("size", memoryview(struct.pack(">II", width, height)))
        elif marker == 0xE1 and bytes(data[:6]) == EXIF_START:
            yield _Part("exif", data[6:])
        elif marker == 0xE1 and bytes(data[: len(XMP_START)]) == XMP_START:
            yield _Part("xmp", data[len(XMP_START) :])
        elif marker == 0xFE:
            yield _Part("comment", data)
        if marker == 0xDA or length < 2:
            return
        at += 2 + length


def _webp_parts(view: memoryview) -> Iterator[_Part]:
    at = 12
    for _ in range(MAX_PARTS):
        if at + 8 > len(view):
            return
        kind, length = struct.unpack_from("<4sI", view, at)
        data = view[at + 8 : at + 8 + length]
        if size := _webp_size(bytes(kind), bytes(data[:10])):
            yield _Part("size", memoryview(struct.pack(">II", *size)))
        elif kind in (b"EXIF", b"XMP "):
            skip = len(EXIF_START) if bytes(data[:6]) == EXIF_START else 0
            yield _Part("exif" if kind == b"EXIF" else "xmp", data[skip:])
        at += 8 + length + length % 2


def _webp_size(kind: bytes, head: bytes) -> tuple[int, int] | None:
    if len(head) < 5:
        return None
    if kind == b"VP8X" and len(head) == 10:
        return 1 + int.from_bytes(head[4:7], "little"), 1 + int.from_bytes(head[7:10], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(head[1:5], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 " and len(head) == 10:
        width, height = struct.unpack_from("<HH", head, 6)
        return width & 0x3FFF, height & 0x3FFF
    return None


def _read(parts: Iterator[_Part]) -> PictureMetadata:
    """What the parts say together; what comes first counts, except that XMP comes before the others."""
    found: dict[str, str] = {}
    size: tuple[int, int] | None = None
    for name, data in parts:
        match name:
            case "size":
                size = size or struct.unpack(">II", data)
            case "xmp":
                found = {**found, **_xmp(bytes(data[:MAX_XMP]).decode("utf-8", "replace"))}
            case "exif":
                found = {**_exif(bytes(data)), **found}
            case "comment":
                found.setdefault(
                    "comment", _plain(bytes(data[:MAX_TEXT]).decode("utf-8", "replace"))
                )
            case _:
                found = {**_png_text(bytes(data[:MAX_XMP])), **found}
    return replace(_named(found), width=(size or (0, 0))[0], height=(size or (0, 0))[1])


def _named(found: dict[str, str]) -> PictureMetadata:
    description = found.get("description") or found.get("comment", "")
    more = found.get("more", "")
    alternative = found.get("alternative", "")
    return PictureMetadata(
        title=found.get("title", ""),
        alternative=f"{alternative} {more}".strip(),
        description="" if CAMERA.fullmatch(description) else description,
        author=found.get("author", ""),
        created=_date(found.get("created", "")),
    )


def _plain(text: str) -> str:
    return " ".join(unescape(text).replace("\x00", " ").split())[:MAX_TEXT]


def _date(text: str) -> str:
    found = DATE.match(text)
    return "-".join(found.groups()) if found and found[1] != "0000" else ""


def _png_text(data: bytes) -> dict[str, str]:
    """The text of a `tEXt` or an uncompressed `iTXt` part."""
    key, _, value = data.partition(b"\x00")
    name = key.decode("latin-1").strip()
    if name == "XML:com.adobe.xmp":
        return _xmp(value.lstrip(b"\x00").decode("utf-8", "replace"))
    if name.lower() not in PNG_KEYS:
        return {}
    if value[:2] == b"\x00\x00":
        value = value[2:].split(b"\x00", 2)[-1]
    elif value[:1] in (b"\x00", b"\x01"):
        return {}
    return {PNG_KEYS[name.lower()]: _plain(value.decode("utf-8", "replace"))}


def _xmp(packet: str) -> dict[str, str]:
    """The fields of an XMP packet, written as elements or attributes."""
    found: dict[str, str] = {}
    for name, field in XMP_FIELDS.items():
        value = re.search(
            rf"<{field}\b[^>]*>(.{{0,8000}}?)</{field}>|\b{field}=\"([^\"]*)\"", packet, re.S
        )
        if value and (text := _plain(TAG.sub(" ", value[1] or value[2] or ""))):
            found[name] = text
    return found


def _exif(data: bytes) -> dict[str, str]:
    """The fields of an Exif block."""
    order = {b"II": "<", b"MM": ">"}.get(data[:2])
    if order is None or len(data) < 8:
        return {}
    found: dict[str, str] = {}
    folders = [struct.unpack_from(f"{order}I", data, 4)[0]]
    for at in folders[:4]:
        for tag, kind, value in _exif_entries(data, at, order):
            if tag == EXIF_FOLDER and len(folders) < 4 and len(value) == 4:
                folders.append(struct.unpack(f"{order}I", value)[0])
            elif name := _exif_name(tag):
                found.setdefault(name, _exif_text(tag, kind, value))
    return {name: text for name, text in found.items() if text}


def _exif_name(tag: int) -> str | None:
    if tag in EXIF_DATES:
        return "created"
    return "title" if tag == EXIF_TITLE else EXIF_TAGS.get(tag)


def _exif_entries(data: bytes, at: int, order: str) -> Iterator[tuple[int, int, bytes]]:
    """The number, type and bytes of each field in a folder."""
    if at + 2 > len(data):
        return
    (count,) = struct.unpack_from(f"{order}H", data, at)
    for n in range(min(count, MAX_TAGS)):
        entry = at + 2 + 12 * n
        if entry + 12 > len(data):
            return
        tag, kind, length = struct.unpack_from(f"{order}HHI", data, entry)
        size = length * {3: 2, 4: 4, 5: 8}.get(kind, 1)
        if size <= 4:
            value = data[entry + 8 : entry + 8 + (4 if kind == 4 else size)]
        else:
            start = struct.unpack_from(f"{order}I", data, entry + 8)[0]
            value = data[start : start + min(size, MAX_TEXT)]
        yield tag, kind, value


def _exif_text(tag: int, kind: int, value: bytes) -> str:
    if tag == EXIF_TITLE:
        return _plain(value.decode("utf-16-le", "replace"))
    if kind == UNDEFINED:
        return _plain(value[8:].decode("utf-8", "replace")) if value[:5] == b"ASCII" else ""
    return _plain(value.decode("utf-8", "replace")) if kind == ASCII else ""
