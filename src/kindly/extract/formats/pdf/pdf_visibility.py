"""Visibility of the characters on a PDF page: rendering mode, size, colour and background of each text object.

Each text object is examined once, through PDFium.
"""

import ctypes
from collections.abc import Iterator
from typing import Any, Final

VISIBLE: Final = 0
NO_INK: Final = 1
"""Text rendered without ink, such as the OCR layer of a scan."""
HIDDEN: Final = 2
"""White on white, fully transparent or tiny."""

NO_INK_MODES = (3, 7)
STROKE_ONLY = 1
WHITE: Final = 250
TINY: Final = 2.0
MAX_BACKGROUND_OBJECTS: Final = 3_000


class PdfVisibility:
    """The visibility of one page's characters."""

    def __init__(self, page: Any) -> None:
        from pypdfium2 import raw  # type: ignore[import-untyped]

        self._raw = raw
        self._page = page
        address = ctypes.cast(raw.FPDFText_GetTextObject, ctypes.c_void_p).value or 0
        # The address of the text object that draws a character, 0 for spaces and line ends that PDFium inserts.
        # The binding wraps every pointer it returns, which costs three times the call itself.
        self.object_of = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)(address)
        self._known: dict[int, int] = {}
        self._backgrounds: list[tuple[float, float, float, float]] | None = None

    def kind_of(self, address: int) -> int:
        """The visibility of a text object."""
        if address not in self._known:
            self._known[address] = self._classify(ctypes.cast(address, self._raw.FPDF_PAGEOBJECT))
        return self._known[address]

    @property
    def is_picture(self) -> bool:
        """Whether the page draws an image."""
        objects = self._page.get_objects(filter=[self._raw.FPDF_PAGEOBJ_IMAGE], max_depth=3)
        return next(objects, None) is not None

    def _classify(self, item: Any) -> int:
        mode = self._raw.FPDFTextObj_GetTextRenderMode(item)
        if mode in NO_INK_MODES:
            return NO_INK
        if self._size(item) < TINY:
            return HIDDEN
        colour = self._colour(item)
        if colour is None or mode == STROKE_ONLY:
            return VISIBLE
        *channels, alpha = colour
        if alpha == 0 or (min(channels) >= WHITE and not self._has_background(item)):
            return HIDDEN
        return VISIBLE

    def _size(self, item: Any) -> float:
        size, matrix = ctypes.c_float(0), self._raw.FS_MATRIX()
        if not self._raw.FPDFTextObj_GetFontSize(item, size):
            return TINY
        if not self._raw.FPDFPageObj_GetMatrix(item, matrix):
            return abs(size.value)
        scale: float = abs(matrix.a * matrix.d - matrix.b * matrix.c) ** 0.5
        return abs(size.value) * scale

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

    def _has_background(self, item: Any) -> bool:
        """Whether an object that is not white is behind the text."""
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
