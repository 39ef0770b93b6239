"""Vectors from the static model that comes with the install, computed in a thread; it never uses the network."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from kindly.read.embedder import log_batch
from kindly.read.ranking import static_model

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class LocalEmbedder:
    """The static model, loaded with the first text."""

    name = static_model.NAME

    async def embed(self, texts: Sequence[str]) -> "Vectors":
        """One row per text, of length one.

        Raises:
            EmbeddingsDown: the package of the model is incomplete.
        """
        began = anyio.current_time()
        vectors = await anyio.to_thread.run_sync(lambda: static_model.load().embed(texts))
        log_batch(self.name, texts, began)
        return vectors
