"""Promises of `docs/contracts.md`, section Safety, through the front door: the console script and a real client."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import httpx2
import pytest
from anyio.abc import SocketStream

from tests.support.processes import (
    INITIALIZE,
    INITIALIZED,
    SCRIPT,
    RawServer,
    child_environment,
    http_server,
    run_kindly,
    stdio_client,
    tool_call,
)
from tests.support.served_world import BOTH, SERPER_KEY, environment, serper, text_of
from tests.support.site import Site, SiteRequest, html

pytestmark = pytest.mark.anyio

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
ENVELOPE = {
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.mark.parametrize("line", ["100 Continue", "103 Early Hints"])
async def test_endless_informational_answers_end_in_an_outcome_and_the_server_goes_on(
    site: Site, tmp_path: Path, line: str
) -> None:
    async def endless(_: SiteRequest, stream: SocketStream) -> None:
        while True:
            await stream.send(f"HTTP/1.1 {line}\r\n\r\n".encode() * 2_500)

    told: list[str] = []
    with anyio.fail_after(120):
        async with stdio_client(environment(site, tmp_path, KINDLY_BROWSER="off")) as client:

            async def fetch(number: int) -> None:
                url = site.add(f"/wait/{number}", endless)
                told.append(text_of(await client.call_tool("get_content", {"url": url})))

            async with anyio.create_task_group() as tasks:
                for number in range(4):
                    tasks.start_soon(fetch, number)
            page = await client.call_tool("get_content", {"url": site.url("/article")})
    assert len(told) == 4
    assert all("(unreachable)" in text and "informational (1xx)" in text for text in told)
    assert "ultraviolet" in text_of(page)


@pytest.mark.parametrize(
    "address",
    [
        "user:hush-4b1d@host",
        "user:hush-4b1d@host:8080/search",
        "//user:hush-4b1d@host",
        "http:user:hush-4b1d@host",
        "user:hush-4b1d@host,https://searx.example.org",
        "https://user:hush-4b1d,x@host",
        "https://u:hush@host",
    ],
)
async def test_a_password_in_an_address_is_printed_nowhere(tmp_path: Path, address: str) -> None:
    environ = {"DATA_DIR": str(tmp_path), "SEARXNG_BASE_URL": address, "KINDLY_BROWSER": "off"}
    told = ""
    with anyio.fail_after(120):
        told += str(await run_kindly(environ, "doctor", "--no-live", "--json"))
        if "https" not in address:
            told += str(await run_kindly(environ, "search", "bees"))
        else:
            told += str(await run_kindly(environ, "doctor", "--no-live"))
    assert "SEARXNG_BASE_URL" in told
    assert "hush" not in told


@pytest.mark.parametrize("name", ["KINDLY_ALLOW_PRIVATE", "KINDLY_BLOCKED_DOMAINS"])
async def test_a_refused_setting_is_reported_without_its_password(
    tmp_path: Path, name: str
) -> None:
    environ = {"DATA_DIR": str(tmp_path), name: "user:hush-4b1d@host"}
    with anyio.fail_after(120):
        done = await run_kindly(environ, "fetch", "https://example.com/")
    assert name in done.err
    assert "hush" not in str(done)


async def test_no_part_of_a_key_is_left_where_an_argument_is_cut(
    site: Site, tmp_path: Path
) -> None:
    values = ["x" * before + SERPER_KEY * 2 for before in range(30, 70, 8)]
    calls: list[tuple[str, dict[str, Any]]] = [
        call
        for value in values
        for call in (
            ("web_search", {"query": "bees", value: 1}),
            ("web_search", {"query": "bees", "num_results": value}),
            (value, {}),
            ("get_content", {"url": site.url("/"), "cursor": value}),
        )
    ]
    with anyio.fail_after(120):
        async with stdio_client(environment(site, tmp_path, **BOTH)) as client:
            told = [text_of(await client.call_tool(*call)) for call in calls]
    assert len(told) == 20
    assert [text for text in told if SERPER_KEY[:7] in text] == []


async def test_no_part_of_a_key_is_left_where_a_page_is_cut(site: Site, tmp_path: Path) -> None:
    text = " ".join(f"{SERPER_KEY * 9}{number}" for number in range(2_000))
    url = site.add("/quotes", html(f"<main><h1>Keys</h1><p>{text}</p></main>"))
    with anyio.fail_after(120):
        async with stdio_client(environment(site, tmp_path, **BOTH)) as client:
            pages = [
                await client.call_tool("get_content", {"url": url, "max_tokens": tokens})
                for tokens in (500, 503, 507, 511)
            ]
            read = await client.call_tool("read_page", {"url": url, "question": "Keys 17"})
    for result in (*pages, read):
        assert not result.is_error, text_of(result)
        assert SERPER_KEY[:7] not in result.model_dump_json()


async def test_commands_of_the_library_mask_keys(site: Site, tmp_path: Path) -> None:
    url = site.add("/quotes", html(f"<title>{SERPER_KEY}</title><main><p>A {SERPER_KEY} b.</main>"))
    url += f"?token={SERPER_KEY}"
    unknowing = environment(site, tmp_path / "data", KINDLY_BROWSER="off")
    environ = {**unknowing, **BOTH}
    lines, table = tmp_path / "pages.jsonl", tmp_path / "pages.parquet"
    with anyio.fail_after(120):
        kept = await run_kindly(unknowing, "fetch", url)
        told = [
            str(await run_kindly(environ, "library", *command))
            for command in (
                ["list"],
                ["list", "--json"],
                ["show", url],
                ["show", url, "--json"],
                ["show", url + "0"],
                ["export", "-"],
                ["export", str(lines)],
                ["export", str(table)],
            )
        ]
    assert SERPER_KEY in kept.out
    assert all("***" in text for text in told[:6]), told
    assert [text for text in told if SERPER_KEY in text] == []
    assert "***" in lines.read_text(encoding="utf-8")
    assert SERPER_KEY.encode() not in lines.read_bytes() + table.read_bytes()


async def test_the_key_of_stack_exchange_is_in_no_address(site: Site, tmp_path: Path) -> None:
    tape, key = tmp_path / "tape.jsonl", "canary-stack-88f2"
    environ = environment(
        site,
        tmp_path / "data",
        KINDLY_STACKEXCHANGE_API_URL=site.url("/se"),
        STACKEXCHANGE_KEY=key,
        KINDLY_CASSETTE=str(tape),
        KINDLY_LOG_LEVEL="debug",
    )
    with anyio.fail_after(120):
        done = await run_kindly(environ, "fetch", "https://stackoverflow.com/questions/1")
    asked = [request for request in site.requests if request.path.startswith("/se/")]
    assert asked
    assert all(request.headers["authorization"] == f"Bearer {key}" for request in asked)
    assert [request.target for request in asked if key in request.target] == []
    assert key not in str(done)
    assert key not in tape.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("get_content", {"url": "http://127.0.0.1/\ud800"}, "url"),
        ("web_search", {"query": "half \udfff a character"}, "query"),
        ("web_search", {"query": "bees", "\ud800": 1}, "arguments"),
        ("\ud800", {}, "Unknown tool"),
    ],
    ids=["address", "query", "name of an argument", "name of a tool"],
)
async def test_a_lone_surrogate_over_stdio_is_answered(
    site: Site, tmp_path: Path, tool: str, arguments: dict[str, Any], words: str
) -> None:
    with anyio.fail_after(120), RawServer(environment(site, tmp_path, **BOTH)) as server:
        await server.send(INITIALIZE, INITIALIZED, tool_call(2, tool, arguments))
        answers = [await server.receive(), await server.receive()]
        await server.send({"jsonrpc": "2.0", "id": "a\ud800", "method": "ping"})
        await server.send({"jsonrpc": "2.0", "id": 4, "method": "ping"})
        answers += [await server.receive(), await server.receive()]
    assert [answer["id"] for answer in answers] == [1, 2, "a\ufffd", 4]
    assert answers[1]["result"]["isError"]
    assert words in answers[1]["result"]["content"][0]["text"]


def children_of(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for file in found for child in file.read_text().split()]


def cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")
async def test_a_parser_that_is_killed_in_mid_page_is_unreachable_and_the_next_page_is_read(
    site: Site, tmp_path: Path
) -> None:
    long = "<p>Bees see ultraviolet light and tell the others by a dance.</p>\n"
    url = site.add("/long", html(f"<main>{long * (1_900_000 // len(long))}</main>"))
    environ = environment(site, tmp_path, KINDLY_BROWSER="off", KINDLY_WORKERS="1")
    with anyio.fail_after(120), RawServer(environ) as server:
        await server.send(INITIALIZE, INITIALIZED)
        await server.receive()
        await server.send(tool_call(2, "get_content", {"url": site.url("/article")}))
        assert not (await server.receive())["result"].get("isError")
        (parser,) = children_of(server.process.pid)
        idle = cpu_ticks(parser)
        await server.send(tool_call(3, "get_content", {"url": url}))
        while cpu_ticks(parser) < idle + 3:
            await anyio.lowlevel.checkpoint()
        os.kill(parser, signal.SIGKILL)
        failed = (await server.receive())["result"]
        await server.send(tool_call(4, "get_content", {"url": site.url("/article")}))
        after = (await server.receive())["result"]
    assert failed["isError"]
    assert failed["structuredContent"]["status"] == "unreachable"
    assert failed["structuredContent"]["retryable"] is True
    assert not after.get("isError")


async def test_a_server_whose_standard_error_is_not_read_keeps_serving(
    site: Site, tmp_path: Path
) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, b"x" * 4_096)
    except BlockingIOError:
        os.set_blocking(writing, True)
    command = [str(SCRIPT), "start-mcp-server", "--log-level", "debug"]
    environ = child_environment(environment(site, tmp_path, KINDLY_BROWSER="off"))
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=writing, env=environ
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        os.close(writing)
        try:
            with anyio.fail_after(120):
                messages = [INITIALIZE, INITIALIZED]
                messages += [
                    tool_call(n, "get_content", {"url": site.url(f"/article?{n}")})
                    for n in range(2, 22)
                ]
                for message in messages:
                    process.stdin.write(json.dumps(message).encode() + b"\n")
                process.stdin.flush()
                ids = set()
                for _ in range(21):
                    line = await anyio.to_thread.run_sync(
                        process.stdout.readline, abandon_on_cancel=True
                    )
                    ids.add(json.loads(line)["id"])
                process.stdin.close()
                code = await anyio.to_thread.run_sync(process.wait, abandon_on_cancel=True)
        finally:
            process.kill()
            os.close(reading)
    assert ids == set(range(1, 22))
    assert code == 0


def initialize(version: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(INITIALIZE))
    made["params"]["protocolVersion"] = version
    return made


def listing(version: str) -> dict[str, Any]:
    params = {"_meta": {**ENVELOPE, VERSION_KEY: version}}
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": params}


VERSIONS: list[tuple[str | None, dict[str, Any], int]] = [
    ("2025-06-18", initialize("2025-11-25"), 400),
    ("2026-07-28", initialize("2025-11-25"), 400),
    ("2025-11-25", listing("2026-07-28"), 400),
    ("2026-07-28", listing("2025-11-25"), 400),
    ("2025-06-18", listing("2025-11-25"), 400),
    ("2025-11-25", initialize("2025-11-25"), 200),
    (None, initialize("2025-11-25"), 200),
    ("2026-07-28", listing("2026-07-28"), 200),
    ("2025-11-25", {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}, 200),
]


async def test_a_protocol_version_that_differs_between_header_and_body_is_400(
    tmp_path: Path,
) -> None:
    found = []
    with anyio.fail_after(120), http_server({"DATA_DIR": str(tmp_path)}) as address:
        async with httpx2.AsyncClient(timeout=60) as client:
            for header, body, _ in VERSIONS:
                headers = {
                    "Accept": "application/json, text/event-stream",
                    "Mcp-Method": body["method"],
                    **({"MCP-Protocol-Version": header} if header else {}),
                }
                answer = await client.post(address, json=body, headers=headers)
                found.append((header, body, answer.status_code))
                if answer.status_code == 400:
                    assert answer.json()["id"] == body["id"]
    assert found == VERSIONS


async def test_a_host_name_with_a_final_dot_is_that_name(site: Site, tmp_path: Path) -> None:
    dotted = f"http://localhost.:{site.port}/article"
    environ = environment(site, tmp_path, KINDLY_ALLOW_PRIVATE="localhost")
    with anyio.fail_after(120):
        async with stdio_client(environ) as client:
            page = await client.call_tool("get_content", {"url": dotted})
            again = await client.call_tool(
                "read_page", {"url": dotted.replace(".:", ":"), "question": "What do bees see?"}
            )
    assert not page.is_error, text_of(page)
    assert not again.is_error, text_of(again)
    assert site.count("/article") == 1
    assert site.requests[-1].headers["host"] == f"localhost:{site.port}"


async def test_tracking_parameters_are_removed_and_a_page_is_one_page_of_the_library(
    site: Site, tmp_path: Path
) -> None:
    page, tail = site.url("/article?id=7"), "&gclid=2&fbclid=3&mc_eid=4"
    tracked = f"{site.url('/article')}?utm_source=x&id=7{tail}"
    site.add("/serper/search", serper([tracked]))
    environ = environment(site, tmp_path, **BOTH, KINDLY_BROWSER="off")
    with anyio.fail_after(120):
        async with stdio_client(environ) as client:
            found = await client.call_tool("web_search", {"query": "bees"})
            read = [
                await client.call_tool(tool, {"url": url, **more})
                for url in (tracked, page, f"{page}&UTM_campaign=y")
                for tool, more in (
                    ("get_content", {}),
                    ("read_page", {"question": "What do bees see?"}),
                )
            ]
        listed = await run_kindly(environ, "library", "list", "--json")
        shown = await run_kindly(environ, "library", "show", tracked)
    assert found.structured_content is not None
    assert [result["link"] for result in found.structured_content["results"]] == [page]
    assert [text_of(result) for result in read if result.is_error] == []
    assert [r.target for r in site.requests if r.path == "/article"] == ["/article?id=7"]
    assert [json.loads(line)["url"] for line in listed.out.splitlines()] == [page]
    assert "ultraviolet" in shown.out
