"""Inline elements that Markdown cannot write as they are: no tag is left in the text. The tree is changed in place."""

from turbohtml import Element, Node, Text

CODE_SIBLINGS = ("code", "kbd", "samp", "tt")
NEXT_CODE = ", ".join(f":is(code, kbd, samp, tt) + {tag}" for tag in CODE_SIBLINGS)
EMPHASIS = "b, strong, i, em, u, s, del, ins, mark"
EMPHASIS_TAGS = frozenset(EMPHASIS.split(", "))
EMPHASISED_BREAK = f":is({EMPHASIS}) > br"


def normalise_inline_marks(root: Element) -> None:
    """Separate code that follows code, and end emphasis that goes over several paragraphs."""
    for code in root.select(NEXT_CODE):
        if isinstance(code.previous_sibling, Element):
            code.insert_before(Text(" "))
    for line_break in root.select(EMPHASISED_BREAK):
        _move_out(line_break, root)
    for second in root.select("br + br"):
        before = _filled_sibling(second, back=True)
        if not isinstance(before, Element):
            continue
        while (around := second.closest(EMPHASIS)) is not None and around != root:
            around.unwrap()


def _move_out(line_break: Element, root: Element) -> None:
    """Move a break at the edge of emphasis out of it, as far as it is at an edge."""
    while True:
        around = line_break.parent
        if not isinstance(around, Element) or around == root or around.tag not in EMPHASIS_TAGS:
            return
        if _filled_sibling(line_break, back=False) is None:
            around.insert_after(line_break.extract())
        elif _filled_sibling(line_break, back=True) is None:
            around.insert_before(line_break.extract())
        else:
            return


def _filled_sibling(element: Element, *, back: bool) -> Node | None:
    """The next or previous node that is an element or has text."""
    node = element.previous_sibling if back else element.next_sibling
    while node is not None and not isinstance(node, Element) and not node.text.strip():
        node = node.previous_sibling if back else node.next_sibling
    return node
