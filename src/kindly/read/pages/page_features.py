"""Candidate pages + question → one row of features per page: passages, title, address, headings, kind, links.

All pages of a question are compared at once: their outlines are joined to one array of keys, and every field of every
page becomes a row over the question's terms.
"""

import re
from collections.abc import Mapping, Sequence, Set
from enum import IntEnum
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import numpy as np

from kindly.frozen import frozen
from kindly.read.pages.page_outline import (
    DATED,
    LISTING,
    RELEASES,
    WORD_BITS,
    Outline,
    keys,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]
    Ints = NDArray[np.integer[Any]]


class PageColumn(IntEnum):
    """The columns. Their order is that of the weights in `pages.json`."""

    BEST = 0
    """The best window's score in the first stage, as its distance to the best of all pages."""
    SECOND = 1
    """The same for the best window of another chunk of the page."""
    CHUNKS = 2
    TITLE = 3
    """Share of the question's weight that the field has; likewise for the other fields."""
    TITLE_FIT = 4
    """Share of the field's words that the question has, times the share of the question; likewise for the others."""
    NAME = 5
    NAME_FIT = 6
    SLUG = 7
    SLUG_FIT = 8
    PATH = 9
    HOST = 10
    LEAD = 11
    DEFINED = 12
    HEADING = 13
    """The best heading."""
    HEADING_FIT = 14
    HEADINGS = 15
    """All headings together."""
    IDENTIFIER_TITLE = 16
    """An identifier of the question is in title, first heading or the last part of the address."""
    IDENTIFIER_DEFINED = 17
    RELEASES = 18
    DATED = 19
    LISTING = 20
    DEPTH = 21
    LENGTH = 22
    HEADING_COUNT = 23
    LINKS = 24
    LINKED = 25
    """How many chunks of other candidate pages link to the page."""
    ANCHOR = 26
    """Share of the question's weight that the best text of such a link has."""
    TITLE_AND_HEADINGS = 27
    """Title, address and headings together."""
    QUESTION_LENGTH = 28
    BEST_AGAIN = 29
    """The best window's score in the second stage, as its distance to the best of all pages, down to `LOWEST`."""


TITLE, NAME, SLUG, PATH, HOST, LEAD, DEFINED = range(7)
"""Fields of an outline in the order of the rows; headings follow."""
FIELDS = 7
COMMON_SHARE = 0.5
"""A word in the titles of more pages than this says nothing about one of them: a site's name."""
MIN_PAGES = 4
BEGINNING = 0.5
"""What a word counts for that has only its beginning in common with one of the question."""
LOWEST = -9.0
"""Windows that the second stage does not order are all lower."""
_LINK = re.compile(r"\[([^\[\]]{1,150})\]\(([^()\s]{1,300})\)")
_ENDING = re.compile(r"(?:/index)?(?:\.(?:html?|mdx?|rst))?/?$")


@frozen
class PageCandidate:
    """A page of which some chunks are candidates."""

    url: str
    length: int
    """Of its text, in characters."""
    outline: Outline
    chunks: tuple[int, ...]
    """The positions of its chunks among all."""


@frozen
class Asked:
    """A question: the keys of its terms, each term once, and what each weighs. The weights have the sum of one."""

    keys: tuple[int, ...]
    weights: "Floats"
    identifiers: "NDArray[np.bool_]"
    """Which terms are names of code, such as `useEffect` or `os.path`, as a whole."""


@frozen
class BestWindows:
    """The score of each chunk's best window in both stages of ranking."""

    first: "Floats"
    again: "Floats"


def page_features(
    asked: Asked, pages: Sequence[PageCandidate], texts: Sequence[str], best: BestWindows
) -> "Floats":
    """Pages × `PageColumn`. `texts` and `best` are the chunks'."""
    rows = np.zeros((len(pages), len(PageColumn)), dtype=np.float32)
    _passages(rows, pages, best)
    _fields(rows, asked, pages)
    _kinds(rows, pages)
    _links(rows, asked, pages, texts)
    rows[:, PageColumn.QUESTION_LENGTH] = min(1.0, len(asked.keys) / 12)
    return rows


def _passages(rows: "Floats", pages: Sequence[PageCandidate], best: BestWindows) -> None:
    top, top_again = float(best.first.max()), float(best.again.max())
    for row, page in zip(rows, pages, strict=True):
        found = sorted((float(best.first[one]) for one in page.chunks), reverse=True)
        again = max(float(best.again[one]) for one in page.chunks)
        row[PageColumn.BEST_AGAIN] = max(LOWEST, again - top_again)
        row[PageColumn.BEST] = found[0] - top
        row[PageColumn.SECOND] = (found[1] if len(found) > 1 else found[0] - 2) - top
        row[PageColumn.CHUNKS] = np.log1p(len(found))


def _fields(rows: "Floats", asked: Asked, pages: Sequence[PageCandidate]) -> None:
    parts: list[tuple[int, ...]] = []
    first = []
    for page in pages:
        one = page.outline
        first.append(len(parts))
        parts += [one.title, one.name, one.slug, one.path, one.host, one.lead, one.defined]
        parts += one.headings
    edges = np.array([*first, len(parts)], dtype=np.intp)
    lengths = np.fromiter(map(len, parts), np.intp, len(parts))
    flat = np.fromiter((key for part in parts for key in part), np.uint32, int(lengths.sum()))
    part_of = np.repeat(np.arange(len(parts)), lengths)
    has = _presence(asked, flat, part_of, len(parts))
    said = _distinct(flat, part_of, len(parts), first)
    covered = has @ asked.weights
    matched = has.sum(axis=1)
    fit = covered * np.minimum(1, matched / np.maximum(1, said))
    starts = edges[:-1]
    for field, plain, fitting in (
        (TITLE, PageColumn.TITLE, PageColumn.TITLE_FIT),
        (NAME, PageColumn.NAME, PageColumn.NAME_FIT),
        (SLUG, PageColumn.SLUG, PageColumn.SLUG_FIT),
    ):
        rows[:, plain] = covered[starts + field]
        rows[:, fitting] = fit[starts + field]
    for field, plain in (
        (PATH, PageColumn.PATH),
        (HOST, PageColumn.HOST),
        (LEAD, PageColumn.LEAD),
        (DEFINED, PageColumn.DEFINED),
    ):
        rows[:, plain] = covered[starts + field]
    identifiers = asked.identifiers
    for number, row in enumerate(rows):
        start, end = int(edges[number]), int(edges[number + 1])
        headings = slice(start + FIELDS, end)
        if end > start + FIELDS:
            row[PageColumn.HEADING] = covered[headings].max()
            row[PageColumn.HEADING_FIT] = fit[headings].max()
        in_headings = has[headings].max(axis=0, initial=0)
        row[PageColumn.HEADINGS] = in_headings @ asked.weights
        named = has[start : start + PATH].max(axis=0)
        row[PageColumn.TITLE_AND_HEADINGS] = np.maximum(named, in_headings) @ asked.weights
        row[PageColumn.IDENTIFIER_TITLE] = named[identifiers].any()
        defined = np.maximum(has[start + DEFINED], in_headings)
        row[PageColumn.IDENTIFIER_DEFINED] = defined[identifiers].any()


def _presence(asked: Asked, flat: "Ints", part_of: "Ints", parts: int) -> "Floats":
    """Parts × terms: 1 if a part has a word of the question, `BEGINNING` if it has another word with its beginning."""
    own = np.array(asked.keys, dtype=np.uint32)
    beginnings = own >> WORD_BITS
    order = np.argsort(beginnings)
    place = np.searchsorted(beginnings, flat >> WORD_BITS, sorter=order)
    term = order[np.minimum(place, len(own) - 1)]
    has = np.zeros((parts, len(own)), dtype=np.float32)
    similar = np.flatnonzero(beginnings[term] == flat >> WORD_BITS)
    has[part_of[similar], term[similar]] = BEGINNING
    equal = np.flatnonzero(own[term] == flat)
    has[part_of[equal], term[equal]] = 1
    return has


def _distinct(flat: "Ints", part_of: "Ints", parts: int, first: Sequence[int]) -> "Ints":
    """How many words each part has, without those that most titles have."""
    pages = len(first)
    in_titles = np.isin(part_of, np.asarray(first) + TITLE)
    beginnings = flat >> WORD_BITS
    known, uses = np.unique(beginnings[in_titles], return_counts=True)
    common = known[uses > COMMON_SHARE * pages] if pages >= MIN_PAGES else known[:0]
    said = ~np.isin(beginnings, common)
    return np.bincount(part_of[said], minlength=parts)


def _kinds(rows: "Floats", pages: Sequence[PageCandidate]) -> None:
    for row, page in zip(rows, pages, strict=True):
        one = page.outline
        row[PageColumn.RELEASES] = bool(one.kind & RELEASES)
        row[PageColumn.DATED] = bool(one.kind & DATED)
        row[PageColumn.LISTING] = bool(one.kind & LISTING)
        row[PageColumn.DEPTH] = min(one.depth, 6) / 6
        row[PageColumn.LENGTH] = np.log1p(page.length / 1000) / 6
        row[PageColumn.HEADING_COUNT] = np.log1p(len(one.headings)) / 6
        row[PageColumn.LINKS] = one.links


def _links(
    rows: "Floats", asked: Asked, pages: Sequence[PageCandidate], texts: Sequence[str]
) -> None:
    """Links between the candidates: a passage that links to a page says what the page is about."""
    numbers = {_same(page.url): number for number, page in enumerate(pages)}
    slugs = {url.rpartition("/")[2] for url in numbers}
    own = {
        key >> WORD_BITS: (key, weight)
        for key, weight in zip(asked.keys, asked.weights.tolist(), strict=True)
    }
    for number, page in enumerate(pages):
        known = {"": -1}
        for chunk in page.chunks:
            linked = set[int]()
            for anchor, target in _LINK.findall(texts[chunk]):
                path = target.partition("#")[0]
                other = known.get(path)
                if other is None:
                    other = known[path] = _target(page.url, path, numbers, slugs)
                if other not in (-1, number):
                    linked.add(other)
                    row = rows[other]
                    row[PageColumn.ANCHOR] = max(row[PageColumn.ANCHOR], _covered(anchor, own))
            for other in linked:
                rows[other, PageColumn.LINKED] += 1
    rows[:, PageColumn.LINKED] = np.log1p(rows[:, PageColumn.LINKED])


def _target(base: str, path: str, numbers: Mapping[str, int], slugs: Set[str]) -> int:
    """The number of the page that a link leads to; -1 if it is no candidate."""
    if _same(path).rpartition("/")[2] not in slugs:
        return -1
    return numbers.get(_same(urljoin(base, path)), -1)


def _covered(text: str, own: Mapping[int, tuple[int, float]]) -> float:
    """The share of the question's weight that a text has; `own` has key and weight by the beginning of words."""
    found: dict[int, float] = {}
    for one in keys(text):
        beginning = one >> WORD_BITS
        key, weight = own.get(beginning, (one, 0.0))
        here = weight if key == one else BEGINNING * weight
        found[beginning] = max(found.get(beginning, 0.0), here)
    return sum(found.values())


def _same(url: str) -> str:
    """An address without fragment, file suffix and final slash."""
    return _ENDING.sub("", url.partition("#")[0].partition("?")[0])
