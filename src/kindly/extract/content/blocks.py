"""Block segmentation: a page's tree → its blocks of running text and the elements around them, as flat lists.

A block is text without a block-level element inside it. The tree is traversed once. An element deeper than `MAX_DEPTH`
is added as one piece of text.
"""

import re
from collections import deque
from dataclasses import dataclass, field
from itertools import islice

from turbohtml import Element, Node, Text

MAX_DEPTH = 200
INLINE_TAGS = """
    a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd mark nobr q rp rt ruby s samp small span
    strike strong sub sup time tt u var wbr br picture source area math x-verbatim
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
SEPARATOR = "\0"
"""Between names that are processed together: HTML has no such character."""
MAX_NAMES = 200
"""Characters of the names of one element."""


@dataclass(slots=True)
class Blocks:
    """Parallel lists in three groups: one entry per block, one per element, one per element signature; and an index."""

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

    by_tag: dict[str, list[int]] = field(default_factory=dict)
    """The numbers of the elements with each tag, in document order."""

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
    reader.read(root)
    return reader.blocks


class _BlockReader:
    """Traverses the tree once; holds the finished blocks and the block in progress."""

    def __init__(self, marked: dict[Node, int]) -> None:
        self.blocks = Blocks()
        self._marked = marked
        self._kinds: dict[tuple[str, str | None, str | None], int] = {}
        """Numbers of the tags, class names and ids, as written."""
        self._pieces: list[str] = []
        self._nodes: list[Node] = []
        self._linked = self._links = self._images = 0
        self._names = ""
        self._after_break = False

    def read(self, root: Element) -> None:  # noqa: C901, PLR0912 - see below
        """Add the element and everything below it.

        One loop over all nodes: the end of an element shows in a node that has another parent. A recursion over the
        children takes longer.
        """
        pieces, path = self._pieces, list[tuple[Element, int, bool]]()
        top, index, linked = root, self._open(root, root.tag, 0), False
        nodes = iter(root.descendants)
        for node in nodes:
            parent = node.parent
            while parent is not top:
                top, outer, linked = path.pop()
                if outer != index:
                    self._end(index)
                    index = outer
            if isinstance(node, Text):
                text = node.data
                if not text.isspace():
                    self._after_break = False
                    if linked:
                        self._linked += len(text)
                    self._nodes.append(node)
                    pieces.append(text)
                elif pieces:
                    pieces.append(" ")
            elif isinstance(node, Element):
                if len(path) >= MAX_DEPTH:
                    self._add_subtree(node, index)
                    deque(islice(nodes, sum(1 for _ in node.descendants)), 0)
                    continue
                path.append((top, index, linked))
                top, tag = node, node.tag
                if tag not in INLINE:
                    if pieces:
                        self._close(index)
                    index = self._open(node, tag, index)
                else:
                    linked = self._add_inline(node, tag, index) or linked
        for at in dict.fromkeys((index, *(outer for _, outer, _ in reversed(path)), 0)):
            self._end(at)
        self._number_signatures()

    def _open(self, element: Element, tag: str, parent: int) -> int:
        """Start a block-level element; the result is its number."""
        blocks, kinds = self.blocks, self._kinds
        index = len(blocks.parents)
        blocks.elements.append(element)
        blocks.parents.append(parent)
        key = (tag, element.attr("class"), element.attr("id"))
        blocks.signatures.append(kinds.setdefault(key, len(kinds)))
        if self._marked and (marks := self._marked.get(element)):
            blocks.marked[index] = marks
        blocks.starts.append(len(blocks.texts))
        blocks.ends.append(0)
        return index

    def _end(self, index: int) -> None:
        """End a block-level element."""
        if self._pieces:
            self._close(index)
        self.blocks.ends[index] = len(self.blocks.texts)

    def _add_inline(self, element: Element, tag: str, index: int) -> bool:
        """Add an inline element; the result is whether it is a link."""
        if tag == "br":
            self._break(index)
        elif tag == "img":
            self._images += 1
            self._nodes.append(element)
        else:
            if not self._names:
                self._names = element.attr("class") or ""
            if tag == "a":
                self._links += 1
                return True
        return False

    def _add_subtree(self, element: Element, index: int) -> None:
        """Add an element in one piece of text, without regard to what is inside."""
        tag = element.tag
        if tag in ("br", "img"):
            self._add_inline(element, tag, index)
            return
        if tag not in INLINE and self._pieces:
            self._close(index)
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
            blocks.inner_names.append(self._names)
        self._pieces.clear()
        self._nodes = []
        self._linked = self._links = self._images = 0
        self._names = ""
        self._after_break = False

    def _number_signatures(self) -> None:
        """Remove the digits from all names, and number the tags and names that differ then."""
        blocks = self.blocks
        written = [
            (f"{classes or ''} {identity}" if identity else classes or "").strip()
            for _, classes, identity in self._kinds
        ]
        inner = {name: name.strip() for name in dict.fromkeys(blocks.inner_names)}
        plain = _without_digits([*written, *inner.values()])
        ids: dict[tuple[str, str], int] = {}
        numbers = [
            ids.setdefault((tag, names), len(ids))
            for (tag, _, _), names in zip(self._kinds, plain, strict=False)
        ]
        blocks.signatures = [numbers[kind] for kind in blocks.signatures]
        blocks.signature_tags = [tag for tag, _ in ids]
        blocks.signature_names = [names for _, names in ids]
        for at, number in enumerate(blocks.signatures):
            blocks.by_tag.setdefault(blocks.signature_tags[number], []).append(at)
        inner = dict(zip(inner, plain[len(written) :], strict=True))
        blocks.inner_names = [inner[name] for name in blocks.inner_names]


def _without_digits(names: list[str]) -> list[str]:
    """The names without digits, shortened; all are translated at once, which is faster."""
    text = SEPARATOR.join(names)
    ascii_only = text.isascii()  # the faster path, and by far the most common
    plain = _without_ascii_digits(text) if ascii_only else DIGITS.sub("", text)
    return [name[:MAX_NAMES] for name in plain.split(SEPARATOR)]


def _without_ascii_digits(text: str) -> str:
    return text.encode().translate(None, ASCII_DIGITS).decode()


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
