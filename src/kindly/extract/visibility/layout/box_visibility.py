"""Boxes that are not drawn: the style of an element → whether it hides the whole element. Pure.

Covers `display: none`, opacity, clipping, boxes of size zero, transforms and masks.
"""

import re

from kindly.extract.visibility.layout.off_screen import is_off_screen
from kindly.extract.visibility.lengths import LENGTH, pixels
from kindly.extract.visibility.style import Style

NUMBERS = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)")
FLAT_TRANSFORM = re.compile(r"rotate[xy]\(\s*-?(?:90|270)deg|scale(?:3d|[xy])?\(\s*0*\.?0*\s*[,)]")
FLAT_ROTATION = re.compile(r"[xy]\s+-?(?:90|270)deg|-?(?:90|270)deg\s+[xy]")
MATRIX = re.compile(r"matrix\(([^()]*)\)")
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
        or is_off_screen(style)
        or _is_clipped(style)
        or _is_zero_box(style)
        or _is_collapsed(style)
    )


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
    matrix = MATRIX.search(transform)
    if matrix is not None and not any(pixels(word) for word in matrix[1].split(",")[:4]):
        return True
    return any(
        _is_transparent_mask(style.get(name, ""))
        for name in ("mask-image", "-webkit-mask-image", "mask", "-webkit-mask")
    )


def _is_transparent_mask(mask: str) -> bool:
    kind, _, stops = mask.partition("-gradient(")
    words = {stop.strip() for stop in stops.partition(")")[0].split(",")}
    return kind in ("linear", "radial", "conic") and words <= TRANSPARENT


def _at_most(value: str | None, bound: float) -> bool:
    found = LENGTH.match(value or "")
    if found is None:
        return False
    return float(found.group(1)) / (100 if found.group(2) == "%" else 1) <= bound
