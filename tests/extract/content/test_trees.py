import numpy as np

from kindly.extract.content.trees import FEATURE_BITS, ROWS_PER_BATCH, PackedTrees
from tests.support.html_pages import floats


def trees() -> PackedTrees:
    """One tree: feature 1 at most 5 → 2.0, else feature 0 at most 0 → -1.0, else 3.0; and a tree with one leaf, 0.5."""
    lefts = np.array([1, 1, 3, 3, 4, 5]) << FEATURE_BITS
    features = np.array([1, 0, 0, 0, 0, 0])
    return PackedTrees(
        roots=np.array([0, 5]),
        step=lefts | features,
        threshold=floats(5, np.inf, 0, np.inf, np.inf, np.inf),
        value=floats(0, 2, 0, -1, 3, 0.5),
        depth=2,
    )


def test_each_row_gets_the_sum_of_its_leaves() -> None:
    rows = np.array([[0, 5], [0, 6], [1, 6]], np.float32)
    assert trees().unpack().log_odds(rows).tolist() == [2.5, -0.5, 3.5]


def test_rows_of_several_batches_keep_their_order() -> None:
    rows = np.zeros((2 * ROWS_PER_BATCH + 3, 2), np.float32)
    rows[-1] = (1, 6)
    found = trees().unpack().log_odds(rows)
    assert found[:-1].tolist() == [2.5] * (len(rows) - 1)
    assert found[-1] == 3.5
