"""Vectors from an OpenAI-compatible server: `POST /v1/embeddings`, in batches, with a limit of concurrent batches.

One retry on 5xx, none on 429. The caller passes the client in and decides which hosts it may reach. No error contains
the key, a text or the server's response.
"""

import json
from collections.abc import Sequence
from contextlib import aclosing, nullcontext
from typing import TYPE_CHECKING, Any

import anyio

from kindly.clock import SYSTEM_CLOCK, Clock
from kindly.concurrency.cooldown import Cooldown
from kindly.errors import EmbeddingsDown
from kindly.frozen import frozen
from kindly.net.rate_limit_headers import retry_after_s
from kindly.read.embedder import log_batch
from kindly.redact import Secret

if TYPE_CHECKING:
    import httpx2
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

BATCH = 32
MAX_RESPONSE_BYTES = 64_000_000
"""More than 32 vectors of 8,192 dimensions as JSON."""
RETRY_S = (0.2, 0.8)
COOLDOWN_S = 30.0
"""How long a server that timed out is not called again."""


def endpoint(address: str) -> str:
    """The endpoint, given a server's address with or without the path."""
    base = address.rstrip("/")
    if base.endswith("/embeddings"):
        return base
    return f"{base}/embeddings" if base.endswith("/v1") else f"{base}/v1/embeddings"


@frozen
class Server:
    """A server's address, model and key, and the limit of concurrent batches."""

    url: str
    model: str
    key: Secret | None = None
    batches: int = 2
    timeout_s: float = 20.0


@frozen
class _Failure:
    """A failed request: the error, and whether the request is sent once more."""

    error: EmbeddingsDown
    retry: bool = False


class OpenAiEmbedder:
    """An `Embedder` that calls an OpenAI-compatible server."""

    def __init__(
        self,
        client: "httpx2.AsyncClient",
        server: Server,
        *,
        slots: anyio.Semaphore | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._client = client
        self._server = server
        self._batches = anyio.Semaphore(server.batches)
        self._slots = slots
        self._clock = clock
        self._cooldown = Cooldown(clock.monotonic)

    @property
    def name(self) -> str:
        """The server's name for the model."""
        return self._server.model

    async def embed(self, texts: Sequence[str]) -> "Vectors":
        """One row per text, of length one.

        Raises:
            EmbeddingsDown: the server cannot be reached, refuses, or sends an unexpected response.
        """
        import numpy as np

        if self._cooldown.is_active:
            raise self._down("it timed out a moment ago")
        batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        answers: list[Any] = [None] * len(batches)
        failures: list[EmbeddingsDown] = []

        async def fill(index: int) -> None:
            async with self._batches, self._slots or nullcontext():
                if failures:
                    return
                try:
                    answers[index] = await self._batch(batches[index])
                except EmbeddingsDown as error:
                    failures.append(error)

        async with anyio.create_task_group() as tasks:
            for index in range(len(batches)):
                tasks.start_soon(fill, index)
        if failures:
            raise failures[0]
        rows = [row for answer in answers for row in answer]
        widths = {len(row) for row in rows}
        if len(widths) > 1:
            raise self._down("its vectors have different dimensions")
        width = max(widths, default=0)
        with np.errstate(over="ignore"):
            vectors = np.asarray(rows, dtype=np.float32).reshape(len(texts), width)
        if not np.isfinite(vectors).all():
            raise self._down("its vectors contain values that are not finite")
        return _normalised(vectors)

    async def _batch(self, texts: Sequence[str]) -> list[list[float]]:
        began = anyio.current_time()
        try:
            rows = await self._rows_of(texts)
        except EmbeddingsDown:
            log_batch(self.name, texts, began, failed=True)
            raise
        log_batch(self.name, texts, began)
        return rows

    async def _rows_of(self, texts: Sequence[str]) -> list[list[float]]:
        answer = await self._post(texts)
        if isinstance(answer, _Failure) and answer.retry:
            low, high = RETRY_S
            await self._clock.sleep(low + (high - low) * self._clock.random())
            answer = await self._post(texts)
        if isinstance(answer, _Failure):
            raise answer.error
        return self._rows(answer, len(texts))

    async def _post(self, texts: Sequence[str]) -> bytes | _Failure:
        """The response's bytes, or the failure. It is returned, not raised, because httpx's exception holds the key."""
        import httpx2

        key = self._server.key
        headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
        body = {"model": self._server.model, "input": list(texts), "encoding_format": "float"}
        try:
            request = self._client.build_request(
                "POST",
                endpoint(self._server.url),
                json=body,
                headers=headers,
                timeout=self._server.timeout_s,
            )
            with anyio.fail_after(self._server.timeout_s):
                response = await self._client.send(request, stream=True, follow_redirects=False)
                async with aclosing(response):
                    if refusal := self._refusal(response):
                        return refusal
                    return await self._read(response)
        except (httpx2.TimeoutException, TimeoutError):
            self._cooldown.start(COOLDOWN_S)
            return _Failure(self._down("it timed out"))
        except httpx2.RequestError as error:
            return _Failure(self._down(f"it could not be reached ({type(error).__name__})"))

    async def _read(self, response: "httpx2.Response") -> bytes | _Failure:
        body = bytearray()
        async with aclosing(response.aiter_bytes()) as pieces:
            async for piece in pieces:
                body += piece
                if len(body) > MAX_RESPONSE_BYTES:
                    return _Failure(self._down("its response is too large"))
        return bytes(body)

    def _refusal(self, response: "httpx2.Response") -> _Failure | None:
        status = response.status_code
        if status < 300:
            return None
        wait_s = retry_after_s(response.headers.get("Retry-After"), self._clock.now())
        if status >= 500:
            return _Failure(self._down(f"it has an internal error (HTTP {status})"), retry=True)
        if status == 429:
            return _Failure(self._down("its rate limit is reached (HTTP 429)", wait_s=wait_s))
        if status in {401, 403}:
            return _Failure(self._down(f"it rejected EMBEDDING_SERVER_API_KEY (HTTP {status})"))
        return _Failure(
            self._down(
                f"it rejected the request (HTTP {status}): "
                "check EMBEDDING_SERVER_URL and EMBEDDING_MODEL_NAME"
            )
        )

    def _rows(self, answer: bytes, count: int) -> list[list[float]]:
        """The vectors, in the order of the texts."""
        try:
            data = json.loads(answer)["data"]
            ordered = sorted(data, key=lambda item: int(item["index"]))
            rows = [[float(number) for number in item["embedding"]] for item in ordered]
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            rows = []
        if len(rows) != count or not all(rows):
            raise self._down("its response is not a list of embeddings")
        return rows

    def _down(self, reason: str, *, wait_s: float | None = None) -> EmbeddingsDown:
        return EmbeddingsDown(
            f"The embedding server returned no vectors: {reason}.", retry_after_s=wait_s or None
        )


def _normalised(rows: "Vectors") -> "Vectors":
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)
