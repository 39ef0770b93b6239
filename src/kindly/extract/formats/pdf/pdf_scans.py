"""PDF pages without text: rendered by PDFium, read by character recognition, and turned into words with boxes."""

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from kindly.extract.formats.pdf.pdf_layout import PageContent
from kindly.extract.formats.pdf.pdf_lines import Box
from kindly.extract.formats.pdf.pdf_tables.drawings import Rules
from kindly.extract.formats.pdf.pdf_words import Word
from kindly.extract.formats.recognition import Recognised, RecognisedLine, Recogniser

if TYPE_CHECKING:
    from kindly.extract.formats.recognition import Picture

RENDERED_SIDE: Final = 1_700
"""The longer side of a rendered page in pixels: about 150 to the inch."""
MAX_SCALE: Final = 4.0
MAX_PIXELS: Final = 80_000_000
"""Of the pictures on a page."""
MAX_PICTURES: Final = 2_000
TEXT_HEIGHT: Final = 0.72
"""The font size as a share of a recognised line's height."""
SAME_SIZE: Final = 1.25
"""Sizes that differ by less than this factor are the same: heights vary with the letters of a line."""
NARROW: Final = frozenset("iljtfrI.,:;'|!()[]1 ")
NO_RULES: Final = Rules([], [], [])


class ScannedPage(NamedTuple):
    """A page that was read by character recognition."""

    content: PageContent
    confidence: float
    complete: bool


def may_be_scan(page: Any) -> bool:
    """Whether a page without text draws a picture."""
    from pypdfium2 import raw  # type: ignore[import-untyped]

    objects = page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=4)
    return next(objects, None) is not None


def read_scan(page: Any, recognise: Recogniser, is_late: Callable[[], bool]) -> ScannedPage | None:
    """The text of a page's picture; None if it shows nothing, or is drawn too slowly."""
    picture, scale = _render(page, is_late)
    if picture is None:
        return None
    recognised = recognise(picture, is_late)
    if not recognised.lines and recognised.complete:
        return None
    return scanned_page(recognised, scale)


def scanned_page(recognised: Recognised, scale: float) -> ScannedPage:
    """The recognised lines as words; `scale` is the number of pixels in a point."""
    box = Box(0, 0, recognised.width / scale, recognised.height / scale)
    sizes = _sizes([(line.bottom - line.top) * TEXT_HEIGHT / scale for line in recognised.lines])
    words = [
        _words(line, size, scale, box.top)
        for line, size in zip(recognised.lines, sizes, strict=True)
    ]
    content = PageContent(words, NO_RULES, box)
    return ScannedPage(content, recognised.confidence, recognised.complete)


def _render(page: Any, is_late: Callable[[], bool]) -> tuple["Picture | None", float]:
    """The picture of a page, and how many pixels a point has. Drawing stops when it is late."""
    import ctypes

    import pypdfium2 as pdfium
    from pypdfium2 import raw

    width, height = page.get_size()
    scale = min(RENDERED_SIDE / max(width, height, 1.0), MAX_SCALE)
    size = max(round(width * scale), 1), max(round(height * scale), 1)
    bitmap = pdfium.PdfBitmap.new_native(*size, raw.FPDFBitmap_BGR)
    bitmap.fill_rect((255, 255, 255, 255), 0, 0, *size)
    function = dict(raw.IFSDK_PAUSE._fields_)["NeedToPauseNow"]
    pause = raw.IFSDK_PAUSE(version=1, NeedToPauseNow=function(lambda _: is_late()))
    state = raw.FPDF_RenderPageBitmap_Start(
        bitmap.raw, page.raw, 0, 0, *size, 0, raw.FPDF_ANNOT, ctypes.byref(pause)
    )
    raw.FPDF_RenderPage_Close(page.raw)
    picture = bitmap.to_numpy().copy() if state == raw.FPDF_RENDER_DONE else None
    bitmap.close()
    return picture, scale


def is_too_large(page: Any) -> bool:
    """Whether the pictures on a page have too many pixels to decode them."""
    import ctypes

    from pypdfium2 import raw

    total = 0
    width, height = ctypes.c_uint(0), ctypes.c_uint(0)
    for n, item in enumerate(page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=4)):
        if n >= MAX_PICTURES:
            return True
        if raw.FPDFImageObj_GetImagePixelSize(item.raw, width, height):
            total += width.value * height.value
    return total > MAX_PIXELS


def _sizes(sizes: Sequence[float]) -> list[float]:
    """The font sizes, with nearly equal ones made equal."""
    if not sizes:
        return []
    usual = median(sizes)
    known: Counter[float] = Counter()
    found: list[float] = []
    for size in sizes:
        near = [
            other for other in (usual, *known) if max(size, other) < SAME_SIZE * min(size, other)
        ]
        chosen = near[0] if near else size
        known[chosen] += 1
        found.append(round(chosen, 1))
    return found


def _words(line: RecognisedLine, size: float, scale: float, top: float) -> list[Word]:
    """The words of a line, each with its share of the width."""
    upright = line.right - line.left >= line.bottom - line.top or len(line.text) < 3
    left, right = line.left / scale, line.right / scale
    low, high = top - line.bottom / scale, top - line.top / scale
    middle = (low + high) / 2
    if upright:
        low, high = middle - size / 2, middle + size / 2
    else:
        size = right - left
    weights = [0.5 if letter in NARROW else 1.0 for letter in line.text]
    unit = ((right - left) if upright else (high - low)) / max(sum(weights), 1.0)
    found: list[Word] = []
    at = 0
    for text in line.text.split():
        start = line.text.index(text, at)
        at = start + len(text)
        begin, end = sum(weights[:start]) * unit, sum(weights[:at]) * unit
        place = (
            (left + begin, low, left + end, high)
            if upright
            else (left, low + begin, right, low + end)
        )
        found.append(Word(text, *place, round(size, 1), turned=0 if upright else 1))
    return found
