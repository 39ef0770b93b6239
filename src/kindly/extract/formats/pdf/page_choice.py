"""Which pages of a long PDF file may answer some questions, by the words of each page. Pure, but for `page_texts`.

PDFium gives the plain text of a page in a tenth of the time that laying it out takes. It is used for the choice only:
what is answered comes from the layout, without hidden text.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Final, NamedTuple

from kindly.text.terms import terms

if TYPE_CHECKING:
    import pypdfium2 as pdfium  # type: ignore[import-untyped]

LONG_PAGES: Final = 60
"""A file with no more pages is read whole,"""
LONG_CHARACTERS: Final = 80_000
"""and so is one with less text, such as slides."""
SEARCHED_PAGES: Final = 5_000
SEARCHED_CHARACTERS: Final = 12_000_000
PAGE_CHARACTERS: Final = 30_000
BEST_PAGES: Final = 30
FIRST_PAGES: Final = 2
"""Title and abstract, or the cover and what is behind it."""
CONTINUED_PAGES: Final = 8
"""So many of the best pages of each question get the neighbours on which their text goes on."""
WITHOUT_TEXT: Final = 0.1
"""If a larger share of pages has no text, the file is a scan in part, and its words tell too little."""
SATURATION: Final = 1.2
LENGTH_SHARE: Final = 0.4
PROSE_LINE: Final = 40
"""Shorter lines at the end of a page are page numbers or footers."""
SENTENCE_END = re.compile(r"[.?!:;。！？][\"'”’)\]]*\Z")


def page_texts(document: "pdfium.PdfDocument", is_late: Callable[[], bool]) -> list[str]:
    """The plain text of each page, of the first ones if it is late; a page that cannot be loaded has none."""
    import pypdfium2 as pdfium

    found: list[str] = []
    left = SEARCHED_CHARACTERS
    for index in range(min(len(document), SEARCHED_PAGES)):
        if left <= 0 or is_late():
            break
        try:
            page = document[index]
            text_page = page.get_textpage()
        except pdfium.PdfiumError:
            found.append("")
            continue
        count = min(text_page.count_chars(), PAGE_CHARACTERS)
        found.append(text_page.get_text_range(0, count) if count > 0 else "")
        text_page.close()
        page.close()
        left -= count
    return found


def is_worth_choosing(texts: Sequence[str]) -> bool:
    """Whether a file has so much text that reading some of its pages is faster, and so few scans that words tell."""
    if len(texts) <= LONG_PAGES or sum(map(len, texts)) <= LONG_CHARACTERS:
        return False
    empty = sum(not text.strip() for text in texts)
    return empty <= WITHOUT_TEXT * len(texts)


def pages_for(texts: Sequence[str], questions: Sequence[str]) -> list[int]:
    """The indexes of the pages that may answer, in order: the best of each question, their neighbours, the first."""
    asked = [frozenset(terms(question)) for question in questions]
    wanted = frozenset().union(*asked)
    pages = [_page_terms(text, wanted) for text in texts]
    rankings = [_ranked(pages, words) for words in asked]
    taking_turns = chain.from_iterable(zip_longest(*rankings))
    best = list(dict.fromkeys(index for index in taking_turns if index is not None))[:BEST_PAGES]
    found = {*best, *range(min(FIRST_PAGES, len(texts)))}
    for ranking in rankings:
        for index in ranking[:CONTINUED_PAGES]:
            found.update(_neighbours(texts, index))
    return sorted(found)


class _PageTerms(NamedTuple):
    counts: Counter[str]
    """Of the terms that are asked for: those of all pages would take too much memory."""
    length: int
    """The number of all terms."""


def _page_terms(text: str, wanted: frozenset[str]) -> _PageTerms:
    found = terms(text)
    return _PageTerms(Counter(term for term in found if term in wanted), len(found))


def _ranked(pages: Sequence[_PageTerms], words: frozenset[str]) -> list[int]:
    """The pages with words of a question, the best first, by BM25 with pages as documents."""
    total = len(pages)
    within = {word: sum(word in page.counts for page in pages) for word in words}
    weights = {
        word: math.log(1 + (total - count + 0.5) / (count + 0.5))
        for word, count in within.items()
        if count
    }
    mean = max(sum(page.length for page in pages) / max(total, 1), 1.0)
    scores: dict[int, float] = {}
    for index, (counts, length) in enumerate(pages):
        room = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length / mean)
        score = sum(
            weight * counts[word] * (SATURATION + 1) / (counts[word] + room)
            for word, weight in weights.items()
            if word in counts
        )
        if score > 0:
            scores[index] = score
    return sorted(scores, key=lambda index: (-scores[index], index))


def _neighbours(texts: Sequence[str], index: int) -> list[int]:
    """The pages beside one on which its text goes on."""
    lines = [line.strip() for line in texts[index].splitlines()]
    prose = [line for line in lines if len(line) >= PROSE_LINE]
    if not prose:
        return []
    found = []
    if index and prose[0][0].islower():
        found.append(index - 1)
    if index + 1 < len(texts) and not SENTENCE_END.search(prose[-1]):
        found.append(index + 1)
    return found
