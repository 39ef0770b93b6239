"""Lines in table cells: breaks, paragraphs and list items → one line with separators. The tree is changed in place.

A cell of a Markdown table is one line. `; ` separates lines, unless the line before ends with punctuation, or the next
one goes on with a bracket, punctuation or a small letter. In headers, lines are joined by spaces.
"""

from turbohtml import Element, Text

BLOCKS = "p, div, ul, ol, li, dl, dt, dd, blockquote, center, section, article, figure, figcaption, address"
SEPARATOR = "; "
NO_SEPARATOR_AFTER = frozenset(".,;:!?…([{/|•·–—-+=&。、，；：？！（「")
NO_SEPARATOR_BEFORE = frozenset(".,;:!?…)]}/|•·–—-+=&%。、，；：？！）」([{（「")
VERBATIM = "code, pre"
BLOCK_END = "data-block-end"
"""Attribute of the breaks at the edges of a paragraph or item."""


def join_lines(table: Element) -> None:
    """Write the lines of every cell of this table as one line."""
    if table.select_one(f"br, {BLOCKS}") is None:
        return
    for block in table.select(BLOCKS):
        block.insert_before(Element("br", {BLOCK_END: ""}))
        block.insert_after(Element("br", {BLOCK_END: ""}))
        block.unwrap()
    cells = {
        cell: None
        for line_break in table.select("br")
        if (cell := line_break.closest("td, th, caption")) is not None
    }
    for cell in cells:
        _join(cell, SEPARATOR if cell.tag == "td" else " ")


def _join(cell: Element, separator: str) -> None:
    before: Text | None = None
    broken: Element | None = None
    for node in list(cell.descendants):
        if isinstance(node, Element) and node.tag == "br":
            if node.closest(VERBATIM) is None:
                broken = _last_break(broken, node)
        elif isinstance(node, Text) and node.data.strip():
            if broken is not None:
                _replace(broken, before, node, separator)
                broken = None
            before = node
    if broken is not None:
        broken.decompose()


def _last_break(broken: Element | None, node: Element) -> Element:
    """Of several breaks in a row, the first stays; it is the edge of a block if one of them is."""
    if broken is None:
        return node
    broken.attrs.update(node.attrs)
    node.decompose()
    return broken


def _replace(broken: Element, before: Text | None, after: Text, separator: str) -> None:
    """Write a separator in the place of a break, without white space around it."""
    if before is None:
        broken.decompose()
        return
    for node in (broken.previous_sibling, broken.next_sibling):
        if isinstance(node, Text) and not node.data.strip():
            node.data = ""
    before.data = before.data.rstrip()
    after.data = after.data.lstrip()
    last, first = before.data[-1], after.data[0]
    ends = last not in NO_SEPARATOR_AFTER and first not in NO_SEPARATOR_BEFORE
    ends = ends and (BLOCK_END in broken.attrs or not first.islower())
    broken.replace_with(Text(separator if ends else " "))
