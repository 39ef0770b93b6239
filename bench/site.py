"""The site for benchmarks, in its own process: pages with a given latency, and a fake Serper.

    python -m bench.site

Prints its port on the first line and serves until its standard input closes.
"""

import gzip
import random
import socket
import sys
import threading

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route

from bench.realistic_pages import realistic_page

WORDS = ("tea", "water", "leaf", "cup", "steam", "green", "black", "harvest", "garden", "slope")


def article(number: int, paragraphs: int = 30) -> str:
    """An ordinary page: a header, an article, a footer."""
    dice = random.Random(number)
    body = "".join(f"<p>{' '.join(dice.choices(WORDS, k=60))}.</p>" for _ in range(paragraphs))
    menu = "".join(f"<li><a href='/page/{n}'>Page {n}</a></li>" for n in range(40))
    return (
        f"<!doctype html><html lang=en><head><title>Page {number}</title></head><body>"
        f"<header><nav><ul>{menu}</ul></nav></header>"
        f"<main><article><h1>Page {number}</h1>{body}</article></main>"
        "<footer>About us</footer></body></html>"
    )


PAGES = [realistic_page(number).encode() for number in range(50)]


async def page(request: Request) -> Response:
    """`/page/<n>?ms=<latency>`"""
    await anyio.sleep(int(request.query_params.get("ms", "0")) / 1000)
    body = PAGES[request.path_params["number"] % len(PAGES)]
    return Response(body, media_type="text/html; charset=utf-8")


async def serper(request: Request) -> JSONResponse:
    """`/search` after 200 ms, `/fast/search` after 20: the requested number of results, each on this site."""
    try:
        asked = await request.json()
    except ClientDisconnect:
        return JSONResponse({})
    await anyio.sleep(0.02 if "fast" in request.url.path else 0.2)
    base = f"{request.url.scheme}://{request.url.netloc}"
    latencies = [50, 120, 200, 280, 400]
    return JSONResponse(
        {
            "searchParameters": {"q": asked["q"], "type": "search"},
            "organic": [
                {
                    "title": f"Page {n}",
                    "link": f"{base}/page/{n}?ms={latencies[n % 5]}&q={asked['q']}",
                    "snippet": "Tea.",
                    "position": n + 1,
                }
                for n in range(asked["num"])
            ],
        }
    )


async def down(_: Request) -> PlainTextResponse:
    """A provider that fails."""
    await anyio.sleep(0.02)
    return PlainTextResponse("", 503)


async def tavily(request: Request) -> JSONResponse:
    """A fake Tavily, as fast as `/fast/search`."""
    asked = await request.json()
    await anyio.sleep(0.02)
    results = [
        {"title": f"Page {n}", "url": f"https://example.com/{n}", "content": "Tea.", "score": 0.5}
        for n in range(asked["max_results"])
    ]
    # Without this, the client applies the rate limit of the vendor's usual plan.
    headers = {
        "RateLimit-Policy": "1000;w=1",
        "RateLimit-Limit": "1000",
        "RateLimit-Remaining": "999",
    }
    body = {"query": asked["query"], "results": results, "response_time": 0.02}
    return JSONResponse(body, headers=headers)


async def hostile(request: Request) -> Response:
    """`/hostile/<name>`: a hostile page."""
    name = request.path_params["name"]
    if name == "slow":
        await anyio.sleep(1)
    if name == "loop":
        return RedirectResponse(f"/hostile/loop?{random.random()}")
    return HOSTILE.get(name) or PlainTextResponse("", 404)


HOSTILE = {
    "missing": PlainTextResponse("", 404),
    "broken": PlainTextResponse("", 500),
    "liar": Response(b"not gzip", headers={"Content-Encoding": "gzip"}, media_type="text/html"),
    "bomb": Response(
        gzip.compress(b"<p>bomb</p>" * 2_000_000),
        headers={"Content-Encoding": "gzip"},
        media_type="text/html",
    ),
    "short": Response(b"%PDF-1.7 and no more", media_type="application/pdf"),
    "deep": HTMLResponse("<div>" * 100_000 + "deep"),
    "binary": Response(bytes(range(256)) * 64, media_type="image/png"),
    "slow": HTMLResponse("<main><p>It took its time.</p></main>"),
}


async def robots(_: Request) -> PlainTextResponse:
    """Everything is allowed."""
    return PlainTextResponse("User-agent: *\nDisallow:\n")


APP = Starlette(
    routes=[
        Route("/page/{number:int}", page),
        Route("/search", serper, methods=["POST"]),
        Route("/fast/search", serper, methods=["POST"]),
        Route("/down/search", down, methods=["POST"]),
        Route("/tavily/search", tavily, methods=["POST"]),
        Route("/robots.txt", robots),
        Route("/hostile/{name}", hostile),
    ]
)


def main() -> None:
    """Serve until standard input closes."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=512)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    print(listening.getsockname()[1], flush=True)
    server = uvicorn.Server(
        uvicorn.Config(APP, log_level="warning", access_log=False, timeout_keep_alive=120)
    )

    def until_closed() -> None:
        sys.stdin.read()
        server.should_exit = True

    threading.Thread(target=until_closed, daemon=True).start()
    server.run(sockets=[listening])


if __name__ == "__main__":
    main()
