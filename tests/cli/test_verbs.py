"""`kindly search` and `kindly fetch` in real processes, with a site on loopback."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import anyio.to_thread
import pytest

from tests.support.processes import PATIENCE_S, SCRIPT, child_environment, killed_after
from tests.support.processes import run_kindly as run
from tests.support.served_world import BOTH, CANARIES, environment, serper
from tests.support.site import Answer, Site, html

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_fetch_prints_markdown_without_a_key(site: Site, tmp_path: Path) -> None:
    done = await run(environment(site, tmp_path), "fetch", site.url("/article"))
    assert done.code == 0, done.err
    assert "# How bees find flowers" in done.out
    assert "<<<web-page" not in done.out


async def test_fetch_prints_json_for_programs(site: Site, tmp_path: Path) -> None:
    done = await run(environment(site, tmp_path), "fetch", "--json", site.url("/article"))
    page = json.loads(done.out)
    assert page["title"] == "How bees find flowers"
    assert "ultraviolet" in page["page_content"]


async def test_fetch_continues_by_cursor_from_the_cache(site: Site, tmp_path: Path) -> None:
    lines = "".join(f"<p>Line {n} of the long page.</p>" for n in range(500))
    url = site.add("/long", html(f"<main><h1>Long</h1>{lines}</main>"))
    environ = environment(site, tmp_path)
    first = json.loads((await run(environ, "fetch", "--json", "--max-tokens", "500", url)).out)
    second = await run(environ, "fetch", "--json", "--cursor", first["cursor"], url)
    assert "Line 499 of" in json.loads(second.out)["page_content"]
    assert site.count("/long") == 1


async def test_fetch_refreshes_on_request(site: Site, tmp_path: Path) -> None:
    environ = environment(site, tmp_path)
    for arguments in ([], [], ["--refresh"]):
        await run(environ, "fetch", *arguments, site.url("/article"))
    assert site.count("/article") == 2


async def test_fetch_takes_a_selector_and_a_format(site: Site, tmp_path: Path) -> None:
    options = ["--selector", "h1", "--format", "text", "--no-links", "--images"]
    done = await run(environment(site, tmp_path), "fetch", *options, site.url("/article"))
    assert "How bees find flowers" in done.out
    assert "ultraviolet" not in done.out


@pytest.mark.parametrize(
    ("url", "code"),
    [("/status/404", 1), ("http://10.0.0.1/", 1), ("ftp://example.com/", 2)],
    ids=["not found", "refused", "not a web address"],
)
async def test_failure_is_one_line_and_an_exit_code(
    site: Site, tmp_path: Path, url: str, code: int
) -> None:
    address = site.url(url) if url.startswith("/") else url
    done = await run(environment(site, tmp_path), "fetch", address)
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith("kindly: ")
    assert len(done.err.splitlines()) == 1


async def test_search_prints_results(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url("/article")]))
    environ = environment(site, tmp_path, **BOTH)
    shown = await run(environ, "search", "how", "bees", "see", "-n", "1")
    data = await run(environ, "search", "--json", "how bees see")
    assert shown.code == 0, shown.err
    assert "## 1. Result 1" in shown.out
    assert json.loads(data.out)["results"][0]["link"] == site.url("/article")
    assert b"how bees see" in site.requests[0].body


async def test_search_without_a_key_names_the_setting(tmp_path: Path) -> None:
    done = await run({"DATA_DIR": str(tmp_path)}, "search", "bees")
    assert done.code == 1
    assert "SERPER_API_KEY" in done.err


async def test_search_failure_shows_no_key(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", Answer(status=401))
    environ = environment(site, tmp_path, **BOTH)
    done = await run(environ, "search", "bees", "--log-level", "debug")
    assert done.code == 1
    assert not any(canary in done.err + done.out for canary in CANARIES)


async def on_a_terminal(environ: dict[str, str], *arguments: str) -> str:
    """The output of `kindly …` on a terminal."""
    own, theirs = pty.openpty()
    process = subprocess.Popen(
        [str(SCRIPT.with_name("kindly")), *arguments],
        env=child_environment(environ) | {"TERM": "xterm", "COLUMNS": "80"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)

    def read() -> bytes:
        seen = b""
        try:
            while piece := os.read(own, 4096):
                seen += piece
        except OSError:  # the other end is closed
            pass
        return seen

    try:
        with killed_after(process):
            return (await anyio.to_thread.run_sync(read)).decode()
    finally:
        process.wait(PATIENCE_S)
        os.close(own)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo terminals")
async def test_a_terminal_shows_progress_and_colour(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url("/article")]))
    environ = environment(site, tmp_path, **BOTH)
    page = await on_a_terminal(environ, "fetch", site.url("/article"))
    found = await on_a_terminal(environ, "search", "bees")
    for seen in (page, found):
        assert "\x1b[" in seen
        assert "How bees find flowers" in seen
    assert "1 of 1 pages" in found or "1 results" in found
    assert re.search(r"http · \d+\.\d\d s · \d+ characters", page)
