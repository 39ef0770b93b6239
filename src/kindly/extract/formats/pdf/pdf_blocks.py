"""Ordered lines of a PDF page → blocks: headings, paragraphs, list items, code, contents entries, tables. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kindly.extract.formats.pdf.pdf_headings import (
    CAPTION,
    Styles,
    Surroundings,
    is_heading,
    rounded,
)
from kindly.extract.formats.pdf.pdf_lines import Box, Line, same_row
from kindly.extract.formats.pdf.pdf_tables.table_grid import LEADER, PdfTable
from kindly.extract.formats.pdf.pdf_tags import Tag

LINE_GAP = 0.85
"""Lines of a paragraph are not farther apart than this, in font sizes."""
PARAGRAPH_GAP = 0.35
"""Paragraphs are farther apart than lines by this, in font sizes."""
CODE_GAP = 2.6
INDENT = 0.9
BULLET = re.compile(r"[•◦▪■□‣●○∙·❖➢➤✓✔❑☐☑☒\uf000-\uf0ff–—*-]\s*(?=\S)")
BULLET_ALONE = re.compile(r"[•◦▪■□‣●○∙·❖➢➤✓✔❑☐☑☒\uf000-\uf0ff–—*-]")
ENUMERATED = re.compile(r"(\d{1,3})[.)]\s+(?=\S)")
LETTERED = re.compile(r"\(?(?:[a-z]|[ivx]{1,4}|\d{1,2})[.)]\s+(?=\S)")
ENTRY = re.compile(r"(.*?\S)\s*(?:(?:\s*[.·…_]){3,})\s*(\d{1,4}|[ivxlc]{1,7}|[A-Z]-\d+)?\s*", re.I)
FORMULA_LINES = 3
FORMULA_WORD = re.compile(r"[^\W\d_]{4,}[,.]?")
RELATION = re.compile(r"[=<>≤≥≈≡∈→∼∝≠]")
MATHS_FONT = re.compile(
    r"cmmi|cmsy|cmex|cmr\d|msam|msbm|math|katex|pazo|rsfs|eufm|symbol|stix", re.I
)
NOTE_MARK = re.compile(r"(?:\d{1,3}[.)]?|[*†‡§¶]{1,2}|\[\d+\])\s*(?=\S)")
DASH_ITEM = re.compile(r"[-–*]\s+\S")
ADDRESS = re.compile(r"\W*\d{0,3}\s*(?:https?://|www\.)\S+")
SENTENCE_END = re.compile(r"[.!?:;。！？؟]['\"”’)\]]*\Z")
SMALL = 0.93

Kind = Literal["paragraph", "heading", "item", "code", "entry", "table", "note", "formula"]


@dataclass(frozen=True, eq=False)
class PdfBlock:
    """A part of the text."""

    kind: Kind
    lines: tuple[Line, ...] = ()
    table: PdfTable | None = None
    page: int = 0
    edge: float = 0.0
    """The right edge of the column that it stands in."""
    start: float = 0.0
    """The left edge of that column."""
    level: int = 0
    more: tuple["PdfBlock", ...] = ()
    """Code that goes on in the next column or page."""

    @property
    def text(self) -> str:
        """Its text in one line."""
        return " ".join(line.text for line in self.lines)


def page_blocks(
    items: Sequence[Line | PdfTable],
    styles: Styles,
    box: Box,
    page: int,
    tags: Mapping[int, Tag] | None = None,
) -> list[PdfBlock]:
    """The blocks of a page, footnotes last; the items are in reading order."""
    roles = tags or {}
    groups = _groups(items, styles, roles)
    blocks: list[PdfBlock] = []
    for n, group in enumerate(groups):
        if isinstance(group, PdfTable):
            blocks.append(PdfBlock("table", table=group, page=page))
            continue
        start, edge = _column(groups, n)
        role = roles.get(group[0].tag)
        kind = _tagged_kind(role, group, styles) or _kind(groups, n, styles)
        level = role.level if role is not None and kind == "heading" else 0
        blocks.append(PdfBlock(kind, tuple(group), page=page, edge=edge, start=start, level=level))
    return _notes_last(blocks, styles, box)


Group = list[Line] | PdfTable


def _tagged_kind(role: Tag | None, group: Sequence[Line], styles: Styles) -> Kind | None:
    """What the tags say of a group."""
    if role is None or not any(map(str.isalnum, " ".join(line.text for line in group))):
        return None
    if role.role == "heading":
        return "heading" if sum(len(line.text) for line in group) <= 300 else None
    if role.role == "item":
        return None if all(is_code(line, styles) for line in group) else "item"
    return "paragraph" if role.role == "caption" else None


def _groups(
    items: Sequence[Line | PdfTable], styles: Styles, roles: Mapping[int, Tag]
) -> list[Group]:
    groups: list[Group] = []
    for item in items:
        last = groups[-1] if groups else None
        if isinstance(item, Line) and isinstance(last, list) and _joins(last, item, styles, roles):
            last.append(item)
        else:
            groups.append([item] if isinstance(item, Line) else item)
    return groups


def _joins(group: list[Line], line: Line, styles: Styles, roles: Mapping[int, Tag]) -> bool:
    """Whether a line belongs to a group; tags decide between headings and items, and the text around them."""
    before, after = roles.get(group[-1].tag), roles.get(line.tag)
    if before is None and after is None:
        return _continues(group, line, styles)
    if before is None or after is None or before.element != after.element:
        return False
    if is_code(line, styles) != is_code(group[-1], styles):
        return False
    return before.role == "heading" or not is_code(line, styles) or _continues(group, line, styles)


def is_code(line: Line, styles: Styles) -> bool:
    """Whether a line is set as code."""
    return line.mono and not styles.mono_body


def is_entry(line: Line) -> bool:
    """Whether a line is an entry of a table of contents, with leader dots."""
    return LEADER.search(line.text) is not None and ENTRY.fullmatch(line.text) is not None


def starts_item(text: str) -> bool:
    """Whether a text begins as a list item does."""
    return bool(BULLET.match(text) or ENUMERATED.match(text) or LETTERED.match(text))


def _continues(group: list[Line], line: Line, styles: Styles) -> bool:
    """Whether a line goes on with the paragraph, item or code block above it."""
    last, first = group[-1], group[0]
    if same_row(last, line):
        return _continues_row(group, line, styles)
    if last.broken_word:
        return True
    if is_entry(last) or (is_entry(line) and not is_entry(first) and LEADER.search(last.text)):
        return False
    code = is_code(line, styles)
    if code != is_code(last, styles):
        return False
    if code:
        apart = last.bottom - line.top
        return -line.size < apart <= CODE_GAP * line.size and line.left < last.right + 40
    return (
        _has_style(group, line, styles)
        and _is_close(last, line, styles)
        and not _begins(group, line)
        and _is_aligned(group, line, styles)
    )


def _has_style(group: list[Line], line: Line, styles: Styles) -> bool:
    """Whether a line is set as the group is."""
    last = group[-1]
    tolerance = 0.2 * line.size if styles.noisy else 0.3
    if (
        abs(last.size - line.size) > tolerance
        and rounded(last.size) != rounded(line.size)
        and not _one_style(last, line)
    ):
        return False
    return last.bold == line.bold or not _whole_style(group, line)


def _is_close(last: Line, line: Line, styles: Styles) -> bool:
    """Whether a line stands under another at the usual distance."""
    apart = last.bottom - line.top
    large = last.size > 1.2 * styles.body
    limit = LINE_GAP if styles.noisy or large else min(LINE_GAP, styles.leading + PARAGRAPH_GAP)
    beside = line.left > last.right or line.right < last.left
    return -0.8 * line.size < apart <= limit * line.size and not beside


def _begins(group: list[Line], line: Line) -> bool:
    """Whether a line begins an item or a caption."""
    last, first, text = group[-1], group[0], line.text
    if BULLET.match(text) or (ENUMERATED.match(text) and not _hangs(group, line)):
        return True
    ended = SENTENCE_END.search(last.text) is not None
    if CAPTION.match(text) and ended:
        return True
    under_mark = abs(line.left - first.left) < line.size
    return LETTERED.match(text) is not None and under_mark and (ended or starts_item(first.text))


def _is_aligned(group: list[Line], line: Line, styles: Styles) -> bool:
    """Whether the left edge of a line is that of the same paragraph."""
    last, first = group[-1], group[0]
    if line.right_to_left and last.right_to_left:
        return line.right >= last.right - INDENT * line.size or len(group) == 1
    if starts_item(first.text) or NOTE_MARK.match(first.text):
        return line.left > first.left - 0.5 * line.size
    if last.size > 1.2 * styles.body and last.bold == line.bold:
        return True
    if len(group) > 1 and _ends_paragraph(group, line):
        return False
    indented = line.left > last.left + INDENT * line.size
    return not indented or (len(group) == 1 and _centred(last, line))


def _ends_paragraph(group: list[Line], line: Line) -> bool:
    """Whether the last line ends a sentence well before the edge, where the next word would have fitted."""
    last = group[-1]
    if not SENTENCE_END.search(last.text) or line.text[:1].islower():
        return False
    room = max(one.right for one in group) - last.right
    return room > (line.words[0].right - line.words[0].left) + 2.5 * line.size


def _continues_row(group: list[Line], line: Line, styles: Styles) -> bool:
    """Whether a piece in the same row belongs to the same block."""
    last = group[-1]
    if is_code(line, styles) and is_code(last, styles):
        return True
    if is_entry(last):
        return False
    if LEADER.fullmatch(line.text) or (is_entry(line) and len(group) == 1):
        return True
    apart = max(line.left - last.right, last.left - line.right)
    if BULLET_ALONE.fullmatch(last.text) or ENUMERATED.fullmatch(last.text + " x"[:1]):
        return apart < 6 * line.size
    if re.fullmatch(r"\(?(?:\d{1,3}(?:\.\d{1,2})*|[A-Za-z])[.)]?", last.text) and len(group) == 1:
        return apart < 5 * line.size
    return apart < 3 * line.size


def _one_style(last: Line, line: Line) -> bool:
    """Whether two lines differ in size only by a number or a mark that is set smaller or larger."""
    return {word.size for word in last.words} & {word.size for word in line.words} != set() and (
        abs(last.size - line.size) < 0.35 * max(last.size, line.size)
    )


def _whole_style(group: list[Line], line: Line) -> bool:
    """Whether bold text ends or begins with the line, not in the middle of a sentence."""
    return not (group[-1].bold and any(word.font.bold for word in line.words[:1])) and not (
        line.bold and group[-1].words[-1].font.bold
    )


def _hangs(group: list[Line], line: Line) -> bool:
    """Whether a number at the start of a line is in the middle of a sentence."""
    return (
        not SENTENCE_END.search(group[-1].text)
        and not starts_item(group[0].text)
        and abs(line.left - group[-1].left) < 1
    )


def _centred(one: Line, other: Line) -> bool:
    return abs((one.left + one.right) - (other.left + other.right)) < 2 * other.size


def _lines(group: Group) -> list[Line]:
    return group if isinstance(group, list) else []


def _column(groups: Sequence[Group], n: int) -> tuple[float, float]:
    """The left and right edges of the text around a group."""
    own = _lines(groups[n])
    left, right = min(line.left for line in own), max(line.right for line in own)
    start, edge = left, right
    for other in groups[max(0, n - 6) : n + 7]:
        if not isinstance(other, list):
            continue
        for line in other:
            if line.left < right and line.right > left and left - line.left < 8 * line.size:
                start = min(start, line.left)
                if line.left - left < 4 * line.size:
                    edge = max(edge, line.right)
    return start, edge


def _kind(groups: Sequence[Group], n: int, styles: Styles) -> Kind:
    group = _lines(groups[n])
    text = " ".join(line.text for line in group)
    if all(is_code(line, styles) for line in group) and not ADDRESS.fullmatch(text):
        return "code"
    if ENTRY.fullmatch(text) and LEADER.search(text):
        return "entry"
    dash = text.startswith(("—", "-", "–", "*"))
    if (BULLET.match(text) and not dash) or DASH_ITEM.match(text):
        return "item"
    if is_heading(group, _surroundings(groups, n, styles), styles):
        return "heading"
    if ENUMERATED.match(text):
        return "item"
    return "formula" if _is_formula(group) else "paragraph"


def _is_formula(group: Sequence[Line]) -> bool:
    """Whether a group is a displayed formula: signs in fonts for formulas, and no words."""
    words = [word for line in group for word in line.words]
    if len(group) > FORMULA_LINES or any(FORMULA_WORD.fullmatch(word.text) for word in words):
        return False
    if not any(RELATION.search(word.text) for word in words):
        return False
    total = sum(len(word.text) for word in words)
    drawn = sum(len(word.text) for word in words if MATHS_FONT.search(word.font.name))
    return drawn * 3 >= total


def _surroundings(groups: Sequence[Group], n: int, styles: Styles) -> Surroundings:
    group = _lines(groups[n])
    first, last = group[0], group[-1]
    above = 9.0
    alone = True
    if n:
        before = groups[n - 1]
        low = before.bottom if isinstance(before, PdfTable) else before[-1].bottom
        if low >= first.bottom - 0.5 * first.size:
            above = (low - first.top) / max(first.size, 0.1)
            if isinstance(before, list) and same_row(before[-1], first):
                alone = False
    differs = False
    if n + 1 < len(groups):
        after = groups[n + 1]
        if isinstance(after, PdfTable):
            differs = True
        else:
            differs = not (
                after[0].bold == last.bold and rounded(after[0].size) == rounded(last.size)
            )
            if same_row(last, after[0]):
                alone = False
    return Surroundings(above, differs, alone)


def _notes_last(blocks: list[PdfBlock], styles: Styles, box: Box) -> list[PdfBlock]:
    """Footnotes at the end of the page: small text with a mark, at the foot of a column."""
    notes: set[int] = set()
    low = box.bottom + 0.5 * box.height
    ends_column = True
    for n in range(len(blocks) - 1, -1, -1):
        block = blocks[n]
        if block.table is not None or not block.lines:
            ends_column = False
            continue
        if n + 1 < len(blocks):
            after = blocks[n + 1]
            top = after.table.top if after.table else after.lines[0].top
            if top > block.lines[-1].bottom + 2 * styles.body:
                ends_column = True
        small = block.lines[0].size <= SMALL * styles.body and block.lines[0].top < low
        if not (small and ends_column and block.kind in ("paragraph", "item")):
            ends_column = False
            continue
        notes.add(n)
    marked = _marked_notes(blocks, notes)
    if not marked:
        return blocks
    return [block for n, block in enumerate(blocks) if n not in marked] + [
        replace(block, kind="note") for n, block in enumerate(blocks) if n in marked
    ]


def _marked_notes(blocks: Sequence[PdfBlock], notes: set[int]) -> set[int]:
    """Of the small blocks at the foot of columns, those from the first with a mark on."""
    found: set[int] = set()
    started = False
    for n in sorted(notes):
        if n - 1 not in notes:
            started = False
        started = started or NOTE_MARK.match(blocks[n].text) is not None
        if started:
            found.add(n)
    return found
