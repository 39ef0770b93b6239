"""Blocks of a PDF file → HTML, with paragraphs joined over columns and pages. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from itertools import pairwise
from types import MappingProxyType

from kindly.extract.formats.html_fragment import note
from kindly.extract.formats.pdf.pdf_blocks import (
    BULLET,
    ENTRY,
    ENUMERATED,
    SENTENCE_END,
    PdfBlock,
)
from kindly.extract.formats.pdf.pdf_headings import (
    Levels,
    Styles,
    number_depth,
    outline_key,
    rounded,
)
from kindly.extract.formats.pdf.pdf_lines import Line, same_row
from kindly.extract.formats.pdf.pdf_tables.cell_grid import continued
from kindly.extract.formats.pdf.pdf_tables.cell_grid import markup as table_markup
from kindly.extract.formats.pdf.pdf_words import Word
from kindly.text.page_marks import page_mark

SCRIPT = 0.85
MIN_CHARACTERS = 40
"""Shorter text is no beginning of a paragraph."""
NO_REMARKS: Mapping[int, str] = MappingProxyType({})


def document_markup(
    pages: Sequence[Sequence[PdfBlock]],
    styles: Styles,
    remarks: Mapping[int, str] = NO_REMARKS,
    *,
    numbered: bool = True,
    unread: frozenset[int] = frozenset(),
) -> str:
    """The markup of a document, with a note where each page begins; `remarks` are more notes, by the page's index.

    Nothing is joined over `unread` pages.
    """
    pages = _joined_pages(
        [_joined_columns(_with_true_headings(page, styles)) for page in pages], unread
    )
    headings = [block.lines for page in pages for block in page if block.kind == "heading"]
    levels = Levels(headings, styles)
    parts: list[str] = []
    for number, page in enumerate(pages, 1):
        if page:
            if numbered:
                parts.append(note(page_mark(number)))
            if remark := remarks.get(number - 1):
                parts.append(note(remark))
            parts += _page_parts(page, levels)
    return "".join(parts)


def _with_true_headings(page: Sequence[PdfBlock], styles: Styles) -> list[PdfBlock]:
    """The blocks; a heading with one of the same rank right after it is none, such as the lines of a cover."""
    found = list(page)
    largest = max((block.lines[0].size for block in page if block.kind == "heading"), default=0.0)
    for n, (block, after) in enumerate(pairwise(page)):
        if block.kind != "heading" or after.kind != "heading" or block.level or after.level:
            continue
        if number_depth(block.text) or outline_key(block.text) in styles.outline:
            continue
        rank = (rounded(block.lines[0].size), block.lines[0].bold)
        if (
            rank <= (rounded(after.lines[0].size), after.lines[0].bold)
            and block.lines[0].size < largest
        ):
            found[n] = replace(block, kind="item" if ENUMERATED.match(block.text) else "paragraph")
    return found


def _page_parts(page: Sequence[PdfBlock], levels: Levels) -> list[str]:
    parts: list[str] = []
    n = 0
    while n < len(page):
        block = page[n]
        end = n + 1
        while end < len(page) and page[end].kind == block.kind and block.kind in ("item", "entry"):
            end += 1
        if block.kind == "item":
            parts.append(_list(page[n:end]))
        elif block.kind == "entry":
            parts.append(f"<ul>{''.join(map(_entry, page[n:end]))}</ul>")
        else:
            parts.append(_single(block, levels))
        n = end
    return parts


def _single(block: PdfBlock, levels: Levels) -> str:
    if block.table is not None:
        return table_markup(block.table)
    if block.kind == "heading":
        level = block.level or levels.level(block.lines)
        return f"<h{level}>{_inline(block.lines, block.edge, breaks=False)}</h{level}>"
    if block.kind == "formula":
        return f"<p><code>{escape(_formula(block.lines), quote=False)}</code></p>"
    if block.kind == "code":
        return f"<pre><code>{escape(_whole_code(block), quote=False)}</code></pre>"
    return f"<p>{_inline(block.lines, block.edge)}</p>"


def _entry(block: PdfBlock) -> str:
    found = ENTRY.fullmatch(block.text)
    if found is None:
        return f"<li>{escape(block.text, quote=False)}</li>"
    title, number = found.groups()
    return f"<li>{escape(title, quote=False)}{f' · {number}' if number else ''}</li>"


def _list(items: Sequence[PdfBlock]) -> str:
    """Items as nested lists: an item further to the right belongs to the one above it."""
    out: list[str] = []
    open_lists: list[tuple[float, str]] = []
    for item in items:
        left = item.lines[0].left
        text = item.text
        number = ENUMERATED.match(text)
        tag = "ol" if number and not BULLET.match(text) else "ul"
        indent = 0.7 * item.lines[0].size
        while open_lists and (
            open_lists[-1][0] > left + indent
            or (abs(open_lists[-1][0] - left) <= indent and open_lists[-1][1] != tag)
        ):
            out.append(f"</li></{open_lists.pop()[1]}>")
        if open_lists and abs(open_lists[-1][0] - left) <= indent:
            out.append("</li>")
        else:
            start = (
                f' start="{int(number[1])}"' if tag == "ol" and number and number[1] != "1" else ""
            )
            out.append(f"<{tag}{start}>")
            open_lists.append((left, tag))
        out.append(f"<li>{_inline(item.lines, item.edge, skip=_mark_length(text))}")
    out += [f"</li></{tag}>" for _, tag in reversed(open_lists)]
    return "".join(out)


def _mark_length(text: str) -> int:
    found = BULLET.match(text) or ENUMERATED.match(text)
    return found.end() if found else 0


def _inline(lines: Sequence[Line], edge: float, *, breaks: bool = True, skip: int = 0) -> str:
    """The text of lines as HTML. A line break is kept where the next word would have fitted."""
    parts: list[str] = []
    link = ""
    for n, line in enumerate(lines):
        for m, word in enumerate(line.words):
            text = word.text
            if skip:
                cut = min(skip, len(text))
                text = text[cut:]
                skip -= cut + (not text and 1)
                skip = max(skip, 0)
                if not text:
                    continue
            if word.link != link:
                if link:
                    parts.append("</a>")
                separator = _separator(lines, n, m, edge, breaks=breaks) if parts else ""
                parts.append(separator)
                if word.link:
                    parts.append(f'<a href="{escape(word.link)}">')
                link = word.link
            elif parts:
                parts.append(_separator(lines, n, m, edge, breaks=breaks))
            parts.append(escape(text, quote=False))
    if link:
        parts.append("</a>")
    return "".join(parts).strip()


def _separator(lines: Sequence[Line], n: int, m: int, edge: float, *, breaks: bool) -> str:
    """What stands between a word and the one before it."""
    if m:
        return "" if lines[n].words[m].glued else " "
    if not n:
        return ""
    before = lines[n - 1]
    if before.broken_word:
        return ""
    if breaks and _breaks(before, lines[n], edge):
        return "<br>"
    return " "


def _breaks(before: Line, line: Line, edge: float) -> bool:
    """Whether the first word of a line would have fitted on the line before."""
    if same_row(before, line):
        return False
    if line.right_to_left:
        return False
    word = line.words[0]
    room = edge - before.right
    return room > (word.right - word.left) + 2.5 * line.size


def _formula(lines: Sequence[Line]) -> str:
    """A formula in one line, with `^` before superscripts and `_` before subscripts."""
    parts: list[str] = []
    for line in lines:
        middle = (line.bottom + line.top) / 2
        for word in line.words:
            if parts and word.size < SCRIPT * line.size:
                own = (word.bottom + word.top) / 2
                sign = "^" if own > middle else "_"
                parts.append(f"{sign}{word.text if len(word.text) == 1 else f'{{{word.text}}}'}")
            else:
                parts.append(f"{' ' if parts and not word.glued else ''}{word.text}")
        parts.append(" ")
    return " ".join("".join(parts).split())


def _whole_code(block: PdfBlock) -> str:
    """The text of code, with what goes on in the next column: its indentation counts from the edge of that column."""
    left = min(line.left for line in block.lines)
    parts = [_code(block.lines, left)]
    for more in block.more:
        own = min(line.left for line in more.lines)
        parts.append(_code(more.lines, min(own, more.start + left - block.start)))
    return "\n".join(parts)


def _code(lines: Sequence[Line], left: float) -> str:
    """The text of code with its indentation and empty lines."""
    words = [word for line in lines for word in line.words]
    width = _character_width(words)
    rows: list[list[Line]] = []
    for line in lines:
        if rows and same_row(rows[-1][-1], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    pitches = [
        one[0].bottom - other[0].bottom
        for one, other in pairwise(rows)
        if one[0].bottom > other[0].bottom
    ]
    pitch = min(pitches, default=0.0)
    out: list[str] = []
    for n, row in enumerate(rows):
        if n and pitch:
            skipped = round((rows[n - 1][0].bottom - row[0].bottom) / pitch) - 1
            out += [""] * min(max(skipped, 0), 2)
        text, end = "", left
        for word in sorted(
            (word for line in row for word in line.words), key=lambda word: word.left
        ):
            from_left = round((word.left - left) / width)
            text += " " * max(from_left if not text else round((word.left - end) / width), 0)
            text += word.text
            end = word.right
        out.append(text)
    return "\n".join(out)


def _character_width(words: Sequence[Word]) -> float:
    long = [word for word in words if len(word.text) > 2] or words
    widths = sorted((word.right - word.left) / len(word.text) for word in long)
    return max(widths[len(widths) // 2], 0.1)


def _joined_columns(blocks: Sequence[PdfBlock]) -> list[PdfBlock]:
    """Blocks of a page, with paragraphs joined that go on in the next column or after a figure."""
    found: list[PdfBlock] = []
    for block in blocks:
        if found and _goes_on(found[-1], block):
            found[-1] = _appended(found[-1], block)
        else:
            found.append(block)
    return found


def _joined_pages(pages: Sequence[list[PdfBlock]], unread: frozenset[int]) -> list[list[PdfBlock]]:
    """The pages, with paragraphs joined that go on on the next page."""
    found: list[list[PdfBlock]] = []
    last: tuple[int, int] | None = None
    for page in pages:
        own = list(page)
        found.append(own)
        if last is not None and own and _goes_on(found[last[0]][last[1]], own[0]):
            found[last[0]][last[1]] = _appended(found[last[0]][last[1]], own.pop(0))
        text = [n for n, block in enumerate(own) if block.kind != "note"]
        if text:
            last = len(found) - 1, text[-1]
        elif own or len(found) - 1 in unread:
            last = None
    return found


def _goes_on(before: PdfBlock, after: PdfBlock) -> bool:
    """Whether a block goes on in the next one, which stands in another column or page."""
    if before.kind == after.kind == "code":
        part = (before.more or (before,))[-1]
        return part.page != after.page or after.lines[0].top > part.lines[-1].top
    if before.table is not None and after.table is not None:
        below = before.page == after.page and after.table.top <= before.table.bottom + 1
        return not below and continued(before.table, after.table) is not None
    if before.kind not in ("paragraph", "item") or after.kind != "paragraph":
        return False
    return before.lines[-1].broken_word or _sentence_goes_on(before, after)


def _sentence_goes_on(before: PdfBlock, after: PdfBlock) -> bool:
    """Whether a paragraph ends in the middle of a sentence, and the next begins so."""
    last, first = before.lines[-1], after.lines[0]
    if rounded(last.size) != rounded(first.size) or last.bold != first.bold:
        return False
    below = before.page == after.page and first.top < last.bottom + first.size
    if below and last.left < first.right and first.left < last.right:
        return False
    if len(before.text) < MIN_CHARACTERS or SENTENCE_END.search(last.text):
        return False
    if last.right < before.edge - 6 * last.size:
        return False
    start = first.text.lstrip("(\"'“‘")[:1]
    return start.islower() or (start.isalpha() and not start.isupper())


def _appended(before: PdfBlock, after: PdfBlock) -> PdfBlock:
    """One block of two; the edge of the second does not count for the first."""
    if before.kind == "code":
        return replace(before, more=(*before.more, after))
    if before.table is not None and after.table is not None:
        table = continued(before.table, after.table)
        return replace(before, table=table, page=after.page)
    return replace(before, lines=(*before.lines, *after.lines), edge=0.0)
