"""The signs of many vectors, in memory: which of them may be near another, in a millisecond for a hundred thousand.

A vector is known here by one bit per number, which is a thirty-second of its size; who needs to know how near two
really are reads them.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FIRST_CAPACITY = 1024
FAR = 0xFFFF


def to_bits(vector: "NDArray[np.float32]") -> bytes:
    """The signs of a vector, in whole words of eight bytes."""
    import numpy as np

    bits = np.packbits(vector > 0).tobytes()
    return bits + bytes(-len(bits) % 8)


class Signs:
    """Vectors of one length, by a growing number each; added in the order of their numbers."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all."""
        self._count = 0
        self._numbers: NDArray[np.int64] | None = None
        self._gone: NDArray[np.bool_] | None = None
        self._words: NDArray[np.uint64] | None = None
        self.last = 0
        """The highest number."""

    def add(self, rows: Sequence[tuple[int, bytes]]) -> None:
        """Take in (number, signs) beyond `last`, in order."""
        import numpy as np

        if not rows:
            return
        words = np.frombuffer(b"".join(bits for _, bits in rows), np.uint64)
        self._reserve(self._count + len(rows), width=len(words) // len(rows))
        assert self._numbers is not None and self._words is not None  # noqa: PT018, S101
        end = self._count + len(rows)
        self._numbers[self._count : end] = [number for number, _ in rows]
        self._words[:, self._count : end] = words.reshape(len(rows), -1).T
        self._count = end
        self.last = rows[-1][0]

    def drop(self, numbers: Iterable[int]) -> None:
        """Leave these out from now on; unknown ones are none of its business."""
        import numpy as np

        if self._numbers is None or self._gone is None:
            return
        known = self._numbers[: self._count]
        wanted = np.fromiter(numbers, np.int64)
        places = np.minimum(np.searchsorted(known, wanted), self._count - 1)
        self._gone[places[known[places] == wanted]] = True

    def nearest(self, vector: "NDArray[np.float32]", limit: int) -> list[int]:
        """The numbers of those that differ in the fewest signs, in no order."""
        import numpy as np

        if self._numbers is None or self._words is None or self._gone is None:
            return []
        asked = np.frombuffer(to_bits(vector), np.uint64)
        apart = np.zeros(self._count, np.uint16)
        for row, word in zip(self._words, asked, strict=True):
            apart += np.bitwise_count(row[: self._count] ^ word)
        apart[self._gone[: self._count]] = FAR
        places = np.argpartition(apart, min(limit, self._count) - 1)[:limit]
        found: list[int] = self._numbers[places[apart[places] != FAR]].tolist()
        return found

    def _reserve(self, count: int, width: int) -> None:
        import numpy as np

        if self._numbers is None or self._words is None or self._gone is None:
            capacity = max(FIRST_CAPACITY, count)
            self._numbers = np.zeros(capacity, np.int64)
            self._gone = np.zeros(capacity, np.bool_)
            self._words = np.zeros((width, capacity), np.uint64)
        elif count > len(self._numbers):
            more = max(count, 2 * len(self._numbers)) - len(self._numbers)
            self._numbers = np.pad(self._numbers, (0, more))
            self._gone = np.pad(self._gone, (0, more))
            self._words = np.pad(self._words, ((0, 0), (0, more)))
