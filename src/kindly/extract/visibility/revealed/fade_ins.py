"""Text that fades in: transparent when the page arrives, until a script finds it on the screen.

Several elements of a page with different texts must wait in the same way, as an animation library's marks or their own
styles say. Each must have its place on the page, where it would be seen without its transparency.
"""

import re
from collections import Counter
from collections.abc import Mapping

from turbohtml import Element

from kindly.extract.visibility.layout.box_visibility import is_hidden
from kindly.extract.visibility.style import MOVED_OR_CLIPPED, Style

MARKED_ATTRIBUTE = re.compile(
    r"data-(?:aos|sal|w-id|scroll|anim|reveal|staggered|framer-appear|gsap|motion|inview|wow)|ani-|uk-scrollspy"
)
MARKED_CLASS = re.compile(
    r"(?<![a-z])(?:aos|wow|sal|fade|animate[ds]?|animation|reveal|appear|in-?view|waypoint|scroll)(?![a-z])|"
    r"fade-?in|fade-?up|et_animated|et-waypoint|elementor-invisible|scroll-?trigger|has-animation"
)
SLIDER_TAGS = frozenset({"rs-layer", "rs-slide", "rs-group", "rs-row", "rs-column"})
TRANSPARENCY = frozenset({"opacity", "visibility"})
FLOATING = frozenset({"absolute", "fixed"})
SHIFTED = re.compile(
    r"translate(?:x|y|z|3d)?\((?:[^()]*[\s,(])?-?(?!0+(?:\.0+)?(?:px|r?em|%|v[hw])?[\s,)])[\d.]"
)
"""A move by more than nothing."""
SCALED = re.compile(r"scale(?:3d|x|y)?\(\s*(?:0?\.[5-9]|1\.(?!0+\D)\d)")
BLURRED = re.compile(r"blur\(\s*(?!0+(?:px)?\s*\))[\d.]")
FAR = re.compile(
    r"translate(?:x|y|z|3d)?\([^()]*(?<![\d.])(?:\d{3}(?:\.\d*)?%|\d{4}|[2-9]\d{2}(?:\.\d*)?(?:px|v))"
)
"""A move that leaves the place of the element."""
MIN_ALIKE = 3
"""So many texts must wait in the same way."""


def fade_ins(hidden: Mapping[Element, Style]) -> set[Element]:
    """Those of the hidden elements that only wait to be shown."""
    marks = {
        element: mark
        for element, style in hidden.items()
        if _only_transparent(element, style) and (mark := _mark(element, style)) is not None
    }
    texts = {(mark, text) for element, mark in marks.items() if (text := element.text.strip())}
    alike = Counter(mark for mark, _ in texts)
    return {element for element, mark in marks.items() if alike[mark] >= MIN_ALIKE}


def _only_transparent(element: Element, style: Style) -> bool:
    """Whether opacity or visibility hides an element that has its place on the page, and nothing else does."""
    if style.get("opacity") not in ("0", "0%") and style.get("visibility") != "hidden":
        return False
    if not MOVED_OR_CLIPPED.isdisjoint(style) or style.get("z-index", "").startswith("-"):
        return False
    if style.get("position") in FLOATING and element.tag not in SLIDER_TAGS:
        return False
    if FAR.search(style.get("transform", "")):
        return False
    return not is_hidden({name: style[name] for name in style.keys() - TRANSPARENCY})


def _mark(element: Element, style: Style) -> str | None:
    """What says that an element will be shown: an attribute or class of a library, or a start position of its own."""
    if element.tag in SLIDER_TAGS:
        return "rs"
    for name in element.attrs:
        if (found := MARKED_ATTRIBUTE.match(name)) is not None:
            return found[0]
    if (found := MARKED_CLASS.search((element.attr("class") or "").lower())) is not None:
        return found[0]
    own = (element.attr("style") or "").lower()
    return "moved" if "opacity" in own and _is_start_position(style) else None


def _is_start_position(style: Style) -> bool:
    """Whether a style moves, scales or blurs an element a little."""
    start = f"{style.get('transform', '')} {style.get('filter', '')}"
    return style.get("visibility") != "hidden" and any(
        found.search(start) for found in (SHIFTED, SCALED, BLURRED)
    )
