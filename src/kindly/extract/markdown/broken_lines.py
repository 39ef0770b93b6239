"""Code and logs whose lines are separated by `<br>` → `pre` elements. The tree is changed in place.

Such lines are in one element (`code`, `tt`, `samp`, a fixed-width font), or each line is in a `code` of its own.
"""

import re

from turbohtml import Element, Node, Text

from kindly.extract.markdown import filled_sibling

CODE = "code, tt, samp, kbd"
CODE_TAGS = frozenset(CODE.split(", "))
FIXED_WIDTH = ", ".join(
    f":is(p, div, span, font)[style*={font} i], font[face*={font} i]"
    for font in ("monospace", "courier", "consolas", "menlo")
)
RICH = (
    "a, img, table, p, div, ul, ol, dl, blockquote, h1, h2, h3, h4, h5, h6, section, figure, input"
)
"""What text in a fixed-width font has if it is not code."""
LEAST_LINES = 3
"""Of text in a fixed-width font, and of lines that are each in a `code` of their own."""
LINE_CHARACTERS = 160
NEWLINE_BEFORE = re.compile(r"[ \t]*\n\s*\Z")
NEWLINE_AFTER = re.compile(r"\A[ \t]*\n")


def join_broken_lines(root: Element) -> None:
    """Turn code with `<br>` between its lines into `pre`; in data tables, each line into a `code` of its own."""
    if root.select_one("br") is None:
        return
    for code in root.select(f":is({CODE}):has(br)"):
        if code.closest("pre") is None and code.select_one(f"pre, :is({CODE}):has(br)") is None:
            _join(code)
    for styled in root.select(f":is({FIXED_WIDTH}):has(br)"):
        if styled.closest(f"pre, {CODE}") is None and _looks_like_code(styled):
            _join(styled)
    for first in root.select(f":is({CODE}):has(+ br)"):
        if first.parent is not None and first.closest("pre, td, th") is None:
            _join_run(first)


def _join(code: Element) -> None:
    if sum(bool(line.strip()) for line in _lines(code)) < 2:
        for line_break in code.select("br"):
            code.insert_after(line_break.extract())
        return
    cell = code.closest("td, th")
    table = cell.closest("table") if cell is not None else None
    if table is not None and table.select_one("th") is not None:
        _split(code)
        return
    _drop_newlines(code)
    code.tag = "pre"


def _split(code: Element) -> None:
    """Write each line of code in a table cell as a `code` of its own: a cell has no code blocks."""
    lines = [line.strip() for line in _lines(code)]
    pieces: list[Node] = []
    for line in filter(None, lines):
        pieces += [Element("br"), Element("code", children=[Text(line)])]
    code.replace_with(*pieces[1:])


def _lines(code: Element) -> list[str]:
    parts = [[""]]
    for node in code.descendants:
        if isinstance(node, Element) and node.tag == "br":
            parts.append([])
        elif isinstance(node, Text):
            parts[-1].append(node.data)
    return ["".join(part) for part in parts]


def _looks_like_code(styled: Element) -> bool:
    """Whether text in a fixed-width font has several short lines and nothing but text."""
    if styled.select_one(RICH) is not None:
        return False
    lines = [line for line in _lines(styled) if line.strip()]
    return len(lines) >= LEAST_LINES and max(map(len, lines)) <= LINE_CHARACTERS


def _drop_newlines(code: Element) -> None:
    """Drop the newlines of the source beside breaks, which a browser collapses."""
    for line_break in code.select("br"):
        before, after = line_break.previous_sibling, line_break.next_sibling
        if isinstance(before, Text):
            before.data = NEWLINE_BEFORE.sub("", before.data)
        if isinstance(after, Text):
            after.data = NEWLINE_AFTER.sub("", after.data)


def _join_run(first: Element) -> None:
    """Turn elements of code with nothing but breaks between them into one `pre`."""
    run = _run(first)
    lines = sum(node.tag != "br" for node in run)
    if lines < LEAST_LINES or not _starts_line(first) or not _ends_line(run[-1]):
        return
    pre = Element("pre")
    first.insert_before(pre)
    for node in run:
        pre.append(node.extract())
    pre.strip_tags(CODE)


def _run(first: Element) -> list[Element]:
    """The elements of code, one a line, and the breaks between them."""
    run = [first]
    while (node := filled_sibling(run[-1], back=False)) is not None:
        is_code = isinstance(node, Element) and node.tag in CODE_TAGS and run[-1].tag == "br"
        if not isinstance(node, Element) or (node.tag != "br" and not is_code):
            break
        run.append(node)
    return run


def _starts_line(code: Element) -> bool:
    """Whether no text, and no other line of code, is before it."""
    before = filled_sibling(code, back=True)
    if not isinstance(before, Element) or before.tag != "br":
        return before is None
    while isinstance(before, Element) and before.tag == "br":
        before = filled_sibling(before, back=True)
    return not isinstance(before, Element) or before.tag not in CODE_TAGS


def _ends_line(last: Element) -> bool:
    return last.tag == "br" or filled_sibling(last, back=False) is None
