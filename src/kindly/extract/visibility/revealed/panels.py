"""Closed panels that a visitor can open (accordions, tabs, slides, "read more" parts), by the control that opens them.

A control names its panel by id, or stands directly before or after it. A control without a state counts only where the
page has several such panels and their names say what they are.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import cached_property

from turbohtml import Document, Element, Node

from kindly.extract.visibility.lengths import pixels
from kindly.extract.visibility.style import MOVED_OR_CLIPPED, Style

CHROME = (
    "nav, header, footer, aside, dialog, form, [role=navigation], [role=dialog], [role=menu], [role=menubar], "
    "[role=search], [role=listbox], [role=tooltip], [role=banner], [role=contentinfo]"
)
NOT_A_PANEL = re.compile(
    r"menu|(?<![a-z])nav|dropdown|modal|pop-?up|popover|tool-?tip|cookie|consent|overlay|off-?canvas|drawer|lightbox|"
    r"search|login|cart|share|newsletter|sr-?only|screen-?reader|visually|assistive|a11y|mobile|clone|duplicate|template|"
    r"filter|facet|sort|skeleton|loader|loading|error|success|tracking"
)
PANEL_NAME = re.compile(
    r"accordi|collaps|expand|toggl|faq|spoiler|disclos|(?:read|show|view)-?_?more|answer|(?<![a-z])tabs?(?![a-z])|"
    r"tab-?panel|tab-?pane|tab-?content|slick|swiper|carousel|slide"
)
SIDE_BY_SIDE = re.compile(
    r"(?<![a-z])tabs?(?:[-_]+(?:pane|panel|content|item|body)|(?:pane|panel|content))|slick-slide|swiper-slide|"
    r"carousel-item|carousel__slide|splide__slide|glide__slide|flickity-slide|(?<![a-z])slide(?![a-z])"
)
"""Names of panels of which one at a time is open."""
NAMING = (
    "[aria-controls], [data-target], [data-bs-target], [data-toggle][href], [data-bs-toggle][href], [role=tab][href], "
    "[data-tab-target], [data-collapse-target]"
)
TARGETS = (
    "aria-controls",
    "data-target",
    "data-bs-target",
    "href",
    "data-tab-target",
    "data-collapse-target",
)
STATEFUL = "[aria-expanded], [role=tab], summary, [data-toggle], [data-bs-toggle]"
"""Controls that say that they open something."""
PLAIN = (
    "button, [role=button], h2, h3, h4, h5, h6, dt, [class*=question], [class*=title], [class*=head], [class*=toggle], "
    "[class*=trigger], [class*=label]"
)
MAX_LABEL = 200
"""A control has a short text."""
MIN_ALIKE = 2
MAX_WRAPPERS = 2
"""So many elements may be around a panel alone."""
MAX_TAB_LEVELS = 4


def is_closed(element: Element, style: Style) -> bool:
    """Whether an element is hidden as closed panels are, and in no other way."""
    if not MOVED_OR_CLIPPED.isdisjoint(style):
        return False
    if style.get("display") == "none" or element.attr("hidden") is not None:
        return True
    if style.get("visibility") == "hidden" or style.get("opacity") in ("0", "0%"):
        return True
    sizes = (pixels(style.get(name)) for name in ("height", "max-height"))
    return any(size == 0 for size in sizes) and pixels(style.get("width")) not in (0, 1)


class Panels:
    """The panels of a page that a control opens; the controls are read when they are first needed."""

    def __init__(self, document: Document, hidden: Collection[Element]) -> None:
        self._document = document
        self._hidden = hidden

    def among(self, closed: Collection[Element]) -> set[Element]:
        """Those of the closed elements that a visitor can open."""
        possible = [element for element in closed if _may_be_panel(element)]
        found = {element for element in possible if self._has_control(element)}
        named = [
            element for element in possible if element not in found and _has_panel_name(element)
        ]
        plain = [element for element in named if _control_beside(element, PLAIN) is not None]
        alike = Counter(map(_signature, plain))
        found.update(element for element in plain if alike[_signature(element)] >= MIN_ALIKE)
        found.update(element for element in named if _is_one_of_several(element))
        return found

    def _has_control(self, element: Element) -> bool:
        name = element.attr("id")
        if name is not None and name in self._targets:
            return True
        label = element.attr("aria-labelledby")
        if label is not None and label in self._labels:
            return True
        if element.attr("role") == "tabpanel" and element in self._by_place:
            return True
        return _control_beside(element, STATEFUL) is not None

    @cached_property
    def _targets(self) -> set[str]:
        """The ids that visible controls name."""
        values = (
            control.attr(name) or ""
            for control in _in_content(self._document.select(NAMING))
            for name in TARGETS
        )
        return {word.lstrip("#") for value in values for word in value.split()} - {""}

    @cached_property
    def _labels(self) -> set[str]:
        """The ids of controls and of their texts."""
        controls = _in_content(self._document.select(f"{STATEFUL}, button, [role=button]"))
        names: set[str] = set()
        for control in controls:
            parent = control.parent
            around = [control, *([parent] if isinstance(parent, Element) else ())]
            around += control.select("[id]")
            names.update(element.attr("id") or "" for element in around)
        return names - {""}

    @cached_property
    def _by_place(self) -> set[Element]:
        """The panels of tabs that name no panel: as many as there are visible tabs, in an element around both."""
        found: set[Element] = set()
        for row in _in_content(self._document.select("[role=tablist]")):
            tabs = [tab for tab in row.select("[role=tab]") if tab.text.strip()]
            if not any(element in self._hidden for element in (row, *tabs)):
                found.update(_panels_around(row, len(tabs)))
        return found


def _in_content(controls: Iterable[Element]) -> list[Element]:
    return [
        control
        for control in controls
        if control.text.strip() and control.closest(f"{CHROME}, [hidden]") is None
    ]


def _names(element: Element) -> str:
    return f"{element.attr('class') or ''} {element.attr('id') or ''}".lower()


def _may_be_panel(element: Element) -> bool:
    return (
        bool(element.text.strip())
        and NOT_A_PANEL.search(_names(element)) is None
        and element.closest(CHROME) is None
    )


def _has_panel_name(element: Element) -> bool:
    """Whether the names of an element, its parent or the one above say that it is a panel."""
    node: Node | None = element
    for _ in range(3):
        if not isinstance(node, Element):
            return False
        if PANEL_NAME.search(_names(node)):
            return NOT_A_PANEL.search(_names(node)) is None
        node = node.parent
    return False


def _signature(element: Element) -> tuple[str, str]:
    return element.tag, element.attr("class") or ""


def _control_beside(element: Element, selector: str) -> Element | None:
    """A control directly before or after an element, or the element that contains it alone."""
    node = element
    for _ in range(MAX_WRAPPERS + 1):
        before, after = _beside(node.previous_siblings), _beside(node.next_siblings)
        for neighbour in (before, after if selector == STATEFUL else None):
            if neighbour is not None and (control := _control_in(neighbour, selector)) is not None:
                return control
        parent = node.parent
        if before is not None or after is not None or not isinstance(parent, Element):
            return None
        node = parent
    return None


def _beside(siblings: Iterable[Node]) -> Element | None:
    return next((node for node in siblings if isinstance(node, Element)), None)


def _control_in(neighbour: Element, selector: str) -> Element | None:
    if not 0 < len(neighbour.text.strip()) <= MAX_LABEL:
        return None
    return neighbour if neighbour.matches(selector) else neighbour.select_one(selector)


def _is_one_of_several(element: Element) -> bool:
    """Whether an element is one of several tabs or slides."""
    if SIDE_BY_SIDE.search(_names(element)) is None or element.parent is None:
        return False
    first = (element.attr("class") or "").split()[:1]
    alike = (
        node
        for node in element.parent.children
        if isinstance(node, Element)
        and node.tag == element.tag
        and (node.attr("class") or "").split()[:1] == first
    )
    return bool(first) and sum(1 for _ in alike) >= MIN_ALIKE


def _panels_around(row: Element, count: int) -> list[Element]:
    """The panels close to a row of tabs, if there are as many."""
    node = row.parent
    for _ in range(MAX_TAB_LEVELS):
        if not isinstance(node, Element):
            return []
        if panels := node.select("[role=tabpanel]"):
            inside = set(panels)
            outer = [panel for panel in panels if inside.isdisjoint(panel.ancestors)]
            return outer if len(outer) == count else []
        node = node.parent
    return []
