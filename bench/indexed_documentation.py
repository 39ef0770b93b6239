"""Which page of a documentation answers, the way that users go: a served site, `kindly index`, `recall(collection=…)`.

    bench.py --target bench.indexed_documentation:open_index

serves the pages of each documentation on loopback, with a sitemap, and indexes them with the real command. Compare
with `bench.documentation`, which stores the same pages directly.
"""

import atexit
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from anyio.from_thread import start_blocking_portal

import kindly

COMMAND = Path(sys.executable).with_name("kindly")
PASSAGES = 8
HOME = b"<title>Documentation</title><main><h1>Documentation</h1><p>See the sitemap.</p></main>"


@dataclass(frozen=True, slots=True)
class ServedPage:
    """A page as the site sends it."""

    media_type: str
    body: bytes


def serve(found: Mapping[str, ServedPage]) -> ThreadingHTTPServer:
    """A running site with these pages by path, and a sitemap that lists them."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            page = found.get(path)
            if path == "/sitemap.xml":
                page = ServedPage("text/xml", _sitemap(self.headers["Host"], found))
            elif path == "/":
                page = found.get("/", ServedPage("text/html", HOME))
            body = b"<p>No such page</p>" if page is None else page.body
            self.send_response(404 if page is None else 200)
            kind = "text/html" if page is None else page.media_type
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    return server


def _sitemap(host: str, found: Mapping[str, ServedPage]) -> bytes:
    rows = "".join(f"<url><loc>http://{host}{path}</loc></url>" for path in found)
    return f"<urlset>{rows}</urlset>".encode()


def open_index(found: Sequence[dict[str, Any]]) -> Callable[[str], list[str]]:
    """Serve and index these pages; the addresses that `recall` gives for a question, best first."""
    stack = ExitStack()
    atexit.register(stack.close)
    originals = {urlsplit(page["url"]).path: page["url"] for page in found}
    server = serve(
        {
            urlsplit(page["url"]).path: ServedPage(page["media_type"], page["body"].encode())
            for page in found
        }
    )
    stack.callback(server.shutdown)
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    settings = {
        "KINDLY_CONFIG": os.devnull,
        "DATA_DIR": folder,
        "KINDLY_ALLOW_PRIVATE": "127.0.0.1",
    }
    base = f"http://127.0.0.1:{server.server_address[1]}"
    began = time.monotonic()
    subprocess.run(
        [str(COMMAND), "index", f"{base}/", "--name", "docs", "--max-pages", "10000"],
        env=os.environ | settings,
        check=True,
    )
    print(f"indexed in {time.monotonic() - began:.0f} s", file=sys.stderr)
    portal = stack.enter_context(start_blocking_portal())
    web = stack.enter_context(portal.wrap_async_context_manager(kindly.open(settings)))

    async def ask(question: str) -> list[str]:
        (finding,) = await web.recall(question, limit=PASSAGES, collection="docs")
        return [originals[urlsplit(one.page.url).path] for one in finding.citations]

    def search(question: str) -> list[str]:
        return portal.call(ask, question)

    return search
