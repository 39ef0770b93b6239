"""The words of a PDF page with their boxes and fonts, as PDFium reads them. Hidden text is left out and counted.

Calls to PDFium dominate the time. So each character costs two calls, each word two more for its ends, and what a text
object says (size, font, direction, visibility, tag) is read once per object.
"""

import ctypes
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from kindly.extract.formats.pdf.pdf_characters.drawn_accents import (
    GONE,
    CharacterBox,
    with_accents,
)
from kindly.extract.formats.pdf.pdf_characters.pdf_visibility import (
    NO_INK,
    POINTER,
    TRANSPARENT,
    VISIBLE,
    PdfVisibility,
    direct,
)

WORD = re.compile(r"[^\s\x00-\x1f\x7f\ufffe\uffff\xad]+")
LINE_END = re.compile(r"[\r\n\ufffe\xad]")
WORD_BREAK = re.compile(r"[\ufffe\xad]")
"""A hyphen at the end of a line, after which the word goes on."""
HYPHEN: Final = 2
NAMELESS_BULLET = re.compile(
    r"(?:(?<=[\r\n\ufffe])|\A)[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f](?=[ \xa0]|[^\W\d_])"
)
"""A glyph without a meaning at the start of a line."""
DINGBATS = re.compile(r"wingdings|dingbats|webdings", re.I)
SURROGATE = re.compile(r"[\ud800-\udfff]")
BOLD_WEIGHT: Final = 700
FIXED_PITCH_FLAG: Final = 1
ITALIC_FLAG: Final = 64
FORCE_BOLD_FLAG: Final = 1 << 18
BOLD_NAME = re.compile(
    r"bold|black|heavy|demi|medi$|-bd|\.b$|(?:cm|sf|lm|ec|ti)[a-z]*bx?\d|lmroman\d+-bold", re.I
)
REGULAR_NAME = re.compile(r"regular|roman|book|light|medium|thin|italic|math", re.I)
ITALIC_NAME = re.compile(r"ital|obliq|-it$|slant|(?:cm|sf)(?:ti|bxti|sl)\d", re.I)
MONO_NAME = re.compile(
    r"mono|courier|consolas|menlo|(?<!uni)code|typewriter|lettergothic|bookmastergothic|(?:cm|sf|lm|ec)tt|terminal|inconsolata",
    re.I,
)
WIDE_CHARACTER: Final = 1.2
"""A word with more width per character than this, in font sizes, has gaps inside."""
SPLIT_GAP: Final = 0.5
GLUED_GAP: Final = 0.25
ACCENT_GAP: Final = 0.12
"""Parts of a word between which an accent was are nearer than this: a space may be there too."""
LAYERS: Final = (NO_INK, TRANSPARENT)
"""The kinds of invisible text that a scan may have, the surer one first."""
STAMP_CHARACTERS: Final = 300
STAMP_HEIGHT: Final = 0.1
STAMP_WIDTH: Final = 0.07
"""The parts of a page at each end where stamps and page numbers are."""


class Font(NamedTuple):
    """What is known of a font."""

    name: str = ""
    bold: bool = False
    italic: bool = False
    mono: bool = False


class Word(NamedTuple):
    """Text without a space in it; coordinates grow to the right and upwards."""

    text: str
    left: float
    bottom: float
    right: float
    top: float
    size: float
    font: Font = Font()
    tag: int = -1
    """The number of the marked content that it belongs to, or -1."""
    glued: bool = False
    """Whether no space separates it from the word before."""
    broken: bool = False
    """Whether it goes on in the next line."""
    turned: int = 0
    """Quarter turns against the clock."""
    link: str = ""
    """The address that it links to."""


class PageWords(NamedTuple):
    """The visible words of a page in drawing order."""

    lines: list[list[Word]]
    hidden: int
    """How many pieces of text were left out."""
    characters: int
    complete: bool
    """Whether all characters were read."""
    stamped: bool = False
    """Whether pictures cover the page, and its visible text is at most a stamp on them."""
    recognised: bool = False
    """Whether it is a picture with invisible text, which comes from character recognition by the file's maker."""


def is_stamp(lines: Sequence[Sequence[Word]], box: tuple[float, float, float, float]) -> bool:
    """Whether the text of a page is short and only at its edges, such as a page number or a date of download."""
    left, bottom, right, top = box
    down, in_ = STAMP_HEIGHT * (top - bottom), STAMP_WIDTH * (right - left)
    words = [word for line in lines for word in line]
    return sum(len(word.text) for word in words) <= STAMP_CHARACTERS and all(
        not bottom + down < (word.bottom + word.top) / 2 < top - down
        or not left + in_ < (word.left + word.right) / 2 < right - in_
        for word in words
    )


class _TextObject(NamedTuple):
    size: float
    font: Font
    turned: int
    tag: int


def read_words(page: Any, text_page: Any, limit: int) -> PageWords:
    """The words of a page, of its first `limit` characters."""
    return _WordReader(page, text_page).read(limit)


class _WordReader:
    """Reads one page."""

    def __init__(self, page: Any, text_page: Any) -> None:
        from pypdfium2 import raw  # type: ignore[import-untyped]

        self._raw = raw
        self._text_page = text_page
        self._handle = ctypes.cast(text_page.raw, ctypes.c_void_p).value
        self._unicode = direct("FPDFText_GetUnicode", POINTER, ctypes.c_int, result=ctypes.c_uint)
        self._box_of = direct("FPDFText_GetLooseCharBox", POINTER, ctypes.c_int, POINTER)
        self._size_of = direct("FPDFTextObj_GetFontSize", POINTER, POINTER)
        self._matrix_of = direct("FPDFText_GetMatrix", POINTER, ctypes.c_int, POINTER)
        self._font_of = direct("FPDFTextObj_GetFont", POINTER, result=POINTER)
        self._tag_of = direct("FPDFPageObj_GetMarkedContentID", POINTER)
        numbers = (ctypes.c_float * 7)()
        self._shape = memoryview(numbers).cast("B").cast("f")[:5]
        self._shapes: dict[bytes, tuple[float, int]] = {}
        self._at = ctypes.addressof(numbers)
        self._visibility = PdfVisibility(page)
        self._limits = page.get_bbox()
        self._objects: dict[int, _TextObject] = {}
        self._fonts: dict[int | None, Font] = {}
        boxes = (ctypes.c_float * 8)()
        self._ends = ctypes.addressof(boxes), ctypes.addressof(boxes) + 16
        self._boxes = memoryview(boxes).cast("B").cast("f")
        self._hidden = 0
        self._was_outside = False

    def read(self, limit: int) -> PageWords:
        """Read the words of the page."""
        total = self._text_page.count_chars()
        count = min(total, limit)
        text = with_accents(self._text(count), self._box)
        handle, object_of = self._handle, self._visibility.object_of
        addresses = [object_of(handle, index) for index in range(count)]
        kinds = self._visibility.kinds_of({*addresses} - {None})
        shown = self._shown(kinds)
        lines = self._lines(text, addresses, kinds, shown)
        recognised = NO_INK in shown and bool(lines)
        layers = [kind for kind in LAYERS if kind in kinds.values() and kind not in shown]
        stamped = (
            bool(lines or layers) and is_stamp(lines, self._limits) and self._visibility.is_covered
        )
        if stamped and layers:
            lines = self._lines(text, addresses, kinds, (*shown, layers[0]))
            recognised = not is_stamp(lines, self._limits)
            stamped = layers[0] == TRANSPARENT or not recognised
        return PageWords(lines, self._hidden, count, count == total, stamped, recognised)

    def _lines(
        self,
        text: str,
        addresses: list[int | None],
        kinds: dict[int, int],
        shown: tuple[int, ...],
    ) -> list[list[Word]]:
        """The words of the text objects of these kinds."""
        self._hidden = 0
        self._count_hidden(addresses, kinds, shown)
        unread = {address for address, kind in kinds.items() if kind not in shown}
        lines: list[list[Word]] = [[]]
        end = 0
        for found in WORD.finditer(text):
            start, next_end = found.span()
            between = text[end:start]
            if end and between != " " and LINE_END.search(between):
                if lines[-1] and WORD_BREAK.search(between):
                    lines[-1][-1] = lines[-1][-1]._replace(broken=True)
                lines.append([])
            end = next_end
            within = ACCENT_GAP if GONE in between else None
            self._read_word(lines[-1], text, addresses, (start, end), unread, within)
        return [line for line in lines if line]

    def _text(self, count: int) -> str:
        """One character for each that PDFium counts: a UTF-16 code unit, or more than that."""
        raw = self._raw
        units = (ctypes.c_ushort * (count + 1))()
        if raw.FPDFText_GetText(self._text_page.raw, 0, count, units) == count + 1:
            return NAMELESS_BULLET.sub("•", "".join(map(chr, units[:count])))
        # Characters that mean nothing are left out there, which moves all that follow.
        codes = [self._unicode(self._handle, index) for index in range(count)]
        for index in range(count):
            if codes[index] == HYPHEN and raw.FPDFText_IsHyphen(self._text_page.raw, index) == 1:
                codes[index] = 0xFFFE
        return NAMELESS_BULLET.sub("•", "".join(map(chr, codes)))

    def _box(self, index: int) -> CharacterBox:
        """The box of a character."""
        self._box_of(self._handle, index, self._ends[0])
        left, top, right, bottom = self._boxes[:4].tolist()
        return left, top, right, bottom

    def _read_word(
        self,
        line: list[Word],
        text: str,
        addresses: list[int | None],
        span: tuple[int, int],
        unread: set[int],
        within: float | None = None,
    ) -> None:
        """Add a word, in parts if several text objects draw it in different ways; its ends tell whether they do.

        It is glued to the word before if that is `within` so many font sizes.
        """
        start, end = span
        address, last = addresses[start], addresses[end - 1]
        if (
            address
            and last
            and (not unread or unread.isdisjoint(addresses[start:end]))
            and (address == last or not self._differs((address, start), (last, end - 1)))
        ):
            self._add(line, text[start:end], address, span, within)
            return
        current: int | None = None
        for index in range(start, end):
            address = addresses[index] or current
            if address == current:
                continue
            if (
                current
                and current not in unread
                and address
                and not self._differs((current, start), (address, index))
                and address not in unread
            ):
                current = address
                continue
            if current and current not in unread:
                self._add(line, text[start:index], current, (start, index), within)
            if current:
                within = None if current in unread else GLUED_GAP
            start, current = index, address
        if current and current not in unread:
            self._add(line, text[start:end], current, (start, end), within)

    def _shown(self, kinds: dict[int, int]) -> tuple[int, ...]:
        """What kinds of text are read: the text layer of a scan has no ink."""
        if VISIBLE not in kinds.values() and self._visibility.is_picture:
            return (VISIBLE, NO_INK)
        return (VISIBLE,)

    def _count_hidden(
        self, addresses: list[int | None], kinds: dict[int, int], shown: tuple[int, ...]
    ) -> None:
        if all(kind in shown for kind in kinds.values()):
            return
        previous: int | None = None
        for address in addresses:
            if address:
                kind = kinds[address]
                self._hidden += kind not in shown and kind != previous
                previous = kind

    def _differs(self, one: tuple[int, int], other: tuple[int, int]) -> bool:
        """Whether text of the second object cannot be part of the same word as text of the first."""
        first = self._objects.get(one[0]) or self._text_object(*one)
        second = self._objects.get(other[0]) or self._text_object(*other)
        return first.turned != second.turned or first.size != second.size or first.tag != second.tag

    def _add(
        self,
        line: list[Word],
        text: str,
        address: int,
        span: tuple[int, int],
        within: float | None,
    ) -> None:
        plain = text.isascii()
        if not plain and SURROGATE.search(text):
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
        handle, first = self._handle, span[0]
        self._box_of(handle, first, self._ends[0])
        self._box_of(handle, span[1] - 1, self._ends[1])
        left, top, right, bottom, last_left, last_top, last_right, last_bottom = (
            self._boxes.tolist()
        )
        left = last_left if last_left < left else left
        right = last_right if last_right > right else right
        bottom = last_bottom if last_bottom < bottom else bottom
        top = last_top if last_top > top else top
        page_left, page_bottom, page_right, page_top = self._limits
        if right < page_left or left > page_right or bottom > page_top or top < page_bottom:
            self._hidden += not self._was_outside
            self._was_outside = True
            return
        self._was_outside = False
        glued = False
        if within is not None and line:
            last = line[-1]
            apart = max(left - last.right, last.left - right, last.bottom - top, bottom - last.top)
            glued = apart <= within * last.size
        size, font, turned, tag = self._objects.get(address) or self._text_object(address, span[0])
        if (
            len(text) > 1
            and max(right - left, top - bottom) > WIDE_CHARACTER * len(text) * size
            and len(text) == span[1] - span[0]
            and (parts := self._parts(span, size))
        ):
            for part in parts:
                own = text[part[0] - span[0] : part[1] - span[0]]
                self._add(line, own, address, part, within if part[0] == span[0] else None)
            return
        if len(text) == 1 and not line and DINGBATS.search(font.name):
            text = "•"
        elif not plain and ("‘‘" in text or "’’" in text):
            text = text.replace("‘‘", "“").replace("’’", "”")
        line.append(Word(text, left, bottom, right, top, size, font, tag, glued, turned=turned))

    def _parts(self, span: tuple[int, int], size: float) -> list[tuple[int, int]]:
        """The parts of a word with wide gaps inside, such as marks in columns; none if there is no gap."""
        cuts = [span[0]]
        for index in range(*span):
            self._box_of(self._handle, index, self._ends[index % 2])
            left, top, right, bottom, other_left, other_top, other_right, other_bottom = (
                self._boxes.tolist()
            )
            across = max(other_left - right, left - other_right)
            down = max(bottom - other_top, other_bottom - top)
            if index > span[0] and max(across, down) > SPLIT_GAP * size:
                cuts.append(index)
        return list(pairwise((*cuts, span[1]))) if len(cuts) > 1 else []

    def _text_object(self, address: int, index: int) -> _TextObject:
        """What a text object says; `index` is one of its characters."""
        self._size_of(address, self._at)
        self._matrix_of(self._handle, index, self._at + 4)
        shape = self._shape.tobytes()
        size, turned = self._shapes.get(shape) or self._read_shape(shape)
        font = self._font_of(address)
        found = self._objects[address] = _TextObject(
            size, self._fonts.get(font) or self._font(font), turned, self._tag_of(address)
        )
        return found

    def _read_shape(self, shape: bytes) -> tuple[float, int]:
        """The size of text and its quarter turns, from its font size and its matrix."""
        size, a, b, c, d = self._shape.tolist()
        turned = 0
        if abs(b) > abs(a):
            turned = 1 if b > 0 else 3
        elif a < 0 and d < 0:
            turned = 2
        found = self._shapes[shape] = round(abs(size) * abs(a * d - b * c) ** 0.5, 1), turned
        return found

    def _font(self, address: int | None) -> Font:
        if not address:
            return Font()
        raw = self._raw
        font = ctypes.cast(address, raw.FPDF_FONT)
        length = raw.FPDFFont_GetBaseFontName(font, None, 0)
        buffer = ctypes.create_string_buffer(length)
        raw.FPDFFont_GetBaseFontName(font, buffer, length)
        name = buffer.value.decode("utf-8", "replace").split("+")[-1]
        flags = max(raw.FPDFFont_GetFlags(font), 0)
        found = self._fonts[address] = Font(
            name,
            BOLD_NAME.search(name) is not None
            or (
                REGULAR_NAME.search(name) is None
                and (bool(flags & FORCE_BOLD_FLAG) or raw.FPDFFont_GetWeight(font) >= BOLD_WEIGHT)
            ),
            ITALIC_NAME.search(name) is not None or bool(flags & ITALIC_FLAG),
            MONO_NAME.search(name) is not None or bool(flags & FIXED_PITCH_FLAG),
        )
        return found
