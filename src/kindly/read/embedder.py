"""What turns texts into vectors: the protocol that the local model and an embedding server share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Texts → rows of length one, in their order."""

    @property
    def name(self) -> str:
        """Which model; vectors of another name never meet."""
        ...

    async def embed(self, texts: Sequence[str]) -> "Vectors":
        """One row per text.

        Raises:
            EmbeddingsDown: there are none to be had now.
        """
        ...
