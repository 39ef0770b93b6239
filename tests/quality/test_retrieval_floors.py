"""Retrieval must not get worse unnoticed: a sample of questions, and floors a little below today's figures."""

import pytest
from bench.retrieval import answered, given, load, rejected, run

from tests.support.paths import SHARED_DATA
from tests.support.shared_data import needs_shared

pytestmark = [
    pytest.mark.slow,
    needs_shared(SHARED_DATA / "retrieval"),
]

SAMPLE = 60
FLOORS = {
    "squad2": (0.84, 0.94, 0.93, 0.94),
    "covidqa": (0.68, 0.94, 0.91, 0.92),
    "policyqa": (0.29, 0.75, 0.56, 0.70),
    "anthdocs": (0.78, 0.94, 0.90, 0.94),
    "xquad_en": (0.94, 0.96, 0.96, 0.96),
    "xquad_hi": (0.83, 0.96, 0.94, 0.95),
    "xquad_th": (0.78, 0.95, 0.90, 0.94),
    "xquad_vi": (0.85, 0.98, 0.93, 0.96),
    "xquad_zh": (0.93, 0.98, 0.97, 0.98),
    "jsquad_ja": (0.93, 0.98, 0.96, 0.98),
}
FIGURES = ("hit@1", "hit@8", "within 1000", "within 2000")


@pytest.mark.parametrize("name", FLOORS)
def test_evidence_is_found_as_often_as_ever(name: str) -> None:
    figures = run(load(name, SAMPLE), given)

    got = [figures[figure] for figure in FIGURES]
    assert all(one >= floor for one, floor in zip(got, FLOORS[name], strict=True)), got


@pytest.mark.parametrize(("name", "floor"), [("squad2", 0.90), ("covidqa", 0.60)])
def test_pages_that_do_not_answer_are_reported_as_often_as_ever(name: str, floor: float) -> None:
    assert rejected(load(name, SAMPLE), name) >= floor


@pytest.mark.parametrize("name", ["squad2", "covidqa", "policyqa", "anthdocs", "xquad_en"])
def test_answers_are_hardly_ever_reported_as_missing(name: str) -> None:
    assert run(load(name, SAMPLE), answered)["empty"] == 0
