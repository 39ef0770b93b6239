"""Text behind something: boxes with a negative `z-index`, and boxes under an opaque one. Without layout.

Only what the declarations say for certain counts: a box over the whole of its containing block, a box in the same grid
cell, a box pulled over one of known height. Where an external stylesheet may place an element, text is kept.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from turbohtml import Element, Node, Text

from kindly.extract.visibility.colours import gradient_stops, parse
from kindly.extract.visibility.css import NO_STYLE, Cascade
from kindly.extract.visibility.layout.box_visibility import is_hidden
from kindly.extract.visibility.layout.off_screen import four, sides_of
from kindly.extract.visibility.lengths import percent, pixels
from kindly.extract.visibility.style import Style

Piece = Sequence[Element | Text]
ROOTS = frozenset({"html", "body"})
OPAQUE = 0.95
LETTER_PX, LINE_PX = 10, 20
"""The size of text, at most, where it is not known."""
PICTURE_LEVELS = 4
MAX_PICTURES = 5
MAX_SUSPECTS = 200
"""So many boxes of each kind are examined, to bound the time for a page."""
MAX_SCOPE = 2_000
"""A containing block with more elements is the layout of a page."""


class Layers:
    """The styles of elements that lie above or below others."""

    def __init__(self, cascade: Cascade, *, external: bool) -> None:
        self._cascade = cascade
        self._external = external
        self._styles: dict[Element, Style] = {}
        self._pictured: dict[Element, bool] = {}

    def hidden(self) -> Iterator[Piece]:
        """The pieces of text that lie behind something."""
        behind = [at for at in self._suspects("behind") if _is_below_others(self._styles[at])]
        covers = [at for at in self._suspects("cover") if self._is_opaque(at)]
        self._load([above for at in (*behind, *covers) for above in _elements_above(at)])
        yield from ([element] for element in behind if self._is_behind(element))
        yield from (list(self._covered(cover)) for cover in covers)
        for element in self._suspects("cell"):
            yield from self._below_in_cell(element)

    def _suspects(self, kind: str) -> list[Element]:
        """The elements with such a layout that no external stylesheet may place, with their styles."""
        found = self._cascade.suspects.get(kind, ())
        return self._load([element for element in found if self._is_known(element)][:MAX_SUSPECTS])

    def has_picture_behind(self, element: Element) -> bool:
        """Whether a picture fills a box around this element, so that its background is not known."""
        return any(map(self._holds_picture, islice(_elements_above(element), PICTURE_LEVELS)))

    def _holds_picture(self, scope: Element) -> bool:
        if scope not in self._pictured:
            pictures = scope.select("img, video, canvas, picture")[:MAX_PICTURES]
            self._load(pictures)
            self._pictured[scope] = any(
                _fills(self._style(picture)) and self._block_of(picture) is not None
                for picture in pictures
            )
        return self._pictured[scope]

    def _load(self, elements: Sequence[Element]) -> list[Element]:
        """Compute the styles of these elements; return each once."""
        new = [element for element in dict.fromkeys(elements) if element not in self._styles]
        found = self._cascade.computed(new) if new else {}
        self._styles |= {element: found.get(element, NO_STYLE) for element in new}
        return list(dict.fromkeys(elements))

    def _style(self, element: Element) -> Style:
        if element not in self._styles:
            self._load([element])
        return self._styles[element]

    def _is_known(self, element: Element) -> bool:
        """Whether no external stylesheet may place this element."""
        return not self._external or not (element.attr("class") or element.attr("id"))

    def _is_behind(self, element: Element) -> bool:
        """Whether a negative level puts an element behind the background of an ancestor."""
        for above in _elements_above(element):
            if not self._is_known(above) or _is_stacking_context(self._style(above)):
                return False
            if _paints(self._style(above)):
                return True
        return False

    def _is_opaque(self, element: Element) -> bool:
        style = self._style(element)
        if not _paints(style) or _level(style) < 0 or not self._is_known(element):
            return False
        hidden = style.get("visibility") in ("hidden", "collapse") or is_hidden(style)
        return not hidden and (pixels(style.get("opacity", "1"), 0.01) or 0.0) >= OPAQUE

    def _covered(self, cover: Element) -> Iterator[Element | Text]:
        """The text that an opaque box covers."""
        style = self._style(cover)
        if style.get("position") != "absolute":
            yield from self._pulled_over(cover)
            return
        block = self._block_of(cover)
        fills = _fills(style)
        if block is None or not (fills or "width" in style):
            return
        self._load(list(block.iter_elements()))
        inside = set(cover.iter_elements()) | {cover}
        for node in list(block.descendants):
            if not isinstance(node, Text) or not node.data.strip() or node.parent in inside:
                continue
            path = self._path(node, block)
            if path is None or not self._is_below(path, cover, style):
                continue
            if fills or (path and _is_within(self._style(path[-1]), style, len(node.data.strip()))):
                yield node

    def _block_of(self, element: Element) -> Element | None:
        """The containing block of an absolute element, if it is a small part of the page."""
        for above in _elements_above(element):
            style = self._style(above)
            if (
                style.get("position", "static") != "static"
                or style.get("transform", "none") != "none"
            ):
                return above if len(above.select("*")[: MAX_SCOPE + 1]) <= MAX_SCOPE else None
            if not self._is_known(above):
                return None
        return None

    def _path(self, node: Node, block: Element) -> list[Element] | None:
        """The elements between a text and a block, inner first; None if a stylesheet may place one of them."""
        path = []
        above = node.parent
        while isinstance(above, Element) and above != block:
            if not self._is_known(above):
                return None
            path.append(above)
            above = above.parent
        return path

    def _is_below(self, path: list[Element], cover: Element, style: Style) -> bool:
        placed = [at for at in path if _is_placed(self._style(at))]
        if not placed:
            return True
        level, other = _level(style), _level(self._style(placed[-1]))
        return level > other or (level == other and _comes_before(placed[-1], cover))

    def _pulled_over(self, cover: Element) -> Iterator[Element]:
        """The element before a box that a negative margin pulls over all of its height."""
        style = self._style(cover)
        before = _previous(cover)
        if before is None or not _is_placed(style) or not self._is_known(before):
            return
        margin = pixels(style.get("margin-top") or "".join(four(style.get("margin", ""))[:1]))
        height = pixels(self._style(before).get("height"))
        own = pixels(style.get("height"))
        if margin is None or height is None or own is None:
            return
        if 0 < height <= -margin + 1 and own >= height - 1:
            yield before

    def _below_in_cell(self, element: Element) -> Iterator[Piece]:
        """An element that a later one in the same grid cell covers."""
        parent = element.parent
        if not isinstance(parent, Element) or "grid" not in self._style(parent).get("display", ""):
            return
        cell = _cell(self._style(element))
        for later in element.next_siblings:
            if isinstance(later, Element) and cell and _cell(self._style(later)) == cell:
                higher = _level(self._style(element)) > _level(self._style(later))
                if self._is_opaque(later) and not higher and self._is_known(element):
                    yield [element]
                    return


def _elements_above(element: Element) -> Iterator[Element]:
    """The ancestors within the body, nearest first."""
    above = element.parent
    while isinstance(above, Element) and above.tag not in ROOTS:
        yield above
        above = above.parent


def _is_below_others(style: Style) -> bool:
    return _level(style) < 0 and style.get("position", "static") != "static"


def _level(style: Style) -> float:
    return pixels(style.get("z-index")) or 0.0


def _is_placed(style: Style) -> bool:
    """Whether an element is painted above the text of its surroundings."""
    return style.get("position", "static") != "static" or _is_stacking_context(style)


def _is_stacking_context(style: Style) -> bool:
    position = style.get("position", "static")
    return (
        position in ("fixed", "sticky")
        or (position != "static" and style.get("z-index", "auto") != "auto")
        or any(style.get(name, "none") != "none" for name in ("transform", "translate", "filter"))
        or style.get("isolation") == "isolate"
        or "will-change" in style
        or "contain" in style
        or (pixels(style.get("opacity", "1"), 0.01) or 0.0) < 1
    )


def _paints(style: Style) -> bool:
    """Whether an element paints all of its box."""
    for name in ("background-color", "background", "background-image"):
        value = style.get(name, "")
        if "text" in style.get("background-clip", "") or not value:
            continue
        colours = gradient_stops(value) if "gradient(" in value else None
        plain = parse(value) or parse(value.split()[0])
        if all(colour.alpha >= OPAQUE for colour in colours or ([plain] if plain else [])) and (
            colours or plain
        ):
            return True
    return False


def _fills(style: Style) -> bool:
    """Whether an absolute box is as large as its containing block."""
    if style.get("position") != "absolute":
        return False
    sides = {side: pixels(value) for side, value in sides_of(style).items()}
    near = {side for side, offset in sides.items() if offset is not None and offset <= 0}
    return all(
        near >= {start, end} or (near & {start, end} and percent(style.get(size)) >= 100)
        for start, end, size in (("top", "bottom", "height"), ("left", "right", "width"))
    )


def _is_within(style: Style, cover: Style, letters: int) -> bool:
    """Whether a placed text lies in the box of a cover with the same containing block."""
    if style.get("position") != "absolute":
        return False
    top, left = (pixels(sides_of(style).get(side)) for side in ("top", "left"))
    cover_top, cover_left = (pixels(sides_of(cover).get(side)) for side in ("top", "left"))
    width, height = pixels(cover.get("width"), 12.8), pixels(cover.get("height"), 0)
    known = (top, left, cover_top, cover_left, width, height)
    if top is None or left is None or cover_top is None or cover_left is None or None in known:
        return False
    right, bottom = left + letters * LETTER_PX, top + LINE_PX
    return (
        top >= cover_top - 1
        and left >= cover_left - 1
        and right <= cover_left + (width or 0)
        and bottom <= cover_top + (height or 0)
    )


def _cell(style: Style) -> tuple[str, ...]:
    found = tuple(style.get(name, "") for name in ("grid-area", "grid-row", "grid-column"))
    return found if any(found) else ()


def _previous(element: Element) -> Element | None:
    for node in element.previous_siblings:
        if isinstance(node, Element):
            return node
        if node.text.strip():
            return None
    return None


def _comes_before(element: Element, other: Element) -> bool:
    """Whether an element comes before another one in the document, or contains it."""
    ancestors = [other, *other.ancestors]
    for at in (element, *element.ancestors):
        if at in ancestors:
            return at == element
        parent = at.parent
        if parent in ancestors:
            branch = ancestors[ancestors.index(parent) - 1]
            return any(node == branch for node in at.next_siblings)
    return False
