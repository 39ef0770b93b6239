import numpy as np
import pytest
from turbohtml import parse

from kindly.extract.content.block_features import LEVELS, TAG_COLUMNS, Table, tabulate
from kindly.extract.content.blocks import TAG_CODES, read_blocks
from kindly.extract.content.char_counts import Floats
from kindly.extract.content.lexicon import Lexicon
from kindly.extract.content.network import Layer, Network, Panel, squeezed
from kindly.extract.content.page_kind import Hints

PARTS = {"before": 0, "after": 1, "around": 2, "alike": 8, "page": 9, "heading": 10}
"""Where each thing that a block hears stands, in widths of what is told."""


def table_of(markup: str) -> Table:
    body = parse(f"<body>{markup}").select_one("body")
    assert body is not None
    return tabulate(read_blocks(body), Hints(), Lexicon())


def panel(table: Table, tag: str, part: str) -> Panel:
    """One number for each block, one where it has the tag; only what it hears by one way is judged."""
    features = table.matrix.shape[1]
    tags = np.zeros((len(TAG_COLUMNS), len(TAG_CODES) + 1, 1), np.float32)
    tags[0, TAG_CODES[tag]] = 1
    hear = np.zeros((1 + 2 + len(LEVELS) + 3, 1), np.float32)
    hear[1 + PARTS[part]] = 1
    one, nought = np.ones((1, 1), np.float32), np.zeros(1, np.float32)
    silent = Layer(np.zeros((1, 1), np.float32), nought, np.zeros_like(hear), nought)
    network = Network(
        project=np.zeros((features, 1), np.float32),
        project_bias=nought,
        tags=tags,
        layers=(Layer(one, nought, 10 * hear, nought), silent),
        judge=one[0],
        judge_bias=nought,
    )
    return Panel(
        long_tailed=np.zeros(features, np.bool_),
        low=np.full(features, -4, np.float32),
        high=np.full(features, 4, np.float32),
        networks=(network,),
    )


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("before", [1, 10, 1, 10]),
        ("after", [1, 10, 1, 0]),
        ("around", [11, 0, 11, 0]),
        ("alike", [11, 0, 11, 0]),
        ("page", [6, 5, 6, 5]),
        ("heading", [11, 10, 11, 10]),
    ],
)
def test_blocks_hear_of_others(part: str, expected: list[float]) -> None:
    """Headings and paragraphs take turns, and headings are told of."""
    table = table_of("<h2>a</h2><p>b</p><h2>c</h2><p>d</p>")
    (odds,) = panel(table, "h2", part).odds(table)
    assert odds.tolist() == pytest.approx(expected, abs=1e-3)


def test_logarithms_keep_signs_and_leave_the_rest() -> None:
    rows: Floats = np.array([[-3, 5], [7, 5]], np.float32)
    found = squeezed(rows, np.array([True, False]))
    assert found == pytest.approx(np.array([[-np.log(4), 5], [np.log(8), 5]]))
    assert rows.tolist() == [[-3, 5], [7, 5]]
