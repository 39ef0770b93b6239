"""A documentation site for `bench.indexing`: 500 pages, 30 ms of latency, a pace of 20 requests a second.

`python -m bench.docs_pages` prints its port and serves until standard input closes; arguments give another number of
pages, another pace and another latency. `/-/change?pages=1,2` changes pages; `/-/bodies` gives how many bodies were
sent since the last call, `/-/requests` how many pages were asked for.
"""

import argparse
import sys
from collections import Counter
from functools import partial

import anyio
import anyio.to_thread
from anyio.abc import SocketAttribute, SocketStream

PAGES, LATENCY_S, PACE_S = 500, 0.03, 0.05
PARAGRAPHS = 30


class DocsPages:
    """The site."""

    def __init__(self, pages: int = PAGES, pace_s: float = PACE_S) -> None:
        self.pages = pages
        self.robots = f"User-agent: *\nCrawl-delay: {pace_s}\n" if pace_s else ""
        self.versions: Counter[int] = Counter()
        self.bodies = 0
        self.requests = 0

    def answer(self, path: str, known: str) -> tuple[int, str, str, str]:
        """Status, type, ETag and body."""
        if path == "/robots.txt":
            return 200, "text/plain", "", self.robots
        if path.startswith("/-/"):
            return 200, "text/plain", "", self._counted(path)
        self.requests += 1
        number = -1 if path.endswith("/docs/") else _number(path)
        if number is None or number >= self.pages:
            return 404, "text/html", "", "<p>No such page</p>"
        etag = f'"{number}-{self.versions[number]}"'
        if known == etag:
            return 304, "text/html", etag, ""
        self.bodies += 1
        return (
            200,
            "text/html; charset=utf-8",
            etag,
            page(number, self.versions[number], self.pages),
        )

    def _counted(self, path: str) -> str:
        if path.startswith("/-/change?pages="):
            self.versions.update(map(int, path.partition("=")[2].split(",")))
            return "ok"
        if path == "/-/requests":
            return str(self.requests)
        count, self.bodies = self.bodies, 0
        return str(count)


def _number(path: str) -> int | None:
    """The number of a page, whatever stands before `/docs/`."""
    name = path.rpartition("/docs/page-")[2]
    return int(name) if name.isdecimal() and name != path else None


def page(number: int, version: int, pages: int) -> str:
    """A page; the first one links to all others."""
    nav = "".join(f'<a href="page-{n}">Page {n}</a>' for n in range(pages)) if number < 0 else ""
    parts = "".join(
        f"<h2>Option {number}.{part}</h2><p>Option {number}.{part} sets how many of the {number * 37 + part} workers "
        f"of the scheduler may wait for the lock of table {number}, revision {version}. It is read at the start, and a "
        "change needs a restart. The default suits a machine with few cores.</p>"
        for part in range(PARAGRAPHS)
    )
    return f"<title>Page {number}</title><nav>{nav}</nav><main><h1>Page {number}</h1>{parts}</main>"


async def _serve(site: DocsPages, latency_s: float, stream: SocketStream) -> None:
    async with stream:
        received = b""
        while True:
            while b"\r\n\r\n" not in received:
                try:
                    received += await stream.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    return
            head, _, received = received.partition(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").split("\r\n")
            headers = {
                name.lower(): value.strip()
                for name, _, value in (one.partition(":") for one in lines)
            }
            await anyio.sleep(0 if "/-/" in first else latency_s)
            status, kind, etag, body = site.answer(
                first.split()[1], headers.get("if-none-match", "")
            )
            data = body.encode()
            length = "" if status == 304 else f"Content-Length: {len(data)}\r\n"
            tag = f"ETag: {etag}\r\n" if etag else ""
            await stream.send(
                f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{tag}{length}\r\n".encode() + data
            )


async def main() -> None:
    """Serve until standard input closes."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pages", type=int, default=PAGES)
    options.add_argument("--pace", type=float, default=PACE_S, help="seconds between two requests")
    options.add_argument("--latency", type=float, default=LATENCY_S, help="seconds of each answer")
    chosen = options.parse_args()
    site = DocsPages(chosen.pages, chosen.pace)
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        print(listener.extra(SocketAttribute.local_port), flush=True)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, partial(_serve, site, chosen.latency))
            await anyio.to_thread.run_sync(sys.stdin.read)
            tasks.cancel_scope.cancel()


if __name__ == "__main__":
    anyio.run(main)
