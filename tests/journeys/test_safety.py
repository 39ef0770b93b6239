"""Promises of `docs/contracts.md`, section Safety, through the front door: the console script and a real client."""

from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream

from tests.support.processes import run_kindly, stdio_client
from tests.support.served_world import BOTH, SERPER_KEY, environment, text_of
from tests.support.site import Site, SiteRequest, html

pytestmark = pytest.mark.anyio


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
        for command in (["doctor", "--no-live"], ["doctor", "--no-live", "--json"]):
            told += str(await run_kindly(environ, *command))
        if "https" not in address:
            told += str(await run_kindly(environ, "search", "bees"))
    assert "SEARXNG_BASE_URL" in told
    assert "hush" not in told


@pytest.mark.parametrize("name", ["KINDLY_ALLOW_PRIVATE", "KINDLY_BLOCKED_DOMAINS"])
async def test_a_refused_setting_is_told_without_its_password(tmp_path: Path, name: str) -> None:
    environ = {"DATA_DIR": str(tmp_path), name: "user:hush-4b1d@host"}
    with anyio.fail_after(120):
        done = await run_kindly(environ, "fetch", "https://example.com/")
    assert name in done.err
    assert "hush" not in str(done)


@pytest.mark.parametrize("before", range(30, 70, 8))
async def test_no_part_of_a_key_is_left_where_an_argument_is_cut(
    site: Site, tmp_path: Path, before: int
) -> None:
    value = "x" * before + SERPER_KEY * 2
    with anyio.fail_after(120):
        async with stdio_client(environment(site, tmp_path, **BOTH)) as client:
            told = [
                text_of(await client.call_tool("web_search", {"query": "bees", value: 1})),
                text_of(
                    await client.call_tool("web_search", {"query": "bees", "num_results": value})
                ),
                text_of(await client.call_tool(value, {})),
                text_of(
                    await client.call_tool("get_content", {"url": site.url("/"), "cursor": value})
                ),
            ]
    assert [text for text in told if SERPER_KEY[:7] in text] == []


@pytest.mark.parametrize("tokens", [500, 503, 507, 511])
async def test_no_part_of_a_key_is_left_where_a_page_is_cut(
    site: Site, tmp_path: Path, tokens: int
) -> None:
    text = " ".join(f"{SERPER_KEY * 9}{number}" for number in range(2_000))
    url = site.add("/quotes", html(f"<main><h1>Keys</h1><p>{text}</p></main>"))
    with anyio.fail_after(120):
        async with stdio_client(environment(site, tmp_path, **BOTH)) as client:
            page = await client.call_tool("get_content", {"url": url, "max_tokens": tokens})
            read = await client.call_tool("read_page", {"url": url, "question": "Keys 17"})
    for result in (page, read):
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
