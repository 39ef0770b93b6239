"""Stylesheets and inline styles → the few declarations that decide whether text can be seen, per element.

A cascade without layout: importance, specificity and order count, `@media` is read for a desktop screen, states such as
`:hover` never hold, and external stylesheets are unknown.
"""

import re
from collections.abc import Iterator, Mapping

from turbohtml import Document, Element, SelectorSyntaxError
from turbohtml.cssom import StyleDeclaration, StyleSheet

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

MAX_SHEET_CHARACTERS = 1_000_000
MAX_SELECTORS = 1_500
MAX_CONDITIONS = 6
"""How deep `@media` and the like are followed into each other."""
SCREEN_WIDTH_PX = 1280

COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.S)
CONDITION = re.compile(r"@(media|supports|layer)\b([^{};]*)\{", re.I)
BRACE = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|[{}]")
HIDING = re.compile(
    r"none|hidden|collapse|transparent|opacity|clip|indent|mask|transform|scale|zoom|-\d{3,}|"
    r"(?:size|width|height|font)\s*:\s*[01.]|color|rgba|hsla|background",
    re.I,
)
MEDIA_WIDTH = re.compile(r"(min|max)-width\s*:\s*([\d.]+)(px|r?em)")
NOT_ON_SCREEN = re.compile(
    r"\b(?:print|speech)\b|prefers-|forced-colors|max-height|orientation:\s*portrait"
)
PSEUDO = re.compile(
    r"::|:(?:before|after|hover|focus|active|visited|target|checked|first-l|defined|not\(:defined)",
    re.I,
)
NAMES = re.compile(r"([.#])((?:[\w-]|[^\x00-\x7f]|\\.)+)")
CLASS_LIKE = re.compile(r"\.[\w\\-]|\[|:(?!:)")
TYPE_NAME = re.compile(r"(?:^|[\s>+~(,])[a-zA-Z]")

Weight = tuple[bool, bool, tuple[int, int, int], int]


class Cascade:
    """The styles of one document; look an element up with `of`."""

    def __init__(self, document: Document) -> None:
        self._won: dict[Element, dict[str, tuple[Weight, str]]] = {}
        self._document = document
        self._order = 0
        self._selectors_left = MAX_SELECTORS
        sheets = [style.text for style in document.select("style")]
        total = sum(map(len, sheets))
        if sheets and total <= MAX_SHEET_CHARACTERS and any(map(HIDING.search, sheets)):
            self._names = _names_in(document)
            for sheet in sheets:
                self._add_sheet(sheet)
        for element in document.select("[style]"):
            self._add_inline(element)
        self._styles: dict[Element, Style] = {
            element: {name: value for name, (_, value) in won.items()}
            for element, won in self._won.items()
        }

    def __iter__(self) -> Iterator[Element]:
        return iter(self._won)

    def of(self, element: Element) -> Style:
        """What the document itself says of this element's looks; nothing is inherited."""
        return self._styles.get(element, NO_STYLE)

    def _add_sheet(self, text: str) -> None:
        for part in _on_screen(COMMENT.sub(" ", text)):
            for rule in StyleSheet(part).rules:
                declared = _declared(rule.style)
                if declared:
                    self._add_rule(rule.selector_text, declared)

    def _add_rule(self, selectors: str, declared: dict[str, tuple[str, bool]]) -> None:
        self._order += 1
        for selector in [selectors] if "(" in selectors else selectors.split(","):
            if self._selectors_left and self._may_match(selector):
                self._selectors_left -= 1
                weight = _specificity(selector)
                for element in _select(self._document, selector):
                    self._declare(element, declared, inline=False, weight=weight)

    def _add_inline(self, element: Element) -> None:
        declared = _declared(StyleDeclaration.parse(element.attr("style") or ""))
        if declared:
            self._declare(element, declared, inline=True, weight=(0, 0, 0))

    def _may_match(self, selector: str) -> bool:
        if PSEUDO.search(selector):
            return False
        if ":" in selector:
            return True
        return all(
            kind + name.replace("\\", "") in self._names for kind, name in NAMES.findall(selector)
        )

    def _declare(
        self,
        element: Element,
        declared: dict[str, tuple[str, bool]],
        *,
        inline: bool,
        weight: tuple[int, int, int],
    ) -> None:
        won = self._won.setdefault(element, {})
        for name, (value, important) in declared.items():
            rank = (important, inline, weight, self._order)
            if name not in won or rank >= won[name][0]:
                won[name] = (rank, value)


def _on_screen(text: str, depth: int = 0) -> Iterator[str]:
    """The parts of a stylesheet that hold on a desktop screen, in order, conditions unwrapped."""
    position = 0
    while found := CONDITION.search(text, position):
        yield text[position : found.start()]
        end = _closing_brace(text, found.end())
        if depth < MAX_CONDITIONS and _holds(found.group(1).lower(), found.group(2).lower()):
            yield from _on_screen(text[found.end() : end], depth + 1)
        position = end + 1
    yield text[position:]


def _closing_brace(text: str, start: int) -> int:
    depth = 1
    for found in BRACE.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(found.group(), 0)
        if depth == 0:
            return found.start()
    return len(text)


def _holds(rule: str, condition: str) -> bool:
    if rule == "layer":
        return True
    if rule == "supports":
        return not condition.strip().startswith("not")
    return any(_on_desktop(query) for query in condition.split(","))


def _on_desktop(query: str) -> bool:
    if query.strip().startswith("not"):
        return "print" in query
    if NOT_ON_SCREEN.search(query):
        return False
    for bound, number, unit in MEDIA_WIDTH.findall(query):
        pixels = float(number) * (1 if unit == "px" else 16)
        if (pixels > SCREEN_WIDTH_PX) if bound == "min" else (pixels < SCREEN_WIDTH_PX):
            return False
    return True


def _declared(style: StyleDeclaration) -> dict[str, tuple[str, bool]]:
    return {
        name: (style[name].lower().strip(), style.important(name))
        for name in style
        if name in PROPERTIES
    }


def _names_in(document: Document) -> frozenset[str]:
    """`.class` and `#id` of every element, so that rules for other pages cost nothing."""
    names: set[str] = set()
    for element in document.select("[class]"):
        names.update("." + name for name in (element.attr("class") or "").split())
    for element in document.select("[id]"):
        names.add("#" + (element.attr("id") or ""))
    return frozenset(names)


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
