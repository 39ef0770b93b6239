"""What every embedder of the catalogue promises, local or remote."""

import json

import httpx2
import numpy as np
import pytest

from kindly.read.embedder import EmbedderSettings
from kindly.read.embedders import EMBEDDERS
from kindly.read.specs import EmbedderSpec

pytestmark = pytest.mark.anyio

TEXTS = [
    "Bees see ultraviolet light.",
    "Tea is steeped at eighty degrees.",
    "Bees see ultraviolet light.",
]
each_embedder = pytest.mark.parametrize("spec", EMBEDDERS, ids=lambda spec: spec.name)


def embedding_server(request: httpx2.Request) -> httpx2.Response:
    """Vectors that count letters, as OpenAI's API returns them."""
    texts = json.loads(request.content)["input"]
    rows = [[text.lower().count(letter) + 0.1 for letter in "abcdefgh"] for text in texts]
    data = [{"index": number, "embedding": row} for number, row in enumerate(rows)]
    return httpx2.Response(200, json={"data": data})


def settings_for(spec: EmbedderSpec) -> EmbedderSettings:
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(embedding_server))
    values = {option.name: option.default for option in spec.options}
    if spec.options:
        values[spec.options[0].name] = "https://vectors.example"
    return EmbedderSettings(values, client if spec.is_remote else None)


@each_embedder
async def test_an_embedder_gives_one_vector_of_length_one_for_each_text(spec: EmbedderSpec) -> None:
    vectors = await spec.open(settings_for(spec)).embed(TEXTS)
    assert len(vectors) == 3
    assert vectors.dtype == np.dtype(np.float32)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.array_equal(vectors[0], vectors[2])
    assert not np.array_equal(vectors[0], vectors[1])


@each_embedder
def test_the_model_is_known_without_opening_it(spec: EmbedderSpec) -> None:
    settings = settings_for(spec)
    assert spec.model(settings) == spec.open(settings).name


@each_embedder
def test_an_embedder_says_what_it_is_and_what_to_do_if_it_fails(spec: EmbedderSpec) -> None:
    assert spec.label
    assert spec.fix
    assert spec.is_remote <= bool(spec.options)
