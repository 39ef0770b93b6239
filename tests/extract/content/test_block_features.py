import numpy as np
import pytest

from kindly.extract.content.ancestors import Level
from kindly.extract.content.block_features import (
    TAG_COLUMNS,
    compute_features,
    shift_blocks,
)
from kindly.extract.content.blocks import TAG_CODES
from kindly.extract.content.classify import load_model
from kindly.extract.content.lexicon import Lexicon
from kindly.extract.content.page_kind import Hints
from tests.support.html_pages import blocks_of, floats

PAGE = "<nav><a href=/>Home</a></nav><article><h1>Tides</h1><p>The sea rises.</p><p>日本。</p></article>"


def test_matrix_has_a_finite_row_for_every_block() -> None:
    hints = Hints("Tides", "/a?b", frozenset({"article"}))
    table = compute_features(blocks_of(PAGE), hints, load_model().lexicon)
    assert len(table.matrix) == 4
    assert np.isfinite(table.matrix).all()


def test_width_of_the_matrix_is_that_of_the_shipped_model() -> None:
    table = compute_features(blocks_of(PAGE), Hints(), Lexicon())
    assert table.matrix.shape[1] == len(load_model().ensemble.long_tailed)


def test_tag_columns_hold_the_tags_of_element_parent_and_grandparent() -> None:
    table = compute_features(blocks_of(PAGE), Hints(), Lexicon())
    tags = table.matrix[:, TAG_COLUMNS]
    assert tags[0].tolist() == [TAG_CODES["nav"], TAG_CODES["body"], TAG_CODES["body"]]
    assert tags[2].tolist() == [TAG_CODES["p"], TAG_CODES["article"], TAG_CODES["body"]]


def test_table_has_words_headings_and_ancestors() -> None:
    table = compute_features(blocks_of(PAGE), Hints(), Lexicon())
    assert table.words.tolist() == [1, 1, 3, 3]
    assert table.headings.tolist() == [-1, -1, 1, 1]
    assert table.ancestors.chain[:, Level.ELEMENT].tolist() == [1, 3, 4, 5]


@pytest.mark.parametrize(
    ("by", "expected"), [(1, [0, 1, 2]), (-1, [2, 3, 0]), (5, [0, 0, 0])], ids=str
)
def test_rows_beyond_the_ends_are_zero(by: int, expected: list[float]) -> None:
    assert shift_blocks(floats(1, 2, 3), by).tolist() == expected
