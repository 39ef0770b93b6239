"""Stylesheets and inline styles → the few declarations that decide whether text can be seen, per element.

A cascade without layout: importance, specificity and order count, `@media` is read for a desktop screen, states such as
`:hover` never hold, and external stylesheets are unknown. Most rules of most pages hide nothing: they are passed over
by plain search, and only what may hide something is looked at closely.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from turbohtml import Document, Element, SelectorSyntaxError
from turbohtml.cssom import StyleDeclaration

from kindly.extract.sheets import Rule, rules_of
from kindly.extract.suspects import FAMILIES, INK, Suspects, families_of

Style = Mapping[str, str]
"""Property → value, both lower case."""

NO_STYLE: Style = {}

NAMES_OF_PROPERTIES = """
    display visibility opacity content-visibility position left right top bottom width height max-width max-height
    overflow overflow-x overflow-y clip clip-path text-indent margin-left margin-top transform scale zoom filter
    mask-image -webkit-mask-image font font-size color background background-color background-image background-clip
    -webkit-background-clip -webkit-text-fill-color
"""
PROPERTIES = frozenset(NAMES_OF_PROPERTIES.split())

MAX_SELECTORS = 1_500
MAX_TRIED = 100
PSEUDO = re.compile(
    r"::|:(?:before|after|hover|focus|active|visited|target|checked|first-l|defined|not\(:defined)",
    re.I,
)
NAMES = re.compile(r"([.#])((?:[\w-]|[^\x00-\x7f]|\\.)+)")
INNER = re.compile(r"\([^()]*\)|\[[^\]]*\]")
LAST_NAME = re.compile(r"[.#](?:[\w-]|[^\x00-\x7f]|\\.)+")
TAG = re.compile(r"[a-zA-Z][\w-]*")
SINGLE_NAME = re.compile(r"(?:[.#]|(?=[a-z]))(?:[\w-]|[^\x00-\x7f]|\\.)+")
CLASS_LIKE = re.compile(r"\.[\w\\-]|\[|:(?!:)")
TYPE_NAME = re.compile(r"(?:^|[\s>+~(,])[a-zA-Z]")
KEYFRAMES = frozenset({"from", "to"})

Weight = tuple[bool, bool, tuple[int, int, int], int]
Declared = Mapping[str, tuple[str, bool]]
_Selector = tuple[int, str]
"""The number of a rule, and one of its selectors."""


class Cascade:
    """The styles of what a document may hide and of what is around it; look an element up with `of`."""

    def __init__(self, document: Document) -> None:
        self._won: dict[Element, dict[str, tuple[Weight, str]]] = {}
        self._document = document
        self._selectors_left = MAX_SELECTORS
        rules = rules_of(document)
        inline = [
            (element, (element.attr("style") or "").lower())
            for element in document.select("[style]")
        ]
        painted = [
            (element, f"background:{element.attr('bgcolor')}".lower())
            for element in document.select("[bgcolor]")
        ]
        external = document.select_one("link[rel~=stylesheet]") is not None
        bodies = [body for _, body in (*rules, *inline, *painted)]
        suspects = Suspects(bodies, external=external)
        self._named = _by_name(document.iter_elements()) if rules else {}
        shaded = self._shaded(rules, [*inline, *painted], suspects)
        boxes, inks = self._judged(rules, inline, suspects, shaded)
        by_last_part = _by_last_part(rules) if boxes.elements or inks.elements else {}
        self._apply(rules, by_last_part, boxes)
        self._apply(rules, by_last_part, inks)
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
        rules: list[Rule],
        inline: list[tuple[Element, str]],
        suspects: Suspects,
        shaded: set[Element],
    ) -> tuple["_Judged", "_Judged"]:
        """Elements that may be hidden whole, and those whose text may be, with what is around and inside these."""
        boxes, inks = _Judged(), _Judged()
        inks.add(self._document.select("font[color]"), {"colour"})
        for hit, body, kinds in self._hits(rules, inline, suspects):
            boxes.add(hit, kinds - INK)
            inks.add(hit, kinds & INK)
            if shaded and "colour" not in kinds and suspects.on_ground(body):
                inks.add([element for element in hit if element in shaded], {"colour"})
        inks.widen()
        return boxes, inks

    def _hits(
        self, rules: list[Rule], inline: list[tuple[Element, str]], suspects: Suspects
    ) -> Iterator[tuple[Sequence[Element], str, set[str]]]:
        """Declarations that may hide something, each with the elements it is about and the families it is of."""
        grounds = bool(suspects.grounds)
        for element, style in inline:
            kinds = families_of(style)
            if suspects.on_white(style, inline=True):
                kinds.add("colour")
            if kinds or (grounds and suspects.on_ground(style)):
                yield (element,), style, kinds
        for selectors, body in rules:
            kinds = families_of(body)
            if suspects.on_white(body, inline=False):
                kinds.add("colour")
            if (kinds or (grounds and suspects.on_ground(body))) and (
                hit := self._elements(selectors)
            ):
                yield hit, body, kinds

    def _shaded(
        self, rules: list[Rule], inline: list[tuple[Element, str]], suspects: Suspects
    ) -> set[Element]:
        """Elements on a background of a colour that some text has."""
        if not suspects.grounds:
            return set()
        shaded = {element for element, style in inline if suspects.shades(style)}
        for selectors, body in rules:
            if suspects.shades(body):
                shaded.update(self._elements(selectors))
        return _with_inside(shaded)

    def _elements(self, selectors: str) -> list[Element]:
        return [
            element
            for one in _split(selectors)
            for element in self._matches(one, self._named, None)
        ]

    def _apply(
        self, rules: list[Rule], by_last_part: "Mapping[str, list[_Selector]]", judged: "_Judged"
    ) -> None:
        """Let every rule speak that has something to say of a judged element."""
        words = tuple({word for kind in judged.kinds for word in FAMILIES[kind]})
        named = _by_name(judged.elements) if rules else {}
        declared: dict[int, Declared] = {}
        for key in ("", *named):
            for order, selector in by_last_part.get(key, ()):
                body = rules[order][1]
                if not any(word in body for word in words):
                    continue
                matched = self._matches(selector, named, judged.elements)
                if matched and order not in declared:
                    declared[order] = _declared(body)
                for element in matched:
                    self._declare(element, declared[order], (False, _specificity(selector), order))

    def _matches(
        self, selector: str, named: Mapping[str, Sequence[Element]], among: set[Element] | None
    ) -> Sequence[Element]:
        """The elements of a selector; those named in its last part are all that need to be tried."""
        if ":" in selector and PSEUDO.search(selector):
            return ()
        if SINGLE_NAME.fullmatch(selector):
            return named.get(selector.replace("\\", ""), ())
        plain = _without_brackets(selector)
        names = NAMES.findall(plain)
        if any(kind + name.replace("\\", "") not in self._named for kind, name in names):
            return ()
        key = _last_part(plain)
        tried = named.get(key, ()) if key else None
        if tried is not None and len(tried) <= MAX_TRIED:
            return _matching(tried, selector) if tried else ()
        return self._selected(selector, among)

    def _selected(self, selector: str, among: set[Element] | None) -> Sequence[Element]:
        if not self._selectors_left:
            return ()
        self._selectors_left -= 1
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


def _split(selectors: str) -> list[str]:
    selectors = selectors.strip()
    if selectors[-1:] == "%" or selectors in KEYFRAMES:
        return []
    return [selectors] if "(" in selectors else [one.strip() for one in selectors.split(",")]


def _by_last_part(rules: list[Rule]) -> "dict[str, list[_Selector]]":
    """All selectors of all rules, by what their last part names: a class, an id, a tag or nothing."""
    found: dict[str, list[_Selector]] = {}
    for order, (selectors, _) in enumerate(rules):
        for selector in _split(selectors):
            found.setdefault(_last_part(_without_brackets(selector)), []).append((order, selector))
    return found


def _without_brackets(selector: str) -> str:
    return INNER.sub("", selector) if "(" in selector or "[" in selector else selector


def _last_part(plain: str) -> str:
    """The class, id or tag by which the elements of a selector can be found; empty if there is none."""
    part = plain[max(map(plain.rfind, " >+~")) + 1 :]
    if named := LAST_NAME.search(part):
        return named.group().replace("\\", "")
    tag = TAG.match(part)
    return tag.group().lower() if tag else ""


class _Judged:
    """Elements to be judged, and the families of declarations that may hide them."""

    def __init__(self) -> None:
        self.elements: set[Element] = set()
        self.kinds: set[str] = set()

    def add(self, elements: Sequence[Element], kinds: set[str]) -> None:
        """Judge these too, if there is anything in them and anything to judge them by."""
        filled = [element for element in elements if len(element)] if kinds else []
        if filled:
            self.elements.update(filled)
            self.kinds |= kinds

    def widen(self) -> None:
        """Judge what is around and inside as well: it inherits, and it may say otherwise."""
        hit = {element for element in self.elements if element.tag not in ("html", "body")}
        around = {
            node for element in hit for node in element.ancestors if isinstance(node, Element)
        }
        self.elements |= around | _with_inside(hit)


def _with_inside(elements: set[Element]) -> set[Element]:
    """These elements and all within them."""
    inside: set[Element] = set()
    for element in elements:
        if element not in inside:
            inside.update(element.iter_elements())
    return inside | elements


def _matching(tried: Sequence[Element], selector: str) -> list[Element]:
    try:
        return [element for element in tried if element.matches(selector)]
    except SelectorSyntaxError:
        return []


def _declared(body: str) -> Declared:
    """What of a rule or an attribute counts here: property → value and whether it is important."""
    style = StyleDeclaration.parse(body)
    return {
        name: (style[name].lower().strip(), style.important(name))
        for name in style
        if name in PROPERTIES
    }


def _by_name(elements: Iterable[Element]) -> dict[str, list[Element]]:
    """The elements of every `.class`, `#id` and tag, so that rules for other pages cost nothing."""
    named: dict[str, list[Element]] = {}
    for element in elements:
        named.setdefault(element.tag, []).append(element)
        if classes := element.attr("class"):
            for name in classes.split():
                named.setdefault("." + name, []).append(element)
        if ident := element.attr("id"):
            named.setdefault("#" + ident, []).append(element)
    return named


def _select(document: Document, selector: str) -> list[Element]:
    try:
        return document.select(selector)
    except SelectorSyntaxError:
        return []


def _specificity(selector: str) -> tuple[int, int, int]:
    return (
        selector.count("#"),
        len(CLASS_LIKE.findall(selector)),
        len(TYPE_NAME.findall(selector)),
    )
