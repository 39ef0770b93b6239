"""Stylesheets and inline styles → the few declarations that decide whether text can be seen, per element.

A cascade without layout: importance, specificity and order count, `@media` is read for a desktop screen, states such as
`:hover` never hold, and external stylesheets are unknown. Most rules of most pages hide nothing: only what may hide
something is looked at closely.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from functools import lru_cache

from turbohtml import Document, Element, Node, SelectorSyntaxError
from turbohtml.cssom import StyleDeclaration

from kindly.extract.visibility.declarations import Variables, plain
from kindly.extract.visibility.hiding import FAMILIES, INK, HidingRules, families_of
from kindly.extract.visibility.selectors import Selector, by_name, specificity, usable
from kindly.extract.visibility.stylesheets import rules_of

Style = Mapping[str, str]
"""Property → value, both lower case."""

NO_STYLE: Style = {}

NAMES_OF_PROPERTIES = """
    display visibility opacity content-visibility position left right top bottom width height max-width max-height
    overflow overflow-x overflow-y clip clip-path text-indent inset margin margin-left margin-top transform scale
    translate rotate zoom filter mask -webkit-mask mask-image -webkit-mask-image font font-size color background
    background-color background-image background-clip -webkit-background-clip -webkit-text-fill-color
"""
PROPERTIES = frozenset(NAMES_OF_PROPERTIES.split())

MAX_TRIED = 300
MAX_LOOKS = 1_000_000
"""How many elements are looked at, over all selectors, to find what they match."""
COUNTING = re.compile(r":nth|:first|:last|:only|:has|~")
COUNTING_COST = 10
"""How many elements a look counts for where its neighbours must be looked at too."""

Weight = tuple[bool, bool, tuple[int, int, int], int]
Declared = Mapping[str, tuple[str, bool]]
Inline = tuple[Element, str]
"""An element and its own declarations, in small letters."""


class Cascade:
    """The styles of what a document may hide and of what is around it; look an element up with `of`."""

    def __init__(self, document: Document) -> None:
        self._won: dict[Element, dict[str, tuple[Weight, str]]] = {}
        self._document = document
        self._looks_left = MAX_LOOKS
        rules = rules_of(document)
        variables = Variables([body for _, body in rules])
        self._named = by_name(document.iter_elements()) if rules else {}
        self._size = sum(map(len, self._named.values()))
        selectors = list(usable(rules, self._named))
        self._bodies = {
            order: plain(rules[order][1], variables)
            for order in {selector.rule for selector in selectors}
        }
        inline = _inline(document, variables)
        painted = [
            (element, f"background:{element.attr('bgcolor')}".lower())
            for element in document.select("[bgcolor]")
        ]
        suspects = HidingRules(
            {*self._bodies.values(), *(body for _, body in inline), *(body for _, body in painted)},
            external=document.select_one("link[rel~=stylesheet]") is not None,
        )
        shaded = self._shaded(selectors, [*inline, *painted], suspects)
        boxes, inks = self._judged(selectors, inline, suspects, shaded)
        by_key: dict[str, list[Selector]] = {}
        for selector in selectors if boxes.elements or inks.elements else ():
            by_key.setdefault(selector.key, []).append(selector)
        self._apply(by_key, boxes)
        self._apply(by_key, inks)
        for element, style in inline:
            if element in boxes.elements or element in inks.elements:
                self._declare(element, _declared(style), (True, (0, 0, 0), 0))
        self._styles: dict[Element, Style] = {
            element: {name: value for name, (_, value) in self._won[element].items()}
            for element in (document.iter_elements() if self._won else ())
            if element in self._won
        }

    def __iter__(self) -> Iterator[Element]:
        """All elements with a style, in the order of the document."""
        return iter(self._styles)

    def of(self, element: Element) -> Style:
        """What the document itself says of this element's looks; nothing is inherited."""
        return self._styles.get(element, NO_STYLE)

    def _judged(
        self,
        selectors: Sequence[Selector],
        inline: list[Inline],
        suspects: HidingRules,
        shaded: set[Element],
    ) -> tuple["_Judged", "_Judged"]:
        """Elements that may be hidden whole, and those whose text may be, with what is around and inside these."""
        boxes, inks = _Judged(), _Judged()
        inks.add(self._document.select("font[color]"), {"colour"})
        boxes.add(self._document.select("[hidden], [popover]"), {"display"})
        for hit, body, kinds in self._hits(selectors, inline, suspects):
            boxes.add(hit, kinds - INK)
            inks.add(hit, kinds & INK)
            if shaded and "colour" not in kinds and suspects.on_ground(body):
                inks.add([element for element in hit if element in shaded], {"colour"})
        inks.widen()
        return boxes, inks

    def _hits(
        self, selectors: Sequence[Selector], inline: list[Inline], suspects: HidingRules
    ) -> Iterator[tuple[Sequence[Element], str, frozenset[str]]]:
        """Declarations that may hide something, each with the elements it is about and the families it is of."""
        seen: dict[tuple[str, bool], frozenset[str] | None] = {}

        def kinds_of(body: str, *, own: bool) -> frozenset[str] | None:
            if (body, own) not in seen:
                kinds = families_of(body)
                if suspects.on_white(body, inline=own):
                    kinds |= {"colour"}
                seen[body, own] = kinds if kinds or suspects.on_ground(body) else None
            return seen[body, own]

        for element, style in inline:
            if (kinds := kinds_of(style, own=True)) is not None:
                yield (element,), style, kinds
        for selector in selectors:
            body = self._bodies[selector.rule]
            if (kinds := kinds_of(body, own=False)) is not None and (
                hit := self._matches(selector, self._named, None)
            ):
                yield hit, body, kinds

    def _shaded(
        self, selectors: Sequence[Selector], inline: list[Inline], suspects: HidingRules
    ) -> set[Element]:
        """Elements on a background of a colour that some text has."""
        if not suspects.grounds:
            return set()
        shaded = {element for element, style in inline if suspects.shades(style)}
        shading = {order for order, body in self._bodies.items() if suspects.shades(body)}
        for selector in selectors:
            if selector.rule in shading:
                shaded.update(self._matches(selector, self._named, None))
        return _with_inside(shaded)

    def _apply(self, by_key: Mapping[str, list[Selector]], judged: "_Judged") -> None:
        """Let every rule speak that has something to say of a judged element."""
        if not judged.elements or not by_key:
            return
        words = {word for kind in judged.kinds for word in FAMILIES[kind]}
        telling = {
            order for order, body in self._bodies.items() if any(word in body for word in words)
        }
        named = by_name(judged.elements)
        declared: dict[int, Declared] = {}
        for key in ("", *named):
            for selector in by_key.get(key, ()):
                order = selector.rule
                if order not in telling:
                    continue
                matched = self._matches(selector, named, judged.elements)
                if not matched:
                    continue
                if order not in declared:
                    declared[order] = _declared(self._bodies[order])
                rank = (False, specificity(selector.text), order)
                for element in matched:
                    self._declare(element, declared[order], rank)

    def _matches(
        self, selector: Selector, named: Mapping[str, Sequence[Element]], among: set[Element] | None
    ) -> Sequence[Element]:
        """The elements of a selector; those named in its last part are all that need to be tried."""
        tried = named.get(selector.key, ()) if selector.key else among
        if tried is not None and selector.single:
            return list(tried)
        if tried is not None and len(tried) <= MAX_TRIED:
            self._looks_left -= len(tried)
            return _matching(tried, selector.text) if self._looks_left > 0 else ()
        return self._selected(selector.text, among)

    def _selected(self, selector: str, among: set[Element] | None) -> Sequence[Element]:
        if self._looks_left <= 0:
            return ()
        cost = COUNTING_COST if COUNTING.search(selector) else 1
        self._looks_left -= cost * self._size
        found = _select(self._document, selector)
        return found if among is None else [element for element in found if element in among]

    def _declare(
        self, element: Element, declared: Declared, rank: tuple[bool, tuple[int, int, int], int]
    ) -> None:
        won = self._won.setdefault(element, {})
        for name, (value, important) in declared.items():
            weight = (important, *rank)
            if name not in won or weight >= won[name][0]:
                won[name] = (weight, value)


class _Judged:
    """Elements to be judged, and the families of declarations that may hide them."""

    def __init__(self) -> None:
        self.elements: set[Element] = set()
        self.kinds: set[str] = set()

    def add(self, elements: Sequence[Element], kinds: Set[str]) -> None:
        """Judge these too, if there is anything in them and anything to judge them by."""
        filled = [element for element in elements if len(element)] if kinds else []
        if filled:
            self.elements.update(filled)
            self.kinds |= kinds

    def widen(self) -> None:
        """Judge what is around and inside as well: it inherits, and it may say otherwise."""
        hit = {element for element in self.elements if element.tag not in ("html", "body")}
        around: set[Node] = set()
        for element in hit:
            parent = element.parent
            while isinstance(parent, Element) and parent not in around:
                around.add(parent)
                self.elements.add(parent)
                parent = parent.parent
        self.elements |= _with_inside(hit)


def _inline(document: Document, variables: Variables) -> list[Inline]:
    """The elements with styles of their own; many have the same."""
    styled = [
        (element, (element.attr("style") or "").lower()) for element in document.select("[style]")
    ]
    put_plainly = {style: plain(style, variables, own=True) for _, style in styled}
    return [(element, put_plainly[style]) for element, style in styled]


def _with_inside(elements: set[Element]) -> set[Element]:
    """These elements and all within them."""
    inside: set[Element] = set()
    for element in elements:
        if element not in inside:
            inside.update(element.iter_elements())
    return inside | elements


def _matching(tried: Collection[Element], selector: str) -> list[Element]:
    try:
        return [element for element in tried if element.matches(selector)]
    except SelectorSyntaxError:
        return []


@lru_cache(maxsize=1024)
def _declared(body: str) -> Declared:
    """What of a rule or an attribute counts here: property → value and whether it is important."""
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
