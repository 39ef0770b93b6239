"""Grid + question → numbers that tell how well each window answers: words, their nearness, their kin, their meaning.

Every feature lies near 0 to 1 and means the same on any page, so that one set of weights and one threshold serve all.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from kindly.read.ranking.sentence_index import PREFIX, SentenceIndex, inverse_frequency
from kindly.text.terms import runs_together, term_words, tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kindly.read.ranking.static_model import StaticModel

    Floats = NDArray[np.floating[Any]]
    Ints = NDArray[np.intp]

NAMES = (
    "words",
    "words_sentence",
    "share",
    "share_sentence",
    "share_headings",
    "near",
    "words_chunk",
    "words_two_sentences",
    "lead",
    "alike",
    "alike_sentence",
    "meaning",
    "meaning_sentence",
    "kin",
    "kin_sentence",
    "alike_headings",
    "early",
    "share_page",
    "lacking",
    "length",
    "latin",
    "unspaced",
    "english",
)
K1, B = 1.2, 0.75
FULL_WEIGHT = 12.0
"""The length of a word's vector from which it counts in full; "the" has 2, "agreement" 16."""
NEAR_WORDS = 3
LEAD_WORDS = 6
"""Words at the beginning of a sentence or clause, which most often say what it is about."""
PLAIN_POWER = 8
"""Of the share of words without accents: English has nearly all, Spanish or German nine of ten."""
EARLY = 2000
"""Characters from the beginning of a page at which a window counts as half as early as the first."""
LONG_QUESTION = 24
"""Terms from which a question counts as long."""
MIN_SENTENCE = 8.0
"""Words that an average sentence is taken to have at least."""


@dataclass(frozen=True)
class QuestionTerms:
    """A question in the grid's numbers."""

    grid: SentenceIndex
    terms: tuple[str, ...]
    """Each once."""
    sequence: "Ints"
    """The question's terms in its order, -1 where the grid has none."""
    numbers: "Ints"
    """Of `terms`, -1 where the grid has none."""
    vectors: "Floats"
    full: "Floats"
    """How much each word says, up to 1."""

    @cached_property
    def known(self) -> "Ints":
        """Places in `terms` of those that the grid has."""
        return np.flatnonzero(self.numbers >= 0)

    @cached_property
    def plain(self) -> "Floats":
        """Rarity of each term."""
        unseen = inverse_frequency(np.zeros(1, dtype=np.intp), len(self.grid.sentences))
        rarity = np.append(self.grid.rarity, unseen)
        return np.asarray(rarity[self.numbers])

    @cached_property
    def weights(self) -> "Floats":
        """Rarity and how much the word says, together; they sum up to one."""
        weights = self.plain * self.full
        return np.asarray(weights / max(1e-6, float(weights.sum())))

    @cached_property
    def meanings(self) -> "Floats":
        """The grid's word vectors, in numbers that multiply fast."""
        return self.grid.meaning.astype(np.float32)

    @cached_property
    def similar(self) -> "Floats":
        """Terms × vocabulary: how alike the words are, squared; 1 for the same."""
        units = self.vectors / np.maximum(np.linalg.norm(self.vectors, axis=1), 1e-6)[:, None]
        alike = np.maximum(units @ self.meanings.T, 0) ** 2
        alike[self.known, self.numbers[self.known]] = 1
        return np.asarray(alike)


def asked(question: str, grid: SentenceIndex, model: "StaticModel | None") -> QuestionTerms:
    """The question made ready for a grid that was laid out with the same model."""
    pairs = [pair for token in tokens(question) for pair in term_words(token)]
    words = dict(reversed(pairs))
    terms = tuple(dict.fromkeys(term for term, _ in pairs))
    if model is None:
        vectors = np.zeros((len(terms), 1), dtype=np.float32)
        full = np.ones(len(terms), dtype=np.float32)
    else:
        vectors = model.words([words[term] for term in terms])
        full = np.minimum(1, np.linalg.norm(vectors, axis=1) / FULL_WEIGHT)
    numbers = grid.vocabulary
    return QuestionTerms(
        grid=grid,
        terms=terms,
        sequence=np.array([numbers.get(term, -1) for term, _ in pairs], dtype=np.intp),
        numbers=np.array([numbers.get(term, -1) for term in terms], dtype=np.intp),
        vectors=vectors,
        full=np.asarray(full, dtype=np.float32),
    )


def features(asked: QuestionTerms) -> "Floats":
    """Windows × `NAMES`."""
    grid = asked.grid
    columns = np.zeros((len(grid.begin), len(NAMES)), dtype=np.float32)
    if len(asked.terms) and len(grid.begin):
        found = [*_lexical(asked), *_alike(asked), *_meaning(asked), *_kin(asked)]
        found.append(_alike_headings(asked)[grid.chunk])
        found.append(EARLY / (EARLY + grid.offset))
        found += [np.full(1, one) for one in (*_coverage(asked), *_script(asked))]
        for number, column in enumerate(found):
            columns[:, number] = column
    return columns


def _lexical(asked: QuestionTerms) -> "list[Floats]":
    grid, known = asked.grid, asked.known
    weights = asked.weights[known]
    uses = np.zeros((len(grid.sentences), len(known)), dtype=np.float32)
    lead = np.zeros(len(uses), dtype=np.float32)
    words = _running(grid.counts)
    for column, number in enumerate(asked.numbers[known]):
        used = grid.postings[grid.bounds[number] : grid.bounds[number + 1]]
        places = grid.home[used]
        uses[:, column] = np.bincount(places, minlength=len(uses))
        lead[places[used - words[places] < LEAD_WORDS]] += weights[column]
    running = _running(uses)
    here = np.arange(len(uses))
    after = np.minimum(here + 2, len(uses))
    two = bm25(running[after] - running[here], words[after] - words[here], weights)
    chunks = bm25(
        running[grid.first[1:]] - running[grid.first[:-1]],
        words[grid.first[1:]] - words[grid.first[:-1]],
        weights,
    )
    within = running[grid.end] - running[grid.begin]
    heads = np.array([weights[np.isin(asked.numbers[known], head)].sum() for head in grid.heads])
    return [
        bm25(within, words[grid.end] - words[grid.begin], weights),
        _best(grid, bm25(uses, grid.counts, weights, least=MIN_SENTENCE)),
        (within > 0) @ weights,
        _best(grid, (uses > 0) @ weights),
        heads[grid.chunk],
        _best(grid, _near(asked)),
        chunks[grid.chunk],
        _best(grid, two),
        _best(grid, lead),
    ]


def bm25(
    uses: "Floats", words: "Floats | Ints", weights: "Floats", *, least: float = 1.0
) -> "Floats":
    """The score of each row: uses of each term, words in all, and what each term weighs."""
    average = max(least, float(words.mean()) if len(words) else 0)
    damp = K1 * (1 - B + B * words / average)
    return np.asarray((uses * (K1 + 1) / (uses + damp[:, None])) @ weights, dtype=np.float32)


def _near(asked: QuestionTerms) -> "Floats":
    """For each sentence, what neighbours in the question weigh that are neighbours there, too."""
    grid = asked.grid
    weight = dict(zip(asked.numbers.tolist(), asked.weights.tolist(), strict=True))
    score = np.zeros(len(grid.sentences), dtype=np.float32)
    sequence = asked.sequence.tolist()
    for one, other in pairwise(sequence):
        if one < 0 or other < 0 or one == other:
            continue
        left = grid.postings[grid.bounds[one] : grid.bounds[one + 1]]
        right = grid.postings[grid.bounds[other] : grid.bounds[other + 1]]
        following = np.append(right, len(grid.uses) + NEAR_WORDS + 1)
        gap = following[np.searchsorted(right, left, side="right")] - left
        score[np.unique(grid.home[left[gap <= NEAR_WORDS]])] += min(weight[one], weight[other])
    return score


def _alike(asked: QuestionTerms) -> "list[Floats]":
    """How alike the closest word is to each of the question's: within a window, within a sentence."""
    grid = asked.grid
    closest = np.zeros((len(asked.terms), len(grid.sentences) + 1), dtype=np.float32)
    filled = np.flatnonzero(grid.counts)
    if len(filled):
        starts = _running(grid.counts)[filled].astype(np.intp)
        closest[:, filled] = np.maximum.reduceat(asked.similar[:, grid.uses], starts, axis=1)
    within = np.maximum.reduceat(closest, _edges(grid), axis=1)[:, ::2]
    return [asked.weights @ within, _best(grid, asked.weights @ closest[:, :-1])]


def _meaning(asked: QuestionTerms) -> "list[Floats]":
    """The cosine of the question's vector and that of a window, and of its best sentence."""
    grid = asked.grid
    whole = (asked.vectors * asked.plain[:, None]).sum(axis=0)
    whole /= max(1e-6, float(np.linalg.norm(whole)))
    each = grid.rarity * grid.weight * (asked.meanings @ whole)
    sums = np.bincount(grid.home, weights=each[grid.uses], minlength=len(grid.sentences))
    running = _running(sums)
    windows = (running[grid.end] - running[grid.begin]) / np.maximum(grid.window_lengths, 1e-6)
    return [windows, _best(grid, sums / np.maximum(grid.sentence_lengths, 1e-6))]


def _kin(asked: QuestionTerms) -> "list[Floats]":
    """BM25 over the first letters of words."""
    grid = asked.grid
    full: dict[str, float] = {}
    for term, weight in zip(asked.terms, asked.full.tolist(), strict=True):
        full[term[:PREFIX]] = max(weight, full.get(term[:PREFIX], 0.0))
    known = [prefix for prefix in full if prefix in grid.prefixes]
    uses = np.zeros((len(grid.sentences), len(known)), dtype=np.float32)
    for column, prefix in enumerate(known):
        places = grid.home[grid.kin == grid.prefixes[prefix]]
        uses[:, column] = np.bincount(places, minlength=len(uses))
    rarity = inverse_frequency((uses > 0).sum(axis=0), len(uses))
    weights = rarity * np.array([full[prefix] for prefix in known], dtype=np.float32)
    unseen = float(inverse_frequency(np.zeros(1, dtype=np.intp), len(uses))[0])
    total = float(weights.sum()) + unseen * sum(
        full[one] for one in full if one not in grid.prefixes
    )
    weights = np.asarray(weights / max(1e-6, total), dtype=np.float32)
    running = _running(uses)
    words = _running(grid.counts)
    return [
        bm25(running[grid.end] - running[grid.begin], words[grid.end] - words[grid.begin], weights),
        _best(grid, bm25(uses, grid.counts, weights, least=MIN_SENTENCE)),
    ]


def _alike_headings(asked: QuestionTerms) -> "Floats":
    grid = asked.grid
    score = np.zeros(len(grid.heads), dtype=np.float32)
    known: dict[int, float] = {}
    for number, head in enumerate(grid.heads):
        if len(head):
            if id(head) not in known:
                known[id(head)] = float(asked.weights @ asked.similar[:, head].max(axis=1))
            score[number] = known[id(head)]
    return score


def _coverage(asked: QuestionTerms) -> tuple[float, ...]:
    """What the page has of the question at all, the most that a word weighs that it lacks, and how much is asked."""
    lacking = asked.weights[asked.numbers < 0]
    length = min(1.0, len(asked.terms) / LONG_QUESTION)
    return float(asked.weights[asked.known].sum()), float(lacking.max(initial=0)), length


def _script(asked: QuestionTerms) -> tuple[float, ...]:
    """How much of the question is in Latin letters, and in scripts without spaces; how likely the page is English.

    Chance matches are more common in some; the same on all windows, this tells weights and threshold what to expect.
    """
    terms = asked.terms
    latin = sum(term.isascii() for term in terms) / len(terms)
    unspaced = sum(runs_together(term) for term in terms) / len(terms)
    return latin, unspaced, asked.grid.plain**PLAIN_POWER


def _running(values: "Floats | Ints") -> "NDArray[np.float64]":
    """Sums up to each place, along the first axis, beginning with nought."""
    start = np.zeros((1, *values.shape[1:]))
    return np.concatenate((start, np.cumsum(values, axis=0, dtype=np.float64)))


def _edges(grid: SentenceIndex) -> "Ints":
    return np.stack((grid.begin, grid.end), axis=1).ravel()


def _best(grid: SentenceIndex, sentences: "Floats") -> "Floats":
    """The best sentence of each window."""
    padded = np.append(sentences, np.float32(-1e9))
    return np.asarray(np.maximum.reduceat(padded, _edges(grid))[::2])
