"""Boxes that are not drawn: the style of an element → whether it hides the whole element. Pure.

Covers `display: none`, opacity, off-screen positions, clipping, boxes of size zero, transforms and masks.
"""

import re

from kindly.extract.visibility.css import Style

LENGTH = re.compile(r"(-?(?:\d+(?:\.\d*)?|\.\d+))(px|r?em|%|vw|vh|pt)?\Z")
NUMBERS = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)")
PIXELS = {
    "px": 1.0,
    "pt": 1.33,
    "em": 16.0,
    "rem": 16.0,
    "%": 10.0,
    "vw": 12.8,
    "vh": 8.0,
    None: 1.0,
}
OFF_SCREEN_PX = 500
FAR_RIGHT_PX = 5_000
FLAT_TRANSFORM = re.compile(r"rotate[xy]\(\s*-?(?:90|270)deg|scale(?:3d|[xy])?\(\s*0*\.?0*\s*[,)]")
FLAT_ROTATION = re.compile(r"[xy]\s+-?(?:90|270)deg|-?(?:90|270)deg\s+[xy]")
TRANSFORM = re.compile(r"(matrix|translate(?:x|y|3d)?)\(([^()]*)\)")
EMPTY_CIRCLE = re.compile(r"(?:circle|ellipse)\(\s*0(?![.\d]*[1-9])")
INSET = re.compile(r"inset\(\s*((?:(?:\d+(?:\.\d*)?|\.\d+)(?:%|(?<=0))\s*){1,4})(?:round[^)]*)?\)")
HALF_INSET = re.compile(r"inset\(\s*(?:[5-9]\d|100)(?:\.\d+)?%")
TRANSPARENT = frozenset({"transparent", "#0000", "#00000000", "#fff0", "#ffffff00"})


def is_hidden(style: Style) -> bool:
    """Whether an element with this style is not drawn, including all its descendants."""
    return (
        style.get("display") == "none"
        or style.get("content-visibility") == "hidden"
        or _at_most(style.get("opacity"), 0.04)
        or _at_most(style.get("zoom"), 0.04)
        or "opacity(0" in style.get("filter", "")
        or _is_off_screen(style)
        or _is_clipped(style)
        or _is_zero_box(style)
        or _is_collapsed(style)
    )


def _is_off_screen(style: Style) -> bool:
    if style.get("position") in ("absolute", "fixed", "relative"):
        for side in ("left", "top", "right", "bottom"):
            offset = pixels(style.get(side))
            if offset is not None and (offset <= -OFF_SCREEN_PX or offset >= FAR_RIGHT_PX):
                return True
        if any(_is_far_off(offset) for offset in style.get("inset", "").split()):
            return True
    if any(_is_far_off(offset) for offset in style.get("margin", "").split()):
        return True
    for name in ("text-indent", "margin-left", "margin-top"):
        offset = pixels(style.get(name))
        if offset is not None and offset <= -OFF_SCREEN_PX:
            return True
    return False


def _is_far_off(word: str) -> bool:
    offset = pixels(word)
    return offset is not None and offset <= -OFF_SCREEN_PX


def _is_clipped(style: Style) -> bool:
    clip, path = style.get("clip", ""), style.get("clip-path", "")
    if clip.startswith("rect(") and all(abs(float(n)) <= 1 for n in NUMBERS.findall(clip)):
        return "auto" not in clip
    if EMPTY_CIRCLE.search(path) or HALF_INSET.search(path) or _is_empty_inset(path):
        return True
    return path.startswith("polygon(") and all(float(n) == 0 for n in NUMBERS.findall(path))


def _is_empty_inset(path: str) -> bool:
    """Whether opposite sides of `inset(…)` meet."""
    found = INSET.match(path)
    if found is None:
        return False
    parts = [float(part) for part in found[1].replace("%", " ").split()]
    top, right, bottom, left = (parts * 4)[:4] if len(parts) != 3 else (*parts, parts[1])
    return top + bottom >= 100 or left + right >= 100


def _is_zero_box(style: Style) -> bool:
    overflow = " ".join(style.get(name, "") for name in ("overflow", "overflow-x", "overflow-y"))
    if "hidden" not in overflow and "clip" not in overflow:
        return False
    sizes = [pixels(style.get(name)) for name in ("height", "max-height", "width", "max-width")]
    return any(size is not None and size <= 1 for size in sizes)


def _is_collapsed(style: Style) -> bool:
    transform, rotation = style.get("transform", ""), style.get("rotate", "")
    if (
        FLAT_TRANSFORM.search(transform)
        or style.get("scale") in ("0", "0%")
        or FLAT_ROTATION.match(rotation)
    ):
        return True
    if _is_moved_away(transform) or _is_moved_away(f"translate({style.get('translate', '')})"):
        return True
    return any(
        _is_transparent_mask(style.get(name, ""))
        for name in ("mask-image", "-webkit-mask-image", "mask", "-webkit-mask")
    )


def _is_moved_away(transform: str) -> bool:
    for name, values in TRANSFORM.findall(transform):
        numbers = [_translation_px(word) for word in values.replace(",", " ").split()]
        if name == "matrix" and len(numbers) == 6:
            if not any(numbers[:4]) or min(numbers[4:]) <= -OFF_SCREEN_PX:
                return True
        elif name.startswith("translate") and min(numbers, default=0) <= -OFF_SCREEN_PX:
            return True
    return False


def _translation_px(length: str) -> float:
    """A translation in pixels; zero if it is less than twice the size of the box, as centring uses."""
    distance = pixels(length) or 0.0
    return 0.0 if length.endswith("%") and distance > 2 * -100 * PIXELS["%"] else distance


def _is_transparent_mask(mask: str) -> bool:
    kind, _, stops = mask.partition("-gradient(")
    words = {stop.strip() for stop in stops.partition(")")[0].split(",")}
    return kind in ("linear", "radial", "conic") and words <= TRANSPARENT


def _at_most(value: str | None, bound: float) -> bool:
    found = LENGTH.match(value or "")
    if found is None:
        return False
    return float(found.group(1)) / (100 if found.group(2) == "%" else 1) <= bound


def pixels(value: str | None) -> float | None:
    """A CSS length in pixels, approximately; None if it is not a plain length."""
    found = LENGTH.match(value or "")
    return float(found.group(1)) * PIXELS[found.group(2)] if found else None
