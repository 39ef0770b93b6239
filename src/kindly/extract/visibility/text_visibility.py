"""Text that cannot be read: inherited `visibility`, font size and colour → the hidden text nodes of an element."""

import re
from collections.abc import Iterator

from turbohtml import Element, Node, Text

from kindly.extract.visibility.colours import (
    STOPS,
    WHITE,
    Colour,
    gradient_stops,
    over,
    parse,
    unreadable,
    words_in,
)
from kindly.extract.visibility.css import Cascade
from kindly.extract.visibility.layout.covering import Layers
from kindly.extract.visibility.lengths import pixels
from kindly.extract.visibility.pictures import picture_colours
from kindly.extract.visibility.style import Style

SIZE_IN_FONT = re.compile(r"(?:^|\s)([\d.]+(?:px|em|rem|%|pt)?)(?:/|\s)")
RELATIVE_SIZE = re.compile(r"(?:\d(?:em|ex|ch|%)|smaller|larger)\Z")
"""Font sizes relative to that of the parent."""
LEGACY_STYLED = frozenset({"font", "table", "tr", "td", "th", "body"})
"""Tags that may have their colours as attributes."""
TINY_PX = 1.5
TRANSPARENT = 0.05
OUTLINES = frozenset({"text-shadow", "-webkit-text-stroke", "-webkit-text-stroke-color"})
BACKGROUNDS = frozenset({"background", "background-color", "background-image"})
MAX_COLOURS = 50
Backgrounds = tuple[Colour, ...] | None
"""The colours that may be behind a text; None if unknown."""
ON_WHITE: Backgrounds = (WHITE,)


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
    if size is None and "font" in style:
        found = SIZE_IN_FONT.search(style["font"])
        size = found[1] if found else None
    if size is None:
        return None
    size_px = pixels(size)
    return size_px is not None and size_px < TINY_PX


class _TextStyle:
    """The inherited text style at one place in the tree."""

    __slots__ = (
        "backgrounds",
        "colour",
        "hidden",
        "invisible",
        "only_unreadable",
        "outlines",
        "tiny",
    )

    def __init__(
        self,
        *,
        hidden: bool,
        tiny: bool,
        colour: Colour | None,
        outlines: tuple[Colour, ...],
        backgrounds: Backgrounds,
    ) -> None:
        self.hidden = hidden
        self.tiny = tiny
        self.colour = colour
        self.outlines = outlines
        """The colours of shadows and strokes."""
        self.backgrounds = backgrounds
        unseen = colour is not None and _is_unreadable((colour, *outlines), backgrounds)
        self.invisible = hidden or tiny or unseen
        opaque = colour is not None and colour.alpha > TRANSPARENT
        self.only_unreadable = unseen and opaque and not hidden and not tiny

    def inside(self, element: Element, style: Style) -> "_TextStyle":
        """The text style inside a child element."""
        if not style and element.tag not in LEGACY_STYLED:
            return self
        visibility, tiny = style.get("visibility"), _is_tiny(style)
        if self.tiny and RELATIVE_SIZE.search(style.get("font-size", "")):
            tiny = True
        hidden = visibility in ("hidden", "collapse") if visibility else self.hidden
        tiny = self.tiny if tiny is None else tiny
        colour = _text_colour(element, style, self.colour)
        outlines = self.outlines if OUTLINES.isdisjoint(style) else _outlines(style)
        backgrounds = self.backgrounds
        if not BACKGROUNDS.isdisjoint(style) or element.tag in LEGACY_STYLED:
            backgrounds = _backgrounds(element, style, backgrounds)
        if (
            colour is self.colour
            and backgrounds is self.backgrounds
            and outlines is self.outlines
            and (hidden, tiny) == (self.hidden, self.tiny)
        ):
            return self
        return _TextStyle(
            hidden=hidden, tiny=tiny, colour=colour, outlines=outlines, backgrounds=backgrounds
        )


def _is_unreadable(inks: tuple[Colour, ...], backgrounds: Backgrounds) -> bool:
    if backgrounds is None:
        return all(ink.alpha <= TRANSPARENT for ink in inks)
    return all(
        unreadable(over(ink, background), background) for ink in inks for background in backgrounds
    )


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


def _outlines(style: Style) -> tuple[Colour, ...]:
    found = [style[name] for name in OUTLINES if name in style]
    return tuple(colour for value in found for colour in map(parse, words_in(value)) if colour)


def _backgrounds(element: Element, style: Style, inherited: Backgrounds) -> Backgrounds:
    """The colours that may be behind text in this element; None if unknown."""
    image = style.get("background-image") or style.get("background", "")
    if "url(" in image:
        return picture_colours(element.attr("style") or "") if "data:image" in image else None
    word = style.get("background-color") or style.get("background") or element.attr("bgcolor") or ""
    if "gradient(" in word:
        word = "".join(words_in(STOPS.sub("", word))[-1:])
    plain = _plain(word.lower(), inherited)
    if "gradient(" not in image:
        return plain if style.get("background-image", "none") == "none" else None
    return _painted(gradient_stops(image), plain)


def _plain(word: str, inherited: Backgrounds) -> Backgrounds:
    if not word or word in ("none", "inherit", "transparent", "initial", "unset"):
        return inherited
    colour = parse(word) or parse(word.split()[0])
    return _painted(None if colour is None else (colour,), inherited)


def _painted(colours: Backgrounds, below: Backgrounds) -> Backgrounds:
    """Colours painted over others."""
    if colours is None or all(colour.alpha >= 1 for colour in colours):
        return colours
    if below is None:
        return None
    return tuple(over(colour, base) for colour in colours for base in below)[:MAX_COLOURS]


class TextStyles:
    """The text styles of a tree; each place is computed once."""

    def __init__(self, cascade: Cascade, *, external: bool) -> None:
        self._cascade = cascade
        self._layers = Layers(cascade, external=external)
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
                elif (
                    isinstance(child, Text)
                    and child.data.strip()
                    and self._hides(text_style, parent)
                ):
                    yield child

    def _hides(self, text_style: _TextStyle, element: Element) -> bool:
        if not text_style.invisible:
            return False
        return not (text_style.only_unreadable and self._layers.has_picture_behind(element))

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
                    outlines=text_style.outlines,
                    backgrounds=None
                    if text_style.backgrounds == ON_WHITE
                    else text_style.backgrounds,
                )
            text_style = text_style.inside(place, self._cascade.of(place))
            if place.tag in ("html", "body"):
                text_style = _TextStyle(
                    hidden=False,
                    tiny=False,
                    colour=text_style.colour,
                    outlines=text_style.outlines,
                    backgrounds=text_style.backgrounds,
                )
            self._known[place] = (text_style, plain)
        return text_style


DEFAULT_STYLE = _TextStyle(hidden=False, tiny=False, colour=None, outlines=(), backgrounds=ON_WHITE)
