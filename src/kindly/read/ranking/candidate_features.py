"""The best windows of a question → one row of more features each, for the second stage of ranking.

The first stage scores all windows by what is cheap to compute for all; here are the words' meaning without regard to
how rare they are on the page, what is around a window, what kind of text it is, and whether it has what is asked for.
"""

from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from kindly.read.ranking.expansion_model import Expansion
from kindly.read.ranking.passage_features import QuestionTerms, content_of, pair_weights, running
from kindly.read.ranking.prepared import KINDS, WINDOW_TOKENS
from kindly.read.ranking.sentence_marks import EXPECTED, Asks, SentenceMark

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]
    Ints = NDArray[np.intp]


class Detail(IntEnum):
    """The columns. BEST is of the window's best sentence."""

    COVERAGE = 0
    """The share of content words, whether rare on the page or not."""
    SIMILARITY = 1
    SIMILARITY_BEST = 2
    SIMILARITY_SECOND = 3
    """Of its second best sentence."""
    SIMILARITY_MEAN = 4
    LACKING = 5
    """The content word that is farthest from all words of the window."""
    LACKING_SECOND = 6
    NAMES = 7
    NAMES_BEST = 8
    FIRST_WORD = 9
    """How close the heaviest word of the question is; then the second and the third."""
    SECOND_WORD = 10
    THIRD_WORD = 11
    COVERAGE_CHUNK = 12
    """Of the chunk and its headings."""
    BEFORE = 13
    """The similarity of the two sentences before the window; then after it."""
    AFTER = 14
    HEADING = 15
    """The similarity of the closest heading above, or in the window."""
    HEADING_WORDS = 16
    PAIRS = 17
    """The weight of neighbours in the question that are close to each other in the window."""
    TABLE = 18
    CODE = 19
    TITLES = 20
    """The share of the window that is headings."""
    EXPECTED_BEST = 21
    EXPECTED_NEAR = 22
    """In the best sentence or beside it."""
    EXPECTED = 23
    NEW_NAMES_BEST = 24
    """Words with a capital beyond those of the question."""
    NEW_NAMES = 25
    NUMBERS_BEST = 26
    NUMBERS = 27
    REFERENCES = 28
    LINKS = 29
    NOTICES = 30
    DUTIES = 31
    PERSONS = 32
    PRONOUN = 33
    CAUSES = 34
    DEFINITION_BEST = 35
    SIZE = 36
    SENTENCES = 37
    BEST_PLACE = 38
    """Where in the window its best sentence is."""
    BEST_SIZE = 39
    PAGE_PLACE = 40
    WINDOWS = 41
    """The logarithm of their number on the page."""
    CONTENT = 42
    """How many words of the question have content."""
    ASKS_PERSON = 43
    ASKS_TIME = 44
    ASKS_PLACE = 45
    ASKS_AMOUNT = 46
    ASKS_REASON = 47
    ASKS_MANNER = 48
    ASKS_DEFINITION = 49
    ASKS_DECISION = 50
    ASKS_CHOICE = 51
    COSINE = 52
    """Of the question's content words with the window."""
    COSINE_BEST = 53
    """With the closest sentence."""
    EXPANDED = 54
    """The same of the expanded question."""
    EXPANDED_BEST = 55
    ASKS_EXTREME = 56
    TABLE_PAGE = 57
    CODE_PAGE = 58


Columns = dict[Detail, "Floats"]
HEADING_KIND, TABLE_KIND, CODE_KIND = (KINDS.index(kind) for kind in ("heading", "table", "code"))
MANY_WORDS = 8


def candidate_features(question: QuestionTerms, chosen: "Ints", expansion: Expansion) -> "Floats":
    """Chosen windows × `Detail`."""
    matrix = np.zeros((len(chosen), len(Detail)), dtype=np.float32)
    if len(chosen):
        here = _Chosen(question, chosen)
        for columns in (
            here.meaning(),
            here.vectors(expansion),
            here.around(),
            here.kinds(),
            here.answers(),
            here.shape(),
        ):
            for detail, column in columns.items():
                matrix[:, detail] = column
    return matrix


def content_vector(question: QuestionTerms) -> "Floats":
    """The vector of the question's content words, of length one."""
    vector = content_of(question.specificity) @ question.vectors
    return np.asarray(vector / max(1e-6, float(np.linalg.norm(vector))))


class _Chosen:
    """Some windows of a question, with the arrays that several columns need."""

    def __init__(self, question: QuestionTerms, chosen: "Ints") -> None:
        self.question = question
        self.sentences = question.index.sentences
        windows = question.index.windows
        self.chosen = chosen
        self.begin, self.end = windows.begin[chosen], windows.end[chosen]
        self.chunk = windows.chunk[chosen]
        self.offset = windows.offset[chosen]
        self.edges = np.stack((self.begin, self.end), axis=1).ravel()
        content = content_of(question.specificity)
        self.content = content
        self.weights = content / content.sum()
        self.of_sentences = (
            self.weights @ question.closest[:, :-1] + question.weights @ question.closest[:, :-1]
        )
        self.best = np.array(
            [
                begin + int(self.of_sentences[begin:end].argmax())
                for begin, end in zip(self.begin.tolist(), self.end.tolist(), strict=True)
            ],
            dtype=np.intp,
        )

    def total(self, values: "Floats | Ints") -> "Floats":
        """The sum of the sentences of each window."""
        sums = running(values)
        return np.asarray(sums[self.end] - sums[self.begin])

    def most(self, values: "Floats") -> "Floats":
        """The largest value of the sentences of each window."""
        padded = np.append(values, values[-1:] * 0)
        return np.asarray(np.maximum.reduceat(padded, self.edges)[::2])

    def meaning(self) -> Columns:
        """How well the window covers the question's words."""
        question = self.question
        closest = question.closest_in_windows[:, self.chosen]
        known = question.known
        within = self.total(question.uses) > 0
        lacking = np.sort(self.content[:, None] * (1 - closest), axis=0)
        heavy = np.argsort(-question.weights, kind="stable")[:3]
        words = np.zeros((3, len(self.chosen)), dtype=np.float32)
        words[: len(heavy)] = closest[heavy]
        names = question.names
        named = names.any()
        similar = self.weights @ question.closest[:, :-1]
        rest = similar.copy()
        rest[self.best] = 0
        return {
            Detail.COVERAGE: within @ self.weights[known],
            Detail.SIMILARITY: self.weights @ closest,
            Detail.SIMILARITY_BEST: similar[self.best],
            Detail.SIMILARITY_SECOND: self.most(rest),
            Detail.SIMILARITY_MEAN: self.total(similar) / (self.end - self.begin),
            Detail.LACKING: lacking[-1],
            Detail.LACKING_SECOND: lacking[-2] if len(lacking) > 1 else 0 * lacking[-1],
            Detail.NAMES: closest[names].mean(axis=0) if named else np.ones(1),
            Detail.NAMES_BEST: question.closest[names][:, self.best].mean(axis=0)
            if named
            else np.ones(1),
            Detail.FIRST_WORD: words[0],
            Detail.SECOND_WORD: words[1],
            Detail.THIRD_WORD: words[2],
            Detail.PAIRS: self._pairs(),
        }

    def vectors(self, expansion: Expansion) -> Columns:
        """The cosine of the question, and of the expanded question, with the window and its closest sentence."""
        index = self.question.index
        postings, lengths = index.postings, index.vectors.lengths
        vector = content_vector(self.question)
        both = np.stack((vector, expansion.expand(vector)))
        products = index.vectors.products(self.question.token_rows, both)
        of_sentences = np.maximum(self.sentences.vector_lengths, 1e-6)
        of_windows = np.maximum(index.windows.vector_lengths[self.chosen], 1e-6)
        found: Columns = {}
        for row, names in zip(
            products,
            ((Detail.COSINE, Detail.COSINE_BEST), (Detail.EXPANDED, Detail.EXPANDED_BEST)),
            strict=True,
        ):
            of_terms = postings.idf * lengths * row
            sums = np.bincount(
                postings.sentences, weights=of_terms[postings.terms], minlength=len(of_sentences)
            )
            found[names[0]] = self.total(sums) / of_windows
            found[names[1]] = self.most(sums / of_sentences)
        return found

    def _pairs(self) -> "Floats":
        found = np.zeros(len(self.chosen), dtype=np.float32)
        for weight, sentences in pair_weights(self.question):
            low, high = np.searchsorted(sentences, self.begin), np.searchsorted(sentences, self.end)
            found += weight * (high > low)
        return found

    def around(self) -> Columns:
        """What is before and after the window, and above it."""
        question, sentences = self.question, self.sentences
        low, high = sentences.chunk_bounds[self.chunk], sentences.chunk_bounds[self.chunk + 1]
        similar = np.append(self.of_sentences / 2, 0)
        before = [np.maximum(self.begin - step, low) for step in (1, 2)]
        after = [np.minimum(self.end + step, high - 1) for step in (0, 1)]
        before_best = np.maximum(*(np.where(at < self.begin, similar[at], 0) for at in before))
        after_best = np.maximum(*(np.where(at >= self.end, similar[at], 0) for at in after))
        total = running(question.uses)
        in_chunk = total[high] - total[low] > 0
        headings = question.headings_closest[:, self.chunk]
        united = np.maximum(headings[question.known].T, in_chunk)
        titles = np.flatnonzero(sentences.kind == HEADING_KIND)
        place = np.searchsorted(titles, self.best, side="right") - 1
        title = titles[place] if len(titles) else np.full(len(self.chosen), -1)
        here = (place >= 0) & (title >= low)
        closest = np.where(here, question.closest[:, title], headings)
        return {
            Detail.BEFORE: before_best,
            Detail.AFTER: after_best,
            Detail.COVERAGE_CHUNK: united @ self.weights[question.known],
            Detail.HEADING: self.weights @ closest,
            Detail.HEADING_WORDS: question.weights @ (closest > 0.99),
        }

    def kinds(self) -> Columns:
        """What kind of text it is."""
        sizes = self.sentences.tokens
        total = np.maximum(self.total(sizes), 1e-6)
        marks = self.sentences.marks

        def share(mark: SentenceMark) -> "Floats":
            return np.asarray(self.total(np.where(marks & mark, sizes, 0)) / total)

        def of_kind(kind: int) -> "Floats":
            return np.asarray(self.total(np.where(self.sentences.kind == kind, sizes, 0)) / total)

        return {
            Detail.TABLE: of_kind(TABLE_KIND),
            Detail.CODE: of_kind(CODE_KIND),
            Detail.TITLES: of_kind(HEADING_KIND),
            Detail.REFERENCES: share(SentenceMark.REFERENCE),
            Detail.LINKS: share(SentenceMark.LINK),
            Detail.NOTICES: share(SentenceMark.NOTICE),
            Detail.DUTIES: share(SentenceMark.DUTY),
            Detail.PERSONS: share(SentenceMark.PERSON),
            Detail.PRONOUN: np.minimum(marks[self.begin] & SentenceMark.PRONOUN, 1.0),
            Detail.CAUSES: share(SentenceMark.CAUSE),
            Detail.DEFINITION_BEST: np.minimum(marks[self.best] & SentenceMark.DEFINITION, 1.0),
        }

    def answers(self) -> Columns:
        """Whether there is what the question asks for."""
        question, sentences, best = self.question, self.sentences, self.best
        marks = sentences.marks
        expected = int(EXPECTED.get(question.asks, 0))
        here = ((marks & expected) > 0).astype(np.float32)
        if question.asks in {Asks.PERSON, Asks.PLACE}:
            here = (sentences.capitals > 0).astype(np.float32)
        near = np.maximum(here, np.maximum(np.append(here[1:], 0), np.append(0, here[:-1])))
        of_names = question.uses[:, question.names[question.known]].sum(axis=1)
        new = np.maximum(sentences.capitals - of_names, 0)
        return {
            Detail.EXPECTED_BEST: here[best],
            Detail.EXPECTED_NEAR: near[best],
            Detail.EXPECTED: self.total(here) / (self.end - self.begin),
            Detail.NEW_NAMES_BEST: np.log1p(new[best]),
            Detail.NEW_NAMES: np.log1p(self.total(new)),
            Detail.NUMBERS_BEST: np.log1p(sentences.numbers[best]),
            Detail.NUMBERS: np.log1p(self.total(sentences.numbers)),
        }

    def shape(self) -> Columns:
        """Sizes and places, and what is asked."""
        sizes = self.sentences.tokens
        windows = self.question.index.windows
        asks = {
            Detail[f"ASKS_{one.name}"]: np.full(1, one is self.question.asks)
            for one in Asks
            if one is not Asks.OTHER
        }
        return {
            Detail.SIZE: self.total(sizes) / WINDOW_TOKENS,
            Detail.SENTENCES: np.log(self.end - self.begin),
            Detail.BEST_PLACE: (self.best - self.begin) / (self.end - self.begin),
            Detail.BEST_SIZE: sizes[self.best] / WINDOW_TOKENS,
            Detail.PAGE_PLACE: self.offset / max(1, int(windows.offset.max())),
            Detail.WINDOWS: np.full(1, np.log(len(windows))),
            Detail.CONTENT: np.full(1, float(self.content.sum()) / MANY_WORDS),
            Detail.ASKS_EXTREME: np.full(1, self.question.asks_extreme),
            Detail.TABLE_PAGE: np.full(1, (self.sentences.kind == TABLE_KIND).mean()),
            Detail.CODE_PAGE: np.full(1, (self.sentences.kind == CODE_KIND).mean()),
            **asks,
        }
