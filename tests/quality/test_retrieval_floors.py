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
    "squad2": (0.83, 0.93, 0.93),
    "covidqa": (0.66, 0.94, 0.90),
    "policyqa": (0.26, 0.74, 0.56),
    "anthdocs": (0.77, 0.94, 0.90),
    "xquad_en": (0.94, 0.96, 0.96),
    "xquad_hi": (0.82, 0.96, 0.93),
    "xquad_th": (0.77, 0.95, 0.90),
    "xquad_zh": (0.92, 0.96, 0.95),
    "jsquad_ja": (0.92, 0.96, 0.96),
}


@pytest.mark.parametrize("name", FLOORS)
def test_evidence_is_found_as_often_as_ever(name: str) -> None:
    figures = run(load(name, SAMPLE), answered)

    got = figures["hit@1"], figures["hit@8"], figures["within 1000"]
    assert all(one >= floor for one, floor in zip(got, FLOORS[name], strict=True)), got


@pytest.mark.parametrize(("name", "floor"), [("squad2", 0.85), ("covidqa", 0.55)])
def test_pages_that_do_not_answer_are_told_as_often_as_ever(name: str, floor: float) -> None:
    assert told(load(name, SAMPLE), name) >= floor
