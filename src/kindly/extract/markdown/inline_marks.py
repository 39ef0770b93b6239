"""Inline elements that Markdown cannot write as they are: no tag is left in the text. The tree is changed in place."""

from turbohtml import Element, Text

from kindly.extract.markdown import filled_sibling

CODE_SIBLINGS = ("code", "kbd", "samp", "tt")
NEXT_CODE = tuple(f":is({', '.join(CODE_SIBLINGS)}) + {tag}" for tag in CODE_SIBLINGS)
"""One selector a tag is found much faster than one for all."""
EMPHASIS = "b, strong, i, em, u, s, del, ins, mark"
EMPHASIS_TAGS = frozenset(EMPHASIS.split(", "))
EMPHASISED_BREAK = f":is({EMPHASIS}) > br"


def normalise_inline_marks(root: Element) -> None:
    """Write `tt` as code, separate code that follows code, and end emphasis that goes over several paragraphs."""
    for typed in root.select("tt"):
        if typed.closest("pre, code, a") is None and typed.select_one("a, img, code") is None:
            typed.tag = "code"
    for code in [element for selector in NEXT_CODE for element in root.select(selector)]:
        if isinstance(code.previous_sibling, Element):
            code.insert_before(Text(" "))
    for line_break in root.select(EMPHASISED_BREAK):
        _move_out(line_break, root)
    for second in root.select("br + br"):
        before = filled_sibling(second, back=True)
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
        if filled_sibling(line_break, back=False) is None:
            around.insert_after(line_break.extract())
        elif filled_sibling(line_break, back=True) is None:
            around.insert_before(line_break.extract())
        else:
            return
