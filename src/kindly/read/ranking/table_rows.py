"""A question and its table → the few rows that may answer: those with the question's words, and extremes.

"Which station has the most parking spaces?" shares no word with the row that answers it. Its row is the one with the
largest number in the column of parking spaces; so for such questions the rows with the largest and the smallest number
of a column are chosen, and the first and the last row.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kindly.models import Chunk
from kindly.read.ranking.candidate_features import TABLE_KIND
from kindly.text.terms import terms, tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kindly.read.ranking.passage_features import QuestionTerms

    Floats = NDArray[np.floating[Any]]
    Ints = NDArray[np.intp]

MOST_TABLES = 3
MOST_BY_WORDS = 6
MOST_NEIGHBOURS = 2
"""Of the rows that words find, those whose neighbours may be asked for."""
MOST_NEAR = 4
"""Rows with the numbers that are closest to one in the question."""
LEAST_COVERED = 0.15
"""The share of the question's weight that a row must have, with its head and what is above the table."""
MORE_THAN_OTHERS = 0.04
"""The share of the question's weight by which a row must exceed the table's median to be chosen by its words."""
NEARLY = 0.5
"""Of the best table's cover, with that of its head counted twice, from which another one is used as well."""
NUMERIC = 0.6
"""The share of a column's cells with a number, from which it can have extremes."""
MAX_ROWS = 2_000
_CELL = re.compile(r"(?<!\\)\|")
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?|-?\.\d+")
_NEIGHBOURS = re.compile(
    r"\b(?:after|before|next|previous|prior|following|followed|follows|preceding|preceded|precedes|"
    r"above|below|consecutive|replaced|succeeded)\b"
)
"""Words that ask for the row above or below another one."""
_COMPARED = re.compile(
    r"\b(?:over|under|above|below|than|least|most|exceed\w*|up to|between|not)\b"
)
_RULE = re.compile(r"[|:\-\s]+")
_LINK = re.compile(r"!?\[([^\]]*)\]\((?:[^()]|\([^)]*\))*\)")
_SMALLEST = re.compile(
    r"\b(?:least|few(?:est|er)|less|first|low|small|short|old|earli|fast|clos|near)"
)
_AGE = re.compile(
    r"\b(?:(?P<old>oldest|earliest|longest ago)|newest|youngest|latest|most recent(?:ly)?)\b"
)
_YEAR = re.compile(r"\b(?:1[0-9]|20)\d\d\b")


@dataclass(frozen=True)
class Table:
    """A table, whole or as the rows of several chunks below the same head."""

    head: tuple[int, int]
    """The sentences of its head: the first, and one past the last."""
    rows: tuple[int, ...]
    """The sentences of its rows."""


def tables(
    kinds: "Ints", chunk_of: "Ints", chunks: Sequence[Chunk], text: Sequence[str]
) -> list[Table]:
    """The tables of an index, from the kind, the chunk and the text of each sentence."""
    found: dict[tuple[str, str], Table] = {}
    for first, end in _runs(kinds, chunk_of):
        rule = first + 1 < end and _RULE.fullmatch(text[first + 1]) is not None
        head = (first, first + 1 + rule)
        key = (chunks[chunk_of[first]].url, text[first])
        before = found.get(key)
        rows = (*(before.rows if before else ()), *range(head[1], end))
        found[key] = Table(before.head if before else head, rows)
    return [one for one in found.values() if one.rows]


def _runs(kinds: "Ints", chunk_of: "Ints") -> Iterator[tuple[int, int]]:
    """The runs of lines in tables, each within a chunk."""
    inside = np.append(kinds == TABLE_KIND, False)
    start = -1
    for number in np.flatnonzero(inside | np.append(False, inside[:-1])).tolist():
        if start >= 0 and (not inside[number] or chunk_of[number] != chunk_of[start]):
            yield start, number
            start = -1
        if start < 0 and inside[number]:
            start = number


@dataclass(frozen=True)
class Rows:
    """All rows of a table, the likeliest first, and the share of the question that is there."""

    table: Table
    rows: tuple[int, ...]
    likely: int
    """How many of the rows were chosen; the others follow in their order."""
    covered: float


def likely_rows(
    question: "QuestionTerms", asked: str, found: Sequence[Table], text: Sequence[str]
) -> list[Rows]:
    """Of the few tables that cover most of the question: with a row, its head, and what is above it."""
    measured = [(_covered(question, one), _in_head(question, one), one) for one in found]
    best = max((float(words.max()) + head for words, head, _ in measured), default=0.0)
    chosen = [
        _chosen(question, asked, one, words, text)
        for words, head, one in measured
        if words.max() >= LEAST_COVERED and float(words.max()) + head >= NEARLY * best
    ]
    return sorted((one for one in chosen if one.rows), key=lambda one: -one.covered)[:MOST_TABLES]


def _in_head(question: "QuestionTerms", table: Table) -> float:
    """The share of the question that the names of the columns have."""
    return float(question.weights @ question.closest[:, table.head[0]])


def _covered(question: "QuestionTerms", table: Table) -> "Floats":
    """The share of the question that each row has together with the head, and the line and the headings above."""
    chunk, starts = question.index.sentences.chunk, question.index.sentences.chunk_bounds
    head = table.head[0]
    above = max(head - 1, int(starts[chunk[head]]))
    around = np.maximum(
        question.closest[:, [above, head]].max(axis=1), question.headings_closest[:, chunk[head]]
    )
    rows = question.closest[:, list(table.rows[:MAX_ROWS])]
    return np.asarray(question.weights @ np.maximum(rows, around[:, None]))


def _chosen(
    question: "QuestionTerms", asked: str, table: Table, covered: "Floats", text: Sequence[str]
) -> Rows:
    rows = table.rows[:MAX_ROWS]
    found = [rows[place] for place in _by_words(question, asked, rows, text)]
    lower = asked.lower()
    if _NEIGHBOURS.search(lower):
        found = list(_with_neighbours(found, rows))
    if question.asks_extreme:
        found = list(_mixed(_extremes(asked, table, rows, text), found))
    if _COMPARED.search(lower):
        found = list(_mixed(found, _near_numbers(lower, rows, text)))
    ordered = dict.fromkeys((*found, *rows))
    return Rows(table, tuple(ordered), len(dict.fromkeys(found)), float(covered.max()))


def _by_words(
    question: "QuestionTerms", asked: str, rows: Sequence[int], text: Sequence[str]
) -> list[int]:
    """The places of the rows that have more of the question than most rows, those with its very words first."""
    own = question.weights @ question.closest[:, list(rows)]
    least = float(np.median(own)) + MORE_THAN_OTHERS
    order: list[int] = np.argsort(-own, kind="stable")[: 4 * MOST_BY_WORDS].tolist()
    wanted = {word.lower() for word in tokens(asked)}
    same = {one: len(wanted & {word.lower() for word in tokens(text[rows[one]])}) for one in order}
    order.sort(key=lambda one: -same[one])
    return [one for one in order if own[one] >= least][:MOST_BY_WORDS]


def _with_neighbours(found: Sequence[int], rows: Sequence[int]) -> Iterator[int]:
    """The rows, the first ones followed by the rows below and above them."""
    places = {row: place for place, row in enumerate(rows)}
    for number, row in enumerate(found):
        yield row
        if number < MOST_NEIGHBOURS:
            yield from rows[places[row] + 1 : places[row] + 2]
            yield from rows[max(0, places[row] - 1) : places[row]]


def _near_numbers(asked: str, rows: Sequence[int], text: Sequence[str]) -> list[int]:
    """The rows with the numbers just above and below one in the question, of the columns that reach on both sides."""
    cells = [_cells(text[row]) for row in rows]
    limits = [float(one.replace(",", "")) for one in _NUMBER.findall(asked) if one[-1].isdigit()]
    found: list[int] = []
    for column in range(max(map(len, cells), default=0)):
        values = [_number(row[column]) if column < len(row) else None for row in cells]
        known = {place: value for place, value in enumerate(values) if value is not None}
        for limit in limits:
            if len(known) < NUMERIC * len(values) or min(known.values()) > limit:
                continue
            if max(known.values()) >= limit:
                near = sorted(known, key=lambda place: abs(known[place] - limit))
                found += [rows[place] for place in near[:MOST_NEAR]]
    return found


def plain_row(line: str) -> str:
    """A row without the addresses of its links, which can be most of it."""
    return _LINK.sub(r"\1", line)


def _mixed(one: list[int], other: list[int]) -> Iterator[int]:
    """In turn from each."""
    for place in range(max(len(one), len(other))):
        yield from one[2 * place : 2 * place + 2]
        yield from other[place : place + 1]


def _extremes(asked: str, table: Table, rows: Sequence[int], text: Sequence[str]) -> list[int]:
    """The rows with the largest and the smallest number of each column; of columns that the question names first."""
    cells = [_cells(text[row]) for row in rows]
    names = _cells(text[table.head[0]])
    wanted = set(terms(asked))
    smallest = _SMALLEST.search(asked.lower()) is not None
    named: list[tuple[int, tuple[int, int]]] = []
    others: list[int] = []
    for column, name in enumerate(names):
        values = [_number(row[column]) if column < len(row) else None for row in cells]
        known = [place for place, value in enumerate(values) if value is not None]
        if len(known) < max(2, NUMERIC * len(values)):
            continue
        most = max(known, key=lambda place: values[place] or 0.0)
        least = min(known, key=lambda place: values[place] or 0.0)
        pair = (least, most) if smallest else (most, least)
        shared = len(wanted & set(terms(name)))
        if shared:
            named.append((shared, pair))
        else:
            others.extend(pair)
    named.sort(key=lambda one: -one[0])
    best = [place for _, pair in named[:2] for place in pair]
    ends = [0, len(rows) - 1]
    ordered = [*best, *ends, *others] if best else [*others[:2], *ends, *others[2:]]
    return [rows[place] for place in dict.fromkeys((*_by_age(asked, rows, text), *ordered))]


def _by_age(asked: str, rows: Sequence[int], text: Sequence[str]) -> list[int]:
    """For a question about age, the places of the rows with the first and the last year in any cell."""
    found = _AGE.search(asked.lower())
    years = [[int(year) for year in _YEAR.findall(plain_row(text[row]))] for row in rows]
    dated = [place for place, one in enumerate(years) if one]
    if not (found and dated):
        return []
    oldest = min(dated, key=lambda place: min(years[place]))
    newest = max(dated, key=lambda place: max(years[place]))
    return [oldest, newest] if found["old"] else [newest, oldest]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in _CELL.split(plain_row(line))[1:-1]]


def _number(cell: str) -> float | None:
    found = _NUMBER.search(cell)
    return float(found[0].replace(",", "") or 0) if found else None
