"""Retrieval must not get worse unnoticed: a sample of questions, and floors a little below today's figures."""

import pytest
from bench.retrieval import DATA, answered, load, run, told

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not DATA.is_dir(), reason="../shared/data/retrieval is not beside this checkout"
    ),
]

SAMPLE = 60
FLOORS = {
    "squad2": (0.78, 0.92, 0.90),
    "covidqa": (0.60, 0.88, 0.80),
    "policyqa": (0.15, 0.60, 0.45),
    "anthdocs": (0.65, 0.90, 0.85),
    "xquad_en": (0.88, 0.95, 0.95),
    "xquad_hi": (0.70, 0.92, 0.88),
    "xquad_th": (0.70, 0.92, 0.88),
    "xquad_zh": (0.80, 0.95, 0.92),
    "jsquad_ja": (0.75, 0.90, 0.88),
}


@pytest.mark.parametrize("name", FLOORS)
def test_evidence_is_found_as_often_as_ever(name: str) -> None:
    figures = run(load(name, SAMPLE), answered)

    got = figures["hit@1"], figures["hit@8"], figures["within 1000"]
    assert all(one >= floor for one, floor in zip(got, FLOORS[name], strict=True)), got


@pytest.mark.parametrize(("name", "floor"), [("squad2", 0.75), ("covidqa", 0.5)])
def test_pages_that_do_not_answer_are_told_as_often_as_ever(name: str, floor: float) -> None:
    assert told(load(name, SAMPLE), name) >= floor
