"""Boxes outside the screen: the style of an element → whether its position puts it off the screen. Pure."""

import re

from kindly.extract.visibility.lengths import HEIGHT, WIDTH, percent, pixels, uses_viewport
from kindly.extract.visibility.style import Style

OFF_SCREEN_PX = 500
FAR_RIGHT_PX = 5_000
ABOVE_PX = 200
"""A box that viewport units place at least this far above the screen is taken to be smaller than that."""
SCREENS_BELOW = 2
"""A box that viewport units place this many screens down; one screen down is where a page continues below a banner."""
EDGE_PX = 1
SIDES = ("top", "right", "bottom", "left")
EXTENT = {"top": HEIGHT, "bottom": HEIGHT, "left": WIDTH, "right": WIDTH}
TRANSFORM = re.compile(r"(matrix|translate(?:x|y|3d)?)\(((?:[^()]|\([^()]*\))*)\)")
WORDS = re.compile(r"[^\s,(]*\((?:[^()]|\([^()]*\))*\)|[^\s,]+")


def is_off_screen(style: Style) -> bool:
    """Whether position, margin, indentation or a transform puts an element off the screen."""
    position = style.get("position")
    if position in ("absolute", "fixed", "relative"):
        sides = sides_of(style)
        if any(_is_outside(side, sides[side], position) for side in sides):
            return True
        if position == "fixed" and _slid_out(style, sides):
            return True
    return _is_pushed(style) or any(_is_moved_away(move) for move in moves(style))


def sides_of(style: Style) -> dict[str, str]:
    """The declared offsets of a positioned box by side, with `inset` expanded."""
    words = four(style.get("inset", ""))
    sides = dict(zip(SIDES, words, strict=True)) if words else {}
    return sides | {side: style[side] for side in SIDES if side in style}


def four(value: str) -> list[str]:
    """The four values of a shorthand: top, right, bottom, left; none if there are more or none."""
    words = WORDS.findall(value)
    if not 1 <= len(words) <= 4:
        return []
    return [
        words[0],
        words[1 % len(words)],
        words[2 % len(words)] if len(words) > 2 else words[0],
        words[3] if len(words) > 3 else words[1 % len(words)],
    ]


def _is_outside(side: str, value: str, position: str) -> bool:
    offset = pixels(value)
    if offset is None:
        return False
    if offset <= -OFF_SCREEN_PX or offset >= FAR_RIGHT_PX:
        return True
    extent = EXTENT[side]
    viewport = uses_viewport(value)
    if position == "fixed" and (viewport or "%" in value):
        place = pixels(value, extent / 100) or 0.0
        return place >= extent - EDGE_PX or (side == "top" and place <= -ABOVE_PX)
    if position == "relative" or not viewport:
        return False
    if side == "top":
        return offset >= SCREENS_BELOW * extent or offset <= -ABOVE_PX
    return offset >= extent


def _slid_out(style: Style, sides: dict[str, str]) -> bool:
    """Whether a fixed box at an edge of the screen is moved over that edge by its own size."""
    for x, y in moves(style):
        for side, move, sign in (
            ("left", x, -1),
            ("right", x, 1),
            ("top", y, -1),
            ("bottom", y, 1),
        ):
            offset = pixels(sides.get(side))
            if sign * percent(move) >= 100 and offset is not None and offset <= 0:
                return True
    return False


def _is_pushed(style: Style) -> bool:
    """Whether a margin or an indentation pushes the text off the screen."""
    if any(_at_most(word, -OFF_SCREEN_PX) for word in WORDS.findall(style.get("margin", ""))):
        return True
    if any(
        _at_most(style.get(name), -OFF_SCREEN_PX)
        for name in ("text-indent", "margin-left", "margin-top")
    ):
        return True
    left = style.get("margin-left")
    if uses_viewport(left) and (pixels(left) or 0) >= WIDTH:
        return True
    indent = style.get("text-indent")
    cut = "hidden" in style.get("overflow", "") or "clip" in style.get("overflow", "")
    return cut and (pixels(indent, WIDTH / 100) or 0) >= WIDTH


def moves(style: Style) -> list[tuple[str, str]]:
    """The translations of a box: how far right and how far down."""
    found = []
    for name, arguments in TRANSFORM.findall(style.get("transform", "")):
        words = [*WORDS.findall(arguments), "0", "0"]
        if name == "translatey":
            found.append(("0", words[0]))
        elif name == "matrix":
            found += [(words[4], words[5])] if len(words) == 8 else []
        else:
            found.append((words[0], "0" if name == "translatex" else words[1]))
    if style.get("translate"):
        words = [*WORDS.findall(style["translate"]), "0"]
        found.append((words[0], words[1]))
    return found


def _is_moved_away(move: tuple[str, str]) -> bool:
    for distance, extent in zip(move, (WIDTH, HEIGHT), strict=True):
        offset = pixels(distance) or 0.0
        if distance.endswith("%"):
            offset = (
                offset if offset <= -2_000 else 0.0
            )  # less than twice its size, as centring uses
        if offset <= -OFF_SCREEN_PX or (uses_viewport(distance) and offset >= extent):
            return True
    return False


def _at_most(value: str | None, bound: float) -> bool:
    offset = pixels(value)
    return offset is not None and offset <= bound
