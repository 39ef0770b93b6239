import numpy as np
import pytest

from kindly.read.ranking.decision_trees import Trees

STUMP = Trees(
    roots=np.array([0, 3]),
    columns=np.array([1, 0, 0, 0]),
    thresholds=np.array([0.5, np.inf, np.inf, np.inf], dtype=np.float32),
    lefts=np.array([1, 1, 2, 3]),
    values=np.array([0, -2, 3, 0.25], dtype=np.float32),
    depth=1,
)
"""One tree with a split, and one that is only a leaf."""


@pytest.mark.parametrize(("value", "expected"), [(0.4, -1.75), (0.5, -1.75), (0.6, 3.25)])
def test_trees_add_the_leaves_of_a_row(value: float, expected: float) -> None:
    assert STUMP.sums(np.array([[9, value]], dtype=np.float32)).tolist() == [expected]


def test_every_row_falls_into_leaves_of_its_own() -> None:
    rows = np.array([[0, 0.9], [0, 0.1]], dtype=np.float32)
    assert STUMP.sums(rows).tolist() == [3.25, -1.75]
