"""Text → its key sentences, word for word and in their order: extractive, within a number of characters.

With a question, those that answer it; without one, those that share most with all others.
"""

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from kindly.read.chunk import split
from kindly.read.ranking import ranker_model
from kindly.read.ranking.passage_features import asked, features
from kindly.read.ranking.rank import local_model
from kindly.read.ranking.sentence_index import SentenceIndex, lay_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from kindly.models import Chunk

    Floats = NDArray[np.floating[Any]]

MAX_TEXT = 60_000
"""Characters that are looked at; a summary of more is one of its beginning."""
LEAD = 0.15
"""What standing first adds, as the point of a page is most often made there."""
MIN_CHARACTERS = 40
SAME = 0.6
"""Of the shorter sentence's words, from which it adds nothing."""
ANSWERING = 2.0
"""What answering the question counts, beside being at the heart of the text."""
ELLIPSIS = "…"

_MARK = re.compile(
    r"!\[[^\]\n]*\]\([^)\n]*\)|\]\([^)\n]*\)|\[(?=[^\]\n]*\]\()|[*`]{1,3}|(?<!\w)_{1,2}|_{1,2}(?!\w)"
)
_LEADING = re.compile(r"^\s*(?:>\s*)*(?:[-*+•]\s+|\d{1,3}[.)]\s+)?")


def summarise(text: str, *, limit: int = 500, question: str | None = None) -> str:
    """At most `limit` characters of the text's own sentences; empty if it has none."""
    chunks = split(text[:MAX_TEXT], "")
    model = local_model()
    grid = lay_out(chunks, model, window_tokens=0)
    if not len(grid.begin):
        return ""
    worth = _central(grid)
    if question is not None and (one := asked(question, grid, model)).terms:
        worth = worth + ANSWERING * _even(ranker_model.load().scores(features(one)))
    order = np.argsort(-worth, kind="stable").tolist()
    return _joined(_chosen(chunks, grid, order, limit), limit)


def _chosen(
    chunks: "Sequence[Chunk]", grid: SentenceIndex, order: list[int], limit: int
) -> dict[int, str]:
    """The best sentences that fit and do not say the same, by their place in the text."""
    chosen: dict[int, str] = {}
    words: list[set[str]] = []
    left = limit
    for number in order:
        one = grid.sentences[number]
        sentence = _plain(chunks[one.chunk].text[one.start : one.end])
        said = set(sentence.lower().split())
        if (
            one.kind != "prose"
            or len(sentence) < MIN_CHARACTERS
            or any(_same(said, other) for other in words)
        ):
            continue
        if len(sentence) <= left:
            chosen[number] = sentence
            words.append(said)
            left -= len(sentence) + 1
    if not chosen and order:
        longest = max(grid.sentences, key=lambda one: one.end - one.start)
        chosen[0] = _plain(chunks[longest.chunk].text[longest.start : longest.end])
    return chosen


def _joined(chosen: dict[int, str], limit: int) -> str:
    text = " ".join(chosen[number] for number in sorted(chosen))
    return (
        text
        if len(text) <= limit
        else text[: max(0, limit - 1)].rstrip() + ELLIPSIS[: max(0, limit)]
    )


def _same(one: set[str], other: set[str]) -> bool:
    return len(one & other) >= SAME * min(len(one), len(other))


def _plain(sentence: str) -> str:
    return " ".join(_LEADING.sub("", _MARK.sub("", sentence), count=1).split())


def _even(scores: "Floats") -> "Floats":
    """From nought to one."""
    low, high = float(scores.min()), float(scores.max())
    return np.asarray((scores - low) / max(1e-6, high - low))


def _central(grid: SentenceIndex) -> "Floats":
    """For each sentence, how much its words are those of the text; and something for standing at the beginning."""
    often = np.bincount(grid.uses, minlength=len(grid.vocabulary)).astype(np.float32)
    full = np.minimum(1, grid.weight / max(1e-6, float(grid.weight.max(initial=0))))
    weight = np.log1p(often) * np.where(full > 0, full, 1)
    sums = np.bincount(grid.home, weights=weight[grid.uses], minlength=len(grid.counts))
    score = sums / np.maximum(grid.counts, 8)
    place = np.arange(len(score)) / max(1, len(score))
    return np.asarray(score / max(1e-6, float(score.max())) + LEAD * (1 - place) ** 4)
