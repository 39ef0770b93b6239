"""Scores of results: mostly by rank, then by words, source and page."""

from dataclasses import replace

import pytest

from kindly.models import Hit
from kindly.search.ranking.score import ScoredHit, scores

HIT = Hit("Rust async", "https://a.example/", "About rust and async.", "fake")
OFF = replace(HIT, title="Cooking", snippet="Soup.")
SPAM = replace(HIT, url="https://parkingcrew.net/")
DOCS = replace(HIT, url="https://docs.rs/tokio")


def scores_of(*candidates: ScoredHit) -> list[float]:
    return scores("rust async", candidates)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (ScoredHit(HIT), ScoredHit(OFF)),
        (ScoredHit(DOCS), ScoredHit(HIT)),
        (ScoredHit(HIT), ScoredHit(SPAM)),
        (ScoredHit(OFF, "All about rust and its async runtimes."), ScoredHit(OFF)),
        (
            ScoredHit(HIT, "Every word here says something new today."),
            ScoredHit(HIT, "buy " * 500),
        ),
    ],
    ids=["words", "official source", "spam", "page", "density"],
)
def test_words_source_page_and_density_raise_the_score(better: ScoredHit, worse: ScoredHit) -> None:
    assert scores_of(better)[0] > scores_of(worse)[0]


def test_scores_fall_with_the_rank_and_are_from_zero_to_one() -> None:
    scored = scores_of(*(ScoredHit(HIT) for _ in range(50)), ScoredHit(SPAM, "x"))
    assert scored == sorted(scored, reverse=True)
    assert all(0 <= one <= 1 for one in scored)


def test_a_query_without_words_has_a_score_too() -> None:
    assert 0 < scores("???", [ScoredHit(HIT)])[0] <= 1
    assert scores("rust", []) == []
