"""Pre-filter of CSS declarations in lower case: whether they may hide something, and by which properties. Pure.

It has false positives, which the exact checks in `box_visibility` and `text_visibility` sort out, and no false
negatives.
"""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import NamedTuple

from kindly.extract.visibility.colours import (
    UNREADABLE_DISTANCE,
    WHITE,
    Colour,
    parse,
    unreadable,
    words_in,
)

CELL_SIZE = UNREADABLE_DISTANCE + 1
Cell = tuple[int, int, int]
MAX_CACHED_BODY = 500
"""The effects of longer declarations are not cached, to bound memory."""
RED = Colour(255, 0, 0)
NONE: frozenset[str] = frozenset()
LONG_VALUE = 1_000
"""A longer value counts as hiding without a check, which could take long."""
FAR_LEFT = r"-(?:\d{3}|\d{2}\d*(?:\.\d*)?(?:r?em|%|v[wh]))"
FAR_RIGHT = r"[5-9]\d{3}|\d{5}|\d{4}(?:\.\d*)?(?!px)[a-z%]|\d{3,}(?:r?em|v[wh])"
VIEWPORTS = r"\d{2,}(?:\.\d*)?[sld]?v(?:w|h|i|b|min|max)"
FORMULA = r".*(?:calc|min|max|clamp)\(.*\dv"
BOX_SHAPES = "(?:rect|circle|ellipse|inset|polygon)"
ZERO = r"0*[01]?(?:\.\d+)?(?:px|r?em|%|pt|v[wh])?\s*(?:!|\Z)"
HIDING_VALUES = {
    ("display", "display"): r"\s*none",
    ("visibility", "visibility content-visibility"): r"\s*(?:hidden|collapse)",
    ("opacity", "opacity"): r"\s*\.?0(?!\.[1-9])",
    ("opacity", "filter"): r".*opacity\(\s*\.?0(?!\.[1-9])",
    ("zoom", "zoom"): r"\s*\.?0",
    ("clip", "clip clip-path"): rf".*{BOX_SHAPES}\(",
    ("offset", "left right top bottom"): rf"\s*(?:{FAR_LEFT}|{FAR_RIGHT}|-?{VIEWPORTS})|{FORMULA}",
    ("offset", "text-indent"): rf"\s*(?:{FAR_LEFT}|\d{{3,}}(?:\.\d*)?%|{VIEWPORTS})|{FORMULA}",
    ("offset", "margin-left margin-top"): rf"\s*(?:{FAR_LEFT}|{VIEWPORTS})|{FORMULA}",
    ("offset", "inset margin"): rf".*(?:{FAR_LEFT}|{VIEWPORTS})|{FORMULA}",
    ("offset", "position"): r"\s*fixed",
    ("size", "height width max-height max-width"): rf"\s*{ZERO}",
    ("transform", "transform"): (
        r".*(?:translate.*(?:-(?!1\d\d(?:\.\d*)?%)\d{3}|\dv)|rotate[xy]|scale.*\(\s*\.?0|matrix)"
    ),
    ("transform", "translate"): r".*(?:-\d{3}|\dv)",
    ("transform", "rotate"): "",
    ("transform", "scale"): r"\s*\.?0",
    ("mask", "mask mask-image -webkit-mask -webkit-mask-image"): r".*-gradient\(",
    ("font", "font-size"): (
        r"\s*(?:0(?!\.[1-9]\d*(?:r?em|%))|\.0|1(?:\.[0-4]\d*)?(?:px|pt)?\s*(?:!|\Z))"
    ),
    ("font", "font"): r".*(?<![\d.])[01](?:px|pt)?[/\s]",
}
"""How a value that may hide something starts, by family and properties. Each pattern covers at least what
`box_visibility` and `text_visibility` accept."""
HIDING_BY_PROPERTY: Mapping[str, tuple[str, re.Pattern[str]]] = {
    name: (family, re.compile(pattern, re.S))
    for (family, names), pattern in HIDING_VALUES.items()
    for name in names.split()
}
"""Property → family and pattern."""
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "display": ("display",),
    "visibility": ("visibility",),
    "opacity": ("opacity", "filter"),
    "zoom": ("zoom",),
    "clip": ("clip",),
    "offset": (
        *("position", "left", "right", "top", "bottom", "indent", "inset", "margin"),
        *("overflow", "transform", "translate"),
    ),
    "size": ("height", "width", "overflow"),
    "transform": ("transform", "scale", "translate", "rotate"),
    "mask": ("mask",),
    "font": ("font",),
    "colour": ("color", "background", "shadow", "stroke"),
}
"""Family → words of the properties that have their effect together."""
TEXT_FAMILIES = frozenset({"visibility", "font", "colour"})
"""Families that hide the text of an element, unless a descendant overrides them."""
LAYOUTS = frozenset({"behind", "cover", "cell", "crop"})
"""Kinds of layout that hide text; `covering` and `cropping` decide."""
BELOW = re.compile(r"z-index\s*:\s*-\d")
PULLED_UP = re.compile(r"margin(?:-top)?\s*:\s*-\d")
GRID_CELL = re.compile(r"grid-(?:area|row|column)\s*:")
CROPS = re.compile(r"overflow(?:-[xy])?\s*:\s*(?:hidden|clip)")
FIXED_SIZE = re.compile(r"(?<![\w-])(?:max-)?(?:height|width)\s*:\s*[\d.]+(?:px|r?em|v[hw])")
TEXT_COLOUR = re.compile(r"color(?:(?<![\w-]color)|(?<=text-fill-color))\s*:\s*([^;!}]+)")
"""It starts with a word, not with a look-behind, so that the search skips to the word."""
BACKGROUND = re.compile(r"background(?:-color|-image)?\s*:\s*([^;!}]+)")


class Effects(NamedTuple):
    """What declarations may do to text."""

    families: frozenset[str]
    """The families by which they may hide something, and the kinds of layout."""
    colours: tuple[str, ...]
    """The text colours that they set, as written."""
    backgrounds: tuple[str, ...]
    """The background colours, those of gradients one by one."""


class HidingColours:
    """Text colours that are unreadable on white, or possibly unreadable on a background that the page sets.

    If the page has an external stylesheet, which may set a background, a rule's white text may be legitimate. Then a
    rule's colour counts only if it is transparent, or if the page itself sets the background.
    """

    def __init__(self, effects: Collection[Effects], *, external: bool) -> None:
        texts = _parsed({word for one in effects for word in one.colours})
        backgrounds = _parsed({word for one in effects for word in one.backgrounds})
        self._white = frozenset(word for word, colour in texts.items() if unreadable(colour, WHITE))
        transparent = frozenset(word for word, colour in texts.items() if unreadable(colour, RED))
        self._rules = transparent & self._white if external else self._white
        near = {cell for colour in backgrounds.values() for cell in _cells_around(_cell(colour))}
        text_cells = {_cell(colour) for colour in texts.values()}
        self._texts = frozenset(word for word, colour in texts.items() if _cell(colour) in near)
        self.backgrounds = frozenset(
            word
            for word, colour in backgrounds.items()
            if not text_cells.isdisjoint(_cells_around(_cell(colour)))
        )

    def hides_on_white(self, effects: Effects, *, inline: bool) -> bool:
        """Whether the declarations set a text colour that is unreadable on white."""
        return not (self._white if inline else self._rules).isdisjoint(effects.colours)

    def hides_on_background(self, effects: Effects) -> bool:
        """Whether they set a text colour that may be unreadable on some background of the page."""
        return not self._texts.isdisjoint(effects.colours)

    def sets_background(self, effects: Effects) -> bool:
        """Whether they set a background on which some text colour may be unreadable."""
        return not self.backgrounds.isdisjoint(effects.backgrounds)


def _cell(colour: Colour) -> Cell:
    """The cell of a colour in a grid, so that colours within the unreadable distance are in adjacent cells."""
    red, green, blue, _ = colour
    return int(red) // CELL_SIZE, int(green) // CELL_SIZE, int(blue) // CELL_SIZE


@lru_cache(maxsize=1024)
def _cells_around(cell: Cell) -> frozenset[Cell]:
    red, green, blue = cell
    return frozenset(
        (red + x, green + y, blue + z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)
    )


def _parsed(words: set[str]) -> dict[str, Colour]:
    colours = {word: parse(word) or parse(word.partition(" ")[0]) for word in words}
    return {word: colour for word, colour in colours.items() if colour is not None}


def effects_of(body: str) -> Effects:
    """What these declarations may do."""
    return (_cached_effects if len(body) <= MAX_CACHED_BODY else _effects)(body)


def _effects(body: str) -> Effects:
    return Effects(
        families_of(body) | layouts_of(body),
        _text_colours(body) if "color" in body else (),
        _backgrounds(body) if "background" in body else (),
    )


_cached_effects = lru_cache(maxsize=4096)(_effects)


def families_of(body: str) -> frozenset[str]:
    """The families by which these declarations may hide something."""
    found: set[str] = set()
    for declaration in body.split(";"):
        name, _, value = declaration.partition(":")
        hides = HIDING_BY_PROPERTY.get(name.strip())
        if hides is not None and (len(value) > LONG_VALUE or hides[1].match(value)):
            found.add(hides[0])
    return frozenset(found) if found else NONE


def layouts_of(body: str) -> frozenset[str]:
    """The kinds of layout by which these declarations may hide text, their own or that of other elements."""
    found = set()
    if "z-index" in body and BELOW.search(body):
        found.add("behind")
    if "background" in body and ("absolute" in body or PULLED_UP.search(body)):
        found.add("cover")
    if "grid-" in body and GRID_CELL.search(body):
        found.add("cell")
    if "overflow" in body and CROPS.search(body) and FIXED_SIZE.search(body):
        found.add("crop")
    return frozenset(found) if found else NONE


def _backgrounds(body: str) -> tuple[str, ...]:
    found = [word.strip() for word in BACKGROUND.findall(body)]
    if "gradient(" in body:
        found += [word for value in found if "gradient(" in value for word in words_in(value)]
    return tuple(found)


def _text_colours(body: str) -> tuple[str, ...]:
    return tuple(map(str.strip, TEXT_COLOUR.findall(body)))
