"""A sign-bit index in memory: a Hamming-distance prefilter for vectors, one millisecond per hundred thousand.

A vector is one bit per dimension, a 32nd of its size. Callers compare the few nearest ones exactly.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FIRST_CAPACITY = 1024
MAX_DISTANCE = 0xFFFF
WORD_BITS = 64
IS_POSITIVE = b"1" * 128 + b"0" * 128
"""Translates the high byte of a number to the digit of its sign bit."""


def to_bits(vector: "NDArray[np.float32]") -> bytes:
    """The sign bits of a vector, padded to whole words of eight bytes."""
    import numpy as np

    bits = np.packbits(vector > 0).tobytes()
    return bits + bytes(-len(bits) % 8)


def bits_of_half(half: bytes) -> bytes:
    """The sign bits of a vector in half precision, without numpy. A zero, which is rare, counts as positive."""
    digits = half[1::2].translate(IS_POSITIVE)
    bits = int(digits + b"0" * (-len(digits) % WORD_BITS), 2)
    return bits.to_bytes(-(-len(digits) // WORD_BITS) * 8, "big")


@dataclass(slots=True)
class _Table:
    """Columns with spare capacity; `words` has a row for each eight bytes of sign bits."""

    numbers: "NDArray[np.int64]"
    gone: "NDArray[np.bool_]"
    words: "NDArray[np.uint64]"

    def grown(self, more: int) -> "_Table":
        import numpy as np

        return _Table(
            np.pad(self.numbers, (0, more)),
            np.pad(self.gone, (0, more)),
            np.pad(self.words, ((0, 0), (0, more))),
        )


class SignIndex:
    """Sign bits of vectors of one dimension, by row number; added in ascending order."""

    def __init__(self) -> None:
        self.clear()

    def __len__(self) -> int:
        return self._count - self._dropped

    def clear(self) -> None:
        self._count = self._dropped = 0
        self._table: _Table | None = None
        self.last = 0
        """The highest number."""

    def add(self, rows: Sequence[tuple[int, bytes]]) -> None:
        """Add (number, sign bits) beyond `last`, in ascending order."""
        import numpy as np

        if not rows:
            return
        words = np.frombuffer(b"".join(bits for _, bits in rows), np.uint64).reshape(len(rows), -1)
        end = self._count + len(rows)
        table = self._table = self._with_capacity(end, width=words.shape[1])
        table.numbers[self._count : end] = [number for number, _ in rows]
        table.words[:, self._count : end] = words.T
        self._count = end
        self.last = rows[-1][0]

    def drop(self, numbers: Iterable[int]) -> None:
        """Remove these numbers; unknown ones are ignored."""
        import numpy as np

        if self._table is None or not self._count:
            return
        known = self._table.numbers[: self._count]
        dropped = np.fromiter(numbers, np.int64)
        places = np.minimum(np.searchsorted(known, dropped), self._count - 1)
        gone = self._table.gone
        gone[places[known[places] == dropped]] = True
        self._dropped = int(np.count_nonzero(gone[: self._count]))
        if self._dropped > max(len(self), FIRST_CAPACITY):
            self._compact(self._table)

    def nearest(
        self,
        vector: "NDArray[np.float32]",
        limit: int,
        allowed: "NDArray[np.int64] | None" = None,
    ) -> list[int]:
        """The numbers with the smallest Hamming distance, of those allowed if given, in no order."""
        import numpy as np

        if self._table is None or not len(self):
            return []
        query = np.frombuffer(to_bits(vector), np.uint64)
        distance = np.zeros(self._count, np.uint16)
        for row, word in zip(self._table.words, query, strict=True):
            distance += np.bitwise_count(row[: self._count] ^ word)
        distance[self._table.gone[: self._count]] = MAX_DISTANCE
        if allowed is not None:
            distance[~np.isin(self._table.numbers[: self._count], allowed)] = MAX_DISTANCE
        places = np.argpartition(distance, min(limit, self._count) - 1)[:limit]
        found: list[int] = self._table.numbers[places[distance[places] != MAX_DISTANCE]].tolist()
        return found

    def _compact(self, table: _Table) -> None:
        """Free the rows of dropped vectors."""
        import numpy as np

        stay = np.flatnonzero(~table.gone[: self._count])
        self._table = _Table(
            table.numbers[stay], np.zeros(len(stay), np.bool_), table.words[:, stay]
        )
        self._count, self._dropped = len(stay), 0

    def _with_capacity(self, count: int, width: int) -> _Table:
        import numpy as np

        if self._table is None:
            capacity = max(FIRST_CAPACITY, count)
            words = np.zeros((width, capacity), np.uint64)
            return _Table(np.zeros(capacity, np.int64), np.zeros(capacity, np.bool_), words)
        capacity = len(self._table.numbers)
        if count <= capacity:
            return self._table
        return self._table.grown(max(count, 2 * capacity) - capacity)
