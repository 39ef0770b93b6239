"""Blocks of a page → one row of numbers each, for the classifier.

Everything is computed for all blocks at once.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kindly.extract.content.ancestors import Ancestors, trace
from kindly.extract.content.blocks import MARKS, TAG_CODES, Blocks
from kindly.extract.content.char_counts import Counts, Floats, count_characters
from kindly.extract.content.lexicon import WORD, Lexicon, first_words
from kindly.extract.content.page_kind import Hints

Ints = NDArray[np.int64]
Column = NDArray[np.floating]

OWN_MARKS = tuple(MARKS.index(name) for name in ("main", "heading", "prop-body", "prop-name"))
HEADING = MARKS.index("heading")
SCHEMA_KINDS = (
    *("article", "newsarticle", "blogposting", "product", "itemlist", "collectionpage", "faqpage"),
    *(
        "qapage",
        "discussionforumposting",
        "organization",
        "service",
        "breadcrumblist",
        "og:product",
    ),
    *("og:article", "og:website"),
)
COUNTED_TAGS = (
    *("h1", "h2", "h3", "article", "pre", "table", "li", "p", "form", "button", "blockquote", "dt"),
)
TAG_COLUMNS = (0, 1, 2)
"""The columns with numbers of tags: of a block's element, of that above it, of that above this one."""
LONG_WORDS = 25
NEAR = (1, -1, 2, -2)
WINDOWS = (3, 8)
LEVELS = (0, 1, 2, 3, 5, 6)
"""Which entries of a block's chain of elements are described."""


@dataclass(frozen=True, slots=True)
class Table:
    """The blocks of a page as arrays, ready to be scored."""

    matrix: Floats
    words: Floats
    """Words of each block."""
    lineage: Ancestors
    headings: Ints
    """For each block the heading before it, or -1."""


def tabulate(blocks: Blocks, hints: Hints, lexicon: Lexicon) -> Table:
    """The rows of a page and what they were made from; there must be a block."""
    counts = count_characters(blocks.texts)
    words = counts.words
    lineage = trace(blocks, lexicon, words)
    holders = lineage.chain[:, 0]
    linked = np.minimum(np.array(blocks.linked, np.float32), counts.characters)
    link_share = np.divide(linked, counts.characters, dtype=np.float32)
    codes = np.array([TAG_CODES.get(tag, 0) for tag in blocks.look_tags], np.float32)[
        np.array(blocks.looks)
    ]
    own_codes = codes[holders]
    opening = [first_words(text) for text in blocks.texts]
    tone = _tone(opening, lexicon)
    headings = _headings(lineage.own_marks)
    sums = _sums(
        words,
        words * link_share,
        counts.sentences,
        counts.kinds[:, 3] > 0,
        np.where(own_codes == TAG_CODES["p"], words, 0),
        np.ones_like(words),
    )
    columns = [
        own_codes,
        codes[lineage.chain[:, 1]],
        codes[lineage.chain[:, 2]],
        *_own(blocks, counts, link_share),
        _bits(lineage.own_marks, OWN_MARKS),
        _bits(lineage.marks, range(len(MARKS))),
        lineage.scores,
        _inner_scores(blocks.inner_names, lexicon),
        lineage.repeats,
        tone,
        *_context(np.stack((np.log1p(words), link_share, own_codes, tone[:, 0]), axis=1), sums),
        *_under_heading(headings, own_codes, tone, sums),
        *_positions(words),
        *_around(lineage, sums),
        _likeness(blocks, lineage.groups, words),
        _titles(opening, hints),
        _page(blocks, hints, sums[-1], words),
    ]
    return Table(_joined(columns), words, lineage, headings)


def shifted(values: Floats, by: int) -> Floats:
    """Each block's value replaced by that of the block so many places before it; nought beyond the ends."""
    moved = np.zeros_like(values)
    if abs(by) < len(values):
        if by > 0:
            moved[by:] = values[:-by]
        else:
            moved[:by] = values[-by:]
    return moved


def _joined(columns: list[Column]) -> Floats:
    wide = [column if column.ndim == 2 else column[:, None] for column in columns]
    joined: Floats = np.concatenate(wide, axis=1, dtype=np.float32)
    return joined


def _same(rows: int, facts: list[float]) -> Floats:
    return np.broadcast_to(np.array(facts, np.float32), (rows, len(facts)))


def _sums(*columns: NDArray[np.generic]) -> NDArray[np.float64]:
    """Running totals, so that the sum over any span of blocks is a difference."""
    totals = np.zeros((len(columns), len(columns[0]) + 1))
    np.cumsum(np.array(columns, np.float64), axis=1, out=totals[:, 1:])
    return np.ascontiguousarray(totals.T)


def _window(sums: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """The totals in a window around each block."""
    count = len(sums) - 1
    at = np.arange(count)
    found: NDArray[np.float64] = sums.take(np.minimum(at + width + 1, count), axis=0)
    found -= sums.take(np.maximum(at - width, 0), axis=0)
    return found


def _bits(marks: Ints, positions: Sequence[int]) -> Floats:
    bits = (marks[:, None] >> np.array(positions, np.int64)) & 1
    return bits.astype(np.float32)


def _own(blocks: Blocks, counts: Counts, link_share: Floats) -> list[Column]:
    per_character = counts.kinds[:, :2] / counts.characters[:, None]
    return [
        np.log1p(counts.words),
        counts.characters / counts.words,
        link_share,
        np.array(blocks.links, np.float32),
        np.array(blocks.images, np.float32),
        per_character,
        counts.kinds[:, 2:],
        counts.sentences,
        counts.edges,
        counts.sentences / counts.words,
    ]


def _tone(opening: list[list[str]], lexicon: Lexicon) -> Floats:
    """The mean and the lowest score of each block's first words."""
    score = lexicon.words.get
    flat = np.array([score(word, 0.0) for words in opening for word in words or ("",)], np.float32)
    counts = np.array([len(words) or 1 for words in opening])
    starts = np.cumsum(counts) - counts
    mean = np.add.reduceat(flat, starts) / counts
    return np.stack((mean, np.minimum.reduceat(flat, starts)), axis=1).astype(np.float32)


def _inner_scores(names: list[str], lexicon: Lexicon) -> Floats:
    ids: dict[str, int] = {}
    at = [ids.setdefault(name, len(ids)) for name in names]
    return np.array([lexicon.of_names(name) for name in ids], np.float32).take(at, axis=0)


def _headings(own_marks: Ints) -> Ints:
    """For each block the last heading before it, or -1."""
    at = np.where((own_marks >> HEADING) & 1, np.arange(len(own_marks)), -1)
    last = np.maximum.accumulate(at)
    return np.concatenate(([-1], last[:-1]))


def _context(near: Floats, sums: NDArray[np.float64]) -> list[Column]:
    windows = [_window(sums, width) for width in WINDOWS]
    return [
        *(shifted(near, by) for by in NEAR),
        *(np.log1p(window[:, 0] / window[:, 5]) for window in windows),
        *(window[:, 1] / window[:, 0] for window in windows),
    ]


def _under_heading(
    headings: Ints, codes: Floats, tone: Floats, sums: NDArray[np.float64]
) -> list[Column]:
    governed = headings >= 0
    safe = np.maximum(headings, 0)
    return [
        np.where(governed, sums[:-1, 0] - sums[safe, 0], -1),
        np.where(governed, codes.take(safe), -1),
        np.where(governed[:, None], tone.take(safe, axis=0), 0),
    ]


def _positions(words: Floats) -> list[Column]:
    position = np.arange(len(words), dtype=np.float32)
    before = np.cumsum(words) - words
    total = before[-1] + words[-1]
    return [
        position,
        position[::-1],
        before / total,
        np.log1p(before),
        np.log1p(total - before),
    ]


def _around(lineage: Ancestors, sums: NDArray[np.float64]) -> list[Column]:
    """Of elements above a block: size, links, sentences, paragraphs, prices."""
    whole = sums[-1]
    within = sums.take(lineage.spans[:, 1], axis=0) - sums.take(lineage.spans[:, 0], axis=0)
    size = np.maximum(within[:, 0], 1)
    count = np.maximum(within[:, 5], 1)
    facts = np.stack(
        (
            np.log1p(size),
            within[:, 0] / whole[0],
            within[:, 1] / size,
            within[:, 2] / size,
            size / count,
            within[:, 4] / size,
            within[:, 3] / count,
            (within[:, 0] - within[:, 1]) / max(whole[0] - whole[1], 1),
        ),
        axis=1,
    ).astype(np.float32)
    section = lineage.chain[:, -1]
    return [
        facts.take(lineage.chain[:, LEVELS], axis=0).reshape(len(section), -1),
        lineage.section_scores,
        lineage.spans[section, 0] / len(section),
    ]


def _likeness(blocks: Blocks, groups: Ints, words: Floats) -> Column:
    """How many blocks look like this one, how long they are, and how often its very text occurs."""
    count = np.bincount(groups)
    size = np.bincount(groups, words)
    texts = Counter(blocks.texts)
    copies = np.array([texts[text] for text in blocks.texts])
    alike = count[groups]
    return np.stack((alike, size[groups] / alike, alike / len(words), copies), axis=1)


def _titles(opening: list[list[str]], hints: Hints) -> Column:
    """How much of a block is in the page's title, and how far it is from the block that is the title."""
    title = frozenset(WORD.findall(hints.title.lower()))
    shares = [
        0.0 if title.isdisjoint(words) else len(title.intersection(words)) / len(words)
        for words in opening
    ]
    best, best_overlap = -1, 0.5
    for index, (words, share) in enumerate(zip(opening, shares, strict=True)):
        if share > best_overlap:
            overlap = share * len(words) / max(len(words), len(title))
            if overlap > best_overlap:
                best, best_overlap = index, overlap
    at = np.arange(len(opening), dtype=np.float32)
    distance = at - best if best >= 0 else np.full_like(at, -9999)
    return np.stack((np.array(shares, np.float32), distance), axis=1)


def _page(blocks: Blocks, hints: Hints, whole: NDArray[np.float64], words: Floats) -> Floats:
    """What holds for the page as a whole, the same for every block."""
    count = np.bincount(blocks.looks)
    tags = dict.fromkeys(COUNTED_TAGS, 0)
    for tag, times in zip(blocks.look_tags, count.tolist(), strict=True):
        if tag in tags:
            tags[tag] += times
    path = hints.path
    total = max(float(whole[0]), 1.0)
    facts = [
        float(np.log1p(total)),
        *(float(part) / total for part in (whole[1], whole[2], whole[4])),
        float(np.log1p(whole[3])),
        total / float(whole[5]),
        float(words[words > LONG_WORDS].sum()) / total,
        *map(float, tags.values()),
        *(float(kind in hints.kinds) for kind in SCHEMA_KINDS),
        float(path.count("/")),
        float(len(path)),
        float(path.count("-")),
        float(sum(map(str.isdigit, path))),
        float("?" in path),
    ]
    return _same(len(words), facts)
