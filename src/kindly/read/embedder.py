"""The protocol of embedders (text → vectors), which the local model and an embedding server share."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol

from kindly.budget import elapsed_ms
from kindly.errors import EmbeddingsDown
from kindly.frozen import frozen

if TYPE_CHECKING:
    import anyio
    import httpx2
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

logger = logging.getLogger(__name__)

NO_VECTORS = "Ranked by words alone, because there are no embeddings now: {why}"


class Embedder(Protocol):
    """Texts → vectors of length one, in the order of the texts."""

    @property
    def name(self) -> str:
        """The model; vectors of different models are never compared."""
        ...

    async def embed(self, texts: Sequence[str]) -> "Vectors":
        """One row per text.

        Raises:
            EmbeddingsDown: the embedder is not available.
        """
        ...


@frozen
class EmbedderSettings:
    """What an embedder needs to open."""

    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The values of all options, by the name of their variable."""
    client: "httpx2.AsyncClient | None" = None
    """The API client, for remote embedders."""
    max_batches: int = 4
    """Concurrent requests."""
    timeout_s: float = 20.0
    slots: "anyio.Semaphore | None" = None
    """The limit that all downloads share."""


async def embed_or_note(
    embedder: Embedder, texts: Sequence[str]
) -> "tuple[Sequence[Vectors] | None, str]":
    """One vector per text; None and a note with the reason if no vectors are available."""
    if not texts:
        return (), ""
    try:
        return list(await embedder.embed(texts)), ""
    except EmbeddingsDown as error:
        return None, NO_VECTORS.format(why=error.detail)


def log_batch(model: str, texts: Sequence[str], began: float, *, failed: bool = False) -> None:
    """Log one batch that began at a time of the event loop's clock: at level debug, and never its texts."""
    facts = {"count": len(texts), "model": model, "took_ms": elapsed_ms(began)}
    logger.debug("embedding batch", extra=facts | {"outcome": "failed" if failed else "ok"})
