"""The web console: call the tools and see what a model gets, browse the library and its collections, monitor the
server.

The page itself is public and contains no data; its data comes from `/console/api`, which has the same access control as
the tools.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import anyio
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

import kindly
from kindly.app import App
from kindly.budget import count_tokens
from kindly.clock import SYSTEM_CLOCK
from kindly.errors import StoreUnavailable
from kindly.frozen import frozen
from kindly.models import StoredPageInfo
from kindly.read.store import Store, StoredPage
from kindly.search.provider_stats import ProviderStatus
from kindly.server.ops.console_api import NO_STORE, Refusal, endpoint, json_body, running_app
from kindly.server.ops.console_collections import ConsoleCollections
from kindly.server.ops.health import LibrarySize
from kindly.server.ops.process_stats import this_process
from kindly.server.render.formatting import compact
from kindly.server.run_call import run_call
from kindly.server.server_state import ServerState
from kindly.stages import ignore_progress
from kindly.telemetry.call_stats import INTERVAL_S, INTERVALS

PATH = "/console"
API = f"{PATH}/api"
PAGES_AT_ONCE = 100
INLINE = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)


def routes(server: ServerState, library: LibrarySize) -> list[Route]:
    """The page, and the API that it calls."""
    console, collections = Console(server, library), ConsoleCollections(server)
    return [
        Route(PATH, page),
        Route(f"{API}/tools", endpoint(console.tools)),
        Route(f"{API}/call", endpoint(console.call), methods=["POST"]),
        Route(f"{API}/library", endpoint(console.pages)),
        Route(f"{API}/page", endpoint(console.page)),
        Route(f"{API}/state", endpoint(console.state)),
        Route(f"{API}/collections", endpoint(collections.listed)),
        Route(f"{API}/ask", endpoint(collections.ask), methods=["POST"]),
        Route(f"{API}/changes", endpoint(collections.changes)),
    ]


async def page(_: Request) -> Response:
    """The page, with a Content-Security-Policy: only its own inline code runs, and it connects only to its origin."""
    html, policy = _page()
    headers = {
        "Content-Security-Policy": policy,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    return HTMLResponse(html, headers=headers | NO_STORE)


@cache
def _page() -> tuple[str, str]:
    html = files("kindly.server.ops").joinpath("console.html").read_text(encoding="utf-8")
    return html, content_policy(html)


def content_policy(html: str) -> str:
    """The Content-Security-Policy that allows exactly the inline scripts and styles of a page (CSP 3, 8.4)."""
    allowed: dict[str, list[str]] = {"script": [], "style": []}
    for kind, text in INLINE.findall(html):
        digest = b64encode(sha256(text.encode()).digest()).decode()
        allowed[kind].append(f"'sha256-{digest}'")
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(allowed['script'])}",
            f"style-src {' '.join(allowed['style'])}",
            "connect-src 'self'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        )
    )


@frozen
class Console:
    """The console API."""

    server: ServerState
    library: LibrarySize

    async def tools(self, _: Request) -> dict[str, Any]:
        return {
            "version": kindly.__version__,
            "profile": self.server.profile,
            "tools": [
                {
                    "name": name,
                    "title": tool.title,
                    "description": tool.description,
                    "input_schema": tool.arguments.schema_for_clients(),
                }
                for name, tool in self.server.tools.items()
            ],
        }

    async def call(self, request: Request) -> dict[str, Any]:
        """The output of a call as a model gets it, and its size."""
        app = self._app()
        name, arguments = await _tool_call(request)
        tool = self.server.tools.get(name)
        if tool is None:
            raise Refusal(f"There is no tool {app.redactor.text(name)[:60]!r}.", 404)
        began = anyio.current_time()
        output = await run_call(tool, arguments, app, ignore_progress)
        data = compact(output.structured) if output.structured else ""
        return {
            "failed": output.failed,
            "text": output.text,
            "structured": output.structured or None,
            "text_tokens": count_tokens(output.text),
            "structured_tokens": count_tokens(data),
            "took_ms": round((anyio.current_time() - began) * 1000),
        }

    async def pages(self, request: Request) -> dict[str, Any]:
        """Pages of the library, the most recent first."""
        offset = _number(request.query_params.get("offset", "0"))
        store = await self._store()
        entries = await store.entries(limit=PAGES_AT_ONCE + 1, offset=offset)
        shown = [_entry(entry) for entry in entries[:PAGES_AT_ONCE]]
        return {
            "pages": self._app().redactor.value(shown),
            "more": len(entries) > PAGES_AT_ONCE,
            "library": await self._library(),
        }

    async def page(self, request: Request) -> dict[str, Any]:
        """One page of the library with its chunks."""
        stored = await (await self._store()).page(request.query_params.get("key", ""))
        if stored is None:
            raise Refusal("That page is not in the library.", 404)
        return {"page": self._app().redactor.value(_stored_page(stored))}

    async def state(self, _: Request) -> dict[str, Any]:
        """State of the server: numbers and names, no queries and no page text."""
        app = self._app()
        stats, process = app.call_stats, this_process()
        return {
            "version": kindly.__version__,
            "now": SYSTEM_CLOCK.time(),
            "started_at": stats.started_at,
            "in_flight": stats.in_flight,
            "busy": stats.busy,
            "calls": sum(stats.calls.values()),
            "kept_pages": stats.cached_pages,
            "pages": sum(stats.pages.values()),
            "slot_s": INTERVAL_S,
            "slots_kept": INTERVALS,
            "slots": [asdict(slot) for slot in stats.intervals()],
            "recent": [asdict(ended) for ended in reversed(stats.recent)],
            "providers": [_provider(status) for status in app.provider_status()],
            "library": await self._library(),
            "memory_bytes": process.memory_bytes,
            "open_files": process.open_files,
        }

    def _app(self) -> App:
        return running_app(self.server)

    async def _store(self) -> Store:
        app = self._app()
        if app.library_store is None:
            raise StoreUnavailable("Reading is not set up in this server.")
        await app.settle_library()
        return await app.library_store()

    async def _library(self) -> dict[str, Any] | None:
        stats = await self.library.stats()
        if stats is None:
            return None
        return {
            "kind": stats.kind,
            "pages": stats.pages,
            "chunks": stats.chunks,
            "size_bytes": stats.size_bytes,
        }


async def _tool_call(request: Request) -> tuple[str, dict[str, Any]]:
    """The tool and the arguments of a request."""
    match await json_body(request):
        case {"tool": str(name), "arguments": Mapping() as arguments}:
            return name, dict(arguments)
        case _:
            raise Refusal("A call needs a tool and its arguments.")


def _number(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise Refusal("offset must be a number.")
    return int(text)


def _entry(entry: StoredPageInfo) -> dict[str, Any]:
    return {
        "key": entry.key,
        "url": entry.url,
        "collection": entry.collection,
        "title": entry.title,
        "crawled_at": entry.crawled_at.isoformat(timespec="seconds"),
        "characters": entry.total,
        "how": str(entry.how),
        "language": entry.language,
        "partial": entry.partial,
    }


def _stored_page(stored: StoredPage) -> dict[str, Any]:
    chunks = [
        {"text": chunk.text, "section": list(chunk.section), "tokens": chunk.tokens}
        for chunk in stored.chunks
    ]
    return _entry(stored.entry) | {"chunks": chunks}


def _provider(status: ProviderStatus) -> dict[str, Any]:
    return {
        "name": status.name,
        "health": str(status.health),
        "calls": status.calls,
        "failures": sum(status.failures.values()),
        "last_failure": asdict(status.last_failure) if status.last_failure else None,
        "p50_ms": status.p50_ms,
        "p95_ms": status.p95_ms,
        "quota": asdict(status.quota) if status.quota else None,
    }
