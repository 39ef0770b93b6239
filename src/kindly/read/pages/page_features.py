"""Candidate pages + question → one row of features per page: passages, title, address, headings, kind, links.

All pages of a question are compared at once: their outlines are joined to one array of keys, and every field of every
page becomes a row over the question's terms.
"""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import numpy as np

from kindly.read.pages.page_outline import DATED, LISTING, RELEASES, Outline, key_of, keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]
    Ints = NDArray[np.integer[Any]]


class PageColumn(IntEnum):
    """The columns. Their order is that of the weights in `pages.json`."""

    BEST = 0
    """The best window's score, as its distance to the best of all pages."""
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


TITLE, NAME, SLUG, PATH, HOST, LEAD, DEFINED = range(7)
"""Fields of an outline in the order of the rows; headings follow."""
FIELDS = 7
COMMON_SHARE = 0.5
"""A word in the titles of more pages than this says nothing about one of them: a site's name."""
MIN_PAGES = 4
_LINK = re.compile(r"\[([^\[\]]{1,150})\]\(([^()\s]{1,300})\)")
_ENDING = re.compile(r"(?:/index)?(?:\.(?:html?|mdx?|rst))?/?$")


@dataclass(frozen=True, slots=True)
class PageCandidate:
    """A page of which some chunks are candidates."""

    url: str
    length: int
    """Of its text, in characters."""
    outline: Outline
    chunks: tuple[int, ...]
    """The positions of its chunks among all."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: its terms, each once, and what each weighs. The weights have the sum of one."""

    terms: tuple[str, ...]
    weights: "Floats"
    identifiers: "NDArray[np.bool_]"
    """Which terms are names of code, such as `useEffect` or `os.path`, as a whole."""


def page_features(
    asked: Asked, pages: Sequence[PageCandidate], texts: Sequence[str], best: "Floats"
) -> "Floats":
    """Pages × `PageColumn`. `texts` are the chunks'; `best` is the score of each chunk's best window."""
    rows = np.zeros((len(pages), len(PageColumn)), dtype=np.float32)
    _passages(rows, pages, best)
    _fields(rows, asked, pages)
    _kinds(rows, pages)
    _links(rows, asked, pages, texts)
    rows[:, PageColumn.QUESTION_LENGTH] = min(1.0, len(asked.terms) / 12)
    return rows


def _passages(rows: "Floats", pages: Sequence[PageCandidate], best: "Floats") -> None:
    top = float(best.max())
    for row, page in zip(rows, pages, strict=True):
        found = sorted((float(best[one]) for one in page.chunks), reverse=True)
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
            row[PageColumn.HEADINGS] = has[headings].any(axis=0) @ asked.weights
        named = has[start : start + PATH].any(axis=0)
        together = named | has[headings].any(axis=0)
        row[PageColumn.TITLE_AND_HEADINGS] = together @ asked.weights
        row[PageColumn.IDENTIFIER_TITLE] = (named & identifiers).any()
        defined = has[start + DEFINED] | has[headings].any(axis=0)
        row[PageColumn.IDENTIFIER_DEFINED] = (defined & identifiers).any()


def _presence(asked: Asked, flat: "Ints", part_of: "Ints", parts: int) -> "NDArray[np.bool_]":
    """Parts × terms: which part has which of the question's terms."""
    own = np.array([key_of(term) for term in asked.terms], dtype=np.uint32)
    order = np.argsort(own)
    place = np.minimum(np.searchsorted(own, flat, sorter=order), len(own) - 1)
    term = order[place]
    found = np.flatnonzero(own[term] == flat)
    has = np.zeros((parts, len(own)), dtype=bool)
    has[part_of[found], term[found]] = True
    return has


def _distinct(flat: "Ints", part_of: "Ints", parts: int, first: Sequence[int]) -> "Ints":
    """How many words each part has, without those that most titles have."""
    pages = len(first)
    in_titles = np.isin(part_of, np.asarray(first) + TITLE)
    known, uses = np.unique(flat[in_titles], return_counts=True)
    common = known[uses > COMMON_SHARE * pages] if pages >= MIN_PAGES else known[:0]
    said = ~np.isin(flat, common)
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
    weight_of = dict(zip(map(key_of, asked.terms), asked.weights.tolist(), strict=True))
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
                    row[PageColumn.ANCHOR] = max(
                        row[PageColumn.ANCHOR], _covered(anchor, weight_of)
                    )
            for other in linked:
                rows[other, PageColumn.LINKED] += 1
    rows[:, PageColumn.LINKED] = np.log1p(rows[:, PageColumn.LINKED])


def _target(base: str, path: str, numbers: Mapping[str, int], slugs: Set[str]) -> int:
    """The number of the page that a link leads to; -1 if it is no candidate."""
    if _same(path).rpartition("/")[2] not in slugs:
        return -1
    return numbers.get(_same(urljoin(base, path)), -1)


def _covered(text: str, weight_of: Mapping[int, float]) -> float:
    return sum(weight_of.get(key, 0.0) for key in set(keys(text)))


def _same(url: str) -> str:
    """An address without fragment, file suffix and final slash."""
    return _ENDING.sub("", url.partition("#")[0].partition("?")[0])
