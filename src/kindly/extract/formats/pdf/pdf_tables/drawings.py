"""The straight lines that a PDF page draws: borders of tables, rules above and below them."""

import ctypes
from typing import Any, Final, NamedTuple

from kindly.extract.formats.pdf.pdf_characters.pdf_visibility import POINTER, direct
from kindly.extract.formats.pdf.pdf_lines import Box

MAX_OBJECTS: Final = 4_000
"""A page with more is a map or a drawing, whose lines are no borders."""
MAX_SEGMENTS: Final = 400
MAX_DEPTH: Final = 2
THIN: Final = 3.0
SHORT: Final = 4.0
STRAIGHT: Final = 0.7


class Rule(NamedTuple):
    """A horizontal or vertical line: where it is, and from where to where it goes."""

    at: float
    start: float
    end: float


class Rules(NamedTuple):
    """The straight lines of a page."""

    across: list[Rule]
    down: list[Rule]
    boxes: list[Box]
    """Filled rectangles."""


Matrix = tuple[float, float, float, float, float, float]
UPRIGHT: Final[Matrix] = (1, 0, 0, 1, 0, 0)


def read_rules(page: Any) -> Rules:
    """The horizontal and vertical lines of a page, thin filled rectangles included."""
    return _RuleReader(page).read()


class _RuleReader:
    def __init__(self, page: Any) -> None:
        from pypdfium2 import raw  # type: ignore[import-untyped]

        self._raw = raw
        self._page = page
        self._left = MAX_OBJECTS
        self._rules = Rules([], [], [])
        self._filled, self._stroked = ctypes.c_int(0), ctypes.c_int(0)
        self._floats = [ctypes.c_float(0) for _ in range(4)]

    def read(self) -> Rules:
        raw = self._raw
        page = ctypes.cast(self._page.raw, POINTER).value
        object_at = direct("FPDFPage_GetObject", POINTER, ctypes.c_int, result=POINTER)
        type_of = direct("FPDFPageObj_GetType", POINTER)
        count, text = raw.FPDFPage_CountObjects(self._page.raw), raw.FPDF_PAGEOBJ_TEXT
        for address in [object_at(page, index) for index in range(count)]:
            if type_of(address) == text:
                continue
            self._object(ctypes.cast(address, raw.FPDF_PAGEOBJECT), UPRIGHT, 0)
            if self._left < 0:
                return Rules([], [], [])
        return self._rules

    def _object(self, item: Any, matrix: Matrix, depth: int) -> None:
        raw = self._raw
        kind = raw.FPDFPageObj_GetType(item)
        if kind == raw.FPDF_PAGEOBJ_PATH:
            self._left -= 1
            self._path(item, matrix)
        elif kind == raw.FPDF_PAGEOBJ_FORM and depth < MAX_DEPTH:
            own = raw.FS_MATRIX()
            raw.FPDFPageObj_GetMatrix(item, own)
            inner = _product((own.a, own.b, own.c, own.d, own.e, own.f), matrix)
            for index in range(min(raw.FPDFFormObj_CountObjects(item), MAX_OBJECTS)):
                self._object(raw.FPDFFormObj_GetObject(item, index), inner, depth + 1)
                if self._left < 0:
                    return

    def _path(self, item: Any, matrix: Matrix) -> None:
        raw = self._raw
        if not raw.FPDFPageObj_GetBounds(item, *self._floats):
            return
        left, bottom, right, top = (value.value for value in self._floats)
        (left, bottom), (right, top) = _moved(matrix, left, bottom), _moved(matrix, right, top)
        left, right = sorted((left, right))
        bottom, top = sorted((bottom, top))
        if right - left < SHORT and top - bottom < SHORT:
            return
        if not self._is_drawn(item):
            return
        if top - bottom <= THIN:
            self._rules.across.append(Rule((bottom + top) / 2, left, right))
        elif right - left <= THIN:
            self._rules.down.append(Rule((left + right) / 2, bottom, top))
        else:
            if self._filled.value:
                self._rules.boxes.append(Box(left, bottom, right, top))
            if self._stroked.value:
                self._segments(item, matrix)

    def _is_drawn(self, item: Any) -> bool:
        raw = self._raw
        raw.FPDFPath_GetDrawMode(item, self._filled, self._stroked)
        if not self._filled.value and not self._stroked.value:
            return False
        red, green, blue, alpha = (ctypes.c_uint(0) for _ in range(4))
        read = (
            raw.FPDFPageObj_GetStrokeColor if self._stroked.value else raw.FPDFPageObj_GetFillColor
        )
        if not read(item, red, green, blue, alpha):
            return True
        return alpha.value > 0 and min(red.value, green.value, blue.value) < 250

    def _segments(self, item: Any, matrix: Matrix) -> None:
        """The straight parts of a path of several lines, such as a box or a grid."""
        raw = self._raw
        count = raw.FPDFPath_CountSegments(item)
        if not 0 < count <= MAX_SEGMENTS:
            return
        own = raw.FS_MATRIX()
        raw.FPDFPageObj_GetMatrix(item, own)
        whole = _product((own.a, own.b, own.c, own.d, own.e, own.f), matrix)
        x, y = ctypes.c_float(0), ctypes.c_float(0)
        start = last = (0.0, 0.0)
        for index in range(count):
            segment = raw.FPDFPath_GetPathSegment(item, index)
            raw.FPDFPathSegment_GetPoint(segment, x, y)
            point = _moved(whole, x.value, y.value)
            kind = raw.FPDFPathSegment_GetType(segment)
            if kind == raw.FPDF_SEGMENT_MOVETO:
                start = point
            elif kind == raw.FPDF_SEGMENT_LINETO:
                self._straight(last, point)
            last = point
            if raw.FPDFPathSegment_GetClose(segment):
                self._straight(point, start)
                last = start

    def _straight(self, one: tuple[float, float], other: tuple[float, float]) -> None:
        (x1, y1), (x2, y2) = one, other
        if abs(y1 - y2) <= STRAIGHT and abs(x1 - x2) >= SHORT:
            self._rules.across.append(Rule((y1 + y2) / 2, min(x1, x2), max(x1, x2)))
        elif abs(x1 - x2) <= STRAIGHT and abs(y1 - y2) >= SHORT:
            self._rules.down.append(Rule((x1 + x2) / 2, min(y1, y2), max(y1, y2)))


def _product(inner: Matrix, outer: Matrix) -> Matrix:
    a, b, c, d, e, f = inner
    p, q, r, s, t, u = outer
    return (
        a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u,
    )  # fmt: skip


def _moved(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f
