"""A page's tree → its blocks of running text and the elements around them, as flat lists.

A block is text that no block-level element interrupts. One walk over the tree; nothing is judged here, and how deep or
wide the tree may be is bounded: below `MAX_DEPTH` an element counts as one block.
"""

import re
from dataclasses import dataclass, field

from turbohtml import Element, Node, Text

MAX_DEPTH = 200
INLINE_TAGS = """
    a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd mark nobr q rp rt ruby s samp small span
    strike strong sub sup time tt u var wbr br picture source area math
"""
INLINE = frozenset(INLINE_TAGS.split())
TAG_ORDER = """
    button nav footer menu label form aside input header option legend td th tr tbody thead table div li a ul ol span
    section center figure figcaption h6 h5 h4 h3 h2 h1 summary details dt dl dd article main body address caption p
    blockquote pre
"""
TAG_CODES = {tag: code for code, tag in enumerate(TAG_ORDER.split(), start=1)}
"""Block-level tags, from those that seldom hold content to those that mostly do."""

MARKS = (
    *("nav", "header", "footer", "aside", "main", "article", "section", "form", "table", "li"),
    *("figure", "blockquote", "dl", "details", "button", "pre", "heading"),
    *("role-chrome", "role-main", "role-dialog", "role-list"),
    *("prop-body", "prop-name", "prop-trade", "prop-other", "type-product", "type-crumbs"),
    *("type-comment", "type-other", "popup"),
)
BITS = {name: 1 << position for position, name in enumerate(MARKS)}
TAG_MARKS = {
    **{tag: BITS[tag] for tag in MARKS[:16] if tag in TAG_CODES},
    **{f"h{level}": BITS["heading"] for level in range(1, 7)},
}
ROLE_MARKS = {
    **dict.fromkeys(
        ("navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar"),
        BITS["role-chrome"],
    ),
    "main": BITS["role-main"],
    "article": BITS["article"],
    "dialog": BITS["role-dialog"],
    "alertdialog": BITS["role-dialog"],
    "list": BITS["role-list"],
    "listitem": BITS["role-list"],
}
PROPERTY_MARKS = {
    **dict.fromkeys(
        ("articlebody", "description", "text", "reviewbody", "mainentity"), BITS["prop-body"]
    ),
    **dict.fromkeys(("name", "headline"), BITS["prop-name"]),
    **dict.fromkeys(("offers", "price", "brand", "sku", "aggregaterating"), BITS["prop-trade"]),
}
TYPE_MARKS = (
    ("product", BITS["type-product"]),
    ("breadcrumb", BITS["type-crumbs"]),
    ("comment", BITS["type-comment"]),
    ("review", BITS["type-comment"]),
    ("answer", BITS["type-comment"]),
)
MARKED = "[role], [itemprop], [itemtype], [aria-modal]"
DIGITS = re.compile(r"\d+")
ASCII_DIGITS = b"0123456789"


@dataclass(slots=True)
class Blocks:
    """The text of a page in pieces, and the tree above them; every list of a group has one entry for each."""

    texts: list[str] = field(default_factory=list)
    nodes: list[list[Node]] = field(default_factory=list)
    """Text nodes and images of each block."""
    holders: list[int] = field(default_factory=list)
    """The element around each block."""
    linked: list[int] = field(default_factory=list)
    """Characters in links."""
    links: list[int] = field(default_factory=list)
    images: list[int] = field(default_factory=list)
    inner_names: list[str] = field(default_factory=list)
    """Classes of the first inline element that has any."""

    elements: list[Element] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    """The root is its own parent."""
    looks: list[int] = field(default_factory=list)
    """Elements of the same tag and names have the same number."""
    marked: dict[int, int] = field(default_factory=dict)
    """What attributes say of an element, where they say anything."""
    starts: list[int] = field(default_factory=list)
    """The first block within each element."""
    ends: list[int] = field(default_factory=list)
    """One past the last block within."""

    look_tags: list[str] = field(default_factory=list)
    look_names: list[str] = field(default_factory=list)
    """Classes and id, without their numbers."""

    @property
    def tags(self) -> list[str]:
        """The tag of each element."""
        return [self.look_tags[look] for look in self.looks]

    @property
    def names(self) -> list[str]:
        """The names of each element."""
        return [self.look_names[look] for look in self.looks]

    @property
    def marks(self) -> list[int]:
        """What tag and attributes say of each element, as bits."""
        marks = [TAG_MARKS.get(tag, 0) for tag in self.look_tags]
        found = [marks[look] for look in self.looks]
        for index, bits in self.marked.items():
            found[index] |= bits
        return found


def read_blocks(root: Element) -> Blocks:
    """The blocks below an element, in document order."""
    walk = _Walk(_attribute_marks(root))
    walk.element(root, root.tag, 0, linked=False, depth=0)
    return walk.blocks


class _Walk:
    """The state of one pass: the block that is being gathered and all that went before."""

    def __init__(self, marked: dict[Node, int]) -> None:
        self.blocks = Blocks()
        self._marked = marked
        self._looks: dict[tuple[str, str | None, str | None], int] = {}
        self._plain: dict[tuple[str, str], int] = {}
        self._pieces: list[str] = []
        self._nodes: list[Node] = []
        self._linked = self._links = self._images = 0
        self._names = ""
        self._broken = False

    def element(self, element: Element, tag: str, parent: int, *, linked: bool, depth: int) -> None:
        """Note down a block-level element and what is in it."""
        blocks = self.blocks
        index = len(blocks.parents)
        key = (tag, element.attr("class"), element.attr("id"))
        look = self._looks.get(key)
        blocks.elements.append(element)
        blocks.parents.append(parent)
        blocks.looks.append(self._look(*key) if look is None else look)
        if self._marked and (marks := self._marked.get(element)):
            blocks.marked[index] = marks
        blocks.starts.append(len(blocks.texts))
        blocks.ends.append(0)
        self._below(element, index, linked, depth)
        if self._pieces:
            self._close(index)
        blocks.ends[index] = len(blocks.texts)

    def _look(self, tag: str, classes: str | None, identity: str | None) -> int:
        names = _plain_names(classes, identity)
        look = self._plain.setdefault((tag, names), len(self._plain))
        if look == len(self.blocks.look_tags):
            self.blocks.look_tags.append(tag)
            self.blocks.look_names.append(names)
        self._looks[tag, classes, identity] = look
        return look

    def _below(self, element: Element, index: int, linked: bool, depth: int) -> None:  # noqa: FBT001
        pieces = self._pieces
        for child in element.children:
            if isinstance(child, Text):
                text = child.data
                if not text.isspace():
                    self._broken = False
                    if linked:
                        self._linked += len(text)
                    self._nodes.append(child)
                    pieces.append(text)
                elif pieces:
                    pieces.append(" ")
            elif isinstance(child, Element):
                tag = child.tag
                if tag in INLINE:
                    self._inline(child, tag, index, linked, depth)
                    continue
                if pieces:
                    self._close(index)
                if depth < MAX_DEPTH:
                    self.element(child, tag, index, linked=linked, depth=depth + 1)
                else:
                    self._whole(child)

    def _inline(self, child: Element, tag: str, index: int, linked: bool, depth: int) -> None:  # noqa: FBT001
        if tag == "br":
            self._break(index)
        elif tag == "img":
            self._images += 1
            self._nodes.append(child)
        elif depth < MAX_DEPTH:
            if not self._names:
                self._names = child.attr("class") or ""
            if tag == "a":
                self._links += 1
                linked = True
            self._below(child, index, linked, depth + 1)
        else:
            self._whole(child)

    def _whole(self, element: Element) -> None:
        self._nodes.append(element)
        self._pieces.append(element.text)

    def _break(self, index: int) -> None:
        """A line break; two of them end a block."""
        if not self._broken:
            self._broken = True
            if self._pieces:
                self._pieces.append("\n")
        elif self._pieces:
            self._close(index)

    def _close(self, index: int) -> None:
        text = "".join(self._pieces).strip()
        if text:
            blocks = self.blocks
            blocks.texts.append(text)
            blocks.nodes.append(self._nodes)
            blocks.holders.append(index)
            blocks.linked.append(self._linked)
            blocks.links.append(self._links)
            blocks.images.append(self._images)
            blocks.inner_names.append(_plain_names(self._names) if self._names else "")
        self._pieces.clear()
        self._nodes = []
        self._linked = self._links = self._images = 0
        self._names = ""
        self._broken = False


def _plain_names(classes: str | None, identity: str | None = None) -> str:
    names = (f"{classes or ''} {identity}" if identity else classes or "").strip()
    if names.isascii():  # quicker so, and nearly all are
        return names.encode().translate(None, ASCII_DIGITS).decode()[:200]
    return DIGITS.sub("", names)[:200]


def _attribute_marks(root: Element) -> dict[Node, int]:
    """What roles and schema.org attributes say, for the elements that have them."""
    return {element: _marks_of(element) for element in root.select(MARKED)}


def _marks_of(element: Element) -> int:
    marks = ROLE_MARKS.get(element.attr("role") or "", 0)
    if (name := element.attr("itemprop")) is not None:
        marks |= PROPERTY_MARKS.get(name.lower(), BITS["prop-other"])
    if (schema := element.attr("itemtype")) is not None:
        lowered = schema.lower()
        marks |= next((bit for word, bit in TYPE_MARKS if word in lowered), BITS["type-other"])
    return marks if element.attr("aria-modal") is None else marks | BITS["popup"]
