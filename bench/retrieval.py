"""How well the passages of a page answer questions whose evidence is known.

    python -m bench.retrieval [--sets en|xquad|native|all|NAME,…] [--limit N] [--negatives]

Questions and pages are beside the checkout, in `../shared/data/retrieval`. For each set: hit@1, 3 and 8 (a passage
among the first so many covers evidence), MRR, and how often evidence lies within the first 500, 1,000 and 2,000 tokens;
beside it the same for BM25 over the same chunks and for the beginning of the page. With `--negatives`, `refused` is how
often a page is reported not to answer although it does, and `rejected` the same for another page, which does not.
"""

import argparse
import gzip
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kindly.budget import count_tokens
from kindly.models import Passage
from kindly.read.chunk import split
from kindly.read.ranking import static_model
from kindly.read.ranking.passage_features import bm25
from kindly.read.ranking.rank import Index, Ranking
from kindly.read.ranking.sentence_index import inverse_frequency
from kindly.text.terms import terms

DATA = Path(__file__).parents[1] / "../shared/data/retrieval"
ENGLISH = (
    "squad2", "covidqa", "policyqa", "chroma5", "nqpages", "cuad", "anthdocs", "xquad_en",
)  # fmt: skip
XQUAD = tuple(
    f"xquad_{one}"
    for one in ["en", "es", "de", "el", "ru", "tr", "ar", "vi", "th", "zh", "hi", "ro"]
)
NATIVE = ("drcd_zhtw", "jsquad_ja", "piaf_fr")
SETS = {
    "en": ENGLISH,
    "xquad": XQUAD,
    "native": NATIVE,
    "all": (*ENGLISH, *XQUAD[1:], *NATIVE),
}
RESULTS = 8
BUDGETS = (500, 1000, 2000)
SHORT = 60
"""Evidence up to this length must be included whole."""
ENOUGH = 300
"""Characters of long evidence that are enough; or half of it."""
URL = "https://example.com/"

Span = tuple[int, int]


class Case(NamedTuple):
    """A question, its page, and the offsets of its evidence."""

    query: str
    page: str
    evidence: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Data:
    """One set: whole pages by id, and questions that have an answer."""

    pages: dict[str, str]
    cases: tuple[Case, ...]


def load(name: str, limit: int | None = None) -> Data:
    """A set, with at most `limit` of its questions, always the same ones."""
    pages: dict[str, str] = {}
    cases: list[Case] = []
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["kind"] == "page":
                pages[row["page_id"]] = row["text"]
            elif row["kind"] != "meta" and row["answerable"]:
                spans = tuple((start, end) for start, end in row["spans"])
                cases.append(Case(row["query"], row["page_id"], spans))
    if limit is not None and len(cases) > limit:
        cases = random.Random(name).sample(cases, limit)
    return Data(pages, tuple(sorted(cases, key=lambda case: case.page)))


@lru_cache(maxsize=4)
def index(text: str) -> Index:
    """The ranking index of a page."""
    chunks = split(text, URL)
    vectors = static_model.load().embed([chunk.text for chunk in chunks]) if chunks else None
    return Index(chunks, vectors)


def ask(text: str, query: str, limit: int = RESULTS) -> Ranking:
    """The ranking of the page's passages for the question."""
    return index(text).ask(query, static_model.load().embed([query])[0], limit=limit)


def retrieve(text: str, query: str) -> list[Passage]:
    """The passages of `read_page`, which come whether it says that they answer or not."""
    return list(ask(text, query).passages)


def retrieve_answers(text: str, query: str) -> list[Passage]:
    """The same, but none if `read_page` says that the page does not answer: to measure how often it says so."""
    ranking = ask(text, query)
    return list(ranking.passages) if ranking.answered else []


def given(text: str, query: str) -> list[Span]:
    """The passages of `read_page`, as offsets."""
    return [(passage.start, passage.end) for passage in retrieve(text, query)]


def answered(text: str, query: str) -> list[Span]:
    """The same, but none if it says that the page does not answer."""
    return [(passage.start, passage.end) for passage in retrieve_answers(text, query)]


def by_words(text: str, query: str) -> list[Span]:
    """BM25 alone, over the same chunks."""
    chunks = index(text).chunks
    words, counts = _counts(text)
    columns = [words[term] for term in dict.fromkeys(terms(query)) if term in words]
    uses = counts[:, columns]
    rarity = inverse_frequency((uses > 0).sum(axis=0), len(chunks))
    scores = bm25(uses, counts.sum(axis=1), rarity)
    return [
        (chunks[number].start, chunks[number].end)
        for number in np.argsort(-scores, kind="stable")[:RESULTS]
    ]


@lru_cache(maxsize=2)
def _counts(
    text: str,
) -> tuple[dict[str, int], "np.ndarray[tuple[int, int], np.dtype[np.float32]]"]:
    found = [terms(chunk.text) for chunk in index(text).chunks]
    words: dict[str, int] = {}
    for term in (term for one in found for term in one):
        words.setdefault(term, len(words))
    counts = np.zeros((len(found), len(words)), dtype=np.float32)
    for row, one in enumerate(found):
        np.add.at(counts[row], [words[term] for term in one], 1)
    return words, counts


def beginning(text: str, query: str) -> list[Span]:
    """The page from its start, for any question."""
    del query
    return [(chunk.start, chunk.end) for chunk in index(text).chunks[:RESULTS]]


Method = Callable[[str, str], list[Span]]
METHODS: dict[str, Method] = {"ours": given, "BM25": by_words, "beginning": beginning}


def covers(spans: Sequence[Span], evidence: Span) -> bool:
    """Whether enough of the evidence lies in the spans."""
    start, end = evidence
    got = sum(max(0, min(end, right) - max(start, left)) for left, right in spans)
    return got >= enough(start, end)


def enough(start: int, end: int) -> float:
    """How many characters of evidence are required: all of a short one."""
    return end - start if end - start <= SHORT else min((end - start) / 2, ENOUGH)


def within(text: str, spans: Sequence[Span], budget: int) -> list[Span]:
    """The first `budget` tokens of the spans."""
    kept: list[Span] = []
    for start, end in spans:
        cost = count_tokens(text[start:end])
        if cost > budget:
            kept.append((start, start + (end - start) * budget // cost))
            break
        kept.append((start, end))
        budget -= cost
    return kept


def measure(case: Case, text: str, spans: Sequence[Span]) -> dict[str, float]:
    """The figures of one question."""
    rank = next(
        (
            number
            for number, span in enumerate(spans, 1)
            if any(covers([span], evidence) for evidence in case.evidence)
        ),
        0,
    )
    figures = {f"hit@{k}": float(0 < rank <= k) for k in (1, 3, 8)}
    figures["mrr"] = 1 / rank if rank else 0.0
    for budget in BUDGETS:
        kept = within(text, spans, budget)
        found = any(covers(kept, evidence) for evidence in case.evidence)
        figures[f"within {budget}"] = float(found)
    figures["empty"] = float(not spans)
    return figures


def mean(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """The average of each figure."""
    return {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}


def run(data: Data, method: Method) -> dict[str, float]:
    """The figures of one set."""
    return mean(
        [
            measure(one, data.pages[one.page], method(data.pages[one.page], one.query))
            for one in data.cases
        ]
    )


def elsewhere(data: Data, seed: str) -> Iterator[tuple[str, str]]:
    """Each question with another page of its set."""
    dice, pages = random.Random(seed), sorted(data.pages)
    pairs = [
        (dice.choice([page for page in pages if page != case.page]), case.query)
        for case in data.cases
        if len(pages) > 1
    ]
    for page, query in sorted(pairs):
        yield data.pages[page], query


def rejected(data: Data, seed: str) -> float:
    """How often another page is reported not to answer."""
    results = [float(not ask(text, query).answered) for text, query in elsewhere(data, seed)]
    return sum(results) / max(1, len(results))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table for each set, and the average over the English ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sets", default="en")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--negatives", action="store_true")
    options = parser.parse_args(arguments)
    if not DATA.is_dir():
        print("Skipped, because ../shared/data/retrieval is not beside this checkout.")
        return 0
    names = SETS.get(options.sets) or tuple(options.sets.split(","))
    totals: dict[str, list[dict[str, float]]] = {method: [] for method in METHODS}
    for name in names:
        data = load(name, options.limit)
        for method, function in METHODS.items():
            figures = run(data, function)
            if options.negatives and method == "ours":
                figures["refused"] = run(data, answered)["empty"]
                figures["rejected"] = rejected(data, name)
            show(name, method, figures)
            if name in ENGLISH:
                totals[method].append(
                    {key: one for key, one in figures.items() if not key.startswith("re")}
                )
    for method, rows in totals.items():
        if rows:
            show("English", method, mean(rows))
    return 0


def show(name: str, method: str, figures: dict[str, float]) -> None:
    """Print one line of figures."""
    numbers = "  ".join(f"{key} {value:.3f}" for key, value in figures.items())
    print(f"{name:10s} {method:10s} {numbers}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
