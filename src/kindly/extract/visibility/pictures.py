"""Pictures inside a style (`url(data:image/…)`): their colours, if they are in one colour. PNG, GIF and SVG. Pure."""

import re
import struct
import zlib
from base64 import b64decode
from functools import lru_cache
from urllib.parse import unquote, unquote_to_bytes

from kindly.extract.visibility.colours import Colour, parse

ADDRESS = re.compile(r"url\(\s*[\"']?data:image/(png|gif|svg\+xml)([^,]{0,60}),([^\"')]+)", re.I)
INK = re.compile(r"(?:fill|stop-color)\s*[=:]\s*[\"']?\s*([^\"';>]+)")
PNG_START = b"\x89PNG\r\n\x1a\n"
MAX_BYTES = 20_000
MAX_PIXELS = 10_000
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""PNG colour type → bytes per pixel at 8 bits per channel."""
TRANSPARENT_GIF = b"\x21\xf9\x04\x01"


@lru_cache(maxsize=64)
def picture_colours(style: str) -> tuple[Colour, ...] | None:
    """The colours of the picture in a style as written; None if it has none, or not one opaque colour."""
    found = ADDRESS.search(style)
    if found is None or len(found[3]) > MAX_BYTES:
        return None
    kind, coding, data = found[1].lower(), found[2].lower(), found[3]
    try:
        body = b64decode(unquote(data)) if "base64" in coding else unquote_to_bytes(data)
        colour = {"png": _png, "gif": _gif, "svg+xml": _svg}[kind](body)
    except (ValueError, IndexError, struct.error, zlib.error):
        return None
    return None if colour is None or colour.alpha < 1 else (colour,)


def _svg(body: bytes) -> Colour | None:
    inks = {parse(ink.strip().lower()) for ink in INK.findall(body.decode(errors="replace"))}
    return inks.pop() if len(inks) == 1 else None


def _gif(body: bytes) -> Colour | None:
    """The colour of a picture of one pixel: the first code after the one that clears the table."""
    flags = body[10]
    if body[6:10] != b"\1\0\1\0" or not flags & 0x80 or TRANSPARENT_GIF in body:
        return None
    palette = body[13 : 13 + 3 * 2 ** ((flags & 7) + 1)]
    rest = body[13 + len(palette) :]
    at = rest.index(b"\x2c") + 10
    size = rest[at] + 1
    codes = int.from_bytes(rest[at + 2 : at + 6], "little")
    index = codes >> size & (1 << size) - 1
    return Colour(*palette[3 * index : 3 * index + 3])


def _png(body: bytes) -> Colour | None:
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", body[16:29])
    if not body.startswith(PNG_START) or depth != 8 or interlaced or width * height > MAX_PIXELS:
        return None
    chunks = _chunks(body)
    step = CHANNELS[kind]
    expected = height * (1 + width * step)
    lines = zlib.decompressobj().decompress(chunks[b"IDAT"], expected)
    pixels = _unfiltered(lines, width * step, step)
    pixel = pixels[:step]
    if not pixels or pixels != pixel * (width * height) or b"tRNS" in chunks:
        return None
    if kind == 3:
        return Colour(*chunks[b"PLTE"][3 * pixel[0] : 3 * pixel[0] + 3])
    grey = kind in (0, 4)
    alpha = pixel[-1] / 255 if kind in (4, 6) else 1.0
    red, green, blue = pixel[:1] * 3 if grey else pixel[:3]
    return Colour(red, green, blue, alpha)


def _chunks(body: bytes) -> dict[bytes, bytes]:
    """The chunks of a PNG by name; those of the same name together."""
    found: dict[bytes, bytes] = {}
    at = len(PNG_START)
    while at + 8 <= len(body):
        (size,) = struct.unpack(">I", body[at : at + 4])
        kind = body[at + 4 : at + 8]
        found[kind] = found.get(kind, b"") + body[at + 8 : at + 8 + size]
        at += 12 + size
    return found


def _unfiltered(lines: bytes, size: int, step: int) -> bytes:
    """The bytes of all pixels: every line starts with the filter that its bytes are predicted by."""
    above = bytes(size)
    found = b""
    for start in range(0, len(lines), size + 1):
        kind, line = lines[start], bytearray(lines[start + 1 : start + 1 + size])
        for at in range(len(line)):
            left = line[at - step] if at >= step else 0
            corner = above[at - step] if at >= step else 0
            line[at] = line[at] + _prediction(kind, left, above[at], corner) & 0xFF
        above = bytes(line)
        found += above
    return found


def _prediction(kind: int, left: int, up: int, corner: int) -> int:
    if kind == 4:
        guess = left + up - corner
        return min((left, up, corner), key=lambda value: abs(guess - value))
    return (0, left, up, (left + up) // 2)[kind]
