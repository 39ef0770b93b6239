"""The worth of results: from 0 to 1, mostly by place, then by words, source and page."""

from dataclasses import replace

import pytest

from kindly.models import Hit
from kindly.search.provider import Pace
from kindly.search.ranking.score import ScoredHit, scores

HIT = Hit("Rust async", "https://a.example/", "About rust and async.", "fake")
OFF = replace(HIT, title="Cooking", snippet="Soup.")
SPAM = replace(HIT, url="https://parkingcrew.net/")
DOCS = replace(HIT, url="https://docs.rs/tokio")


def of(*candidates: ScoredHit) -> list[float]:
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
def test_one_is_worth_more_than_another(better: ScoredHit, worse: ScoredHit) -> None:
    assert of(better)[0] > of(worse)[0]


def test_place_counts_and_all_stay_within_bounds() -> None:
    worth = of(*(ScoredHit(HIT) for _ in range(50)), ScoredHit(SPAM, "x"))
    assert worth == sorted(worth, reverse=True)
    assert all(0 <= one <= 1 for one in worth)


def test_a_query_without_words_is_no_failure() -> None:
    assert 0 < scores("???", [ScoredHit(HIT)])[0] <= 1
    assert scores("rust", []) == []


@pytest.mark.parametrize(
    ("pace", "per_minute", "expected"),
    [
        (Pace(1, 1), None, Pace(1, 1)),
        (Pace(1, 1), 90, Pace(1, 1)),
        (Pace(1, 1), 30, Pace(1, 2)),
        (Pace(50, 1), 30, Pace(30, 60)),
        (Pace(100, 60), 30, Pace(30, 60)),
    ],
    ids=["no bound", "already slower", "spread out", "in one burst", "same window"],
)
def test_a_bound_slows_a_pace_and_never_speeds_it(
    pace: Pace, per_minute: int | None, expected: Pace
) -> None:
    assert pace.at_most(per_minute) == expected
