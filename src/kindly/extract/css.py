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
from kindly.extract.suspects import FAMILIES, INK, MAY_HIDE, Suspects, families_of, may_hide

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
MAX_TRIED = 60
PSEUDO = re.compile(
    r"::|:(?:before|after|hover|focus|active|visited|target|checked|first-l|defined|not\(:defined)",
    re.I,
)
NAMES = re.compile(r"([.#])((?:[\w-]|[^\x00-\x7f]|\\.)+)")
COMBINATORS = frozenset(" >+~\t\n")
LAST_PART = re.compile(r"[\s>+~]+")
TAG = re.compile(r"[a-zA-Z][\w-]*")
SINGLE_NAME = re.compile(r"[.#](?:[\w-]|[^\x00-\x7f]|\\.)+")
CLASS_LIKE = re.compile(r"\.[\w\\-]|\[|:(?!:)")
TYPE_NAME = re.compile(r"(?:^|[\s>+~(,])[a-zA-Z]")
KEYFRAMES = frozenset({"from", "to"})

Weight = tuple[bool, bool, tuple[int, int, int], int]
Declared = Mapping[str, tuple[str, bool]]


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
        suspects = Suspects([body for _, body in (*rules, *inline, *painted)])
        self._named = _by_name(document.select("[class], [id]")) if rules else {}
        shaded = self._shaded(rules, [*inline, *painted], suspects)
        judged, kinds = self._judged(rules, inline, suspects, shaded)
        if judged:
            words = {word for kind in kinds for word in FAMILIES[kind]}
            self._apply(rules, judged, tuple(words))
        for element, style in inline:
            if element in judged:
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
    ) -> tuple[set[Element], set[str]]:
        """Elements that some declaration may hide, with those around and inside that have a say in it."""
        boxes: set[Element] = set()
        inked = set(self._document.select("font[color]"))
        kinds: set[str] = {"colour"} if inked else set()
        for hit, body in self._hits(rules, inline, suspects, shaded=bool(shaded)):
            found = families_of(body)
            if suspects.on_white(body):
                found.add("colour")
            elif shaded and suspects.on_ground(body):
                within = {e for e in hit if e in shaded or not shaded.isdisjoint(e.ancestors)}
                inked |= within
                kinds |= {"colour"} if within else set()
            kinds |= found
            if found:
                (boxes if found.isdisjoint(INK) else inked).update(hit)
        around = {
            node for element in inked for node in element.ancestors if isinstance(node, Element)
        }
        inside: set[Element] = set()
        for element in inked:
            if element not in inside and element.tag not in ("html", "body"):
                inside.update(element.iter_elements())
        return boxes | inked | around | inside, kinds

    def _hits(
        self,
        rules: list[Rule],
        inline: list[tuple[Element, str]],
        suspects: Suspects,
        *,
        shaded: bool,
    ) -> Iterator[tuple[Sequence[Element], str]]:
        """Declarations that may hide something, each with the elements it is about."""
        for element, style in inline:
            if may_hide(style) or suspects.names(style, grounds=shaded):
                yield (element,), style
        for selectors, body in rules:
            if (may_hide(body) and MAY_HIDE.search(body)) or suspects.names(body, grounds=shaded):
                hit = self._elements(selectors)
                if hit:
                    yield hit, body

    def _shaded(
        self, rules: list[Rule], inline: list[tuple[Element, str]], suspects: Suspects
    ) -> set[Element]:
        """Elements with a background of a colour that some text has."""
        if not suspects.grounds:
            return set()
        shaded = {element for element, style in inline if suspects.shades(style)}
        for selectors, body in rules:
            if suspects.shades(body):
                shaded.update(self._elements(selectors))
        return shaded

    def _elements(self, selectors: str) -> list[Element]:
        return [
            element
            for one in _split(selectors)
            for element in self._matches(one, self._named, None)
        ]

    def _apply(self, rules: list[Rule], judged: set[Element], words: tuple[str, ...]) -> None:
        """Let every rule speak that has something to say of a judged element."""
        named = _by_name(judged, tags=True) if rules else {}
        for order, (selectors, body) in enumerate(rules):
            if not any(word in body for word in words):
                continue
            declared: Declared | None = None
            for selector in _split(selectors):
                matched = self._matches(selector, named, judged)
                if matched:
                    declared = _declared(body) if declared is None else declared
                    rank = (False, _specificity(selector), order)
                    for element in matched:
                        self._declare(element, declared, rank)

    def _matches(
        self, selector: str, named: Mapping[str, Sequence[Element]], among: set[Element] | None
    ) -> Sequence[Element]:
        """The elements of a selector; those named in its last part are all that need to be tried."""
        if _names_nobody(selector, named) or (":" in selector and PSEUDO.search(selector)):
            return ()
        if SINGLE_NAME.fullmatch(selector):
            return named.get(selector.replace("\\", ""), ())
        plain = selector.partition("(")[0]
        if any(
            kind + name.replace("\\", "") not in self._named for kind, name in NAMES.findall(plain)
        ):
            return ()
        if "[" not in selector and "(" not in selector:
            tried = _tried(LAST_PART.split(selector)[-1], named, tags=among is not None)
            if tried is not None and len(tried) <= MAX_TRIED:
                return _matching(tried, selector)
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


def _names_nobody(selector: str, named: Mapping[str, Sequence[Element]]) -> bool:
    """Whether the last part of a plain selector is a class or id that no element has."""
    start = max(selector.rfind("."), selector.rfind("#"))
    if start < 0:
        return False
    last = selector[start:]
    return (
        last not in named
        and COMBINATORS.isdisjoint(last)
        and last[1:].replace("-", "_").isidentifier()
    )


def _tried(
    part: str, named: Mapping[str, Sequence[Element]], *, tags: bool
) -> Sequence[Element] | None:
    """The elements that the last part of a selector may mean; None if any."""
    names = NAMES.findall(part)
    if names:
        return named.get(names[-1][0] + names[-1][1].replace("\\", ""), ())
    tag = TAG.match(part)
    return named.get(tag.group().lower(), ()) if tags and tag else None


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


def _by_name(elements: Iterable[Element], *, tags: bool = False) -> dict[str, list[Element]]:
    """The elements of every `.class` and `#id`, and of every tag, so that rules for other pages cost nothing."""
    named: dict[str, list[Element]] = {}
    for element in elements:
        if tags:
            named.setdefault(element.tag, []).append(element)
        for name in (element.attr("class") or "").split():
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
