"""An embedding server with OpenAI's API (`POST /v1/embeddings`)."""

from typing import TYPE_CHECKING

from kindly.needs import Need
from kindly.read.specs import EmbedderSpec

if TYPE_CHECKING:
    from kindly.read.embedder import Embedder, EmbedderSettings

URL = Need(
    "EMBEDDING_SERVER_URL",
    "addresses",
    "An OpenAI-compatible embedding server; unset, the model that comes with the install.",
)
KEY = "EMBEDDING_SERVER_API_KEY"


def _open(settings: "EmbedderSettings") -> "Embedder":
    from kindly.read.embedders.openai.embedder import OpenAiEmbedder, Server

    assert settings.client is not None  # noqa: S101 - every remote embedder gets one
    server = Server(
        settings.values[URL.name].get_secret_value(),
        settings.model,
        settings.values.get(KEY),
        batches=settings.max_batches,
        timeout_s=settings.timeout_s,
    )
    return OpenAiEmbedder(settings.client, server, slots=settings.slots)


SPEC = EmbedderSpec(
    name="openai",
    label="the embedding server",
    open=_open,
    model=lambda settings: settings.model,
    fix=f"Check {URL.name}, EMBEDDING_MODEL_NAME and {KEY}.",
    setting=URL,
    is_remote=True,
)
