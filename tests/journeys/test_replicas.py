"""Two servers over HTTP on one PostgreSQL: they share what they read, and do no work twice."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream
from mcp import Client

from tests.support.postgres import postgres as postgres
from tests.support.postgres import schema
from tests.support.processes import http_server
from tests.support.served_world import EMBEDDINGS, GUIDE, QUESTION, embedder, environment, text_of
from tests.support.site import Answer, Site, SiteRequest, html

pytestmark = pytest.mark.anyio


@pytest.fixture
def replicas(site: Site, tmp_path: Path, postgres: str) -> Iterator[tuple[str, str]]:
    """The addresses of two servers with folders of their own and one library."""
    shared = {
        "KINDLY_STORE": schema(postgres),
        "KINDLY_BROWSER": "off",
        "EMBEDDING_SERVER_URL": site.url("/embedder"),
        "EMBEDDING_MODEL_NAME": "tiny-embedder",
    }
    first = environment(site, tmp_path / "first", **shared)
    second = environment(site, tmp_path / "second", **shared)
    with http_server(first) as one, http_server(second) as other:
        yield one, other


async def ask(address: str, tool: str, **arguments: object) -> dict[str, Any]:
    async with Client(address) as client:
        result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    assert result.structured_content is not None
    return dict(result.structured_content)


async def test_what_one_reads_the_other_recalls(site: Site, replicas: tuple[str, str]) -> None:
    site.add(EMBEDDINGS, embedder)
    url = site.add("/guide", html(f"<title>Guide</title>{GUIDE}"))
    with anyio.fail_after(120):
        await ask(replicas[0], "read_page", url=url, question=QUESTION)
        found = await ask(replicas[1], "recall", question=QUESTION)
        again = await ask(replicas[1], "read_page", url=url, question=QUESTION)
    assert "4096 widgets" in json.dumps(found)
    assert again["how"] == "library"
    assert site.count("/guide") == 1


async def test_a_page_that_both_are_asked_for_at_once_is_fetched_and_embedded_once(
    site: Site, replicas: tuple[str, str]
) -> None:
    pieces: list[str] = []
    answers: list[dict[str, Any]] = []

    async def embeds(request: SiteRequest, stream: SocketStream) -> Answer:
        texts = json.loads(request.body)["input"]
        pieces.extend(text for text in texts if "widgets in one batch." in text)
        return await embedder(request, stream)

    async def read(address: str) -> None:
        answers.append(await ask(address, "read_page", url=url, question=QUESTION))

    site.add(EMBEDDINGS, embeds)
    url = site.add("/guide", html(GUIDE))
    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            for address in replicas:
                tasks.start_soon(read, address)
    assert [answer["findings"][0]["answered"] for answer in answers] == [True, True]
    assert sorted(answer["how"] for answer in answers) == ["http", "library"]
    assert site.count("/guide") == 1
    assert len(pieces) == 1
