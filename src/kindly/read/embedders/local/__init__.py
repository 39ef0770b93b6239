"""The static model that comes with the install. The default embedder; it never uses the network."""

from typing import TYPE_CHECKING

from kindly.read.specs import EmbedderSpec

if TYPE_CHECKING:
    from kindly.read.embedder import Embedder, EmbedderSettings


def _open(_: "EmbedderSettings") -> "Embedder":
    from kindly.read.embedders.local.embedder import LocalEmbedder

    return LocalEmbedder()


def _model(_: "EmbedderSettings") -> str:
    from kindly.read.ranking import static_model

    return static_model.NAME


SPEC = EmbedderSpec(
    name="local",
    label="the local model",
    open=_open,
    model=_model,
    cosine_threshold=0.25,
    fix="Reinstall Kindly. Until then passages are ranked by words only.",
)
