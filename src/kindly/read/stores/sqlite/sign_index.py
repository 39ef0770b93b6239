"""The signs of many vectors, in memory: which of them may be near another, in a millisecond for a hundred thousand.

A vector is known here by one bit per number, which is a thirty-second of its size; who needs to know how near two
really are reads them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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


@dataclass(slots=True)
class _Table:
    """Columns with room for more; `words` has a row for each eight bytes of signs."""

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


class Signs:
    """Vectors of one length, by a growing number each; added in the order of their numbers."""

    def __init__(self) -> None:
        self.clear()

    def __len__(self) -> int:
        """How many there are."""
        return self._count - self._dropped

    def clear(self) -> None:
        """Forget all."""
        self._count = self._dropped = 0
        self._table: _Table | None = None
        self.last = 0
        """The highest number."""

    def add(self, rows: Sequence[tuple[int, bytes]]) -> None:
        """Take in (number, signs) beyond `last`, in order."""
        import numpy as np

        if not rows:
            return
        words = np.frombuffer(b"".join(bits for _, bits in rows), np.uint64).reshape(len(rows), -1)
        end = self._count + len(rows)
        table = self._table = self._with_room(end, width=words.shape[1])
        table.numbers[self._count : end] = [number for number, _ in rows]
        table.words[:, self._count : end] = words.T
        self._count = end
        self.last = rows[-1][0]

    def drop(self, numbers: Iterable[int]) -> None:
        """Leave these out from now on; unknown ones are none of its business."""
        import numpy as np

        if self._table is None or not self._count:
            return
        known = self._table.numbers[: self._count]
        wanted = np.fromiter(numbers, np.int64)
        places = np.minimum(np.searchsorted(known, wanted), self._count - 1)
        gone = self._table.gone
        gone[places[known[places] == wanted]] = True
        self._dropped = int(np.count_nonzero(gone[: self._count]))
        if self._dropped > max(len(self), FIRST_CAPACITY):
            self._compact(self._table)

    def nearest(self, vector: "NDArray[np.float32]", limit: int) -> list[int]:
        """The numbers of those that differ in the fewest signs, in no order."""
        import numpy as np

        if self._table is None or not len(self):
            return []
        asked = np.frombuffer(to_bits(vector), np.uint64)
        apart = np.zeros(self._count, np.uint16)
        for row, word in zip(self._table.words, asked, strict=True):
            apart += np.bitwise_count(row[: self._count] ^ word)
        apart[self._table.gone[: self._count]] = FAR
        places = np.argpartition(apart, min(limit, self._count) - 1)[:limit]
        found: list[int] = self._table.numbers[places[apart[places] != FAR]].tolist()
        return found

    def _compact(self, table: _Table) -> None:
        """Leave the dropped ones' rows out, so that they cost nothing."""
        import numpy as np

        stay = np.flatnonzero(~table.gone[: self._count])
        self._table = _Table(
            table.numbers[stay], np.zeros(len(stay), np.bool_), table.words[:, stay]
        )
        self._count, self._dropped = len(stay), 0

    def _with_room(self, count: int, width: int) -> _Table:
        import numpy as np

        if self._table is None:
            room = max(FIRST_CAPACITY, count)
            words = np.zeros((width, room), np.uint64)
            return _Table(np.zeros(room, np.int64), np.zeros(room, np.bool_), words)
        room = len(self._table.numbers)
        return self._table if count <= room else self._table.grown(max(count, 2 * room) - room)
