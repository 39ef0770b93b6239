"""The check that vectors of different models are never compared or mixed."""

from kindly.errors import ModelMismatch
from kindly.read.store import EmbeddingModel


def ensure_same_model(stored: EmbeddingModel | None, given: EmbeddingModel) -> None:
    """Check that new vectors have the name and the dimension of the stored ones, if there are any.

    Raises:
        ModelMismatch: they do not; the text names the command that rebuilds.
    """
    if stored is not None and stored != given:
        raise ModelMismatch(
            f"The library's vectors were made by {stored.name} ({stored.dimension} dimensions), not by {given.name} "
            f"({given.dimension}). Run `kindly library rebuild` to replace them, or configure the former model again."
        )
