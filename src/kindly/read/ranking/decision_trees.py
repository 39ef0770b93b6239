"""Decision trees as arrays over nodes: rows → the sum of the leaves that each row falls into."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Trees:
    """Trees one after the other. A right child follows its left sibling; a leaf is its own left child."""

    roots: "NDArray[np.integer[Any]]"
    columns: "NDArray[np.integer[Any]]"
    """The column that a node compares."""
    thresholds: "Floats"
    """A row goes right if its value is above; infinite for leaves."""
    lefts: "NDArray[np.integer[Any]]"
    values: "Floats"
    """Of leaves."""
    depth: int

    @classmethod
    def of(cls, held: "Mapping[str, NDArray[Any]]") -> "Trees":
        """The trees of a file's arrays."""
        return cls(
            roots=held["roots"].astype(np.intp),
            columns=held["columns"].astype(np.intp),
            thresholds=held["thresholds"],
            lefts=held["lefts"].astype(np.intp),
            values=held["values"],
            depth=int(held["depth"]),
        )

    def sums(self, rows: "Floats") -> "Floats":
        """Of each row."""
        nodes = np.repeat(self.roots.astype(np.intp)[None], len(rows), axis=0)
        base = (np.arange(len(rows)) * rows.shape[1])[:, None]
        flat = np.ascontiguousarray(rows).ravel()
        for _ in range(self.depth):
            nodes = self.lefts[nodes] + (flat[base + self.columns[nodes]] > self.thresholds[nodes])
        return np.asarray(self.values[nodes].sum(axis=1, dtype=np.float64))
