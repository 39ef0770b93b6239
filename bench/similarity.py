"""How well a threshold on the cosine of the local model separates chunks that answer from pages that do not.

    python -m bench.similarity [--sets en|xquad|native|all|NAME,…] [--limit N] [--thresholds T,…]

The search is that of `web.readFromPage`: whole chunks, best cosine first. Questions and pages are those of
`bench.retrieval`. For each set and threshold: `hit@8` (a chunk among the first eight covers evidence; at -1 without a
threshold), `empty` (nothing is returned), `chunks` (how many are returned), and `rejected` (nothing is returned for the
same question to another page). Then percentiles of the cosine: of the best chunk with evidence, and of the best chunk
of another page.
"""

import argparse
import sys
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from bench.retrieval import DATA, ENGLISH, RESULTS, SETS, URL, Case, covers, elsewhere, load
from kindly.models import Chunk
from kindly.read.chunk import split
from kindly.read.embedders.local import SPEC
from kindly.read.ranking import static_model
from kindly.read.similarity import Scored, by_cosine

THRESHOLDS = (-1.0, 0.15, 0.2, SPEC.cosine_threshold, 0.3, 0.4, 0.72)
PERCENTILES = (5, 10, 50, 90, 95)
NO_THRESHOLD = -1.0

Figures = dict[str, float]


@lru_cache(maxsize=4)
def embedded(
    text: str,
) -> tuple[tuple[Chunk, ...], "np.ndarray[tuple[int, int], np.dtype[np.float32]]"]:
    """The chunks of a page and their vectors."""
    chunks = split(text, URL)
    return chunks, static_model.load().embed([chunk.text for chunk in chunks])


def ordered(text: str, query: str) -> list[Scored]:
    """All chunks of the page, best cosine first."""
    chunks, vectors = embedded(text)
    cosines = vectors @ static_model.load().embed([query])[0]
    return by_cosine(query, chunks, cosines, NO_THRESHOLD)


def has_evidence(chunk: Chunk, case: Case) -> bool:
    """Whether the chunk covers evidence of the question."""
    return any(covers([(chunk.start, chunk.end)], evidence) for evidence in case.evidence)


def figures(
    answers: Sequence[list[tuple[float, bool]]], others: Sequence[float], threshold: float
) -> Figures:
    """The figures at one threshold, from the chunks of each question's page and the best cosine of another page."""
    kept = [[one for one in answer[:RESULTS] if one[0] >= threshold] for answer in answers]
    return {
        "hit@8": mean([any(hit for _, hit in one) for one in kept]),
        "empty": mean([not one for one in kept]),
        "chunks": mean([len(one) for one in kept]),
        "rejected": mean([one < threshold for one in others]),
    }


def mean(values: Sequence[float]) -> float:
    """The average; 0 of nothing."""
    return sum(values) / max(1, len(values))


def measured(name: str, limit: int | None) -> tuple[list[list[tuple[float, bool]]], list[float]]:
    """For each question of a set: cosine and evidence of its page's chunks, and the best cosine of another page."""
    data = load(name, limit)
    answers = []
    for case in data.cases:
        text = data.pages[case.page]
        chunks, _ = embedded(text)
        answers.append(
            [(score, has_evidence(chunks[at], case)) for at, score in ordered(text, case.query)]
        )
    others = [ordered(text, query)[0][1] for text, query in elsewhere(data, name)]
    return answers, others


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures of each set, and the average over the English ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sets", default="en")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--thresholds", default=",".join(map(str, THRESHOLDS)))
    options = parser.parse_args(arguments)
    if not DATA.is_dir():
        print("Skipped, because ../shared/data/retrieval is not beside this checkout.")
        return 0
    thresholds = [float(one) for one in options.thresholds.split(",")]
    totals: dict[float, list[Figures]] = {threshold: [] for threshold in thresholds}
    for name in SETS.get(options.sets) or tuple(options.sets.split(",")):
        answers, others = measured(name, options.limit)
        for threshold in thresholds:
            found = figures(answers, others, threshold)
            _show(f"{name} {threshold:g}", found)
            if name in ENGLISH:
                totals[threshold].append(found)
        best = [next((score for score, hit in one if hit), NO_THRESHOLD) for one in answers]
        for label, values in (("evidence", best), ("other page", others)):
            cut = np.percentile(values, PERCENTILES).tolist() if values else []
            _show(f"{name} {label}", dict(zip(map("p{}".format, PERCENTILES), cut, strict=False)))
    for threshold, rows in totals.items():
        if rows:
            _show(
                f"English {threshold:g}", {key: mean([row[key] for row in rows]) for key in rows[0]}
            )
    return 0


def _show(label: str, found: Figures) -> None:
    numbers = "  ".join(f"{key} {value:.3f}" for key, value in found.items())
    print(f"{label:24s} {numbers}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
