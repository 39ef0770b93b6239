"""Headings of a PDF file: which groups of lines are headings, and of which level. Pure.

A heading differs from the text: it is larger, or bold and alone, or numbered, or the outline or the tags name it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kindly.extract.formats.pdf.pdf_lines import Line

LARGER = 1.15
MUCH_LARGER = 1.3
NOISY_LARGER = 1.6
SLIGHTLY_LARGER = 1.04
MAX_CHARACTERS = 200
MAX_LINES = 4
MAX_BOLD_CHARACTERS = 110
MAX_LEVEL = 5
NUMBERED = re.compile(
    r"(?:(?:chapter|section|part|appendix|annex|article|kapitel|teil|chapitre|capítulo|제)\s+)?"
    r"(\d{1,2}(?:\.\d{1,2}){0,4}|[A-Z](?:\.\d{1,2}){0,3}|[IVX]{1,5})[.)]?\s+(?=\S)",
    re.I,
)
BRACKETED = re.compile(r"\((?:\d{1,2}|[a-z])\)\s")
CAPTION = re.compile(
    r"(?:table|figure|fig\.|abb(?:ildung|\.)|tab(?:elle|leau|\.)|tabla|figura|listing|example|algorithm|scheme|chart|plate|exhibit|box"
    r"|図|表|\[?[표그림]{1,2})\s*(?:[A-Z]?[\d.\-–]+|[IVX]+)\b",
    re.I,
)
ADDRESS = re.compile(r"(?:https?://)?[\w.-]+\.[a-z]{2,6}(?:/\S*)?")
LETTER = re.compile(r"[^\W\d_]")
BAD_END = (".", ",", ";", "-", "–")
SENTENCE = re.compile(r"[.!?]\s+[A-Z]\w+\s+\w+")
MATHS = re.compile(r"[=∑∫√∂∈≤≥≠±×∇→−+]")


def rounded(size: float) -> float:
    """The size in steps of half a point."""
    return round(size * 2) / 2


@dataclass(frozen=True)
class Styles:
    """The style of the text, and what is known of headings."""

    body: float
    bold_body: bool = False
    body_fonts: frozenset[str] = frozenset()
    noisy: bool = False
    """Whether sizes differ from line to line, as in the text layer of a scan."""
    mono_body: bool = False
    leading: float = 0.2
    """The usual distance of lines, in font sizes."""
    outline: Mapping[str, int] = field(default_factory=dict)
    """Levels of the headings that the outline of the file names."""


def read_styles(lines: Iterable[Line], outline: Mapping[str, int]) -> Styles:
    """The style of most characters."""
    sizes: Counter[float] = Counter()
    fonts: Counter[str] = Counter()
    bold = mono = total = 0
    distances: Counter[float] = Counter()
    last: Line | None = None
    for line in lines:
        if last is not None and last.size == line.size:
            apart = (last.bottom - line.top) / max(line.size, 0.1)
            if -0.6 < apart < 1.2:
                distances[round(apart, 1)] += 1
        last = line
        count = len(line.text)
        sizes[rounded(line.size)] += count
        total += count
        bold += count if line.bold else 0
        mono += count if line.mono else 0
        fonts[line.font.name] += count
    if not total:
        return Styles(10.0)
    body = _body_size(sizes, total)
    near = sum(count for size, count in sizes.items() if abs(size - body) < 0.01)
    return Styles(
        body,
        bold * 2 > total,
        frozenset(name for name, count in fonts.items() if count * 4 > total),
        noisy=near < 0.25 * total and len(sizes) > 6,
        mono_body=mono * 10 > total * 6,
        leading=distances.most_common(1)[0][0] if distances else 0.2,
        outline=outline,
    )


def _body_size(sizes: Counter[float], total: int) -> float:
    """The most common size; the median if none is common."""
    size, count = max(sizes.items(), key=lambda item: (item[1], item[0]))
    if count * 4 >= total:
        return size
    seen = 0
    for size in sorted(sizes):
        seen += sizes[size]
        if seen * 2 >= total:
            break
    return size


def outline_key(text: str) -> str:
    """A title without spaces, case and punctuation, so that titles can be compared."""
    return re.sub(r"[\W_]+", "", text).casefold()


@dataclass(frozen=True)
class Surroundings:
    """What is around a group of lines."""

    above: float
    """The distance to the line above, in font sizes."""
    next_differs: bool
    """Whether what follows is text in the style of the body."""
    alone: bool
    """Whether nothing else is in its rows."""


def is_heading(group: Sequence[Line], around: Surroundings, styles: Styles) -> bool:
    """Whether a group of lines with one style is a heading."""
    text = " ".join(line.text for line in group)
    if not LETTER.search(text) or len(text) > MAX_CHARACTERS or len(group) > MAX_LINES:
        return False
    if styles.outline and outline_key(text) in styles.outline:
        return True
    if _is_never_heading(text):
        return False
    ratio = rounded(group[0].size) / max(styles.body, 0.1)
    if styles.noisy or ratio >= MUCH_LARGER:
        return _is_large(text, ratio, around, styles)
    numbered = NUMBERED.match(text) is not None or BRACKETED.match(text) is not None
    ends_badly = text.endswith((*BAD_END, ":")) and not (ratio >= LARGER and numbered)
    if ends_badly or SENTENCE.search(text) or not around.alone:
        return False
    return ratio >= LARGER or (
        len(text) <= MAX_BOLD_CHARACTERS
        and _differs(group, text, ratio, around, styles, numbered=numbered)
    )


def _is_large(text: str, ratio: float, around: Surroundings, styles: Styles) -> bool:
    """Whether large text is a heading."""
    if styles.noisy:
        return ratio >= NOISY_LARGER and len(text) < 80
    if text.endswith(":") and ratio < NOISY_LARGER:
        return False
    return text[-1:] not in (",", ";") or around.next_differs


def _is_never_heading(text: str) -> bool:
    """Whether it is a caption, an address or a formula."""
    return (
        CAPTION.match(text) is not None
        or "@" in text
        or ADDRESS.fullmatch(text) is not None
        or len(LETTER.findall(text)) < 2
        or len(MATHS.findall(text)) > 1
    )


def _differs(
    group: Sequence[Line],
    text: str,
    ratio: float,
    around: Surroundings,
    styles: Styles,
    *,
    numbered: bool,
) -> bool:
    """Whether a group of about the size of the text stands out as a heading does."""
    first = group[0]
    stands_apart = around.above >= 0.45
    other_font = first.font.name not in styles.body_fonts
    if ratio >= SLIGHTLY_LARGER and (first.bold or numbered or other_font):
        return stands_apart
    if ratio < 0.95 or not around.next_differs:
        return False
    if first.bold and not styles.bold_body:
        return (stands_apart or numbered) and len(group) <= 2
    if len(group) > 1 or not stands_apart:
        return False
    capitals = text.isupper() and 5 < len(text) < 70
    return capitals or (first.font.italic and around.above >= 0.8 and _is_titled(text))


def _is_titled(text: str) -> bool:
    """Whether most words of a short text begin with a capital letter."""
    words = [word for word in text.split() if len(word) > 3]
    return (
        bool(words)
        and len(text) <= 60
        and sum(word[0].isupper() for word in words) * 3 >= 2 * len(words)
    )


class Levels:
    """Levels of headings, from their styles, their numbers and the outline."""

    def __init__(self, headings: Sequence[Sequence[Line]], styles: Styles) -> None:
        self._styles = styles
        ranks: dict[tuple[float, bool], int] = Counter()
        for group in headings:
            ranks[self._style(group)] += 1
        ordered = sorted(ranks, reverse=True)
        if headings and ranks[title := self._style(headings[0])] == 1 and title[0] >= ordered[0][0]:
            ordered = [title, *(style for style in ordered if style != title)]
        self._by_style = {style: n + 1 for n, style in enumerate(ordered)}
        by_depth: dict[int, Counter[int]] = defaultdict(Counter)
        for group in headings:
            if depth := number_depth(group[0].text):
                by_depth[depth][self._by_style[self._style(group)]] += 1
        self._by_depth: dict[int, int] = {}
        last = 0
        for depth in sorted(by_depth):
            level = max(by_depth[depth].most_common(1)[0][0], last + 1)
            self._by_depth[depth] = last = level

    def level(self, group: Sequence[Line]) -> int:
        """The level of a heading."""
        text = " ".join(line.text for line in group)
        if known := self._styles.outline.get(outline_key(text)):
            return min(known, MAX_LEVEL)
        depth = number_depth(group[0].text)
        level = self._by_depth.get(depth) if depth else None
        return min(level or self._by_style.get(self._style(group), MAX_LEVEL), MAX_LEVEL)

    @staticmethod
    def _style(group: Sequence[Line]) -> tuple[float, bool]:
        return rounded(group[0].size), group[0].bold


def number_depth(text: str) -> int:
    """How deep the number of a heading is: 2 for `1.3`, 0 without a number."""
    found = NUMBERED.match(text)
    return found[1].count(".") + 1 if found else 0
