"""Block selection: content probabilities → the blocks to keep, by the best expected F1 of their words.

Tables, lists and code blocks are kept or dropped whole, and headings and tables of contents follow the text they
belong to.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from turbohtml import Element

from kindly.extract.content.blocks import Blocks
from kindly.extract.content.char_counts import Floats
from kindly.extract.content.outline import (
    LEVELS,
    LIKELY_HEADING,
    Flags,
    elements_of,
    with_authors,
    with_footnotes,
    with_formulas,
    with_headings,
    with_likely_headings,
    with_tables_of_contents,
)

TABLE_SHARE = 0.7
LIST_SHARE = 0.3
"""A table or list with more of the page's words than this may be the layout of the page."""
ITEM_WORDS = 30
"""A list whose blocks are longer on average may hold whole texts."""
ODDS_FACTORS = {"table": 3.3, "pre": 6.0, "ul": 1.6, "ol": 1.6, "dl": 1.6}
"""Structures whose blocks share one probability, and the factor on its odds: rows and lines are rarely boilerplate."""
LISTS = ("ul", "ol", "dl")
DATA_TAGS = ("th", "pre")
LEAST_ITEMS = 2
"""Of a list that is kept because of the text before it."""
LIKELY_STRUCTURE = 0.3
"""A table with header cells or code between kept texts, or a list below one, is kept with at least this probability."""
LIKELY_DATA = 0.4
"""A table with names of columns and rows of data beside kept text, with this one, wherever it is."""
DATA_COLUMNS = 3
DATA_ROWS = 3
"""The least names of columns, and rows with as many cells."""
MOSTLY_KEPT = 0.5
"""The share of the words of a table of data from which all of it is kept."""
LIKELY_LINKS = 0.5
"""And a list of links or definitions with this one: tags, related pages and facts often follow a text."""
LINK_SHARE = 0.5
"""Of a list of links, more of the characters are in links than this."""

SHARPNESS = 1.3
"""Factor on log-odds: the classifier is slightly under-confident."""
SHIFT_MEAN = -0.7
SHIFT_SPREAD = 2.6
"""Mean and standard deviation of the error that all log-odds of a page have in common."""
SHIFTS = (
    SHIFT_MEAN
    + SHIFT_SPREAD * np.array([-1.5, -0.9, -0.4, 0.0, 0.4, 0.9, 1.5], np.float32)[:, None]
)
SHIFT_WEIGHTS = np.array([0.101, 0.207, 0.287, 0.31, 0.287, 0.207, 0.101], np.float32) / 1.5
MIN_PROBABILITY = 1e-4


def select_blocks(
    blocks: Blocks,
    probabilities: Floats,
    words: Floats,
    boilerplate: Sequence[int] = (),
    *,
    article: bool = False,
) -> Flags:
    """The blocks to keep, at least one; blocks in `boilerplate` elements only as headings or tables of contents."""
    pooled = pool_structures(blocks, probabilities, words)
    content = _content_blocks(blocks, pooled, words, boilerplate)
    keep = with_authors(blocks, with_formulas(blocks, content))
    outside = _without(blocks, probabilities, boilerplate)
    headed = with_likely_headings(blocks, with_headings(blocks, keep), outside)
    if boilerplate:
        pooled = pool_structures(blocks, outside, words)
    whole = with_whole_tables(blocks, headed, outside, words)
    introduced = with_introduced(blocks, with_data_tables(blocks, whole, pooled), pooled)
    return with_tables_of_contents(blocks, with_footnotes(blocks, introduced), article=article)


def content_blocks(
    blocks: Blocks, probabilities: Floats, words: Floats, boilerplate: Sequence[int] = ()
) -> Flags:
    """The blocks with the best expected F1, at least one."""
    return _content_blocks(
        blocks, pool_structures(blocks, probabilities, words), words, boilerplate
    )


def _content_blocks(
    blocks: Blocks, pooled: Floats, words: Floats, boilerplate: Sequence[int]
) -> Flags:
    outside = _without(blocks, pooled, boilerplate)
    keep = maximise_expected_f1(outside, words) & (outside > 0)
    return keep if keep.any() else maximise_expected_f1(pooled, words)


def _without(blocks: Blocks, probabilities: Floats, boilerplate: Sequence[int]) -> Floats:
    """The probabilities, zero within boilerplate elements."""
    outside = probabilities.copy()
    for at in boilerplate:
        outside[blocks.starts[at] : blocks.ends[at]] = 0
    return outside


def with_whole_tables(blocks: Blocks, keep: Flags, outside: Floats, words: Floats) -> Flags:
    """The kept blocks and the rest of the tables of data of which most is kept, but nothing in boilerplate elements.

    The cells of a table that is most of its page are judged one by one, but mean little without the names of columns.
    """
    extended = keep.copy()
    for at in elements_of(blocks, ("table",)):
        inside = slice(blocks.starts[at], blocks.ends[at])
        kept = keep[inside]
        if kept.any() and not kept.all() and _has_columns(blocks.elements[at]):
            share = words[inside] @ kept / max(1.0, float(words[inside].sum()))
            extended[inside] |= (outside[inside] > 0) & (share >= MOSTLY_KEPT)
    return extended


def with_data_tables(blocks: Blocks, keep: Flags, pooled: Floats) -> Flags:
    """The kept blocks and the likely tables of data beside them, each with the heading directly above it.

    Below the last text and above the first one there are the tables of discographies, results and the like.
    """
    extended = keep.copy()
    for at in _dropped(blocks, keep, ("table",), pooled):
        start, end, outer = blocks.starts[at], blocks.ends[at], blocks.parents[at]
        beside = keep[blocks.starts[outer] : blocks.ends[outer]].any()
        if beside and pooled[start] >= LIKELY_DATA and _has_columns(blocks.elements[at]):
            heading = start - 1
            extended[heading if heading >= 0 and _is_heading(blocks, heading) else start : end] = (
                True
            )
    return extended


def _has_columns(table: Element) -> bool:
    """Whether a table has a row of names and rows of data below it."""
    rows = [[cell.tag for cell in row.select("th, td")] for row in table.select("tr")]
    names = [
        at for at, row in enumerate(rows) if row.count("th") >= DATA_COLUMNS and "td" not in row
    ]
    data = sum(row.count("td") >= DATA_COLUMNS - 1 for row in rows[names[0] :]) if names else 0
    return data >= DATA_ROWS and not table.select("table")


def with_introduced(blocks: Blocks, keep: Flags, pooled: Floats) -> Flags:
    """The kept blocks, the tables with a header or code between two of them, and the lists below them.

    `pooled` has the probabilities of structures. A likely heading may be between the text and its structure.
    """
    extended = keep.copy()
    for at in _dropped(blocks, keep, ("table",), pooled):
        start, end = blocks.starts[at], blocks.ends[at]
        first = _introduced_from(blocks, extended, pooled, start)
        followed = end < len(keep) and keep[end]
        if first is not None and followed and _has_any(blocks, start, end, DATA_TAGS):
            extended[first:end] = True
    for at in _dropped(blocks, extended, LISTS, pooled):
        start, end = blocks.starts[at], blocks.ends[at]
        first = _introduced_from(blocks, extended, pooled, start)
        likely = pooled[start] >= LIKELY_LINKS or _has_points(blocks, at)
        if first is not None and likely and end - start >= LEAST_ITEMS:
            extended[first:end] = True
    return extended


def _has_points(blocks: Blocks, at: int) -> bool:
    """Whether a list has points, not links or definitions."""
    inside = slice(blocks.starts[at], blocks.ends[at])
    characters = sum(map(len, blocks.texts[inside]))
    is_items = blocks.signature_tags[blocks.signatures[at]] != "dl"
    return is_items and sum(blocks.linked[inside]) <= LINK_SHARE * characters


def _introduced_from(blocks: Blocks, keep: Flags, pooled: Floats, start: int) -> int | None:
    """The first block of a structure or of the heading above it, if the text before is kept."""
    if start and keep[start - 1]:
        return start
    heading = start - 1
    likely = heading > 0 and keep[heading - 1] and pooled[heading] >= LIKELY_HEADING
    return heading if likely and _is_heading(blocks, heading) else None


def _dropped(blocks: Blocks, keep: Flags, tags: Sequence[str], pooled: Floats) -> Iterator[int]:
    """The elements of the outermost likely structures without a kept block."""
    done = 0
    for at in elements_of(blocks, tags):
        start, end = blocks.starts[at], blocks.ends[at]
        likely = start < end and pooled[start] >= LIKELY_STRUCTURE
        if likely and start >= done and not keep[start:end].any():
            done = end
            yield at


def _is_heading(blocks: Blocks, block: int) -> bool:
    return blocks.signature_tags[blocks.signatures[blocks.containers[block]]] in LEVELS


def _has_any(blocks: Blocks, start: int, end: int, tags: Sequence[str]) -> bool:
    return any(
        start <= blocks.starts[at] and blocks.ends[at] <= end for at in elements_of(blocks, tags)
    )


def sigmoid(log_odds: Floats) -> Floats:
    """Log-odds as probabilities."""
    probabilities: Floats = np.divide(1, 1 + np.exp(-log_odds), dtype=np.float32)
    return probabilities


def best_expected_f1(probabilities: Floats, words: Floats) -> float:
    """The highest expected word F1 of any selection."""
    order = np.argsort(-probabilities, kind="stable")
    return float(_prefix_f1(probabilities[order], words[order]).max())


def maximise_expected_f1(probabilities: Floats, words: Floats) -> Flags:
    """The selection with the highest expected word F1.

    Blocks are added in order of falling probability while the expected F1 rises. The classifier may misjudge a page as
    a whole, so the F1 is averaged over scenarios in which all log-odds are shifted down or up together.
    """
    order = np.argsort(-probabilities, kind="stable")
    bounded = np.clip(probabilities[order], MIN_PROBABILITY, 1 - MIN_PROBABILITY)
    log_odds = SHARPNESS * np.log(bounded / (1 - bounded))
    scenarios = _prefix_f1(sigmoid(log_odds + SHIFTS), words[order])
    last = int(np.argmax(SHIFT_WEIGHTS @ scenarios))
    keep = np.zeros(len(probabilities), np.bool_)
    keep[order[: last + 1]] = True
    return keep


def _prefix_f1(probabilities: Floats, words: Floats) -> Floats:
    """The expected F1 of the first block, of the first two, of the first three, …"""
    hits = np.cumsum(probabilities * words, axis=-1)
    found: Floats = np.divide(2 * hits, np.cumsum(words) + hits[..., -1:], dtype=np.float32)
    return found


def pool_structures(blocks: Blocks, probabilities: Floats, words: Floats) -> Floats:
    """The probabilities, with one common value within each list, table and code block."""
    words_before = _running_totals(words)
    content_before = _running_totals(probabilities * words)
    pooled = probabilities.copy()
    done = 0
    for at in elements_of(blocks, ODDS_FACTORS):
        start, end = blocks.starts[at], blocks.ends[at]
        if start < done or start == end:
            continue
        tag = blocks.signature_tags[blocks.signatures[at]]
        size = words_before[end] - words_before[start]
        share = TABLE_SHARE if tag == "table" else LIST_SHARE
        small = size < share * words_before[-1] and size < ITEM_WORDS * (end - start)
        if tag == "pre" or (small and end > start + 1):
            mean = (content_before[end] - content_before[start]) / size
            pooled[start:end] = _with_odds_factor(mean, ODDS_FACTORS[tag])
            done = end
    return pooled


def _running_totals(values: Floats) -> list[float]:
    """Prefix sums, so that the sum over any span is a difference."""
    totals: list[float] = np.concatenate(([0.0], np.cumsum(values, dtype=np.float64))).tolist()
    return totals


def _with_odds_factor(probability: float, factor: float) -> float:
    return factor * probability / (1 - probability + factor * probability)
