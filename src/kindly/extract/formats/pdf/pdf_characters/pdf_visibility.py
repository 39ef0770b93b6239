"""Visibility of the characters on a PDF page: rendering mode, size, colour and background of each text object.

Each text object is examined once, through PDFium.
"""

import ctypes
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, Final

VISIBLE: Final = 0
NO_INK: Final = 1
"""Text rendered without ink, such as the OCR layer of a scan."""
HIDDEN: Final = 2
"""White on white or tiny."""
TRANSPARENT: Final = 3
"""Drawn with no opacity, such as the text layer of handwritten notes."""

NO_INK_MODES = (3, 7)
STROKE_ONLY = 1
WHITE: Final = 250
TINY: Final = 2.0
MAX_BACKGROUND_OBJECTS: Final = 3_000
COVERED: Final = 0.7


@lru_cache(maxsize=64)
def direct(name: str, *arguments: Any, result: Any = ctypes.c_int) -> Any:
    """A function of PDFium without the binding's wrappers, which cost several times the call itself."""
    from pypdfium2 import raw  # type: ignore[import-untyped]

    address = ctypes.cast(getattr(raw, name), ctypes.c_void_p).value or 0
    return ctypes.CFUNCTYPE(result, *arguments)(address)


POINTER: Final = ctypes.c_void_p


class PdfVisibility:
    """The visibility of one page's characters."""

    def __init__(self, page: Any) -> None:
        from pypdfium2 import raw

        self._raw = raw
        self._page = page
        self.object_of = direct("FPDFText_GetTextObject", POINTER, ctypes.c_int, result=POINTER)
        """The address of the text object that draws a character; none for spaces that PDFium inserts."""
        self._mode_of = direct("FPDFTextObj_GetTextRenderMode", POINTER)
        self._size_of = direct("FPDFTextObj_GetFontSize", POINTER, POINTER)
        self._matrix_of = direct("FPDFPageObj_GetMatrix", POINTER, POINTER)
        self._colour_of = direct("FPDFPageObj_GetFillColor", *[POINTER] * 5)
        numbers, channels = (ctypes.c_float * 7)(), (ctypes.c_uint * 4)()
        self._numbers = memoryview(numbers).cast("B").cast("f")
        self._channels = memoryview(channels).cast("B").cast("I")
        self._at = ctypes.addressof(numbers)
        at = ctypes.addressof(channels)
        self._channels_at = (at, at + 4, at + 8, at + 12)
        self._backgrounds: list[tuple[float, float, float, float]] | None = None

    def kinds_of(self, addresses: Iterable[int]) -> dict[int, int]:
        """The visibility of text objects. Some programs draw each letter as an object of its own."""
        mode_of, size_of, matrix_of = self._mode_of, self._size_of, self._matrix_of
        colour_of, channels_at, channels = self._colour_of, self._channels_at, self._channels
        numbers, at, matrix_at = self._numbers, self._at, self._at + 4
        kinds: dict[int, int] = {}
        for address in addresses:
            mode = mode_of(address)
            kinds[address] = VISIBLE
            if mode in NO_INK_MODES:
                kinds[address] = NO_INK
                continue
            if size_of(address, at):
                has_matrix = matrix_of(address, matrix_at)
                size, a, b, c, d, _, _ = numbers.tolist()
                scale = abs(a * d - b * c) if has_matrix else 1.0
                if size * size * scale < TINY * TINY:
                    kinds[address] = HIDDEN
                    continue
            if mode == STROKE_ONLY or not colour_of(address, *channels_at):
                continue
            red, green, blue, alpha = channels
            if not alpha:
                kinds[address] = TRANSPARENT
            elif (
                red >= WHITE
                and green >= WHITE
                and blue >= WHITE
                and not self._has_background(address)
            ):
                kinds[address] = HIDDEN
        return kinds

    @property
    def is_picture(self) -> bool:
        """Whether the page draws an image."""
        objects = self._page.get_objects(filter=[self._raw.FPDF_PAGEOBJ_IMAGE], max_depth=3)
        return next(objects, None) is not None

    @property
    def is_covered(self) -> bool:
        """Whether pictures cover most of the page, as in a scan."""
        left, bottom, right, top = self._page.get_bbox()
        area = 0.0
        images = self._page.get_objects(filter=[self._raw.FPDF_PAGEOBJ_IMAGE], max_depth=3)
        for image in islice(images, MAX_BACKGROUND_OBJECTS):
            x, y, end, height = self._bounds(image.raw)
            across, up = min(end, right) - max(x, left), min(height, top) - max(y, bottom)
            area += max(across, 0.0) * max(up, 0.0)
        return bool(area >= COVERED * (right - left) * (top - bottom))

    def _colour(self, item: Any) -> tuple[int, int, int, int] | None:
        """The fill colour as red, green, blue and alpha."""
        red, green, blue, alpha = (ctypes.c_uint(0) for _ in range(4))
        if not self._raw.FPDFPageObj_GetFillColor(item, red, green, blue, alpha):
            return None
        return red.value, green.value, blue.value, alpha.value

    def _bounds(self, item: Any) -> tuple[float, float, float, float]:
        left, bottom, right, top = (ctypes.c_float(0) for _ in range(4))
        self._raw.FPDFPageObj_GetBounds(item, left, bottom, right, top)
        return left.value, bottom.value, right.value, top.value

    def _has_background(self, address: int) -> bool:
        """Whether an object that is not white is behind the text."""
        item = ctypes.cast(address, self._raw.FPDF_PAGEOBJECT)
        left, bottom, right, top = self._bounds(item)
        x, y = (left + right) / 2, (bottom + top) / 2
        if self._backgrounds is None:
            self._backgrounds = list(self._coloured_boxes())
        return any(
            left <= x <= right and bottom <= y <= top
            for left, bottom, right, top in self._backgrounds
        )

    def _coloured_boxes(self) -> Iterator[tuple[float, float, float, float]]:
        """The boxes of all that is neither text nor white."""
        count = min(self._raw.FPDFPage_CountObjects(self._page.raw), MAX_BACKGROUND_OBJECTS)
        for index in range(count):
            item = self._raw.FPDFPage_GetObject(self._page.raw, index)
            if self._raw.FPDFPageObj_GetType(
                item
            ) != self._raw.FPDF_PAGEOBJ_TEXT and not self._is_white(item):
                yield self._bounds(item)

    def _is_white(self, item: Any) -> bool:
        """Whether it is a path filled with white or not filled."""
        if self._raw.FPDFPageObj_GetType(item) != self._raw.FPDF_PAGEOBJ_PATH:
            return False
        filled, stroked = ctypes.c_int(0), ctypes.c_int(0)
        self._raw.FPDFPath_GetDrawMode(item, filled, stroked)
        colour = self._colour(item)
        return not filled.value or colour is None or min(colour[:3]) >= WHITE
