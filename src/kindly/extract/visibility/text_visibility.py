"""Text that cannot be read: inherited `visibility`, font size and colour → the hidden text nodes of an element."""

import re
from collections.abc import Iterator

from turbohtml import Element, Node, Text

from kindly.extract.visibility.box_visibility import pixels
from kindly.extract.visibility.colours import WHITE, Colour, parse, unreadable
from kindly.extract.visibility.css import Cascade, Style

RELATIVE_SIZE = re.compile(r"(?:\d(?:em|ex|ch|%)|smaller|larger)\Z")
"""Font sizes relative to that of the parent."""
LEGACY_STYLED = frozenset({"font", "table", "tr", "td", "th", "body"})
"""Tags that may have their colours as attributes."""
TINY_PX = 1.5


def may_hide_text(style: Style) -> bool:
    """Whether text with this style may be hidden, depending on what it inherits."""
    return (
        style.get("visibility") in ("hidden", "collapse")
        or _is_tiny(style) is True
        or parse(style.get("-webkit-text-fill-color") or style.get("color", "")) is not None
    )


def _is_tiny(style: Style) -> bool | None:
    """Whether text of this size is too small to read; None if the style sets no size."""
    size = style.get("font-size")
    if size is None:
        sizes = re.findall(r"(?:^|\s)([\d.]+(?:px|em|rem|%|pt)?)(?:/|\s)", style.get("font", ""))
        size = sizes[0] if sizes else None
    size_px = pixels(size)
    return None if size is None else size_px is not None and size_px < TINY_PX


class _TextStyle:
    """The inherited text style at one place in the tree."""

    __slots__ = ("background", "colour", "hidden", "invisible", "tiny")

    def __init__(
        self, *, hidden: bool, tiny: bool, colour: Colour | None, background: Colour | None
    ) -> None:
        self.hidden = hidden
        self.tiny = tiny
        self.colour = colour
        self.background = background
        self.invisible = hidden or tiny or _is_unreadable(colour, background)

    def inside(self, element: Element, style: Style) -> "_TextStyle":
        """The text style inside a child element."""
        if not style and element.tag not in LEGACY_STYLED:
            return self
        visibility, tiny = style.get("visibility"), _is_tiny(style)
        if self.tiny and RELATIVE_SIZE.search(style.get("font-size", "")):
            tiny = True
        hidden = visibility in ("hidden", "collapse") if visibility else self.hidden
        return _TextStyle(
            hidden=hidden,
            tiny=self.tiny if tiny is None else tiny,
            colour=_text_colour(element, style, self.colour),
            background=_background(element, style, self.background),
        )


def _is_unreadable(colour: Colour | None, background: Colour | None) -> bool:
    if colour is None:
        return False
    return colour.alpha <= 0.05 if background is None else unreadable(colour, background)


def _text_colour(element: Element, style: Style, inherited: Colour | None) -> Colour | None:
    clip = style.get("background-clip") or style.get("-webkit-background-clip") or ""
    if "text" in clip:
        return None
    word = style.get("-webkit-text-fill-color") or style.get("color")
    if word is None and element.tag == "font":
        word = (element.attr("color") or "").lower() or None
    if word is None or word in ("inherit", "currentcolor"):
        return inherited
    return parse(word)


def _background(element: Element, style: Style, inherited: Colour | None) -> Colour | None:
    if style.get("background-image", "none") != "none":
        return None
    word = style.get("background-color") or style.get("background") or element.attr("bgcolor")
    if not word or word in ("none", "inherit", "transparent", "initial", "unset"):
        return inherited
    colour = parse(word.lower()) or parse(word.lower().split()[0])
    if colour is not None and colour.alpha < 0.5:
        return None
    return colour


class TextStyles:
    """The text styles of a tree; each place is computed once."""

    def __init__(self, cascade: Cascade, *, external: bool) -> None:
        self._cascade = cascade
        self._external = external
        self._known: dict[Node, tuple[_TextStyle, bool]] = {}

    def hidden_text(self, element: Element) -> Iterator[Text]:
        """The text nodes below `element` that cannot be read."""
        stack = [(element, self._of(element))]
        while stack:
            parent, text_style = stack.pop()
            for child in parent.children:
                if isinstance(child, Element):
                    stack.append((child, text_style.inside(child, self._cascade.of(child))))
                elif isinstance(child, Text) and text_style.invisible and child.data.strip():
                    yield child

    def _of(self, element: Element) -> _TextStyle:
        """The text style inside `element`; the background is unknown where an external stylesheet may set it."""
        chain: list[Element] = []
        node: Node | None = element
        while isinstance(node, Element) and node not in self._known:
            chain.append(node)
            node = node.parent
        default = (DEFAULT_STYLE, True)
        text_style, plain = self._known.get(node, default) if node is not None else default
        for place in reversed(chain):
            if plain and self._external and (place.attr("class") or place.attr("id")):
                plain = False
                text_style = _TextStyle(
                    hidden=text_style.hidden,
                    tiny=text_style.tiny,
                    colour=text_style.colour,
                    background=None if text_style.background == WHITE else text_style.background,
                )
            text_style = text_style.inside(place, self._cascade.of(place))
            if place.tag in ("html", "body"):
                text_style = _TextStyle(
                    hidden=False,
                    tiny=False,
                    colour=text_style.colour,
                    background=text_style.background,
                )
            self._known[place] = (text_style, plain)
        return text_style


DEFAULT_STYLE = _TextStyle(hidden=False, tiny=False, colour=None, background=WHITE)
