"""PNG, JPEG and WebP files for tests, written by hand."""

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from kindly.extract.formats.recognition import Recognised, RecognisedLine


def png(pixels: NDArray[np.uint8] | None = None, *parts: tuple[bytes, bytes]) -> bytes:
    """A PNG file of grey pixels or, with four channels, of colours; `parts` stand before the pixels."""
    shown = np.full((20, 30), 255, np.uint8) if pixels is None else pixels
    height, width = shown.shape[:2]
    kind = 6 if shown.ndim == 3 else 0
    rows = b"".join(b"\x00" + row.tobytes() for row in shown)
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)),
        *parts,
        (b"IDAT", zlib.compress(rows, 1)),
        (b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def jpeg_header(*segments: tuple[int, bytes], width: int = 640, height: int = 480) -> bytes:
    """The beginning of a JPEG file, up to its pixels."""
    frame = struct.pack(">BHHB", 8, height, width, 1) + b"\x01\x11\x00"
    return b"\xff\xd8" + b"".join(
        bytes((0xFF, marker)) + struct.pack(">H", len(data) + 2) + data
        for marker, data in (*segments, (0xC0, frame), (0xDA, b"\x00"))
    )


def exif(fields: dict[int, str], order: str = "<") -> bytes:
    """An Exif block with these texts."""
    head = (b"II*\x00" if order == "<" else b"MM\x00*") + struct.pack(f"{order}I", 8)
    entries, texts = b"", b""
    start = 8 + 2 + 12 * len(fields) + 4
    for tag, text in sorted(fields.items()):
        data = text.encode() + b"\x00"
        entries += struct.pack(f"{order}HHII", tag, 2, len(data), start + len(texts))
        texts += data
    return head + struct.pack(f"{order}H", len(fields)) + entries + b"\x00" * 4 + texts


def xmp(**fields: str) -> bytes:
    """An XMP packet; names are written with an underscore for the colon."""
    inside = "".join(
        f"<{name.replace('_', ':')}><rdf:Alt><rdf:li xml:lang='x-default'>{text}</rdf:li></rdf:Alt>"
        f"</{name.replace('_', ':')}>"
        for name, text in fields.items()
    )
    return f"<x:xmpmeta><rdf:RDF><rdf:Description>{inside}</rdf:Description></rdf:RDF></x:xmpmeta>".encode()


def webp(*chunks: tuple[bytes, bytes]) -> bytes:
    """A WebP file of these chunks."""
    body = b"".join(
        name + struct.pack("<I", len(data)) + data + b"\x00" * (len(data) % 2)
        for name, data in chunks
    )
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


def recognised(*texts: str, confidence: float = 0.95, complete: bool = True) -> Recognised:
    """Lines one below the other, as if they had been recognised on a rendered page."""
    return Recognised(
        tuple(
            RecognisedLine(text, 150, 150 + 45 * n, 150 + 16 * len(text), 186 + 45 * n, confidence)
            for n, text in enumerate(texts)
        ),
        1314,
        1701,
        complete,
    )
