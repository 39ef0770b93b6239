"""An embedding server with OpenAI's API (`POST /v1/embeddings`)."""

from typing import TYPE_CHECKING

from kindly.plugin_settings import Option
from kindly.read.specs import EmbedderSpec

if TYPE_CHECKING:
    from kindly.read.embedder import Embedder, EmbedderSettings
    from kindly.redact import Secret

URL: Option[str | None] = Option(
    "EMBEDDING_SERVER_URL",
    "address",
    "An OpenAI-compatible embedding server; unset, the model that comes with the install.",
    default=None,
)
KEY: "Option[Secret | None]" = Option(
    "EMBEDDING_SERVER_API_KEY",
    "secret",
    "The key of the embedding server, sent as a bearer token.",
    default=None,
)
MODEL = Option(
    "EMBEDDING_MODEL_NAME",
    "text",
    "The model of the embedding server.",
    default="text-embedding-3-small",
    low=1,
    high=200,
)


def _open(settings: "EmbedderSettings") -> "Embedder":
    from kindly.read.embedders.openai.embedder import OpenAiEmbedder, Server

    assert settings.client is not None  # noqa: S101 - every remote embedder gets one
    server = Server(
        URL.of(settings.options) or "",
        MODEL.of(settings.options),
        KEY.of(settings.options),
        batches=settings.max_batches,
        timeout_s=settings.timeout_s,
    )
    return OpenAiEmbedder(settings.client, server, slots=settings.slots)


SPEC = EmbedderSpec(
    name="openai",
    label="the embedding server",
    open=_open,
    model=lambda settings: MODEL.of(settings.options),
    fix=f"Check {URL.name}, {MODEL.name} and {KEY.name}.",
    options=(URL, KEY, MODEL),
    is_remote=True,
)
