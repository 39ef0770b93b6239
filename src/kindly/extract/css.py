"""Stylesheets and inline styles → the few declarations that decide whether text can be seen, per element.

A cascade without layout: importance, specificity and order count, `@media` is read for a desktop screen, states such as
`:hover` never hold, and external stylesheets are unknown. Most rules of most pages hide nothing: they are passed over by
plain search, and only what may hide something is looked at closely.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from turbohtml import Document, Element, SelectorSyntaxError
from turbohtml.cssom import StyleDeclaration

from kindly.extract.colours import WHITE, Colour, parse, unreadable

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
MAX_BODY = 3_000
MAX_SELECTORS = 1_500
MAX_TRIED = 60
MAX_CONDITIONS = 6
"""How deep `@media` and the like are followed into each other."""
SCREEN_WIDTH_PX = 1280

COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.S)
CONDITION = re.compile(r"@(media|supports|layer)\b([^{};]*)\{", re.I)
BRACE = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|[{}]")
RULE = re.compile(r"([^{};]+)\{([^{}]*)\}")
MEDIA_WIDTH = re.compile(r"(min|max)-width\s*:\s*([\d.]+)(px|r?em)")
NOT_ON_SCREEN = re.compile(
    r"\b(?:print|speech)\b|prefers-|forced-colors|max-height|orientation:\s*portrait"
)
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

HIDES = re.compile(
    r"(?P<display>display\s*:\s*none)|(?P<visibility>visibility\s*:\s*(?:hidden|collapse))|"
    r"(?P<opacity>opacity\s*[:(]\s*\.?0(?!\.[1-9]))|(?P<zoom>zoom\s*:\s*\.?0)|(?P<clip>clip(?!-rule))|"
    r"(?P<offset>(?:left|right|top|bottom|indent)\s*:\s*(?:-\d{2,}|\d{4,}|\d{3,}(?:r?em|v[wh])))|"
    r"(?P<size>(?:height|width)\s*:\s*0*[01]?(?:\.\d+)?(?:px|r?em|%|pt|v[wh])?\s*(?:[;!]|\Z))|"
    r"(?P<transform>translate[^;]*-\d{3,}|rotate[xy]|scale[^;]*[(:]\s*\.?0)|(?P<mask>mask-image)|"
    r"(?P<font>font-size\s*:\s*(?:0(?!\.[1-9])|\.0|1(?:\.[0-4]\d*)?(?:px|pt)?\s*(?:[;!]|\Z))|"
    r"font\s*:[^;]*(?<![\d.])[01](?:px|pt)?[/\s])"
)
"""What may hide something, by family; a little more than `visible.is_unseen` would say yes to. In small letters."""
MAY_HIDE = re.compile(re.sub(r"\?P<\w+>", "?:", HIDES.pattern))
"""The same without families, which is quicker."""
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "display": ("display",),
    "visibility": ("visibility",),
    "opacity": ("opacity", "filter"),
    "zoom": ("zoom",),
    "clip": ("clip",),
    "offset": ("position", "left", "right", "top", "bottom", "indent"),
    "size": ("height", "width", "overflow"),
    "transform": ("transform", "scale"),
    "mask": ("mask",),
    "font": ("font",),
    "colour": ("color", "background"),
}
"""Words of the declarations that decide together."""
INK = frozenset({"visibility", "font", "colour"})
"""Families that hide the text in an element, unless something inside it says otherwise."""
TEXT_COLOUR = re.compile(r"(?<![\w-])color\s*:\s*([^;!}]+)|text-fill-color\s*:\s*([^;!}]+)")
BACKGROUND = re.compile(r"background(?:-color)?\s*:\s*([^;!}]+)")

Weight = tuple[bool, bool, tuple[int, int, int], int]
Declared = Mapping[str, tuple[str, bool]]
Rule = tuple[str, str]
"""Selectors and declarations, the latter in small letters."""


class Cascade:
    """The styles of what a document may hide and of what is around it; look an element up with `of`."""

    def __init__(self, document: Document) -> None:
        self._won: dict[Element, dict[str, tuple[Weight, str]]] = {}
        self._document = document
        self._selectors_left = MAX_SELECTORS
        rules = _rules(document)
        inline = [(element, (element.attr("style") or "").lower()) for element in document.select("[style]")]
        suspects = Suspects([*(body for _, body in rules), *(style for _, style in inline)])
        self._named = _by_name(document.select("[class], [id]")) if rules else {}
        judged, families = self._judged(rules, inline, suspects)
        if judged:
            words = {word for family in families for word in FAMILIES[family]}
            self._apply(rules, judged, tuple(words))
        for element, style in inline:
            if element in judged:
                self._declare(element, _declared(style), (True, (0, 0, 0), 0))
        self._styles: dict[Element, Style] = {
            element: {name: value for name, (_, value) in won.items()}
            for element, won in self._won.items()
        }

    def __iter__(self) -> Iterator[Element]:
        return iter(self._won)

    def of(self, element: Element) -> Style:
        """What the document itself says of this element's looks; nothing is inherited."""
        return self._styles.get(element, NO_STYLE)

    def _judged(
        self, rules: list[Rule], inline: list[tuple[Element, str]], suspects: "Suspects"
    ) -> tuple[set[Element], set[str]]:
        """Elements that some declaration may hide, with those around and inside that have a say in it."""
        boxes: set[Element] = set()
        inked = set(self._document.select("font[color]"))
        families: set[str] = {"colour"} if inked else set()
        shaded = self._shaded(rules, inline, suspects)
        for hit, body in self._hits(rules, inline, suspects, shaded=bool(shaded)):
            found = _families(body)
            if suspects.on_white(body):
                found.add("colour")
            elif shaded and suspects.on_ground(body):
                within = {e for e in hit if e in shaded or not shaded.isdisjoint(e.ancestors)}
                inked |= within
                families |= {"colour"} if within else set()
            families |= found
            if found:
                (boxes if found.isdisjoint(INK) else inked).update(hit)
        around = {node for element in inked for node in element.ancestors if isinstance(node, Element)}
        inside: set[Element] = set()
        for element in inked:
            if element not in inside and element.tag not in ("html", "body"):
                inside.update(element.iter_elements())
        return boxes | inked | around | inside, families

    def _hits(
        self,
        rules: list[Rule],
        inline: list[tuple[Element, str]],
        suspects: "Suspects",
        *,
        shaded: bool,
    ) -> Iterator[tuple[Sequence[Element], str]]:
        """Declarations that may hide something, each with the elements it is about."""
        for element, style in inline:
            if _may_hide(style) or suspects.names(style, grounds=shaded):
                yield (element,), style
        for selectors, body in rules:
            if (_may_hide(body) and MAY_HIDE.search(body)) or suspects.names(body, grounds=shaded):
                hit = self._elements(selectors)
                if hit:
                    yield hit, body

    def _shaded(
        self, rules: list[Rule], inline: list[tuple[Element, str]], suspects: "Suspects"
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
        return [element for one in _split(selectors) for element in self._matches(one, self._named, None)]

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
        if _names_nobody(selector, named):
            return ()
        if ":" in selector and PSEUDO.search(selector):
            return ()
        if SINGLE_NAME.fullmatch(selector):
            return named.get(selector.replace("\\", ""), ())
        plain = selector.partition("(")[0]
        if any(kind + name.replace("\\", "") not in self._named for kind, name in NAMES.findall(plain)):
            return ()
        if "[" not in selector and "(" not in selector:
            tried = _tried(LAST_PART.split(selector)[-1], named, tags=among is not None)
            if tried is not None and len(tried) <= MAX_TRIED:
                return _matching(tried, selector)
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


def _rules(document: Document) -> list[Rule]:
    """The rules of the page's own stylesheets, in order."""
    sheets = [style.text for style in document.select("style")]
    if sum(map(len, sheets)) > MAX_SHEET_CHARACTERS:
        return []
    return [
        (selectors, body.lower())
        for sheet in sheets
        for part in _on_screen(COMMENT.sub(" ", sheet) if "/*" in sheet else sheet)
        for selectors, body in RULE.findall(part)
        if "@" not in selectors and len(body) <= MAX_BODY
    ]


class Suspects:
    """Text colours that cannot be read on white, or on a background that the page names somewhere."""

    def __init__(self, bodies: list[str]) -> None:
        texts = _parsed({word for body in bodies if "color" in body for word in _text_colours(body)})
        grounds = _parsed({word for body in bodies if "background" in body for word in _backgrounds(body)})
        self.white = frozenset(word for word, colour in texts.items() if unreadable(colour, WHITE))
        pairs = [
            (text, ground)
            for text, colour in texts.items()
            if text not in self.white
            for ground, shade in grounds.items()
            if unreadable(colour, shade)
        ]
        self.texts = frozenset(text for text, _ in pairs)
        self.grounds = frozenset(ground for _, ground in pairs)

    def names(self, body: str, *, grounds: bool) -> bool:
        """Whether these declarations name such a colour for text."""
        return "color" in body and (self.on_white(body) or (grounds and self.on_ground(body)))

    def on_white(self, body: str) -> bool:
        """Whether they name one that cannot be read on white."""
        return any(word in body for word in self.white) and not self.white.isdisjoint(_text_colours(body))

    def on_ground(self, body: str) -> bool:
        """Whether they name one that cannot be read on some background of the page."""
        return any(word in body for word in self.texts) and not self.texts.isdisjoint(_text_colours(body))

    def shades(self, body: str) -> bool:
        """Whether they name such a background."""
        return "background" in body and not self.grounds.isdisjoint(_backgrounds(body))


def _parsed(words: set[str]) -> dict[str, Colour]:
    colours = {word: parse(word) or parse(word.partition(" ")[0]) for word in words}
    return {word: colour for word, colour in colours.items() if colour is not None}


def _families(body: str) -> set[str]:
    """The families by which these declarations may hide something."""
    return {hit.lastgroup or "" for hit in HIDES.finditer(body)} if _may_hide(body) else set()


def _backgrounds(body: str) -> list[str]:
    return [word.strip() for word in BACKGROUND.findall(body)]


def _may_hide(body: str) -> bool:
    """Whether a closer look is worth while; written out because most of the time of a page with much style goes here."""
    return (
        "none" in body or "hidden" in body or "collapse" in body or "opacity" in body or "clip" in body
        or ":0" in body or ": 0" in body or ":-" in body or ": -" in body or ":1" in body or ": 1" in body
        or ":." in body or ": ." in body or "font:" in body or "scale" in body or "rotate" in body
        or "transl" in body or "mask" in body or "left" in body
        or "right" in body or "top" in body or "bottom" in body or "indent" in body
    )  # fmt: skip


def _text_colours(body: str) -> list[str]:
    return [(plain or filled).strip() for plain, filled in TEXT_COLOUR.findall(body)]


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
    return last not in named and COMBINATORS.isdisjoint(last) and last[1:].replace("-", "_").isidentifier()


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
