"""CSS declarations, in small letters → whether they may hide something, and by what. Pure.

It says yes a little more often than a closer look would, and never no by mistake.
"""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from kindly.extract.visibility.colours import UNREADABLE_DISTANCE, WHITE, Colour, parse, unreadable

CELL = UNREADABLE_DISTANCE + 1
FEW_WORDS = 12
"""As many are sought one by one before a text is taken apart."""
RED = Colour(255, 0, 0)
NONE: frozenset[str] = frozenset()
LONG_VALUE = 1_000
"""A longer one is suspect without a look, which could take long."""
FAR_LEFT = r"-(?:\d{3}|\d{2}\d*(?:\.\d*)?(?:r?em|%|v[wh]))"
FAR_RIGHT = r"[5-9]\d{3}|\d{5}|\d{4}(?:\.\d*)?(?!px)[a-z%]|\d{3,}(?:r?em|v[wh])"
BOX_SHAPES = "(?:rect|circle|ellipse|inset|polygon)"
ZERO = r"0*[01]?(?:\.\d+)?(?:px|r?em|%|pt|v[wh])?\s*(?:!|\Z)"
SIGNS = {
    ("display", "display"): r"\s*none",
    ("visibility", "visibility content-visibility"): r"\s*(?:hidden|collapse)",
    ("opacity", "opacity"): r"\s*\.?0(?!\.[1-9])",
    ("opacity", "filter"): r".*opacity\(\s*\.?0(?!\.[1-9])",
    ("zoom", "zoom"): r"\s*\.?0",
    ("clip", "clip clip-path"): rf".*{BOX_SHAPES}\(",
    ("offset", "left right top bottom"): rf"\s*(?:{FAR_LEFT}|{FAR_RIGHT})",
    ("offset", "text-indent margin-left margin-top"): rf"\s*{FAR_LEFT}",
    ("offset", "inset margin"): rf".*{FAR_LEFT}",
    ("size", "height width max-height max-width"): rf"\s*{ZERO}",
    ("transform", "transform"): (
        r".*(?:translate.*-(?!1\d\d(?:\.\d*)?%)\d{3}|rotate[xy]|scale.*\(\s*\.?0|matrix)"
    ),
    ("transform", "translate"): r".*-\d{3}",
    ("transform", "rotate"): "",
    ("transform", "scale"): r"\s*\.?0",
    ("mask", "mask mask-image -webkit-mask -webkit-mask-image"): r".*-gradient\(",
    ("font", "font-size"): (
        r"\s*(?:0(?!\.[1-9]\d*(?:r?em|%))|\.0|1(?:\.[0-4]\d*)?(?:px|pt)?\s*(?:!|\Z))"
    ),
    ("font", "font"): r".*(?<![\d.])[01](?:px|pt)?[/\s]",
}
"""How a value that may hide something begins, by family and properties; a little more than `visible.is_unseen` and
`visible._is_tiny` would say yes to. In small letters."""
HIDES: Mapping[str, tuple[str, re.Pattern[str]]] = {
    name: (family, re.compile(pattern, re.S))
    for (family, names), pattern in SIGNS.items()
    for name in names.split()
}
"""The same by property."""
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "display": ("display",),
    "visibility": ("visibility",),
    "opacity": ("opacity", "filter"),
    "zoom": ("zoom",),
    "clip": ("clip",),
    "offset": ("position", "left", "right", "top", "bottom", "indent", "inset", "margin"),
    "size": ("height", "width", "overflow"),
    "transform": ("transform", "scale", "translate", "rotate"),
    "mask": ("mask",),
    "font": ("font",),
    "colour": ("color", "background"),
}
"""Words of the declarations that decide together."""
INK = frozenset({"visibility", "font", "colour"})
"""Families that hide the text in an element, unless something inside it says otherwise."""
TEXT_COLOUR = re.compile(r"(?<![\w-])color\s*:\s*([^;!}]+)|text-fill-color\s*:\s*([^;!}]+)")
BACKGROUND = re.compile(r"background(?:-color)?\s*:\s*([^;!}]+)")


class HidingRules:
    """Text colours that cannot be read on white, or perhaps not on a background that the page names somewhere.

    Where a stylesheet that we do not have may paint a box, white on it may be meant: then a rule's colour is suspect
    only if it is see-through, or if the page itself names the background.
    """

    def __init__(self, bodies: Collection[str], *, external: bool) -> None:
        texts = _parsed(
            {word for body in bodies if "color" in body for word in _text_colours(body)}
        )
        grounds = _parsed(
            {word for body in bodies if "background" in body for word in _backgrounds(body)}
        )
        self._white = frozenset(word for word, colour in texts.items() if unreadable(colour, WHITE))
        clear = frozenset(word for word, colour in texts.items() if unreadable(colour, RED))
        self._rules = clear & self._white if external else self._white
        near = {cell for colour in grounds.values() for cell in _cells_around(colour)}
        held = {_cell(colour) for colour in texts.values()}
        self._texts = frozenset(word for word, colour in texts.items() if _cell(colour) in near)
        self.grounds = frozenset(
            word for word, colour in grounds.items() if not held.isdisjoint(_cells_around(colour))
        )

    def on_white(self, body: str, *, inline: bool) -> bool:
        """Whether these declarations give text a colour that cannot be read on white."""
        return _names_one(body, self._white if inline else self._rules)

    def on_ground(self, body: str) -> bool:
        """Whether they give it one that cannot be read on some background of the page."""
        return _names_one(body, self._texts)

    def shades(self, body: str) -> bool:
        """Whether they name such a background."""
        return "background" in body and not self.grounds.isdisjoint(_backgrounds(body))


def _names_one(body: str, words: frozenset[str]) -> bool:
    if not words or "color" not in body:
        return False
    if len(words) <= FEW_WORDS and not any(word in body for word in words):
        return False
    return not words.isdisjoint(_text_colours(body))


def _cell(colour: Colour) -> tuple[int, ...]:
    """Where a colour stands in a grid as fine as the eye."""
    return tuple(int(channel) // CELL for channel in colour[:3])


def _cells_around(colour: Colour) -> set[tuple[int, ...]]:
    red, green, blue = _cell(colour)
    return {
        (red + x, green + y, blue + z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)
    }


def _parsed(words: set[str]) -> dict[str, Colour]:
    colours = {word: parse(word) or parse(word.partition(" ")[0]) for word in words}
    return {word: colour for word, colour in colours.items() if colour is not None}


@lru_cache(maxsize=4096)
def families_of(body: str) -> frozenset[str]:
    """The families by which these declarations may hide something."""
    found: set[str] = set()
    for declaration in body.split(";"):
        name, _, value = declaration.partition(":")
        hides = HIDES.get(name.strip())
        if hides is not None and (len(value) > LONG_VALUE or hides[1].match(value)):
            found.add(hides[0])
    return frozenset(found) if found else NONE


def _backgrounds(body: str) -> list[str]:
    return [word.strip() for word in BACKGROUND.findall(body)]


def _text_colours(body: str) -> list[str]:
    return [(plain or filled).strip() for plain, filled in TEXT_COLOUR.findall(body)]
