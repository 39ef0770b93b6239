"""The title of a PDF file whose metadata has none: the largest text at the top of its first page. Pure."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote, urlsplit

from kindly.extract.formats.pdf.pdf_headings import CAPTION, outline_key
from kindly.extract.formats.pdf.pdf_lines import Box, Line, lines_of, without_shadows
from kindly.extract.formats.pdf.pdf_words import Word

TOP_SHARE: Final = 0.6
"""The part of the first page where a title stands."""
LARGER: Final = 1.25
SAME_SIZE: Final = 0.97
MAX_LINES: Final = 5
MIN_LETTERS: Final = 4
MAX_CHARACTERS: Final = 250
SECTION_NUMBER = re.compile(
    r"(?:(?:chapter|section|part|appendix|annex|kapitel|teil|chapitre|capítulo)\s+)?"
    r"(?:\d{1,2}(?:\.\d{1,3})*|[A-Z](?:\.\d{1,2})+|[IVX]+\.)[.)]?\s",
    re.I,
)
NAMELESS = re.compile(
    r"(?:download|file|document|pdf|view|viewer|attachment|fulltext|full|index|get|content|article|paper|print)?",
    re.I,
)
EXTENSION = re.compile(r"\.(?:pdf|ashx|aspx|php)\Z", re.I)
LETTER = re.compile(r"[^\W\d_]")


def file_title(words: Sequence[Sequence[Word]], box: Box, first_heading: str, address: str) -> str:
    """The title of a file, from the words of its first page, its first heading or its address."""
    lines = [line for line in lines_of(without_shadows(words)) if not line.words[0].turned]
    if title := _largest(lines, box):
        return title
    key = outline_key(first_heading)
    on_first_page = key in outline_key(" ".join(line.text for line in lines))
    if key and on_first_page and not SECTION_NUMBER.match(first_heading):
        return first_heading
    return name_of(address)


def _largest(lines: Sequence[Line], box: Box) -> str:
    """The largest text at the top of a page; nothing if it does not stand out, or is no title."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size)] += len(line.text)
    top = [
        line
        for line in lines
        if line.bottom >= box.top - TOP_SHARE * box.height and _letters(line.text)
    ]
    if not top:
        return ""
    largest = max(line.size for line in top)
    body = sizes.most_common(1)[0][0]
    if largest < LARGER * body:
        return ""
    found = _together([line for line in top if line.size >= SAME_SIZE * largest])
    text = " ".join(" ".join(line.text for line in found).split())
    is_title = (
        len(found) <= MAX_LINES
        and _letters(text) >= MIN_LETTERS
        and len(text) <= MAX_CHARACTERS
        and not SECTION_NUMBER.match(text)
        and not CAPTION.match(text)
    )
    return text if is_title else ""


def _together(lines: Sequence[Line]) -> list[Line]:
    """The first of some lines, with those right below it."""
    ordered = sorted(lines, key=lambda line: (-round(line.bottom), line.left))
    found = ordered[:1]
    for line in ordered[1:]:
        if found[-1].bottom - line.top > line.size:
            break
        found.append(line)
    return found


def _letters(text: str) -> int:
    return len(LETTER.findall(text))


def name_of(address: str) -> str:
    """The file name of an address in readable form; nothing if it says nothing."""
    name = EXTENSION.sub("", unquote(urlsplit(address).path).rstrip("/").rpartition("/")[2])
    text = " ".join(re.sub(r"[_+\s]+|(?<=[^\W\d])-|-(?=[^\W\d])", " ", name).split())
    return "" if NAMELESS.fullmatch(text) else text[:MAX_CHARACTERS]
