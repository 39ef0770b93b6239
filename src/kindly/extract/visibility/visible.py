"""A parsed page → the same tree without what a person would not see, and how many pieces went.

Inline styles, the page's own stylesheets and plain markup are read; layout and scripts are not. It drops nothing that
it cannot tell from visible text.
"""

import re
from collections.abc import Iterator, Sequence

from turbohtml import Document, Element, Node, Text

from kindly.extract.visibility.colours import WHITE, Colour, parse, unreadable
from kindly.extract.visibility.css import Cascade, Style

NOT_TEXT = (
    "template, noframes, noembed, datalist, iframe, object, video, audio, canvas, embed, input, textarea, select, "
    "[aria-hidden=true].katex-html"
)
"""Controls, embedded things and their fallbacks: no text of the page."""

FALLBACK_TAGS = "template noframes noembed object video audio canvas iframe datalist"
FALLBACKS = frozenset(FALLBACK_TAGS.split())
"""Of these, what stands where browsers draw something else; counted when it holds text."""

HIDDEN_MARKUP = "[hidden], [popover], dialog:not([open]), annotation, annotation-xml"
"""Text that browsers do not show."""
MAX_PARENTHESIS = 2
"""Browsers that know ruby do not show `rp`; a parenthesis there does no harm to those who read it."""
UNLESS_DISPLAYED = ("hidden", "popover")
"""Attributes that any `display` of the page's own overrules."""

PANELS = "[role=tabpanel], main [role=region][id], article [role=region][id]"
CHROME = "nav, header, footer, aside, dialog, form, [role=navigation], [role=dialog], [role=menu], [role=search]"

REVEALED_SHARE = 0.6
REVEALED_CHARACTERS = 600
"""An element with this much of the page's text is hidden only until a script shows it."""

LENGTH = re.compile(r"(-?(?:\d+(?:\.\d*)?|\.\d+))(px|r?em|%|vw|vh|pt)?\Z")
NUMBERS = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)")
PIXELS = {
    "px": 1.0,
    "pt": 1.33,
    "em": 16.0,
    "rem": 16.0,
    "%": 10.0,
    "vw": 12.8,
    "vh": 8.0,
    None: 1.0,
}
RELATIVE_SIZE = re.compile(r"(?:\d(?:em|ex|ch|%)|smaller|larger)\Z")
"""Sizes that are shares of the size around them."""
LEGACY_STYLED = frozenset({"font", "table", "tr", "td", "th", "body"})
"""May carry their colours as attributes."""
OFF_SCREEN_PX = 500
FAR_RIGHT_PX = 5_000
TINY_PX = 1.5
FLAT_TURN = re.compile(r"rotate[xy]\(\s*-?(?:90|270)deg|scale(?:3d|[xy])?\(\s*0*\.?0*\s*[,)]")
FLAT_AXIS = re.compile(r"[xy]\s+-?(?:90|270)deg|-?(?:90|270)deg\s+[xy]")
TRANSFORM = re.compile(r"(matrix|translate(?:x|y|3d)?)\(([^()]*)\)")
NO_CIRCLE = re.compile(r"(?:circle|ellipse)\(\s*0(?![.\d]*[1-9])")
INSET = re.compile(r"inset\(\s*((?:(?:\d+(?:\.\d*)?|\.\d+)(?:%|(?<=0))\s*){1,4})(?:round[^)]*)?\)")
HALF_INSET = re.compile(r"inset\(\s*(?:[5-9]\d|100)(?:\.\d+)?%")


CLEAR = frozenset({"transparent", "#0000", "#00000000", "#fff0", "#ffffff00"})

Piece = Sequence[Element | Text]
"""What one rule of the page hides."""


def drop_unseen(document: Document) -> int:
    """Take invisible elements and text out of the tree; the number of pieces that held text."""
    fallbacks = sum(bool(element.text.strip()) for element in document.iter_elements(FALLBACKS))
    document.remove(NOT_TEXT)
    cascade = Cascade(document)
    document.remove("style")
    page_characters = len(document.text)
    folded = _folded(document)
    pieces: list[Piece] = [
        [element]
        for element in document.select(HIDDEN_MARKUP)
        if element not in folded
        and not _is_displayed(element, cascade)
        and not _shown_by_script(len(element.text), page_characters)
    ]
    pieces += [[rp] for rp in document.select("rp") if len(rp.text.strip()) > MAX_PARENTHESIS]
    pieces += _styled_unseen(document, cascade, folded, page_characters)
    return fallbacks + _drop(pieces)


def _is_displayed(element: Element, cascade: Cascade) -> bool:
    """Whether the page's own style shows what an attribute would hide."""
    display = cascade.of(element).get("display", "none")
    return display not in ("none", "") and any(
        element.attr(name) is not None for name in UNLESS_DISPLAYED
    )


def _folded(document: Document) -> set[Node]:
    """Panels that a visitor opens himself: a tab or a button in sight says that it shows them."""
    panels = document.select(PANELS)
    if not panels:
        return set()
    tabs = document.select(
        "[role=tab], button[aria-controls], a[aria-controls], summary[aria-controls]"
    )
    openers = [
        tab for tab in tabs if tab.text.strip() and tab.closest(f"{CHROME}, [hidden]") is None
    ]
    opened = {tab.attr("aria-controls") for tab in openers} - {None}
    named = {tab.attr("id") for tab in openers} - {None}
    return {
        panel
        for panel in panels
        if (panel.attr("id") in opened or panel.attr("aria-labelledby") in named)
        and panel.closest(CHROME) is None
    }


def _styled_unseen(
    document: Document, cascade: Cascade, folded: set[Node], page_characters: int
) -> list[Piece]:
    """What styles hide, unless they hide the whole page and thus only until a script shows it."""
    inks = _Inks(cascade, external=document.select_one("link[rel~=stylesheet]") is not None)
    pieces: list[Piece] = []
    judged: dict[tuple[tuple[str, str], ...], tuple[bool, bool]] = {}
    walked: set[Node] = set()
    for element in (*cascade, *document.select("font[color]")):
        if element.tag in ("html", "body", "head"):
            continue
        style = cascade.of(element)
        key = tuple(style.items())
        if key not in judged:
            judged[key] = is_unseen(style), _may_hide_text(style)
        unseen, may_hide_text = judged[key]
        if unseen:
            if element not in folded and not _shown_by_script(len(element.text), page_characters):
                pieces.append([element])
        elif (may_hide_text or element.tag == "font") and walked.isdisjoint(element.ancestors):
            walked.add(element)
            pieces.append(list(inks.unseen_text(element)))
    return [] if _is_everything(pieces, document, page_characters) else pieces


def _is_everything(pieces: list[Piece], document: Document, page_characters: int) -> bool:
    """Whether these pieces are nearly all text of the page; what lies in two of them counts once."""
    if page_characters <= REVEALED_CHARACTERS or not pieces:
        return False
    nodes = {node for piece in pieces for node in piece}
    whole = sum(_dense(node) for node in nodes if nodes.isdisjoint(node.ancestors))
    return whole > REVEALED_CHARACTERS and whole > 0.95 * _dense(document)


def _dense(node: Node) -> int:
    """Characters of text, white space not counted."""
    return sum(map(len, node.text.split()))


def is_unseen(style: Style) -> bool:
    """Whether an element of this style is not drawn, whatever is inside it."""
    return (
        style.get("display") == "none"
        or style.get("content-visibility") == "hidden"
        or _at_most(style.get("opacity"), 0.04)
        or _at_most(style.get("zoom"), 0.04)
        or "opacity(0" in style.get("filter", "")
        or _is_off_screen(style)
        or _is_clipped(style)
        or _is_zero_box(style)
        or _is_flattened(style)
    )


def _drop(pieces: list[Piece]) -> int:
    """Remove all pieces; how many held text, those inside another one not counted."""
    nodes = {node for piece in pieces for node in piece}
    held = 0
    for piece in pieces:
        held += any(nodes.isdisjoint(node.ancestors) and node.text.strip() for node in piece)
    for node in nodes:
        node.decompose()
    return held


def _shown_by_script(size: int, page_characters: int) -> bool:
    return size > REVEALED_CHARACTERS and size > REVEALED_SHARE * page_characters


def _is_off_screen(style: Style) -> bool:
    if style.get("position") in ("absolute", "fixed", "relative"):
        for side in ("left", "top", "right", "bottom"):
            offset = _pixels(style.get(side))
            if offset is not None and (offset <= -OFF_SCREEN_PX or offset >= FAR_RIGHT_PX):
                return True
        if any(_is_far(offset) for offset in style.get("inset", "").split()):
            return True
    if any(_is_far(offset) for offset in style.get("margin", "").split()):
        return True
    for name in ("text-indent", "margin-left", "margin-top"):
        offset = _pixels(style.get(name))
        if offset is not None and offset <= -OFF_SCREEN_PX:
            return True
    return False


def _is_far(word: str) -> bool:
    offset = _pixels(word)
    return offset is not None and offset <= -OFF_SCREEN_PX


def _is_clipped(style: Style) -> bool:
    clip, path = style.get("clip", ""), style.get("clip-path", "")
    if clip.startswith("rect(") and all(abs(float(n)) <= 1 for n in NUMBERS.findall(clip)):
        return "auto" not in clip
    if NO_CIRCLE.search(path) or HALF_INSET.search(path) or _is_inset_away(path):
        return True
    return path.startswith("polygon(") and all(float(n) == 0 for n in NUMBERS.findall(path))


def _is_inset_away(path: str) -> bool:
    """Whether opposite sides of `inset(…)` meet."""
    found = INSET.match(path)
    if found is None:
        return False
    parts = [float(part) for part in found[1].replace("%", " ").split()]
    top, right, bottom, left = (parts * 4)[:4] if len(parts) != 3 else (*parts, parts[1])
    return top + bottom >= 100 or left + right >= 100


def _is_zero_box(style: Style) -> bool:
    overflow = " ".join(style.get(name, "") for name in ("overflow", "overflow-x", "overflow-y"))
    if "hidden" not in overflow and "clip" not in overflow:
        return False
    sizes = [_pixels(style.get(name)) for name in ("height", "max-height", "width", "max-width")]
    return any(size is not None and size <= 1 for size in sizes)


def _is_flattened(style: Style) -> bool:
    transform, turn = style.get("transform", ""), style.get("rotate", "")
    if FLAT_TURN.search(transform) or style.get("scale") in ("0", "0%") or FLAT_AXIS.match(turn):
        return True
    if _is_moved_away(transform) or _is_moved_away(f"translate({style.get('translate', '')})"):
        return True
    return any(
        _is_clear_mask(style.get(name, ""))
        for name in ("mask-image", "-webkit-mask-image", "mask", "-webkit-mask")
    )


def _is_moved_away(transform: str) -> bool:
    for name, values in TRANSFORM.findall(transform):
        numbers = [_moved(word) for word in values.replace(",", " ").split()]
        if name == "matrix" and len(numbers) == 6:
            if not any(numbers[:4]) or min(numbers[4:]) <= -OFF_SCREEN_PX:
                return True
        elif name.startswith("translate") and min(numbers, default=0) <= -OFF_SCREEN_PX:
            return True
    return False


def _moved(length: str) -> float:
    """How far a box is moved, in pixels; by less than twice its own size, as centring does, it is not moved away."""
    far = _pixels(length) or 0.0
    return 0.0 if length.endswith("%") and far > 2 * -100 * PIXELS["%"] else far


def _is_clear_mask(mask: str) -> bool:
    kind, _, stops = mask.partition("-gradient(")
    words = {stop.strip() for stop in stops.partition(")")[0].split(",")}
    return kind in ("linear", "radial", "conic") and words <= CLEAR


def _at_most(value: str | None, bound: float) -> bool:
    found = LENGTH.match(value or "")
    if found is None:
        return False
    return float(found.group(1)) / (100 if found.group(2) == "%" else 1) <= bound


def _pixels(value: str | None) -> float | None:
    found = LENGTH.match(value or "")
    return float(found.group(1)) * PIXELS[found.group(2)] if found else None


def _may_hide_text(style: Style) -> bool:
    return (
        style.get("visibility") in ("hidden", "collapse")
        or _is_tiny(style) is True
        or parse(style.get("-webkit-text-fill-color") or style.get("color", "")) is not None
    )


def _is_tiny(style: Style) -> bool | None:
    """Whether text of this size cannot be read; None when the style names no size."""
    size = style.get("font-size")
    if size is None:
        sizes = re.findall(r"(?:^|\s)([\d.]+(?:px|em|rem|%|pt)?)(?:/|\s)", style.get("font", ""))
        size = sizes[0] if sizes else None
    pixels = _pixels(size)
    return None if size is None else pixels is not None and pixels < TINY_PX


class _Ink:
    """What a piece of text looks like at one place of the tree."""

    __slots__ = ("background", "colour", "hidden", "tiny", "unseen")

    def __init__(
        self, *, hidden: bool, tiny: bool, colour: Colour | None, background: Colour | None
    ) -> None:
        self.hidden = hidden
        self.tiny = tiny
        self.colour = colour
        self.background = background
        self.unseen = hidden or tiny or _is_unreadable(colour, background)

    def under(self, element: Element, style: Style) -> "_Ink":
        """The looks inside a child element."""
        if not style and element.tag not in LEGACY_STYLED:
            return self
        visibility, tiny = style.get("visibility"), _is_tiny(style)
        if self.tiny and RELATIVE_SIZE.search(style.get("font-size", "")):
            tiny = True
        hidden = visibility in ("hidden", "collapse") if visibility else self.hidden
        return _Ink(
            hidden=hidden,
            tiny=self.tiny if tiny is None else tiny,
            colour=_text_colour(element, style, self.colour),
            background=_background(element, style, self.background),
        )


def _is_unreadable(colour: Colour | None, background: Colour | None) -> bool:
    if colour is None:
        return False
    return colour.alpha <= 0.05 if background is None else unreadable(colour, background)


def _text_colour(element: Element, style: Style, inherited: Colour | None) -> Colour | None:
    clip = style.get("background-clip") or style.get("-webkit-background-clip") or ""
    if "text" in clip:
        return None
    word = style.get("-webkit-text-fill-color") or style.get("color")
    if word is None and element.tag == "font":
        word = (element.attr("color") or "").lower() or None
    if word is None or word in ("inherit", "currentcolor"):
        return inherited
    return parse(word)


def _background(element: Element, style: Style, inherited: Colour | None) -> Colour | None:
    if style.get("background-image", "none") != "none":
        return None
    word = style.get("background-color") or style.get("background") or element.attr("bgcolor")
    if not word or word in ("none", "inherit", "transparent", "initial", "unset"):
        return inherited
    colour = parse(word.lower()) or parse(word.lower().split()[0])
    if colour is not None and colour.alpha < 0.5:
        return None
    return colour


class _Inks:
    """What text looks like at every place of a tree, each place looked at once."""

    def __init__(self, cascade: Cascade, *, external: bool) -> None:
        self._cascade = cascade
        self._external = external
        self._known: dict[Node, tuple[_Ink, bool]] = {}

    def unseen_text(self, element: Element) -> Iterator[Text]:
        """The text under `element` that cannot be read."""
        stack = [(element, self._of(element))]
        while stack:
            parent, looks = stack.pop()
            for child in parent.children:
                if isinstance(child, Element):
                    stack.append((child, looks.under(child, self._cascade.of(child))))
                elif isinstance(child, Text) and looks.unseen and child.data.strip():
                    yield child

    def _of(self, element: Element) -> _Ink:
        """The looks inside `element`; unknown colours where an external stylesheet may have a say."""
        chain: list[Element] = []
        node: Node | None = element
        while isinstance(node, Element) and node not in self._known:
            chain.append(node)
            node = node.parent
        ink, plain = self._known.get(node, (BLANK, True)) if node is not None else (BLANK, True)
        for place in reversed(chain):
            if plain and self._external and (place.attr("class") or place.attr("id")):
                plain = False
                ink = _Ink(
                    hidden=ink.hidden,
                    tiny=ink.tiny,
                    colour=ink.colour,
                    background=None if ink.background == WHITE else ink.background,
                )
            ink = ink.under(place, self._cascade.of(place))
            if place.tag in ("html", "body"):
                ink = _Ink(hidden=False, tiny=False, colour=ink.colour, background=ink.background)
            self._known[place] = (ink, plain)
        return ink


BLANK = _Ink(hidden=False, tiny=False, colour=None, background=WHITE)
