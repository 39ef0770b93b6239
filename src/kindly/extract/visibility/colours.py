"""CSS colour values → RGBA, and the contrast check for text on a background."""

import re
from functools import lru_cache
from typing import NamedTuple


class Colour(NamedTuple):
    """RGBA: channels 0–255, opacity 0–1."""

    red: float
    green: float
    blue: float
    alpha: float = 1.0


WHITE = Colour(255, 255, 255)

NAMED = {
    "white": WHITE,
    "black": Colour(0, 0, 0),
    "transparent": Colour(0, 0, 0, 0),
    "snow": Colour(255, 250, 250),
    "ivory": Colour(255, 255, 240),
    "ghostwhite": Colour(248, 248, 255),
    "whitesmoke": Colour(245, 245, 245),
    "floralwhite": Colour(255, 250, 240),
    "red": Colour(255, 0, 0),
    "green": Colour(0, 128, 0),
    "blue": Colour(0, 0, 255),
    "yellow": Colour(255, 255, 0),
    "gray": Colour(128, 128, 128),
    "grey": Colour(128, 128, 128),
    "silver": Colour(192, 192, 192),
    "navy": Colour(0, 0, 128),
}

HEX = re.compile(r"#([0-9a-f]{8}|[0-9a-f]{6}|[0-9a-f]{3,4})\Z")
RGB = re.compile(r"rgba?\(([^()]+)\)\Z")
HSL = re.compile(r"hsla?\(([^()]+)\)\Z")
NUMBER = re.compile(r"(-?[\d.]+)(%?)")

TOKEN = re.compile(
    rf"#[0-9a-f]{{3,8}}\b|(?:rgb|hsl)a?\([^()]*\)|(?<![\w-])(?:{'|'.join(NAMED)})(?![\w-])"
)
"""A colour within a longer value."""
STOPS = re.compile(r"(?:linear|radial|conic)-gradient\(((?:[^()]|\([^()]*\))*)\)")
NOT_A_COLOUR = re.compile(r"(?:to\s|from\s|at\s|circle|ellipse|closest|farthest|[-.\d])")
"""How the direction, the shape or a hint of a gradient starts."""

UNREADABLE_DISTANCE = 12
"""The largest difference in every channel at which text cannot be distinguished from its background."""


@lru_cache(maxsize=4096)
def parse(word: str) -> Colour | None:
    """The colour of a lower-case CSS value; None if only a browser can resolve it."""
    if found := HEX.match(word):
        return _from_hex(found.group(1))
    if found := RGB.match(word):
        return _from_rgb(NUMBER.findall(found.group(1)))
    if found := HSL.match(word):
        return _from_hsl(NUMBER.findall(found.group(1)))
    return NAMED.get(word)


def words_in(value: str) -> list[str]:
    """The colours in a value, as written."""
    return TOKEN.findall(value)


@lru_cache(maxsize=1024)
def gradient_stops(value: str) -> tuple[Colour, ...] | None:
    """The colours of a background that consists of gradients; None if it has a picture or an unknown colour."""
    stops: list[Colour] = []
    for arguments in STOPS.findall(value):
        for part in re.split(r",(?![^()]*\))", arguments):
            words = words_in(part)
            colours = [colour for colour in map(parse, words) if colour is not None]
            if len(colours) != len(words) or not (words or NOT_A_COLOUR.match(part.strip())):
                return None
            stops += colours
    return tuple(stops) if stops and "url(" not in value else None


def over(top: Colour, below: Colour) -> Colour:
    """A colour painted over another."""
    if top.alpha >= 1:
        return top
    red, green, blue = (
        one * top.alpha + other * (1 - top.alpha)
        for one, other in zip(top[:3], below[:3], strict=True)
    )
    return Colour(red, green, blue, max(top.alpha, below.alpha))


def unreadable(text: Colour, background: Colour) -> bool:
    """Whether text of this colour cannot be read on this background."""
    if text.alpha <= 0.05:
        return True
    return (
        abs(text.red - background.red) <= UNREADABLE_DISTANCE
        and abs(text.green - background.green) <= UNREADABLE_DISTANCE
        and abs(text.blue - background.blue) <= UNREADABLE_DISTANCE
    )


def _from_hex(digits: str) -> Colour:
    if len(digits) < 5:
        digits = "".join(digit * 2 for digit in digits)
    values = [int(digits[index : index + 2], 16) for index in range(0, len(digits), 2)]
    return Colour(values[0], values[1], values[2], values[3] / 255 if len(values) > 3 else 1.0)


def _from_rgb(parts: list[tuple[str, str]]) -> Colour | None:
    values = _floats(parts)
    if len(values) < 3:
        return None
    scaled = [
        value * 255 if sign else value for value, (_, sign) in zip(values, parts, strict=True)
    ]
    return Colour(scaled[0], scaled[1], scaled[2], values[3] if len(values) > 3 else 1.0)


def _from_hsl(parts: list[tuple[str, str]]) -> Colour | None:
    """Only black, white and transparent are resolved; other colours are None."""
    values = _floats(parts)
    if len(values) < 3:
        return None
    alpha = values[3] if len(values) > 3 else 1.0
    if alpha <= 0.05:
        return Colour(0, 0, 0, 0)
    grey = {0.0: 0.0, 1.0: 255.0}.get(values[2])
    return None if grey is None else Colour(grey, grey, grey, alpha)


def _floats(parts: list[tuple[str, str]]) -> list[float]:
    try:
        return [float(number) / (100 if sign else 1) for number, sign in parts]
    except ValueError:
        return []
