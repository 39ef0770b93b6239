"""How soon the evidence for an answer arrives, for Kindly and for other MCP servers that fetch pages.

    python -m bench.scoreboard [--questions 8] [--kinds papers,tables] [--servers mcp-server-fetch] [--resume]

Each question has its own page, served on loopback in the frame of a site. Each server is asked as a careful agent
would: `read_page` for Kindly; for the others their fetch tool, part by part, until 10,000 tokens have arrived or the
page ends. Printed for each kind of page: the share of questions whose evidence is among the first 500 to 10,000 tokens,
the tokens received until it is there (at most 10,000), and the wall time of these calls. A token is four bytes.
"""

import argparse
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import anyio
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

from bench import retrieval
from bench.scoreboard.evidence import tokens_until
from bench.scoreboard.peers import FOLDER, OURS, SERVERS, Call, Server, installed
from bench.scoreboard.questions import LONG_PAGES, TABLES, AskedPage, asked_pages
from kindly.budget import count_tokens

SAVED = FOLDER.parent / "scoreboard.json"
BUDGETS = (500, 1_000, 2_000, 5_000, 10_000)
MOST = BUDGETS[-1]
COMPARED = 1_000
"""Our evidence after so many tokens is what the others' tokens are counted for."""
CALL_S = 300
"""A call that takes longer counts as failed."""


@dataclass(frozen=True, slots=True)
class Result:
    """What one question cost with one server."""

    server: str
    kind: str
    question: str
    arrived: int | None
    """After how many tokens the evidence was there."""
    spent: int
    """Tokens of the answers until then, or of all of them; at most `MOST`."""
    seconds: float
    failed: bool
    """Whether the server returned no text of the page."""


@contextmanager
def site(pages: Sequence[AskedPage]) -> Iterator[int]:
    """Serve each page at its number; yields the port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            name = self.path.partition("?")[0].removeprefix("/page/")
            known = name.isdigit() and int(name) < len(pages)
            body = pages[int(name)].page.encode() if known else b""
            self.send_response(200 if known else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is logged."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()


async def answer_of(client: Client, call: Call) -> tuple[str, str, bool]:
    """The text of an answer, its cursor, and whether it is an error."""
    try:
        with anyio.fail_after(CALL_S):
            result = await client.call_tool(call.tool, call.arguments)
    except TimeoutError:
        return "", "", True
    text = "\n".join(one.text for one in result.content if one.type == "text")
    data = result.structured_content
    cursor = data.get("cursor") if isinstance(data, dict) else None
    return text, cursor if isinstance(cursor, str) else "", bool(result.is_error)


async def ask(client: Client, server: Server, page: AskedPage, url: str) -> Result:
    """Call a server until the evidence is there, the page ends, or enough tokens have arrived."""
    parts, cursor, failed, took = list[str](), "", False, 0.0
    arrived: int | None = None
    for number, call in enumerate(server.calls(url, page.question)):
        goes_on = server.goes_on and number > 1
        if goes_on and not cursor:
            break
        more = {"cursor": cursor} if goes_on else {}
        began = time.perf_counter()
        text, cursor, is_error = await answer_of(client, Call(call.tool, call.arguments | more))
        took += time.perf_counter() - began
        if is_error or not text.strip() or (parts and text in parts):
            failed = not parts
            break
        parts.append(text)
        arrived = tokens_until("\n".join(parts), page.evidence)
        if arrived is not None or count_tokens("\n".join(parts)) >= MOST:
            break
    spent = min(MOST, count_tokens("\n".join(parts)))
    return Result(server.name, page.kind, page.question, arrived, spent, took, failed)


async def measure(
    server: Server, pages: Sequence[AskedPage], port: int, results: list[Result]
) -> None:
    """Add the results of all questions with one server that are not there; each is saved at once."""
    done = {(one.kind, one.question) for one in results if one.server == server.name}
    with tempfile.TemporaryDirectory() as home, (FOLDER / "servers.log").open("a") as log:
        started = stdio_client(server.parameters(port, Path(home)), errlog=log)
        async with Client(started, mode="legacy") as client:
            for number, page in enumerate(pages):
                if (page.kind, page.question) in done:
                    continue
                url = f"http://127.0.0.1:{port}/page/{number}"
                results.append(await ask(client, server, page, url))
                saved = json.dumps([asdict(one) for one in results], indent=1)
                SAVED.write_text(saved, encoding="utf-8")


def share(results: Sequence[Result], budget: int) -> float:
    """The share of questions whose evidence is among the first so many tokens."""
    return sum(one.arrived is not None and one.arrived <= budget for one in results) / len(results)


def tokens_for(results: Sequence[Result], wanted: float) -> int | None:
    """After how many tokens a share of the questions has its evidence; None if that is never so."""
    arrived = sorted(one.arrived for one in results if one.arrived is not None)
    needed = max(1, round(wanted * len(results)))
    return arrived[needed - 1] if needed <= len(arrived) else None


def table(title: str, results: Sequence[Result]) -> None:
    """Print the figures of each server as a Markdown table."""
    names = dict.fromkeys(one.server for one in results)
    by_server = {name: [one for one in results if one.server == name] for name in names}
    wanted = share(by_server[OURS], COMPARED) if OURS in by_server else 0.0
    print(f"\n### {title}: {len(next(iter(by_server.values())))} questions\n")
    heads = [f"{budget:,}" for budget in BUDGETS]
    print(f"| server | {' | '.join(heads)} | mean tokens | tokens for {wanted:.2f} | seconds |")
    print("|---|" + "--:|" * (len(heads) + 3))
    for name, own in by_server.items():
        shares = " | ".join(f"{share(own, budget):.2f}" for budget in BUDGETS)
        spent = statistics.mean(one.spent for one in own)
        needed = tokens_for(own, wanted)
        equal = f"{needed:,}" if needed is not None and needed <= MOST else f"over {MOST:,}"
        seconds = statistics.median(one.seconds for one in own)
        print(f"| {name} | {shares} | {spent:,.0f} | {equal} | {seconds:.2f} |")
    for name, own in by_server.items():
        if refused := sum(one.failed for one in own):
            print(f"\n{name} returned no text for {refused} of {len(own)} pages.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Install the servers, ask all questions, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--questions", type=int, default=8, help="of each kind of page")
    parser.add_argument("--kinds", default=",".join([*LONG_PAGES.values(), TABLES]))
    parser.add_argument("--servers", default="", help="only these, beside Kindly")
    parser.add_argument("--resume", action="store_true", help="keep the results of the last run")
    options = parser.parse_args(arguments)
    if not retrieval.DATA.is_dir():
        print("Skipped, because ../shared/data is not beside this checkout.")
        return 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    pages = list(asked_pages(options.questions, options.kinds.split(",")))
    wanted = set(filter(None, options.servers.split(",")))
    results: list[Result] = []
    if options.resume and SAVED.is_file():
        results = [Result(**one) for one in json.loads(SAVED.read_text(encoding="utf-8"))]
    with site(pages) as port:
        for server in SERVERS:
            if wanted and server.packages and server.name not in wanted:
                continue
            if wrong := installed(server):
                print(f"left out: {server.name}, because {wrong}")
                continue
            began = time.perf_counter()
            anyio.run(measure, server, pages, port, results)
            print(f"{server.name}: {time.perf_counter() - began:.0f} s", flush=True)
    long_kinds = [kind for kind in LONG_PAGES.values() if kind in options.kinds]
    if any(one.kind != TABLES for one in results):
        table("All long pages", [one for one in results if one.kind != TABLES])
    for kind in [*long_kinds, TABLES]:
        if any(one.kind == kind for one in results):
            table(kind.capitalize(), [one for one in results if one.kind == kind])
    return 0


if __name__ == "__main__":
    sys.exit(main())
