"""CSS cascade: stylesheets and inline styles → the declarations that decide whether an element's text is visible.

Importance, specificity and order apply. `@media` is evaluated for a desktop screen, states such as `:hover` never
apply, and external stylesheets and layout are not known. Most rules hide nothing, so the cascade is computed only for
elements that some declaration may hide.
"""

import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence, Set
from functools import lru_cache

from turbohtml import Document, Element, Node, SelectorSyntaxError
from turbohtml.cssom import StyleDeclaration

from kindly.extract.visibility.declarations import Variables, normalise
from kindly.extract.visibility.hiding import (
    FAMILIES,
    LAYOUTS,
    TEXT_FAMILIES,
    HidingColours,
    families_of,
    layouts_of,
)
from kindly.extract.visibility.selectors import (
    Selector,
    applicable_selectors,
    index_by_name,
    specificity,
)
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
        self._named = index_by_name(document.iter_elements()) if rules else {}
        self._size = sum(map(len, self._named.values()))
        selectors = list(applicable_selectors(rules, self._named))
        self._bodies = {
            order: normalise(rules[order][1].lower(), variables)
            for order in {selector.rule for selector in selectors}
        }
        marked = document.select(HIDING_ATTRIBUTES)
        inline = _inline(marked, variables)
        legacy_backgrounds = [
            (element, f"background:{colour}".lower())
            for element in marked
            if (colour := element.attr("bgcolor")) is not None
        ]
        colours = HidingColours(
            {
                *self._bodies.values(),
                *(body for _, body in inline),
                *(body for _, body in legacy_backgrounds),
            },
            external=self.external,
        )
        on_background = self._on_background(selectors, [*inline, *legacy_backgrounds], colours)
        self.suspects: dict[str, list[Element]] = {}
        """Elements whose layout may hide text, by the kind of layout."""
        boxes, texts = self._candidates(selectors, inline, colours, on_background)
        unless_displayed = [
            element
            for element in marked
            if element.attr("hidden") is not None or element.attr("popover") is not None
        ]
        boxes.add(unless_displayed, {"display"})
        self._selectors, self._inline = selectors, dict(inline)
        self._by_key: dict[str, list[Selector]] = {}
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
        self,
        selectors: Sequence[Selector],
        inline: list[Inline],
        colours: HidingColours,
        on_background: set[Element],
    ) -> tuple["_Candidates", "_Candidates"]:
        """Elements that may be hidden as a whole; and elements whose text may be, with ancestors and descendants."""
        boxes, texts = _Candidates(), _Candidates()
        texts.add(self.coloured_fonts, {"colour"})
        for matched, body, families in self._matches_that_hide(selectors, inline, colours):
            for kind in families & LAYOUTS:
                self.suspects.setdefault(kind, []).extend(matched)
            boxes.add(matched, families - TEXT_FAMILIES - LAYOUTS)
            texts.add(matched, families & TEXT_FAMILIES)
            if on_background and "colour" not in families and colours.hides_on_background(body):
                texts.add([element for element in matched if element in on_background], {"colour"})
        pictured = [element for element, style in inline if "data:image" in style]
        texts.add(pictured, {"colour"})
        texts.add_relatives()
        return boxes, texts

    def _matches_that_hide(
        self, selectors: Sequence[Selector], inline: list[Inline], colours: HidingColours
    ) -> Iterator[tuple[Sequence[Element], str, frozenset[str]]]:
        """Declarations that may hide something: the elements they match, their text, and their families."""
        cached: dict[tuple[str, bool], frozenset[str] | None] = {}

        def hiding_families(body: str, *, own: bool) -> frozenset[str] | None:
            if (body, own) not in cached:
                families = families_of(body) | layouts_of(body)
                if colours.hides_on_white(body, inline=own):
                    families |= {"colour"}
                may_hide = families or colours.hides_on_background(body)
                cached[body, own] = families if may_hide else None
            return cached[body, own]

        for element, style in inline:
            if (families := hiding_families(style, own=True)) is not None:
                yield (element,), style, families
        for selector in selectors:
            body = self._bodies[selector.rule]
            if (families := hiding_families(body, own=False)) is not None and (
                matched := self._matches(selector, self._named, None)
            ):
                yield matched, body, families

    def _on_background(
        self, selectors: Sequence[Selector], inline: list[Inline], colours: HidingColours
    ) -> set[Element]:
        """Elements with a background colour close to some text colour, and everything inside them."""
        if not colours.backgrounds:
            return set()
        found = {element for element, style in inline if colours.sets_background(style)}
        rules = {order for order, body in self._bodies.items() if colours.sets_background(body)}
        for selector in selectors:
            if selector.rule in rules:
                found.update(self._matches(selector, self._named, None))
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
        if not self._by_key:
            for selector in self._selectors:
                self._by_key.setdefault(selector.key, []).append(selector)
        relevant = self._relevant(candidates.families)
        named = index_by_name(candidates.elements)
        declared: dict[int, Declared] = {}
        for key in ("", *named):
            for selector in self._by_key.get(key, ()):
                order = selector.rule
                if order not in relevant:
                    continue
                matched = self._matches(selector, named, candidates.elements)
                if not matched:
                    continue
                if order not in declared:
                    declared[order] = _declared(self._bodies[order])
                precedence = (False, specificity(selector.text), order)
                for element in matched:
                    self._declare(element, declared[order], precedence)

    def _relevant(self, families: Set[str]) -> Container[int]:
        """The rules that set a property of these families; all rules if the layout matters."""
        if "layout" in families:
            return self._bodies
        words = {word for family in families for word in FAMILIES[family]}
        return {
            order for order, body in self._bodies.items() if any(word in body for word in words)
        }

    def _matches(
        self, selector: Selector, named: Mapping[str, Sequence[Element]], among: set[Element] | None
    ) -> Sequence[Element]:
        """The elements that a selector matches; only those with the name in its last part are checked."""
        checked = named.get(selector.key, ()) if selector.key else among
        if checked is not None and selector.single:
            return list(checked)
        if checked is not None and len(checked) <= MAX_DIRECT_MATCHES:
            self._matches_left -= len(checked)
            return _matching(checked, selector.text) if self._matches_left > 0 else ()
        return self._selected(selector.text, among)

    def _selected(self, selector: str, among: set[Element] | None) -> Sequence[Element]:
        if self._matches_left <= 0:
            return ()
        cost = COSTLY_FACTOR if COSTLY.search(selector) else 1
        self._matches_left -= cost * self._size
        found = _select(self._document, selector)
        return found if among is None else [element for element in found if element in among]

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
