"""PDF files for tests: content streams in, bytes out."""

import zlib
from collections.abc import Mapping, Sequence

import numpy as np
import pypdfium2 as pdfium  # type: ignore[import-untyped]
from numpy.typing import NDArray

from kindly.extract import ExtractOptions
from kindly.extract.document import extract
from kindly.models import Document, Format
from tests.support.html_pages import page

FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
IMAGE = "<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1 >>"
ENCRYPTION = (
    "<< /Filter /Standard /V 2 /R 3 /Length 128 /P -4 "
    f"/O <{'11' * 32}> /U <{'22' * 32}> >>"
)  # fmt: skip


def line(
    text: str, *, x: float = 72, y: float = 700, size: float = 12, mode: int = 0, colour: str = "0"
) -> str:
    """The content stream of one line of text."""
    escaped = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT {colour} g {mode} Tr /F1 {size} Tf 1 0 0 1 {x} {y} Tm ({escaped}) Tj ET"


def lines(texts: Sequence[str], *, x: float = 72, y: float = 700, size: float = 12) -> str:
    """The content stream of several lines."""
    return "\n".join(
        line(text, x=x, y=y - n * size * 1.2, size=size) for n, text in enumerate(texts)
    )


def transparent(content: str) -> str:
    """The content stream, drawn with no opacity."""
    return f"q /Gs1 gs {content} Q"


def pdf(pages: Sequence[str], *, info: str = "", encrypted: bool = False, link: str = "") -> bytes:
    """A PDF file with these content streams, one page each."""
    kids = " ".join(f"{5 + 2 * n} 0 R" for n in range(len(pages)))
    annots = (
        f"/Annots [<< /Type /Annot /Subtype /Link /Rect [72 690 200 712] /A << /S /URI /URI ({link}) >> >>]"
        if link
        else ""
    )
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        FONT.encode(),
        IMAGE.encode() + b"\nstream\n\x80\nendstream",
    ]
    for number, content in enumerate(pages):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {6 + 2 * number} 0 R {annots} "
            "/Resources << /Font << /F1 3 0 R >> /XObject << /Im1 4 0 R >> "
            "/ExtGState << /Gs1 << /ca 0 >> >> >> >>".encode()
        )
        stream = content.encode("cp1252")
        objects.append(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream))
    objects.append(f"<< {info} >>".encode("latin-1"))
    return _file(objects, encrypted=encrypted)


def _file(objects: Sequence[bytes], *, encrypted: bool) -> bytes:
    out = bytearray(b"%PDF-1.7\n")
    offsets: list[int] = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    encrypt = f"/Encrypt {ENCRYPTION} /ID [<00> <00>]" if encrypted else ""
    out += (
        f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R {encrypt} >>\n"
        f"startxref\n{start}\n%%EOF\n"
    ).encode()
    return bytes(out)


def pixels(content: str, *, scale: float = 2.0) -> NDArray[np.uint8]:
    """A page with this content stream as grey pixels."""
    document = pdfium.PdfDocument(pdf([content]))
    picture = document[0].render(scale=scale, grayscale=True).to_numpy()
    document.close()
    return np.ascontiguousarray(picture.reshape(picture.shape[:2]))


def scans(*pages: NDArray[np.uint8] | str, claimed: int = 0) -> bytes:
    """A PDF file with pages that are only grey pictures; text is a page's own content stream.

    `claimed` is the width that each picture has according to the file, if that is not its true one.
    """
    kids = " ".join(f"{4 + 3 * n} 0 R" for n in range(len(pages)))
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        FONT.encode(),
    ]
    for number, page_pixels in enumerate(pages):
        own = 4 + 3 * number
        is_text = isinstance(page_pixels, str)
        stream = (
            page_pixels.encode()
            if isinstance(page_pixels, str)
            else b"q 612 0 0 792 0 0 cm /Im1 Do Q"
        )
        resources = f"/XObject << /Im1 {own + 2} 0 R >>" if not is_text else "/Font << /F1 3 0 R >>"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {own + 1} 0 R "
            f"/Resources << {resources} >> >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream))
        data = b"" if isinstance(page_pixels, str) else zlib.compress(page_pixels.tobytes(), 1)
        height, width = (1, 1) if isinstance(page_pixels, str) else page_pixels.shape
        objects.append(
            f"<< /Type /XObject /Subtype /Image /Width {claimed or width} /Height {height} /ColorSpace /DeviceGray "
            f"/BitsPerComponent 8 /Filter /FlateDecode /Length {len(data)} >>".encode()
            + b"\nstream\n%b\nendstream" % data
        )
    objects.append(b"<< >>")
    return _file(objects, encrypted=False)


PROSE = [
    "The quick brown fox jumps over the lazy dog and then goes on to the river,",
    "where it meets another fox that is even quicker than the first one ever was",
    "before. It ends here.",
]


def read_pdf(*pages: str, info: str = "", link: str = "", format: Format = "markdown") -> Document:
    """The document of a PDF with these pages."""
    body = pdf(pages, info=info, link=link)
    return extract(page(body, media_type="application/pdf"), ExtractOptions(format))


def long_file(pages: int, said: Mapping[int, Sequence[str]]) -> bytes:
    """A file whose pages have the same prose; `said` are more lines of some pages, by their number."""
    return pdf(
        [
            "\n".join(
                (
                    line(f"{number} Findings", size=16, y=660),
                    lines([*said.get(number, ()), *PROSE * 6], y=640, size=10),
                )
            )
            for number in range(1, pages + 1)
        ]
    )
