"""Chunks + question → passages, best first, and whether they answer it.

A passage is a run of sentences of one chunk: the window with the best score among those not yet used, grown to a size.
Pure arithmetic over arrays; it knows neither the store nor the embedder.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from kindly.budget import count_tokens, fair_shares
from kindly.concurrency.blas import one_thread
from kindly.errors import EmbeddingsDown
from kindly.frozen import frozen
from kindly.models import Chunk, Passage
from kindly.read.ranking import (
    answer_model,
    expansion_model,
    ranker_model,
    rerank_model,
    static_model,
)
from kindly.read.ranking.answer_features import answer_row
from kindly.read.ranking.candidate_features import TABLE_KIND
from kindly.read.ranking.passage_features import features, question_terms
from kindly.read.ranking.prepared import prepared_chunks
from kindly.read.ranking.rerank_model import candidates
from kindly.read.ranking.segment import blocks
from kindly.read.ranking.sentence_index import build_index
from kindly.read.ranking.sentence_marks import SentenceMark
from kindly.read.ranking.table_rows import (
    Rows,
    Table,
    likely_rows,
    plain_row,
    tables,
)
from kindly.text.page_marks import headings_of, on_page_after

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kindly.read.ranking.passage_features import QuestionTerms
    from kindly.read.ranking.sentence_index import Sentences

    Vectors = NDArray[np.float32]
    Floats = NDArray[np.floating[Any]]
    PageScores = Callable[[str, QuestionTerms, Floats, Floats], Floats]
    """Question, its terms, and the best score of each chunk in both stages → the score of each chunk's page."""

SIZES = (400, 280, 280, 280, 320, 380, 480, 512)
"""Tokens of the first passages; later ones are as large as the last one here."""
OVERLAP_PENALTY = 1.0
"""Penalty on a window's score, times the share of the window that is already in passages above."""
MIN_NEW_TOKENS = 20
"""A window with fewer new tokens is skipped, unless the whole window is shorter."""
LEFTOVER_TOKENS = 70
"""A passage takes the rest of its chunk if it is no longer than this."""
DUPLICATE = 0.95
"""Jaccard similarity of terms from which two passages say the same."""
SERVER_WEIGHT = 0.5
"""Of the cosine of a server's vectors, in standard deviations over the chunks."""
SCORE_FALL = 0.1
"""The share of the distance to the best passage that is subtracted from a passage's log-odds."""
PER_PAGE = 2
"""Passages of one page before the other pages have had their turn."""
LATER = 1e3
"""Subtracted from the scores of a page that has had its turn."""
CLOSEST = 3
"""Passages that are given where surely nothing answers; where it is unsure, as many as of an answer."""
UNSURE = 0.6
"""The score from which a page that does not seem to answer may do so all the same."""
TABLE_TOKENS = 200
"""Of a passage of table rows."""
HALF = 0.5
ROWS_TOKENS, ROWS_TOKENS_AFTER = 400, 220
"""Of the rows of all tables, with their heads, before the best passage; after it."""
BESIDE_ROWS = 280
"""Tokens of a best passage that rows come after."""
ROWS_AFTER = 8.0
"""How far below the best window a table's best may be for its rows to be given."""
LEFT_OUT = "| … |"
MAX_CAPTION = 120
"""Characters of a line above a table that is given with its rows."""
MAX_QUESTION = 2000
"""Characters of a question that are used."""

_QUIET = np.errstate(invalid="ignore")
"""OpenBLAS sometimes reports an invalid value in a product of finite matrices."""


@frozen
class Ranking:
    """Passages, best first, and whether they answer."""

    passages: tuple[Passage, ...]
    """If they do not answer, the closest few. Empty if the page or the question has no words."""
    answered: bool
    unsure: bool = False
    """Whether a page that does not seem to answer may do so all the same."""


class Index:
    """A ranking index over the chunks of one page or many."""

    def __init__(self, chunks: Sequence[Chunk], vectors: "Vectors | None") -> None:
        self.chunks = tuple(chunks)
        self._model = local_model()
        with one_thread():
            parts = prepared_chunks(self.chunks, self._model)
            self._index = build_index(self.chunks, self._model, prepared=parts)
        self._vectors = vectors
        self._offsets = _Offsets(self.chunks, self._index.sentences)

    @_QUIET
    def ask(
        self,
        question: str,
        vector: "Vectors | None",
        *,
        limit: int,
        threshold: float = answer_model.THRESHOLD,
        pages: "PageScores | None" = None,
    ) -> Ranking:
        """At most `limit` passages, and whether the best one reaches the threshold; if surely not, at most `CLOSEST`.

        `vector` is the question's, by the model that made the chunks'. Scores fall from the first passage on; a passage
        below the threshold supports the ones above it. `pages` decides which page comes first, if there are many.
        """
        terms = self.terms_of(question)
        if terms is None:
            return Ranking((), answered=False)
        with one_thread():
            found = features(terms)
            first = ranker_model.load().scores(found) + self._by_server(question, vector)
            evidence = answer_model.load().evidence(answer_row(terms, found, first))
            best = candidates(terms, found, first, expansion_model.load())
            scores = rerank_model.load().scores(best, first)
            if pages is not None:
                of_pages = pages(question, terms, self._best(first), self._best(scores))
                scores = self._by_page(scores, of_pages)
        answered = _score(evidence) >= threshold
        unsure = not answered and _score(evidence) >= UNSURE
        most = limit if answered or unsure else min(limit, CLOSEST)
        before, after = self._row_passages(terms, question, scores)
        largest = BESIDE_ROWS if after and not before else max(SIZES)
        chosen = list(self._select(scores, most, limit if pages is None else PER_PAGE, largest))
        passages = [
            self._passage(span, _score(evidence - SCORE_FALL * distance))
            for span, distance in chosen
        ]
        best_score = passages[0].score if passages else None
        rows = [[replace(one, score=best_score) for one in some] for some in (before, after)]
        ordered = (*rows[0], *passages[:1], *rows[1], *passages[1:])
        return Ranking(ordered[:most], answered, unsure)

    @_QUIET
    def features(self, question: str) -> "Floats":
        """Windows × features; no rows if the page or the question has no terms."""
        terms = self.terms_of(question)
        return np.zeros((0, 1), dtype=np.float32) if terms is None else features(terms)

    @_QUIET
    def answer_row(self, question: str, order: ranker_model.Weights) -> "Floats | None":
        """The row that tells whether the page answers, if these weights order the windows; None without terms."""
        terms = self.terms_of(question)
        if terms is None:
            return None
        found = features(terms)
        return answer_row(terms, found, order.scores(found))

    def spans(self, scores: "Floats", limit: int) -> list[tuple[int, int]]:
        """The offsets in the document of the passages that these scores select."""
        chosen = self._select(scores, limit, limit)
        return [self._offsets.span(begin, end) for (begin, end), _ in chosen]

    def windows(self) -> list[tuple[int, int]]:
        """The offsets in the document of each window."""
        windows = self._index.windows
        edges = zip(windows.begin.tolist(), windows.end.tolist(), strict=True)
        return [self._offsets.span(begin, end) for begin, end in edges]

    def terms_of(self, question: str) -> "QuestionTerms | None":
        """The question's terms; None if there are none to compare."""
        terms = question_terms(question[:MAX_QUESTION], self._index, self._model)
        return terms if terms.terms and len(self._index.postings) else None

    def _is_own(self, question: str, vector: "Vectors") -> bool:
        """Whether the question's vector is the local model's, which the features use already, and by window."""
        if self._model is None:
            return False
        own = self._model.embed([question])[0]
        return own.shape == vector.shape and float(own @ vector) > 0.999

    def _by_server(self, question: str, vector: "Vectors | None") -> "Floats":
        """What the vectors of an embedding server add to the scores."""
        if (
            self._vectors is None
            or vector is None
            or len(self.chunks) < 2
            or self._is_own(question, vector)
        ):
            return np.zeros(len(self._index.windows), dtype=np.float32)
        cosines = self._vectors @ vector
        deviations = (cosines - cosines.mean()) / max(1e-6, float(cosines.std()))
        return np.asarray(SERVER_WEIGHT * deviations[self._index.windows.chunk])

    def _best(self, scores: "Floats") -> "Floats":
        """The score of each chunk's best window."""
        best = np.full(len(self.chunks), -np.inf, dtype=np.float32)
        np.maximum.at(best, self._index.windows.chunk, scores)
        return np.where(np.isinf(best), scores.min(), best)

    def _by_page(self, scores: "Floats", of_pages: "Floats") -> "Floats":
        """The scores of windows, moved so that the best window of each page has the score of its page."""
        numbers = self._offsets.page_of_chunk
        best = np.full(len(self.chunks), -np.inf, dtype=np.float32)
        np.maximum.at(best, numbers[self._index.windows.chunk], scores)
        chunk = self._index.windows.chunk
        return np.asarray(scores - best[numbers[chunk]] + of_pages[chunk])

    def _select(
        self, scores: "Floats", limit: int, per_page: int, largest: int = max(SIZES)
    ) -> Iterator[tuple[tuple[int, int], float]]:
        """Sentence ranges, best first, with their distance to the first; none overlaps or repeats another.

        After `per_page` of one page, those of other pages come first.
        """
        windows = self._index.windows
        page_of = self._offsets.page_of_chunk[windows.chunk]
        taken: dict[int, int] = {}
        distance = 0.0
        used = np.zeros(len(self._index.sentences), dtype=bool)
        adjusted = self._adjusted(scores, used)
        cores: list[frozenset[int]] = []
        selected: list[frozenset[int]] = []
        best = float(scores.max())
        while len(selected) < limit:
            window = int(adjusted.argmax())
            if adjusted[window] == -np.inf:
                return
            begin, end = _longest_free(used, int(windows.begin[window]), int(windows.end[window]))
            terms = self._terms(begin, end)
            if any(_is_duplicate(terms, other) for other in cores):
                used[begin:end] = True
                near = slice(
                    int(windows.end.searchsorted(begin, "right")),
                    int(windows.begin.searchsorted(end)),
                )
                adjusted[near] = self._adjusted(scores, used, near)
                continue
            size = self._size(begin, end, len(selected))
            size = size if selected else min(size, largest)
            begin, end = self._grown(used, begin, end, size)
            used |= self._offsets.overlapping(begin, end)
            page, away = int(page_of[window]), best - float(adjusted[window])
            distance = max(distance, away - LATER if away > LATER / 2 else away)
            taken[page] = taken.get(page, 0) + 1
            if taken[page] == per_page < limit:
                scores = np.where(page_of == page, scores - LATER, scores)
            adjusted = self._adjusted(scores, used)
            cores.append(terms)
            grown = self._terms(begin, end)
            if any(_is_duplicate(grown, other) for other in selected):
                continue
            selected.append(grown)
            yield (begin, end), distance

    def _size(self, begin: int, end: int, number: int) -> int:
        """The size of a passage, by its number and whether it is of table rows."""
        size = SIZES[min(number, len(SIZES) - 1)]
        rows = (self._index.sentences.kind[begin:end] == TABLE_KIND).mean() > HALF
        return min(size, TABLE_TOKENS) if rows else size

    def _adjusted(
        self, scores: "Floats", used: "NDArray[np.bool_]", near: slice = slice(None)
    ) -> "Floats":
        """The scores of windows, less the overlap with selected passages; minus infinity if too little is new."""
        begin, end = self._index.windows.begin[near], self._index.windows.end[near]
        low, high = int(begin[0]), int(end[-1])
        sizes = self._index.sentences.tokens[low:high]
        running = np.zeros((high - low + 1, 2))
        np.cumsum(np.stack((sizes, np.where(used[low:high], 0, sizes)), 1), axis=0, out=running[1:])
        total, new = (running[end - low] - running[begin - low]).T
        adjusted = scores[near] - OVERLAP_PENALTY * (1 - new / total)
        adjusted[new < np.minimum(MIN_NEW_TOKENS, 0.99 * total)] = -np.inf
        return np.asarray(adjusted)

    def _terms(self, begin: int, end: int) -> frozenset[int]:
        postings = self._index.postings
        low, high = np.searchsorted(postings.sentences, (begin, end))
        return frozenset(postings.terms[low:high].tolist())

    def _grown(
        self, used: "NDArray[np.bool_]", begin: int, end: int, max_tokens: int
    ) -> tuple[int, int]:
        """The range, extended by unused sentences on either side: up to the size, and by short leftovers.

        A sentence that begins with a pronoun takes the one before it.
        """
        sizes = self._index.sentences.tokens
        low, high = self._free(used, begin)
        budget = max_tokens - float(sizes[begin:end].sum())
        grew = True
        while grew:
            grew = False
            if end < high and sizes[end] <= budget:
                budget, end, grew = budget - float(sizes[end]), end + 1, True
            if begin > low and sizes[begin - 1] <= budget:
                budget, begin, grew = budget - float(sizes[begin - 1]), begin - 1, True
        if begin > low and self._index.sentences.marks[begin] & SentenceMark.PRONOUN:
            begin -= sizes[begin - 1] <= LEFTOVER_TOKENS
        begin = low if sizes[low:begin].sum() <= LEFTOVER_TOKENS else begin
        end = high if sizes[end:high].sum() <= LEFTOVER_TOKENS else end
        return begin, end

    @cached_property
    def _lines(self) -> list[str]:
        """The text of each sentence."""
        where = self._index.sentences
        columns = (where.chunk.tolist(), where.start.tolist(), where.end.tolist())
        return [
            self.chunks[chunk].text[start:end] for chunk, start, end in zip(*columns, strict=True)
        ]

    @cached_property
    def _tables(self) -> list[Table]:
        where = self._index.sentences
        if not (where.kind == TABLE_KIND).any():
            return []
        return tables(where.kind, where.chunk, self.chunks, self._lines)

    def _row_passages(
        self, terms: "QuestionTerms", question: str, scores: "Floats"
    ) -> tuple[list[Passage], list[Passage]]:
        """The likely rows of tables: before the best passage, if that is of one of them, or after it."""
        found = likely_rows(terms, question, self._tables, self._lines) if self._tables else []
        least = ROWS_AFTER if terms.asks_extreme else ROWS_AFTER / 2
        gaps = [
            float(scores.max() - scores[self._of_table(one.table)].max(initial=-np.inf))
            for one in found
        ]
        used = [one for one, gap in zip(found, gaps, strict=True) if gap <= least]
        first = min(gaps, default=1.0) <= 0
        passages = self._of_rows(used, ROWS_TOKENS if first else ROWS_TOKENS_AFTER)
        return (passages, []) if first else ([], passages)

    def _of_rows(self, found: Sequence[Rows], budget: int) -> list[Passage]:
        """The rows of some tables within a budget: the likely ones of each, and what else fits of the first."""
        needs = [
            sum(
                count_tokens(plain_row(self._lines[row]))
                for row in (*range(*one.table.head), *one.rows[: max(1, one.likely)])
            )
            for one in found
        ]
        shares = fair_shares(needs, budget)
        if shares:
            shares[0] += budget - sum(shares)
        return [
            self._row_passage(one.table, one.rows, share)
            for one, share in zip(found, shares, strict=True)
        ]

    def _of_table(self, table: Table) -> "NDArray[np.bool_]":
        """Which windows are mostly rows of a table."""
        windows = self._index.windows
        rows = np.array(table.rows)
        count = rows.searchsorted(windows.end) - rows.searchsorted(windows.begin)
        return np.asarray(count > HALF * (windows.end - windows.begin))

    def _row_passage(self, table: Table, rows: Sequence[int], budget: int) -> Passage:
        """Some rows of a table below its head, with a mark where rows are left out. Its offsets are the likeliest's."""
        best = self._passage((rows[0], rows[0] + 1), 0.0)
        head = best.text[: -len(self._lines[rows[0]])].rstrip("\n")
        left, kept = budget - count_tokens(plain_row(head)), list[int]()
        for row in rows:
            left -= count_tokens(plain_row(self._lines[row]))
            if kept and left < 0:
                break
            kept.append(row)
        kept.sort()
        lines = [head] if head else []
        for before, row in pairwise([table.head[1] - 1, *kept]):
            lines += ([] if row == before + 1 else [LEFT_OUT]) + [self._lines[row]]
        return replace(best, text="\n".join(map(plain_row, lines)))

    def _free(self, used: "NDArray[np.bool_]", sentence: int) -> tuple[int, int]:
        """The run of unused sentences around one of them, within its chunk."""
        sentences = self._index.sentences
        chunk = int(sentences.chunk[sentence])
        low, high = int(sentences.chunk_bounds[chunk]), int(sentences.chunk_bounds[chunk + 1])
        before, after = np.flatnonzero(used[low:sentence]), np.flatnonzero(used[sentence:high])
        return (
            low + int(before[-1]) + 1 if len(before) else low,
            sentence + int(after[0]) if len(after) else high,
        )

    def _passage(self, sentences: tuple[int, int], score: float) -> Passage:
        begin, end = sentences
        where = self._index.sentences
        first, last = int(where.start[begin]), int(where.end[end - 1])
        chunk = self.chunks[where.chunk[begin]]
        head = _table_head(chunk)
        text = chunk.text[first:last]
        above = head or self._head_above(begin)
        text = chunk.text[:last] if first < len(head) else above + text
        start, stop = self._offsets.span(begin, end)
        section = _section(chunk, first)
        return Passage(text, start, stop, stop, chunk.id, section, score)

    def _head_above(self, row: int) -> str:
        """The head of the table that a row is in the middle of; empty for anything else."""
        where = self._index.sentences
        if where.kind[row] != TABLE_KIND:
            return ""
        low = int(where.chunk_bounds[where.chunk[row]])
        outside = np.flatnonzero(where.kind[low:row] != TABLE_KIND)
        first = low + int(outside[-1]) + 1 if len(outside) else low
        if first == row:
            return ""
        rule = first + 1 < row and not set(self._lines[first + 1]) - set("|-: \t\r")
        caption = self._lines[first - 1] if first > low else ""
        above = [caption] if caption and len(caption) <= MAX_CAPTION else []
        return "\n".join([*above, *self._lines[first : first + 1 + rule], ""])


class _Offsets:
    """The offsets of sentences in their documents."""

    def __init__(self, chunks: Sequence[Chunk], sentences: "Sentences") -> None:
        heads = np.array([len(_table_head(chunk)) for chunk in chunks], dtype=np.intp)
        base = np.array([chunk.start for chunk in chunks], dtype=np.intp) - heads
        pages: dict[str, int] = {}
        numbers = [pages.setdefault(chunk.url, len(pages)) for chunk in chunks]
        self.page_of_chunk = np.array(numbers, dtype=np.intp)
        """Which page each chunk is of."""
        self._page = self.page_of_chunk[sentences.chunk]
        base, heads = base[sentences.chunk], heads[sentences.chunk]
        self._start = base + np.maximum(heads, sentences.start)
        self._end = base + np.maximum(heads, sentences.end)

    def span(self, begin: int, end: int) -> tuple[int, int]:
        """The offsets of a range of sentences."""
        return int(self._start[begin]), int(self._end[end - 1])

    def overlapping(self, begin: int, end: int) -> "NDArray[np.bool_]":
        """Which sentences share text with these, including the overlap of chunks."""
        start, stop = self.span(begin, end)
        same = self._page == self._page[begin]
        found = np.asarray(same & (self._start < stop) & (self._end > start))
        found[begin:end] = True
        return found


def local_model() -> static_model.StaticModel | None:
    """The local model; None if its installation is incomplete: then words alone decide."""
    try:
        return static_model.load()
    except EmbeddingsDown:
        return None


def _score(evidence: float) -> float:
    """The score that is shown: rounded here, so that it is on the side of the threshold that the judgement says."""
    return round(answer_model.on_scale(evidence), 3)


def _longest_free(used: "NDArray[np.bool_]", begin: int, end: int) -> tuple[int, int]:
    """The longest run of unused sentences."""
    gaps = np.flatnonzero(used[begin:end]) + begin
    if not len(gaps):
        return begin, end
    edges = [begin - 1, *gaps.tolist(), end]
    runs = [(left + 1, right) for left, right in pairwise(edges)]
    return max(runs, key=lambda run: run[1] - run[0])


def _is_duplicate(one: frozenset[int], other: frozenset[int]) -> bool:
    return len(one & other) >= DUPLICATE * max(1, len(one | other))


def _table_head(chunk: Chunk) -> str:
    """The table head that is repeated before rows of a split table."""
    return chunk.text[: max(0, len(chunk.text) - (chunk.end - chunk.start))]


def _section(chunk: Chunk, start: int) -> tuple[str, ...]:
    """The headings above an offset in a chunk: the chunk's own, and those within it; then its page."""
    inner: list[tuple[int, str]] = []
    stop = chunk.text.find("\n", start)
    for block in blocks(chunk.text[:stop] if stop >= 0 else chunk.text):
        if block.kind == "heading" and block.title not in chunk.section:
            inner = [one for one in inner if one[0] < block.level]
            inner.append((block.level, block.title))
    headings = headings_of(chunk.section)
    page = on_page_after(chunk.section[len(headings) :], chunk.text[:start])
    return (*headings, *(title for _, title in inner), *page)
