"""The judgement whether a page answers: its trees and its scale."""

import numpy as np

from kindly.read.ranking import answer_model
from kindly.read.ranking.answer_features import PAGE_FROM, PageFeature
from kindly.read.ranking.answer_model import AnswerModel
from kindly.read.ranking.decision_trees import Trees
from kindly.read.ranking.passage_features import Feature

URL = "https://example.com/"
LEAF = Trees(
    roots=np.array([0]),
    columns=np.array([0]),
    thresholds=np.array([np.inf], dtype=np.float32),
    lefts=np.array([0]),
    values=np.array([0.25], dtype=np.float32),
    depth=1,
)
WIDTH = PAGE_FROM + len(PageFeature)


def test_other_languages_are_favoured() -> None:
    model = AnswerModel(LEAF, point=1.0, other=2.0, latin=0.5)
    english, spanish, greek = np.zeros((3, WIDTH), dtype=np.float32)
    english[[Feature.ENGLISH, Feature.LATIN]] = 1
    spanish[Feature.LATIN] = 1

    assert [model.favour(row) for row in (english, spanish, greek)] == [0, 2.5, 2]
    assert model.evidence(greek) == 0.25 - 1 + 2


def test_table_rows_and_code_are_favoured() -> None:
    model = AnswerModel(LEAF, point=0.0, other=0.0, latin=0.0, table=3.0, code=1.0)
    table, code = np.zeros((2, WIDTH), dtype=np.float32)
    table[PAGE_FROM + PageFeature.TABLE_BEST] = 0.5
    code[PAGE_FROM + PageFeature.CODE_BEST] = 1

    assert [model.favour(row) for row in (table, code)] == [1.5, 1]


def test_model_fits_the_columns_of_a_row() -> None:
    trees = answer_model.load().trees

    assert int(trees.columns.max()) < WIDTH
