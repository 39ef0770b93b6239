import numpy as np
import pytest

from kindly.extract.content.block_features import (
    DESCRIBED_LEVELS,
    TAG_COLUMNS,
    FeatureTable,
    compute_features,
)
from kindly.extract.content.blocks import TAG_CODES
from kindly.extract.content.char_counts import Floats
from kindly.extract.content.lexicon import Lexicon
from kindly.extract.content.network import Ensemble, Layer, Network, log_scaled
from kindly.extract.content.page_kind import Hints
from tests.support.html_pages import blocks_of

SOURCES = {"before": 0, "after": 1, "element": 2, "group": 8, "page": 9, "heading": 10}
"""The position of each source among the messages that a block gathers, in message widths."""


def table_of(markup: str) -> FeatureTable:
    return compute_features(blocks_of(markup), Hints(), Lexicon())


def ensemble_for(table: FeatureTable, tag: str, source: str) -> Ensemble:
    """One network with a state of one number: 1 for blocks with the tag; only one source of messages has weight."""
    features = table.matrix.shape[1]
    tags = np.zeros((len(TAG_COLUMNS), len(TAG_CODES) + 1, 1), np.float32)
    tags[0, TAG_CODES[tag]] = 1
    update = np.zeros((1 + 2 + len(DESCRIBED_LEVELS) + 3, 1), np.float32)
    update[1 + SOURCES[source]] = 1
    one, zero = np.ones((1, 1), np.float32), np.zeros(1, np.float32)
    inactive = Layer(np.zeros((1, 1), np.float32), zero, np.zeros_like(update), zero)
    network = Network(
        embed=np.zeros((features, 1), np.float32),
        embed_bias=zero,
        tag_embeddings=tags,
        layers=(Layer(one, zero, 10 * update, zero), inactive),
        readout=one[0],
        readout_bias=zero,
    )
    return Ensemble(
        long_tailed=np.zeros(features, np.bool_),
        low=np.full(features, -4, np.float32),
        high=np.full(features, 4, np.float32),
        networks=(network,),
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("before", [1, 10, 1, 10]),
        ("after", [1, 10, 1, 0]),
        ("element", [11, 0, 11, 0]),
        ("group", [11, 0, 11, 0]),
        ("page", [6, 5, 6, 5]),
        ("heading", [11, 10, 11, 10]),
    ],
)
def test_block_receives_messages_from_each_source(source: str, expected: list[float]) -> None:
    """Headings and paragraphs alternate, and only headings send a message."""
    table = table_of("<h2>a</h2><p>b</p><h2>c</h2><p>d</p>")
    (log_odds,) = ensemble_for(table, "h2", source).log_odds(table)
    assert log_odds.tolist() == pytest.approx(expected, abs=1e-3)


def test_log_scale_keeps_signs_and_other_columns() -> None:
    rows: Floats = np.array([[-3, 5], [7, 5]], np.float32)
    scaled = log_scaled(rows, np.array([True, False]))
    assert scaled == pytest.approx(np.array([[-np.log(4), 5], [np.log(8), 5]]))
    assert rows.tolist() == [[-3, 5], [7, 5]]
