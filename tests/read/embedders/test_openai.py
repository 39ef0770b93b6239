import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx2
import numpy as np
import pytest
from anyio.abc import SocketStream
from pydantic import SecretStr

from kindly.clock import Clock
from kindly.errors import EmbeddingsDown
from kindly.net.api_client import build_client
from kindly.read.embedders.openai.embedder import OpenAiEmbedder, Server, endpoint
from tests.support.site import Answer, Site, SiteRequest, running_site

pytestmark = pytest.mark.anyio

JSON = {"Content-Type": "application/json"}
KEY = "canary-embedding-key-1234"


@dataclass
class World:
    """An embedding server on loopback, and an embedder that asks it."""

    site: Site
    client: httpx2.AsyncClient
    batches: list[list[str]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    naps: list[float] = field(default_factory=list)
    busy: int = 0
    most_busy: int = 0

    def embedder(self) -> OpenAiEmbedder:
        server = Server(self.site.url(""), "tiny", SecretStr(KEY), timeout_s=5)
        return OpenAiEmbedder(self.client, server, clock=Clock(sleep=self.nap, random=lambda: 0.5))

    async def nap(self, seconds: float) -> None:
        self.naps.append(seconds)

    async def answer(self, request: SiteRequest, _: SocketStream) -> Answer:
        self.busy += 1
        self.most_busy = max(self.busy, self.most_busy)
        await anyio.lowlevel.checkpoint()
        asked = json.loads(request.body)
        assert asked["model"] == "tiny"
        self.batches.append(asked["input"])
        self.keys.append(request.headers.get("authorization", ""))
        data = [
            {"index": index, "embedding": [float(len(text)), 1.0]}
            for index, text in enumerate(asked["input"])
        ]
        self.busy -= 1
        return Answer(json.dumps({"data": data[::-1]}).encode(), headers=JSON)

    def always(self, *answers: Answer) -> None:
        left = list(answers)

        async def scripted(request: SiteRequest, stream: SocketStream) -> Answer:
            return left.pop(0) if left else await self.answer(request, stream)

        self.site.add("/v1/embeddings", scripted)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with running_site() as site, build_client(timeout_s=5, user_agent="test") as client:
        world = World(site, client)
        site.add("/v1/embeddings", world.answer)
        yield world


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("http://h:1", "http://h:1/v1/embeddings"),
        ("http://h:1/", "http://h:1/v1/embeddings"),
        ("http://h/v1", "http://h/v1/embeddings"),
        ("http://h/api/embeddings", "http://h/api/embeddings"),
    ],
)
def test_server_is_found_with_or_without_its_path(address: str, expected: str) -> None:
    assert endpoint(address) == expected


async def test_rows_come_in_the_order_of_the_texts_and_have_length_one(world: World) -> None:
    rows = await world.embedder().embed(["a", "bbb"])
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert rows[0][0] < rows[1][0]
    assert world.keys == [f"Bearer {KEY}"]


async def test_long_lists_go_in_batches_and_only_some_at_once(world: World) -> None:
    texts = [f"text {number}" for number in range(100)]
    rows = await world.embedder().embed(texts)
    assert rows.shape == (100, 2)
    assert sorted(len(batch) for batch in world.batches) == [4, 32, 32, 32]
    assert world.most_busy <= 2


async def test_server_error_is_tried_once_more_after_a_pause(world: World) -> None:
    world.always(Answer(status=503))
    assert (await world.embedder().embed(["a"])).shape == (1, 2)
    assert world.naps == [pytest.approx(0.5)]


async def test_second_server_error_ends_it(world: World) -> None:
    world.always(Answer(status=503), Answer(status=500))
    with pytest.raises(EmbeddingsDown, match="HTTP 500") as caught:
        await world.embedder().embed(["a"])
    assert caught.value.retry_after_s is None


REFUSALS: dict[str, tuple[Answer, str]] = {
    "rate limit": (Answer(status=429, headers={"Retry-After": "7"}), "rate limit"),
    "wrong key": (Answer(status=401), "EMBEDDING_SERVER_API_KEY"),
    "unknown model": (Answer(status=404), "EMBEDDING_MODEL_NAME"),
    "redirect": (Answer(status=302, headers={"Location": "http://x/"}), "rejected the request"),
    "not JSON": (Answer(b"<html>"), "not a list"),
    "no data": (Answer(b"{}"), "not a list"),
    "too few": (Answer(b'{"data": []}'), "not a list"),
    "words for numbers": (Answer(b'{"data": [{"index": 0, "embedding": ["a"]}]}'), "not a list"),
    "no number": (Answer(b'{"data": [{"index": 0, "embedding": [NaN]}]}'), "not finite"),
    "beyond all": (Answer(b'{"data": [{"index": 0, "embedding": [1e300]}]}'), "not finite"),
    "too long": (
        Answer(b'{"data": [{"index": 0, "embedding": [1%b]}]}' % (b"0" * 400)),
        "not a list",
    ),
    "empty vector": (Answer(b'{"data": [{"index": 0, "embedding": []}]}'), "not a list"),
}


@pytest.mark.parametrize("case", REFUSALS.values(), ids=REFUSALS)
async def test_refusal_is_reported_without_retry_and_without_secrets(
    world: World, case: tuple[Answer, str]
) -> None:
    answer, words = case
    world.always(answer)
    with pytest.raises(EmbeddingsDown, match=words) as caught:
        await world.embedder().embed(["page text"])
    assert world.naps == []
    shown = f"{caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}"
    assert KEY not in shown
    assert "page text" not in shown


async def test_wait_that_the_server_names_is_passed_on(world: World) -> None:
    world.always(Answer(status=429, headers={"Retry-After": "7"}))
    with pytest.raises(EmbeddingsDown) as caught:
        await world.embedder().embed(["a"])
    assert caught.value.retry_after_s == 7


async def test_vectors_of_different_lengths_are_refused(world: World) -> None:
    data: list[dict[str, Any]] = [
        {"index": 0, "embedding": [1.0]},
        {"index": 1, "embedding": [1.0, 2.0]},
    ]
    world.always(Answer(json.dumps({"data": data}).encode()))
    with pytest.raises(EmbeddingsDown, match="different dimensions"):
        await world.embedder().embed(["a", "b"])


async def test_unreachable_server_is_reported(world: World) -> None:
    server = Server("http://127.0.0.1:9", "tiny", timeout_s=1)
    with pytest.raises(EmbeddingsDown, match="could not be reached"):
        await OpenAiEmbedder(world.client, server).embed(["a"])


async def test_server_that_timed_out_is_not_called_during_the_cool_down(world: World) -> None:
    asked: list[SiteRequest] = []

    async def drip(request: SiteRequest, stream: SocketStream) -> None:
        asked.append(request)
        await stream.send(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            await stream.send(b" ")
            await anyio.sleep(0.01)

    world.site.add("/v1/embeddings", drip)
    embedder = OpenAiEmbedder(world.client, Server(world.site.url(), "tiny", timeout_s=0.2))
    with anyio.fail_after(120):
        for words in ("timed out", "a moment ago"):
            with pytest.raises(EmbeddingsDown, match=words):
                await embedder.embed(["a"])
    assert len(asked) <= 1


async def test_nothing_to_embed_sends_no_request(world: World) -> None:
    assert (await world.embedder().embed([])).shape[0] == 0
    assert world.batches == []
