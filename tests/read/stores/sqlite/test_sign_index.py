"""The sign-bit index finds the vectors with the smallest Hamming distance, and no dropped ones."""

import numpy as np
import pytest
from numpy.typing import NDArray

from kindly.read.stores.sqlite.sign_index import FIRST_CAPACITY, SignIndex, to_bits

MANY = np.random.default_rng(3).standard_normal((3 * FIRST_CAPACITY, 100)).astype(np.float32)


def filled(vectors: NDArray[np.float32]) -> SignIndex:
    signs = SignIndex()
    for first in range(0, len(vectors), 700):
        some = vectors[first : first + 700]
        signs.add([(2 * (first + place) + 1, to_bits(one)) for place, one in enumerate(some)])
    return signs


def test_sign_bits_are_padded_to_whole_words() -> None:
    assert len(to_bits(MANY[0])) == 16


def test_nothing_is_near_where_nothing_is() -> None:
    signs = SignIndex()
    signs.add([])
    signs.drop([1])
    assert signs.nearest(MANY[0], 5) == []
    assert signs.last == 0


@pytest.mark.parametrize("place", [0, 1, FIRST_CAPACITY, 3 * FIRST_CAPACITY - 1])
def test_a_vector_is_nearest_to_itself(place: int) -> None:
    signs = filled(MANY)
    assert signs.nearest(MANY[place], 1) == [2 * place + 1]
    assert signs.last == 2 * (len(MANY) - 1) + 1


def test_all_come_where_more_are_wanted_than_there_are() -> None:
    signs = filled(MANY[:10])
    assert sorted(signs.nearest(MANY[0], 50)) == [2 * place + 1 for place in range(10)]


def test_a_dropped_vector_does_not_come_and_an_unknown_one_does_not_matter() -> None:
    signs = filled(MANY[:10])
    signs.drop([1, 2, 9999, 5])
    assert sorted(signs.nearest(MANY[0], 50)) == [3, 7, 9, 11, 13, 15, 17, 19]


def test_after_clearing_vectors_of_another_length_may_come() -> None:
    signs = filled(MANY[:10])
    signs.clear()
    signs.add([(7, to_bits(MANY[0][:10]))])
    assert signs.nearest(MANY[0][:10], 3) == [7]


def test_dropped_vectors_do_not_count_and_the_others_stay_as_they_were() -> None:
    signs = filled(MANY)
    signs.drop(range(1, 2 * len(MANY) - 39, 2))
    assert len(signs) == 20
    assert signs.nearest(MANY[-1], 1) == [2 * len(MANY) - 1]
    signs.add([(9999, to_bits(MANY[0]))])
    signs.drop([2 * len(MANY) - 1])
    assert len(signs) == 20
    assert signs.nearest(MANY[0], 1) == [9999]


def test_nothing_is_near_where_all_was_dropped() -> None:
    signs = filled(MANY)
    signs.drop(range(1, 2 * len(MANY), 2))
    assert len(signs) == 0
    assert signs.nearest(MANY[0], 3) == []
    signs.drop([1])
    signs.add([(9999, to_bits(MANY[0]))])
    assert signs.nearest(MANY[1], 3) == [9999]
