"""A whole Kindly for a journey: real settings, real engine, a real MCP client in this process, a web on loopback."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
from anyio.abc import SocketStream
from mcp import Client
from mcp_types import CallToolResult, TextContent

from kindly.app import open_app
from kindly.extract.workers.worker_pool import WorkerPool
from kindly.server.mcp import build_server
from kindly.server.profiles import profile_for
from kindly.settings import Settings
from tests.support.site import Answer, Site, SiteRequest

SERPER_KEY = "canary-serper-7d1f0a"
TAVILY_KEY = "canary-tavily-93be2c"
GITHUB_TOKEN = "canary-github-41aa6e"
BOTH = {"SERPER_API_KEY": SERPER_KEY, "TAVILY_API_KEY": TAVILY_KEY, "GITHUB_TOKEN": GITHUB_TOKEN}
CANARIES = tuple(BOTH.values())
OWN_PARSERS = frozenset({"KINDLY_WORKERS"})
"""Settings that only a server with its own parsers obeys."""
EMBEDDINGS = "/embedder/v1/embeddings"


def _filler(part: int) -> str:
    lines = (f"Line {n} tells of the weather in a small town by the sea." for n in range(60))
    return f"<p>Part {part}. {' '.join(lines)}</p>"


GUIDE = (
    "<h1>The frobnicator guide</h1>"
    f"<h2>History</h2>{_filler(1)}{_filler(2)}"
    "<h2>Limits</h2><p>The frobnicator accepts at most 4096 widgets in one batch.</p>"
    f"<h2>Appendix</h2>{_filler(3)}{_filler(4)}"
)
QUESTION = "How many widgets does the frobnicator accept in one batch?"


def environment(site: Site, folder: Path, **more: str) -> dict[str, str]:
    """Settings that point every vendor and every page at the site."""
    return {
        "SERPER_BASE_URL": site.url("/serper"),
        "TAVILY_BASE_URL": site.url("/tavily"),
        "KINDLY_ALLOW_PRIVATE": site.host,
        "DATA_DIR": str(folder),
        **more,
    }


def serper(urls: Sequence[str], **more: str) -> Answer:
    """Serper's answer with these links."""
    organic = [
        {"title": f"Result {n}", "link": url, "snippet": f"Snippet {n}.", "position": n, **more}
        for n, url in enumerate(urls, start=1)
    ]
    return as_json({"searchParameters": {"q": "bees", "type": "search"}, "organic": organic})


def tavily(urls: Sequence[str]) -> Answer:
    """Tavily's answer with these links."""
    results = [
        {"title": f"Result {n}", "url": url, "content": f"Snippet {n}.", "score": 0.9}
        for n, url in enumerate(urls, start=1)
    ]
    return as_json({"query": "bees", "results": results, "response_time": 0.1})


def as_json(body: object, status: int = 200) -> Answer:
    """A JSON answer."""
    return Answer(json.dumps(body).encode(), status, {"Content-Type": "application/json"})


async def embedder(request: SiteRequest, stream: SocketStream) -> Answer:
    """An embedding server whose vectors count letters."""
    texts = json.loads(request.body)["input"]
    rows = [[text.lower().count(letter) + 0.1 for letter in "abcdefgh"] for text in texts]
    return as_json({"data": [{"index": n, "embedding": row} for n, row in enumerate(rows)]})


@dataclass(frozen=True)
class Caller:
    """A client that checks each result against the tool's own schema."""

    client: Client
    schemas: dict[str, dict[str, Any]]

    async def __call__(self, tool: str, **arguments: object) -> CallToolResult:
        result = await self.client.call_tool(tool, arguments)
        if result.structured_content is not None:
            jsonschema.validate(result.structured_content, self.schemas[tool])
        return result

    async def search(self, query: str = "bees", **arguments: object) -> list[dict[str, Any]]:
        """The results of a search that must not fail."""
        result = await self("web_search", query=query, **arguments)
        assert not result.is_error, text_of(result)
        assert result.structured_content is not None
        results: list[dict[str, Any]] = result.structured_content["results"]
        return results

    async def page(self, url: str, **arguments: object) -> dict[str, Any]:
        """A page that must be readable."""
        result = await self("get_content", url=url, **arguments)
        assert not result.is_error, text_of(result)
        page: dict[str, Any] | None = result.structured_content
        assert page is not None
        return page


def text_of(result: CallToolResult) -> str:
    """What a model would read."""
    (text,) = (block.text for block in result.content if isinstance(block, TextContent))
    return text


_shared: list[WorkerPool] = []


@asynccontextmanager
async def shared_parsers() -> AsyncIterator[None]:
    """Parsers for every server of this block, except those whose settings ask for their own."""
    async with WorkerPool(environ=Settings.load({}).child_environ) as pool:
        _shared.append(pool)
        yield
        _shared.remove(pool)


@asynccontextmanager
async def calling(environ: dict[str, str], mode: str = "auto") -> AsyncIterator[Caller]:
    """A client of a server with these settings and nothing else from the environment."""
    settings = Settings.load(environ)
    extractor = None if OWN_PARSERS & set(environ) else next(iter(_shared), None)
    server = build_server(
        lambda: open_app(settings, leaves_pages=True, extractor=extractor),
        profile_for(settings),
        plain_names=settings.plain_names,
    )
    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
        schemas = {tool.name: dict(tool.output_schema or {}) for tool in tools}
        yield Caller(client, schemas)
