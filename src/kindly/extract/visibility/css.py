"""CSS cascade: stylesheets and inline styles → the declarations that decide whether an element's text is visible.

Importance, specificity and order apply. `@media` is evaluated for a desktop screen, states such as `:hover` never
apply, and external stylesheets and layout are not known. Most rules hide nothing, so the cascade is computed only for
elements that some declaration may hide.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from functools import cached_property, lru_cache
from typing import NamedTuple

from turbohtml import Document, Element, Node, SelectorSyntaxError
from turbohtml.cssom import StyleDeclaration

from kindly.extract.visibility.declarations import Variables, normalise
from kindly.extract.visibility.hiding import (
    FAMILIES,
    LAYOUTS,
    TEXT_FAMILIES,
    Effects,
    HidingColours,
    effects_of,
)
from kindly.extract.visibility.page_names import PageNames, index_by_name
from kindly.extract.visibility.selectors import Selector, applicable_selectors, specificity
from kindly.extract.visibility.style import Style
from kindly.extract.visibility.stylesheets import rules_of

NO_STYLE: Style = {}

PROPERTY_NAMES = """
    display visibility opacity content-visibility position left right top bottom width height max-width max-height
    overflow overflow-x overflow-y clip clip-path text-indent inset margin margin-left margin-top transform scale
    translate rotate zoom filter mask -webkit-mask mask-image -webkit-mask-image font font-size color background
    background-color background-image background-clip -webkit-background-clip -webkit-text-fill-color text-shadow
    -webkit-text-stroke -webkit-text-stroke-color z-index isolation line-height padding padding-top padding-left float
    grid-area grid-row grid-column margin-right will-change contain
"""
PROPERTIES = frozenset(PROPERTY_NAMES.split())

HIDING_ATTRIBUTES = "[style], [bgcolor], [hidden], [popover]"
"""One search finds the elements with any of these attributes: each search traverses the whole document."""
MAX_DIRECT_MATCHES = 300
"""Up to this many candidate elements are matched one by one; above it, the whole document is searched."""
MAX_MATCHES = 1_000_000
"""The budget of element checks over all selectors of a page."""
COSTLY = re.compile(r":nth|:first|:last|:only|:has|~")
COSTLY_FACTOR = 10
"""The cost of a check that also examines siblings or descendants, relative to a simple one."""

Weight = tuple[bool, bool, tuple[int, int, int], int]
"""The precedence of a declaration: important, inline, specificity, order of its rule."""
NO_WINNER: tuple[Weight, str] = ((False, False, (-1, 0, 0), 0), "")
BACKGROUND_PARTS = frozenset({"background-color", "background-image", "background-clip"})
"""What `background` sets too."""
Declared = Mapping[str, tuple[str, bool]]
"""Property → value, and whether it is important."""
Inline = tuple[Element, str]
"""An element and its own declarations, in lower case."""


class Cascade:
    """The computed declarations of elements that a document may hide, and of their ancestors and descendants."""

    def __init__(self, document: Document) -> None:
        self._winners: dict[Element, dict[str, tuple[Weight, str]]] = {}
        self._document = document
        self._matches_left = MAX_MATCHES
        self.external = document.select_one("link[rel~=stylesheet]") is not None
        """Whether the page has a stylesheet that is not known."""
        self.coloured_fonts = document.select("font[color]")
        rules = rules_of(document)
        variables = Variables([body for _, body in rules])
        self._names = PageNames(document)
        self._rules: dict[int, list[Selector]] = {}
        """The selectors of the rules that may match something."""
        for selector in (
            applicable_selectors(rules, self._names.marks, self._names) if rules else ()
        ):
            self._rules.setdefault(selector.rule, []).append(selector)
        self._bodies = _bodies({order: rules[order][1] for order in self._rules}, variables)
        marked = document.select(HIDING_ATTRIBUTES)
        inline = _inline(marked, variables)
        legacy_backgrounds = [
            (element, f"background:{colour}".lower())
            for element in marked
            if (colour := element.attr("bgcolor")) is not None
        ]
        self._effects = {
            body: effects_of(body)
            for body in {
                *self._bodies.values(),
                *(body for _, body in inline),
                *(body for _, body in legacy_backgrounds),
            }
        }
        colours = HidingColours(self._effects.values(), external=self.external)
        on_background = self._on_background([*inline, *legacy_backgrounds], colours)
        self.suspects: dict[str, list[Element]] = {}
        """Elements whose layout may hide text, by the kind of layout."""
        boxes, texts = self._candidates(inline, colours, on_background)
        unless_displayed = [
            element
            for element in marked
            if element.attr("hidden") is not None or element.attr("popover") is not None
        ]
        boxes.add(unless_displayed, {"display"})
        self._inline = dict(inline)
        self._apply(boxes)
        self._apply(texts)
        for element, style in inline:
            if element in boxes.elements or element in texts.elements:
                self._declare(element, _declared(style), (True, (0, 0, 0), 0))
        self._styles: dict[Element, Style] = {
            element: {name: value for name, (_, value) in self._winners[element].items()}
            for element in (document.iter_elements() if self._winners else ())
            if element in self._winners
        }

    def __iter__(self) -> Iterator[Element]:
        """All elements with a style, in document order."""
        return iter(self._styles)

    def of(self, element: Element) -> Style:
        """The declarations that apply to this element itself, without inheritance."""
        return self._styles.get(element, NO_STYLE)

    def show(self, elements: Collection[Element]) -> None:
        """Drop the `visibility` of these elements: a visitor gets to see them."""
        for element in elements:
            if "visibility" in self.of(element):
                style = self._styles[element]
                self._styles[element] = {k: v for k, v in style.items() if k != "visibility"}

    def _candidates(
        self, inline: list[Inline], colours: HidingColours, on_background: set[Element]
    ) -> tuple["_Candidates", "_Candidates"]:
        """Elements that may be hidden as a whole; and elements whose text may be, with ancestors and descendants."""
        boxes, texts = _Candidates(), _Candidates()
        texts.add(self.coloured_fonts, {"colour"})
        for matched, effects, families in self._matches_that_hide(inline, colours):
            for kind in families & LAYOUTS:
                self.suspects.setdefault(kind, []).extend(matched)
            boxes.add(matched, families - TEXT_FAMILIES - LAYOUTS)
            texts.add(matched, families & TEXT_FAMILIES)
            if on_background and "colour" not in families and colours.hides_on_background(effects):
                texts.add([element for element in matched if element in on_background], {"colour"})
        pictured = [element for element, style in inline if "data:image" in style]
        texts.add(pictured, {"colour"})
        texts.add_relatives()
        return boxes, texts

    def _matches_that_hide(
        self, inline: list[Inline], colours: HidingColours
    ) -> Iterator[tuple[Sequence[Element], Effects, frozenset[str]]]:
        """Declarations that may hide something: the elements they match, their effects, and their families."""
        for element, style in inline:
            effects = self._effects[style]
            if (families := _hiding_families(effects, colours, own=True)) is not None:
                yield (element,), effects, families
        for order, body in self._bodies.items():
            effects = self._effects[body]
            if (families := _hiding_families(effects, colours, own=False)) is None:
                continue
            for selector in self._rules[order]:
                if matched := self._matches(selector, None):
                    yield matched, effects, families

    def _on_background(self, inline: list[Inline], colours: HidingColours) -> set[Element]:
        """Elements with a background colour close to some text colour, and everything inside them."""
        if not colours.backgrounds:
            return set()
        setting = {
            body for body, effects in self._effects.items() if colours.sets_background(effects)
        }
        found = {element for element, style in inline if style in setting}
        for order, body in self._bodies.items():
            if body in setting:
                for selector in self._rules[order]:
                    found.update(self._matches(selector, None))
        return _with_descendants(found)

    def computed(self, elements: Collection[Element]) -> dict[Element, Style]:
        """The declarations that decide the layout of these elements, without inheritance."""
        candidates = _Candidates()
        candidates.elements.update(elements)
        candidates.families.add("layout")
        kept, self._winners = self._winners, {}
        self._apply(candidates)
        for element in elements:
            if element in self._inline:
                self._declare(element, _declared(self._inline[element]), (True, (0, 0, 0), 0))
        winners, self._winners = self._winners, kept
        return {
            element: {name: value for name, (_, value) in found.items()}
            for element, found in winners.items()
        }

    def _apply(self, candidates: "_Candidates") -> None:
        """Apply every rule that sets a relevant property of a candidate."""
        if not candidates.elements:
            return
        relevant = self._relevant(candidates.families)
        if not relevant:
            return
        among = _Among(candidates.elements, index_by_name(candidates.elements))
        declared: dict[int, Declared] = {}
        for key in ("", *among.named):
            for selector in self._by_key.get(key, ()):
                order = selector.rule
                if order not in relevant or not (matched := self._matches(selector, among)):
                    continue
                if order not in declared:
                    declared[order] = _declared(self._bodies[order])
                precedence = (False, specificity(selector.text), order)
                for element in matched:
                    self._declare(element, declared[order], precedence)

    @cached_property
    def _by_key(self) -> Mapping[str, Sequence[Selector]]:
        """The selectors by key, so that those of elements without one of their names cost nothing."""
        found: defaultdict[str, list[Selector]] = defaultdict(list)
        for selectors in self._rules.values():
            for selector in selectors:
                found[selector.key].append(selector)
        return found

    def _relevant(self, families: Set[str]) -> Collection[int]:
        """The rules that set a property of these families; all rules if the layout matters."""
        if "layout" in families:
            return self._bodies
        words = {word for family in families for word in FAMILIES[family]}
        return {
            order for order, body in self._bodies.items() if any(word in body for word in words)
        }

    def _matches(self, selector: Selector, among: "_Among | None") -> Sequence[Element]:
        """The elements that a selector matches; only those with the name in its last part are checked."""
        checked: Collection[Element] | None
        if not selector.key:
            checked = among.elements if among is not None else None
        elif among is not None:
            checked = among.named.get(selector.key, ())
        else:
            checked = self._names.get(selector.key)
        if checked is not None and (selector.single or not checked):
            return list(checked)
        if checked is not None and len(checked) <= MAX_DIRECT_MATCHES:
            self._matches_left -= len(checked)
            return _matching(checked, selector.text) if self._matches_left > 0 else ()
        found = self._selected(selector.text)
        return found if among is None else [at for at in found if at in among.elements]

    def _selected(self, selector: str) -> Sequence[Element]:
        if self._matches_left <= 0:
            return ()
        cost = COSTLY_FACTOR if COSTLY.search(selector) else 1
        self._matches_left -= cost * self._names.size
        return _select(self._document, selector)

    def _declare(
        self,
        element: Element,
        declared: Declared,
        precedence: tuple[bool, tuple[int, int, int], int],
    ) -> None:
        winners = self._winners.setdefault(element, {})
        usual: Weight = (False, *precedence)
        for name, (value, important) in declared.items():
            weight = (True, *precedence) if important else usual
            if name in BACKGROUND_PARTS and winners.get("background", NO_WINNER)[0] > weight:
                continue
            if name not in winners or weight >= winners[name][0]:
                winners[name] = (weight, value)
                if name == "background":
                    _reset(winners, weight)


class _Among(NamedTuple):
    """The elements of which those that a selector matches are wanted."""

    elements: set[Element]
    named: Mapping[str, Sequence[Element]]


class _Candidates:
    """Elements that may be hidden, and the families of declarations that may hide them."""

    def __init__(self) -> None:
        self.elements: set[Element] = set()
        self.families: set[str] = set()

    def add(self, elements: Sequence[Element], families: Set[str]) -> None:
        """Add those of the elements that are not empty, if there is any family."""
        filled = [element for element in elements if len(element)] if families else []
        if filled:
            self.elements.update(filled)
            self.families |= families

    def add_relatives(self) -> None:
        """Add ancestors and descendants: text styles are inherited, and a descendant may override them."""
        direct = {element for element in self.elements if element.tag not in ("html", "body")}
        ancestors: set[Node] = set()
        for element in direct:
            parent = element.parent
            while isinstance(parent, Element) and parent not in ancestors:
                ancestors.add(parent)
                self.elements.add(parent)
                parent = parent.parent
        self.elements |= _with_descendants(direct)


def _reset(winners: dict[str, tuple[Weight, str]], weight: Weight) -> None:
    """Remove what a `background` of this weight resets."""
    for part in BACKGROUND_PARTS:
        if part in winners and winners[part][0] <= weight:
            del winners[part]


def _hiding_families(
    effects: Effects, colours: HidingColours, *, own: bool
) -> frozenset[str] | None:
    """The families by which declarations may hide something on this page; None if they do not."""
    families = effects.families
    if colours.hides_on_white(effects, inline=own):
        return families | {"colour"}
    return families if families or colours.hides_on_background(effects) else None


def _bodies(bodies: Mapping[int, str], variables: Variables) -> dict[int, str]:
    """Normalised declarations. Equal ones are normalised once."""
    normalised = {body: normalise(body.lower(), variables) for body in set(bodies.values())}
    return {order: normalised[body] for order, body in bodies.items()}


def _inline(elements: Sequence[Element], variables: Variables) -> list[Inline]:
    """Those of the elements that have a `style` attribute. Equal attributes are normalised once."""
    styled = [
        (element, style.lower())
        for element in elements
        if (style := element.attr("style")) is not None
    ]
    normalised = {style: normalise(style, variables, own=True) for _, style in styled}
    return [(element, normalised[style]) for element, style in styled]


def _with_descendants(elements: set[Element]) -> set[Element]:
    """These elements and all their descendants."""
    inside: set[Element] = set()
    for element in elements:
        if element not in inside:
            inside.update(element.iter_elements())
    return inside | elements


def _matching(elements: Collection[Element], selector: str) -> list[Element]:
    try:
        return [element for element in elements if element.matches(selector)]
    except SelectorSyntaxError:
        return []


@lru_cache(maxsize=1024)
def _declared(body: str) -> Declared:
    """The relevant declarations: property → value, and whether it is `!important`."""
    style = StyleDeclaration.parse(body)
    return {
        name: (style[name].lower().strip(), style.important(name))
        for name in style
        if name in PROPERTIES
    }


def _select(document: Document, selector: str) -> list[Element]:
    try:
        return document.select(selector)
    except SelectorSyntaxError:
        return []
