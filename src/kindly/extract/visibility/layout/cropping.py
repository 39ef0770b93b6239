"""Text that a box crops: `overflow: hidden` with a fixed size, and text that lies outside of it. Without layout.

Offsets that the page declares (margins, padding, positions, heights) count in boxes of any size. Lines before a text
count in boxes of a few lines only: a larger one with much text is a preview that a visitor can open.
"""

from collections.abc import Iterator

from turbohtml import Element, Text

from kindly.extract.visibility.css import NO_STYLE, Cascade
from kindly.extract.visibility.layout.off_screen import four, moves, sides_of
from kindly.extract.visibility.lengths import percent, pixels
from kindly.extract.visibility.style import Style

SMALL_PX = 64
"""In a box of at most this height, lines are counted."""
LINE = 1.15
"""The height of a line, relative to the size of the font."""
FONT_PX = 16.0
SLIVER_PX = 3
"""So much of a line may be inside the box without being legible."""
MAX_BOXES = 200
MAX_ELEMENTS = 500
"""So many boxes, with so many elements each, are examined, to bound the time for a page."""
INLINE_TAGS = """
    a abbr b bdi bdo cite code data del dfn em font i ins kbd label mark q s samp small span strong sub sup time u var
"""
INLINE = frozenset(INLINE_TAGS.split())
SIDE_BY_SIDE = ("flex", "grid", "table", "inline-flex", "inline-grid")
NOT_STACKED = frozenset({"table", "tr", "td", "th", "tbody", "thead", "svg", "math", "ruby"})
SIDE_OF = {"margin": 0, "padding": 0, "margin-left": 3, "padding-left": 3}


class Cropping:
    """The boxes of a page that crop their content."""

    def __init__(self, cascade: Cascade, *, external: bool) -> None:
        self._cascade = cascade
        self._external = external

    def hidden(self) -> Iterator[list[Element | Text]]:
        """The pieces of text that a box crops."""
        found = dict.fromkeys(self._cascade.suspects.get("crop", ()))
        suspects = [box for box in found if len(box) and self._is_known(box)][:MAX_BOXES]
        styles = self._cascade.computed(suspects) if suspects else {}
        for box in suspects:
            style = styles.get(box, NO_STYLE)
            height, width = _cropped_height(style), _cropped_width(style)
            if height is None and width is None:
                continue
            inside = list(box.iter_elements())
            if len(inside) <= MAX_ELEMENTS and all(map(self._is_known, inside)):
                yield list(_Flow(box, style, self._cascade.computed(inside)).outside(height, width))

    def _is_known(self, element: Element) -> bool:
        """Whether no external stylesheet may place this element."""
        return not self._external or not (element.attr("class") or element.attr("id"))


class _Flow:
    """The content of one box, from top to bottom."""

    def __init__(self, box: Element, style: Style, styles: dict[Element, Style]) -> None:
        self._box = box
        self._styles = {**styles, box: style}
        self._height = self._width = float("inf")
        self._counts_lines = False
        self._stacked = 0.0
        """How far down the next line is, at least: what is declared, and in small boxes the lines before."""
        self._found: list[Element | Text] = []

    def outside(self, height: float | None, width: float | None) -> list[Element | Text]:
        """The text outside of this size."""
        self._height = float("inf") if height is None else height - SLIVER_PX
        self._width = float("inf") if width is None else width - SLIVER_PX
        self._counts_lines = height is not None and height <= SMALL_PX
        self._walk(self._box, 0.0, FONT_PX * LINE, FONT_PX * LINE)
        return self._found

    def _walk(self, element: Element, right: float, line: float, drawn: float) -> None:
        """Add the text below an element; `line` is the height of its lines at least, `drawn` at most."""
        style = self._styles.get(element, NO_STYLE)
        line, drawn = _line_heights(style, line, drawn)
        stacks = (
            style.get("display", "block") not in SIDE_BY_SIDE and element.tag not in NOT_STACKED
        )
        open_line = False
        for child in element.children:
            if isinstance(child, Text):
                if child.data.strip():
                    open_line = True
                    if (
                        self._stacked + max(0.0, drawn - 2 * FONT_PX) / 2 >= self._height
                        or right >= self._width
                    ):
                        self._found.append(child)
            elif isinstance(child, Element):
                inline = child.tag in INLINE or self._is_beside(child)
                if open_line and stacks and (child.tag == "br" or not inline):
                    self._advance(line)
                    open_line = False
                elif child.tag == "br" and stacks:
                    self._advance(line)
                self._add(child, right, line, drawn, inline=inline or not stacks)
                open_line = open_line or (inline and bool(child.text.strip()))
        if open_line and stacks and element.tag not in INLINE:
            self._advance(line)

    def _advance(self, line: float) -> None:
        if self._counts_lines:
            self._stacked += line

    def _is_beside(self, child: Element) -> bool:
        style = self._styles.get(child, NO_STYLE)
        return (
            style.get("float", "none") != "none"
            or style.get("display", "block").startswith("inline")
            or style.get("position") in ("absolute", "fixed")
        )

    def _add(
        self, child: Element, right: float, line: float, drawn: float, *, inline: bool
    ) -> None:
        style = self._styles.get(child, NO_STYLE)
        before = self._stacked
        if style.get("position") in ("absolute", "fixed"):
            if self._is_placed_outside(style):
                self._found.append(child)
            return
        right += _start(style, "margin-left") + _start(style, "padding-left") + _moved(style)[0]
        if not inline:
            self._stacked += _start(style, "margin") + _start(style, "padding")
        start = self._stacked
        down = _moved(style)[1]
        self._stacked += down
        self._walk(child, right, line, drawn)
        self._stacked -= down
        if inline:
            self._stacked = before
        elif (height := pixels(style.get("height"), 0)) is not None:
            self._stacked = start + height

    def _is_placed_outside(self, style: Style) -> bool:
        if (
            style["position"] == "fixed"
            or self._styles[self._box].get("position", "static") == "static"
        ):
            return False
        sides = sides_of(style)
        for side, extent in (("top", self._height), ("left", self._width)):
            value = sides.get(side, "")
            offset = pixels(value, 0) or 0.0
            if offset >= extent or percent(value) >= 100:
                return True
        return any(percent(sides.get(side)) >= 100 for side in ("bottom", "right"))


def _cropped_height(style: Style) -> float | None:
    if not _crops(style, "overflow-y"):
        return None
    sizes = [pixels(style.get(name), 0) for name in ("height", "max-height")]
    return min((size for size in sizes if size), default=None)


def _cropped_width(style: Style) -> float | None:
    if not _crops(style, "overflow-x"):
        return None
    sizes = [pixels(style.get(name), 0) for name in ("width", "max-width")]
    return min((size for size in sizes if size), default=None)


def _crops(style: Style, axis: str) -> bool:
    value = style.get(axis) or style.get("overflow", "")
    return "hidden" in value or "clip" in value


def _line_heights(style: Style, line: float, drawn: float) -> tuple[float, float]:
    """The height of lines at least and at most, as far as declared."""
    size = pixels(style.get("font-size"), FONT_PX / 100)
    if size is not None:
        line = size * LINE
    height = style.get("line-height", "")
    if height.replace(".", "", 1).isdigit():
        drawn = float(height) * (size or FONT_PX)
    elif (given := pixels(height, FONT_PX / 100)) is not None:
        drawn = given
    return (min(line, drawn) if height else line), max(line, drawn)


def _start(style: Style, name: str) -> float:
    """The margin or padding at the top, or on the left; a negative one counts as none."""
    side = SIDE_OF[name]
    shorthand = name.partition("-")[0]
    longhand = style.get(f"{shorthand}-{'left' if side else 'top'}")
    words = four(style.get(shorthand, ""))
    return max(0.0, pixels(longhand or (words[side] if words else ""), 0) or 0.0)


def _moved(style: Style) -> tuple[float, float]:
    """How far a relative position and transforms move a box right and down."""
    sides = sides_of(style) if style.get("position") == "relative" else {}
    right, down = pixels(sides.get("left"), 0) or 0.0, pixels(sides.get("top"), 0) or 0.0
    for x, y in moves(style):
        right, down = right + (pixels(x, 0) or 0.0), down + (pixels(y, 0) or 0.0)
    return max(0.0, right), max(0.0, down)
