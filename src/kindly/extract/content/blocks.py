"""Block segmentation: a page's tree → its blocks of running text and the elements around them, as flat lists.

A block is text without a block-level element inside it. The tree is traversed once. Recursion is bounded: an element
deeper than `MAX_DEPTH` is added as one piece of text.
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
"""Codes of block-level tags, ordered from those that rarely hold content to those that mostly do."""

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
    """Parallel lists in three groups: one entry per block, one per element, one per element signature."""

    texts: list[str] = field(default_factory=list)
    nodes: list[list[Node]] = field(default_factory=list)
    """Text nodes and images of the block."""
    containers: list[int] = field(default_factory=list)
    """The number of the element that contains the block."""
    linked: list[int] = field(default_factory=list)
    """Characters of link text."""
    links: list[int] = field(default_factory=list)
    """Number of links."""
    images: list[int] = field(default_factory=list)
    """Number of images."""
    inner_names: list[str] = field(default_factory=list)
    """Class names of the first inline element that has any."""

    elements: list[Element] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    """The root is its own parent."""
    signatures: list[int] = field(default_factory=list)
    """Elements with the same tag, class names and id have the same signature number."""
    marked: dict[int, int] = field(default_factory=dict)
    """Mark bits from attributes, by element number; elements without such attributes are missing."""
    starts: list[int] = field(default_factory=list)
    """The first block within the element."""
    ends: list[int] = field(default_factory=list)
    """One past the last block within."""

    signature_tags: list[str] = field(default_factory=list)
    signature_names: list[str] = field(default_factory=list)
    """Class names and id, digits removed."""

    @property
    def tags(self) -> list[str]:
        return [self.signature_tags[signature] for signature in self.signatures]

    @property
    def names(self) -> list[str]:
        return [self.signature_names[signature] for signature in self.signatures]

    @property
    def marks(self) -> list[int]:
        """The mark bits of each element, from its tag and attributes."""
        marks = [TAG_MARKS.get(tag, 0) for tag in self.signature_tags]
        found = [marks[signature] for signature in self.signatures]
        for index, bits in self.marked.items():
            found[index] |= bits
        return found


def read_blocks(root: Element) -> Blocks:
    """The blocks below an element, in document order."""
    reader = _BlockReader(_attribute_marks(root))
    reader.element(root, root.tag, 0, linked=False, depth=0)
    return reader.blocks


class _BlockReader:
    """Traverses the tree once; holds the finished blocks and the block in progress."""

    def __init__(self, marked: dict[Node, int]) -> None:
        self.blocks = Blocks()
        self._marked = marked
        self._signatures: dict[tuple[str, str | None, str | None], int] = {}
        self._ids: dict[tuple[str, str], int] = {}
        self._pieces: list[str] = []
        self._nodes: list[Node] = []
        self._linked = self._links = self._images = 0
        self._names = ""
        self._after_break = False

    def element(self, element: Element, tag: str, parent: int, *, linked: bool, depth: int) -> None:
        """Add a block-level element and its content."""
        blocks = self.blocks
        index = len(blocks.parents)
        key = (tag, element.attr("class"), element.attr("id"))
        signature = self._signatures.get(key)
        blocks.elements.append(element)
        blocks.parents.append(parent)
        blocks.signatures.append(self._signature(*key) if signature is None else signature)
        if self._marked and (marks := self._marked.get(element)):
            blocks.marked[index] = marks
        blocks.starts.append(len(blocks.texts))
        blocks.ends.append(0)
        self._children(element, index, linked, depth)
        if self._pieces:
            self._close(index)
        blocks.ends[index] = len(blocks.texts)

    def _signature(self, tag: str, classes: str | None, identity: str | None) -> int:
        names = _without_digits(classes, identity)
        signature = self._ids.setdefault((tag, names), len(self._ids))
        if signature == len(self.blocks.signature_tags):
            self.blocks.signature_tags.append(tag)
            self.blocks.signature_names.append(names)
        self._signatures[tag, classes, identity] = signature
        return signature

    def _children(self, element: Element, index: int, linked: bool, depth: int) -> None:  # noqa: FBT001
        pieces = self._pieces
        for child in element.children:
            if isinstance(child, Text):
                text = child.data
                if not text.isspace():
                    self._after_break = False
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
                    self._add_subtree(child)

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
            self._children(child, index, linked, depth + 1)
        else:
            self._add_subtree(child)

    def _add_subtree(self, element: Element) -> None:
        self._nodes.append(element)
        self._pieces.append(element.text)

    def _break(self, index: int) -> None:
        """Add a line break; two in a row end a block."""
        if not self._after_break:
            self._after_break = True
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
            blocks.containers.append(index)
            blocks.linked.append(self._linked)
            blocks.links.append(self._links)
            blocks.images.append(self._images)
            blocks.inner_names.append(_without_digits(self._names) if self._names else "")
        self._pieces.clear()
        self._nodes = []
        self._linked = self._links = self._images = 0
        self._names = ""
        self._after_break = False


def _without_digits(classes: str | None, identity: str | None = None) -> str:
    names = (f"{classes or ''} {identity}" if identity else classes or "").strip()
    if names.isascii():  # the faster path, and by far the most common
        return names.encode().translate(None, ASCII_DIGITS).decode()[:200]
    return DIGITS.sub("", names)[:200]


def _attribute_marks(root: Element) -> dict[Node, int]:
    """Mark bits from ARIA and schema.org attributes, for the elements that have them."""
    return {element: _marks_of(element) for element in root.select(MARKED)}


def _marks_of(element: Element) -> int:
    marks = ROLE_MARKS.get(element.attr("role") or "", 0)
    if (name := element.attr("itemprop")) is not None:
        marks |= PROPERTY_MARKS.get(name.lower(), BITS["prop-other"])
    if (schema := element.attr("itemtype")) is not None:
        lowered = schema.lower()
        marks |= next((bit for word, bit in TYPE_MARKS if word in lowered), BITS["type-other"])
    return marks if element.attr("aria-modal") is None else marks | BITS["popup"]
