"""Feature extraction: the blocks of a page → a matrix with one row per block, for the classifier.

Everything is vectorised over all blocks. The order of columns is part of the trained model: `compute_features` names
and orders them, and a change needs a new `content.npz`. They are computed as the rows of the transposed matrix, where a
column is contiguous.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import IntEnum
from itertools import compress, repeat
from operator import not_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kindly.extract.content.ancestors import (
    ANCESTOR_LEVELS,
    Ancestors,
    Level,
    SpanColumn,
    read_ancestors,
)
from kindly.extract.content.blocks import MARKS, TAG_CODES, Blocks
from kindly.extract.content.char_counts import CharCounts, Count, Floats, count_characters
from kindly.extract.content.lexicon import WORD, Lexicon, openings_of
from kindly.extract.content.page_kind import Hints
from kindly.frozen import frozen

Ints = NDArray[np.int64]
Totals = NDArray[np.float64]
Column = NDArray[np.floating]
Columns = dict[str, Column]
"""Features by name; a value with two dimensions holds several, one per row."""

OWN_MARKS = tuple(MARKS.index(name) for name in ("main", "heading", "prop-body", "prop-name"))
HEADING = MARKS.index("heading")
SCHEMA_KINDS = (
    *("article", "newsarticle", "blogposting", "product", "itemlist", "collectionpage", "faqpage"),
    *("qapage", "discussionforumposting", "organization", "service", "breadcrumblist"),
    *("og:product", "og:article", "og:website"),
)
COUNTED_TAGS = (
    *("h1", "h2", "h3", "article", "pre", "table", "li", "p", "form", "button", "blockquote", "dt"),
)
TAG_COLUMNS = (0, 1, 2)
"""The matrix columns with tag codes: of a block's element, its parent and its grandparent."""
LONG_WORDS = 25
NEIGHBOURS = (1, -1, 2, -2)
"""Neighbouring blocks whose features are repeated, by their distance before (+) or after (-) the block."""
WINDOWS = (3, 8)
"""How many blocks before and after a block make up its windows."""
DESCRIBED_LEVELS = (0, 1, 2, 3, ANCESTOR_LEVELS, Level.SECTION)
"""The columns of `Ancestors.chain` whose elements are described by features."""
NO_TITLE_DISTANCE = -9999
"""The distance to the title block on a page without one."""


class Total(IntEnum):
    """The columns of running totals over blocks."""

    WORDS = 0
    LINKED_WORDS = 1
    SENTENCES = 2
    PRICED_BLOCKS = 3
    """Blocks with a currency sign."""
    PARAGRAPH_WORDS = 4
    """Words directly in a `p` element."""
    BLOCKS = 5


class WordScore(IntEnum):
    """The columns of the lexicon scores of a block's first words."""

    MEAN = 0
    LOWEST = 1


@frozen
class FeatureTable:
    """The features of a page's blocks, and the arrays they were computed from."""

    matrix: Floats
    words: Floats
    """Words of each block."""
    ancestors: Ancestors
    headings: Ints
    """For each block the last heading before it, or -1."""


def compute_features(blocks: Blocks, hints: Hints, lexicon: Lexicon) -> FeatureTable:
    """The features of a page that has at least one block."""
    counts = count_characters(blocks.texts)
    words = counts.words
    ancestors = read_ancestors(blocks, lexicon, words)
    linked = np.minimum(np.array(blocks.linked, np.float32), counts.characters)
    link_share = np.divide(linked, counts.characters, dtype=np.float32)
    signature_codes = list(map(TAG_CODES.get, blocks.signature_tags, repeat(0)))
    codes = np.array(signature_codes, np.float32).take(blocks.signatures)
    own_codes = codes[ancestors.chain[:, Level.ELEMENT]]
    openings = openings_of(blocks.texts)
    word_scores = lexicon.score_openings(openings)
    headings = _headings(ancestors.own_marks)
    totals = _running_totals(
        {
            Total.WORDS: words,
            Total.LINKED_WORDS: words * link_share,
            Total.SENTENCES: counts.sentences,
            Total.PRICED_BLOCKS: counts.by_class[:, Count.MONEY] > 0,
            Total.PARAGRAPH_WORDS: np.where(own_codes == TAG_CODES["p"], words, 0),
            Total.BLOCKS: np.ones_like(words),
        }
    )
    neighbour = np.array((np.log1p(words), link_share, own_codes, word_scores[:, WordScore.MEAN]))
    columns: Columns = {
        "tag": own_codes,
        "parent tag": codes[ancestors.chain[:, Level.PARENT]],
        "grandparent tag": codes[ancestors.chain[:, Level.GRANDPARENT]],
        **_text_features(blocks, counts, link_share),
        "element marks": _bits(ancestors.own_marks, OWN_MARKS),
        "inherited marks": _bits(ancestors.marks, range(len(MARKS))),
        "name scores": ancestors.scores.T,
        "inline name scores": _inline_name_scores(blocks.inner_names, lexicon),
        "repeated siblings": ancestors.repeats.T,
        "word scores": word_scores.T,
        **_context_features(neighbour, totals),
        **_heading_features(headings, own_codes, word_scores, totals),
        **_position_features(words),
        **_ancestor_features(ancestors, totals),
        "similar blocks": _similarity_features(blocks, ancestors.groups, words),
        "title": _title_features(openings, hints),
        "page": _page_features(blocks, hints, totals[-1], words),
    }
    return FeatureTable(_stacked(columns.values()).T, words, ancestors, headings)


def shift_blocks(values: Floats, by: int) -> Floats:
    """Shift values down by `by` blocks (up if negative), filled with zeros; blocks are on the last axis."""
    shifted = np.zeros_like(values)
    if abs(by) < values.shape[-1]:
        if by > 0:
            shifted[..., by:] = values[..., :-by]
        else:
            shifted[..., :by] = values[..., -by:]
    return shifted


def _stacked(columns: Iterable[Column]) -> Floats:
    two_dimensional = [column if column.ndim == 2 else column[None] for column in columns]
    stacked: Floats = np.concatenate(two_dimensional, axis=0, dtype=np.float32)
    return stacked


def _running_totals(columns: dict[Total, NDArray[Any]]) -> Totals:
    """Prefix sums, so that the total over any span of blocks is a difference of two rows."""
    ordered = [columns[total] for total in Total]
    totals = np.zeros((len(ordered), len(ordered[0]) + 1))
    np.cumsum(np.array(ordered, np.float64), axis=1, out=totals[:, 1:])
    return np.ascontiguousarray(totals.T)


def _window_totals(totals: Totals, width: int) -> Totals:
    """The totals over a window of `width` blocks before and after each block."""
    count = len(totals) - 1
    at = np.arange(count)
    found: Totals = totals.take(np.minimum(at + width + 1, count), axis=0)
    found -= totals.take(np.maximum(at - width, 0), axis=0)
    return found


def _bits(marks: Ints, positions: Sequence[int]) -> Floats:
    bits = (marks >> np.array(positions, np.int64)[:, None]) & 1
    return bits.astype(np.float32)


def _text_features(blocks: Blocks, counts: CharCounts, link_share: Floats) -> Columns:
    by_class = counts.by_class.T
    return {
        "log words": np.log1p(counts.words),
        "word length": counts.characters / counts.words,
        "link share": link_share,
        "links": np.array(blocks.links, np.float32),
        "images": np.array(blocks.images, np.float32),
        "shares of digits and capitals": by_class[: Count.COMMAS] / counts.characters,
        "punctuation": by_class[Count.COMMAS :],
        "sentences": counts.sentences,
        "first and last character": counts.edges.T,
        "sentences per word": counts.sentences / counts.words,
    }


def _inline_name_scores(names: list[str], lexicon: Lexicon) -> Floats:
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    at = list(map(numbers.__getitem__, names))
    return lexicon.score_names(numbers).take(at, axis=0).T


def _headings(own_marks: Ints) -> Ints:
    """For each block the last heading before it, or -1."""
    at = np.where((own_marks >> HEADING) & 1, np.arange(len(own_marks)), -1)
    last = np.maximum.accumulate(at)
    return np.concatenate(([-1], last[:-1]))


def _context_features(neighbour: Floats, totals: Totals) -> Columns:
    windows = {width: _window_totals(totals, width) for width in WINDOWS}
    return {
        **{f"neighbour {by}": shift_blocks(neighbour, by) for by in NEIGHBOURS},
        **{
            f"log words per block of window {width}": np.log1p(
                window[:, Total.WORDS] / window[:, Total.BLOCKS]
            )
            for width, window in windows.items()
        },
        **{
            f"link share of window {width}": window[:, Total.LINKED_WORDS] / window[:, Total.WORDS]
            for width, window in windows.items()
        },
    }


def _heading_features(
    headings: Ints, codes: Floats, word_scores: Floats, totals: Totals
) -> Columns:
    has_heading = headings >= 0
    safe = np.maximum(headings, 0)
    words_since = totals[:-1, Total.WORDS] - totals[safe, Total.WORDS]
    return {
        "words since heading": np.where(has_heading, words_since, -1),
        "heading tag": np.where(has_heading, codes.take(safe), -1),
        "heading word scores": np.where(has_heading, word_scores.take(safe, axis=0).T, 0),
    }


def _position_features(words: Floats) -> Columns:
    position = np.arange(len(words), dtype=np.float32)
    before = np.cumsum(words) - words
    total = before[-1] + words[-1]
    return {
        "position": position,
        "position from end": position[::-1],
        "share of words before": before / total,
        "log words before": np.log1p(before),
        "log words after": np.log1p(total - before),
    }


def _ancestor_features(ancestors: Ancestors, totals: Totals) -> Columns:
    """Size, link density, sentences, paragraphs and prices of the elements around each block."""
    page = totals[-1]
    starts, ends = ancestors.spans[:, SpanColumn.START], ancestors.spans[:, SpanColumn.END]
    within = totals.take(ends, axis=0) - totals.take(starts, axis=0)
    words, linked_words = within[:, Total.WORDS], within[:, Total.LINKED_WORDS]
    size = np.maximum(words, 1)
    count = np.maximum(within[:, Total.BLOCKS], 1)
    element = np.stack(
        (
            np.log1p(size),
            words / page[Total.WORDS],
            linked_words / size,
            within[:, Total.SENTENCES] / size,
            size / count,
            within[:, Total.PARAGRAPH_WORDS] / size,
            within[:, Total.PRICED_BLOCKS] / count,
            (words - linked_words) / max(page[Total.WORDS] - page[Total.LINKED_WORDS], 1),
        ),
        axis=1,
    ).astype(np.float32)
    section = ancestors.chain[:, Level.SECTION]
    described = element.take(ancestors.chain[:, DESCRIBED_LEVELS], axis=0)
    return {
        "ancestors": described.reshape(len(section), -1).T,
        "section name scores": ancestors.section_scores.T,
        "section start": ancestors.spans[section, SpanColumn.START] / len(section),
    }


def _similarity_features(blocks: Blocks, groups: Ints, words: Floats) -> Column:
    """Blocks in the same group: count, mean length, share of the page; and copies of the block's text."""
    count = np.bincount(groups)
    size = np.bincount(groups, words)
    copies = list(map(Counter(blocks.texts).get, blocks.texts))
    group_size = count[groups]
    return np.array((group_size, size[groups] / group_size, group_size / len(words), copies))


def _title_features(openings: list[list[str]], hints: Hints) -> Column:
    """The share of a block's first words that are in the page's title, and its distance from the title block."""
    title = frozenset(WORD.findall(hints.title.lower()))
    shares = np.zeros(len(openings), np.float32)
    best, best_overlap = -1, 0.5
    alike = compress(range(len(openings)), map(not_, map(title.isdisjoint, openings)))
    for index in alike:
        words = openings[index]
        share = len(title.intersection(words)) / len(words)
        shares[index] = share
        if share > best_overlap:
            overlap = share * len(words) / max(len(words), len(title))
            if overlap > best_overlap:
                best, best_overlap = index, overlap
    at = np.arange(len(openings), dtype=np.float32)
    distance = at - best if best >= 0 else np.full_like(at, NO_TITLE_DISTANCE)
    return np.array((shares, distance))


def _page_features(blocks: Blocks, hints: Hints, page: Totals, words: Floats) -> Floats:
    """Features of the whole page, the same in every row."""
    path = hints.path
    total = max(float(page[Total.WORDS]), 1.0)
    features = [
        float(np.log1p(total)),
        float(page[Total.LINKED_WORDS]) / total,
        float(page[Total.SENTENCES]) / total,
        float(page[Total.PARAGRAPH_WORDS]) / total,
        float(np.log1p(page[Total.PRICED_BLOCKS])),
        total / float(page[Total.BLOCKS]),
        float(words[words > LONG_WORDS].sum()) / total,
        *(float(len(blocks.by_tag.get(tag, ()))) for tag in COUNTED_TAGS),
        *(float(kind in hints.kinds) for kind in SCHEMA_KINDS),
        float(path.count("/")),
        float(len(path)),
        float(path.count("-")),
        float(sum(map(str.isdigit, path))),
        float("?" in path),
    ]
    return np.broadcast_to(np.array(features, np.float32)[:, None], (len(features), len(words)))
