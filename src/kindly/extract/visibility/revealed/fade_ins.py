"""Text that fades in: transparent when the page arrives, until a script finds it on the screen.

Several elements of a page must wait in the same way, as an animation library's marks or their own styles say.
"""

import re
from collections import Counter
from collections.abc import Mapping

from turbohtml import Element

from kindly.extract.visibility.style import MOVED_OR_CLIPPED, Style

MARKED_ATTRIBUTE = re.compile(
    r"data-(?:aos|sal|w-id|scroll|anim|reveal|staggered|framer-appear|gsap|motion|inview|wow)|ani-|uk-scrollspy"
)
MARKED_CLASS = re.compile(
    r"(?<![a-z])(?:aos|wow|sal|fade|animate[ds]?|animation|reveal|appear|in-?view|waypoint|scroll)(?![a-z])|"
    r"fade-?in|fade-?up|et_animated|et-waypoint|elementor-invisible|scroll-?trigger|has-animation"
)
SLIDER_TAGS = frozenset({"rs-layer", "rs-slide", "rs-group", "rs-row", "rs-column"})
MOVED = re.compile(r"transform|translate|scale|filter")
MIN_ALIKE = 3
"""So many elements must wait in the same way."""


def fade_ins(hidden: Mapping[Element, Style]) -> set[Element]:
    """Those of the hidden elements that only wait to be shown."""
    marks = {
        element: mark
        for element, style in hidden.items()
        if _only_transparent(style) and (mark := _mark(element)) is not None
    }
    alike = Counter(mark for element, mark in marks.items() if element.text.strip())
    return {element for element, mark in marks.items() if alike[mark] >= MIN_ALIKE}


def _only_transparent(style: Style) -> bool:
    """Whether opacity or visibility hides an element, and nothing else does."""
    if style.get("display") == "none" or not MOVED_OR_CLIPPED.isdisjoint(style):
        return False
    return style.get("opacity") in ("0", "0%") or style.get("visibility") == "hidden"


def _mark(element: Element) -> str | None:
    """What says that an element will be shown: an attribute or class of a library, or a start position of its own."""
    if element.tag in SLIDER_TAGS:
        return "rs"
    for name in element.attrs:
        if (found := MARKED_ATTRIBUTE.match(name)) is not None:
            return found[0]
    if (found := MARKED_CLASS.search((element.attr("class") or "").lower())) is not None:
        return found[0]
    style = (element.attr("style") or "").lower()
    return "moved" if "opacity" in style and MOVED.search(style) else None
