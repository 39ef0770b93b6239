"""Pages of eight megabytes through a real client: each profile reads the beginning and says that the page is cut."""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import stdio_client
from tests.support.served_world import as_json, environment, serper, text_of
from tests.support.site import Answer, Site, compressed, html

pytestmark = pytest.mark.anyio

BYTES = 8_000_000
SPREAD = 600
"""Bytes of markup for a line of text."""
LINE = "Line {n} of a very long page about bees and the light that they see. "
QUESTION = "bees light"
NOTE = "The page is larger than the size limit: only its beginning was read, up to 2 MB."
KEY = {"SERPER_API_KEY": "key"}


def long_html() -> bytes:
    """A page with much markup for its text, as large pages have."""
    state = random.Random(1).randbytes(BYTES // 2).hex()  # noqa: S311 - compresses like text
    lines = "".join(
        f'<p data-state="{state[n * SPREAD : (n + 1) * SPREAD]}">{LINE.format(n=n)}</p>'
        for n in range(BYTES // SPREAD)
    )
    return f"<title>Long</title><main><h1>Long</h1>{lines}</main>".encode()


def searx(url: str) -> Answer:
    hit = {"title": "Bees", "url": url, "content": "Bees.", "engines": ["bing"], "score": 1.0}
    return as_json({"query": QUESTION, "results": [hit], "number_of_results": 1, "answers": []})


@dataclass(frozen=True)
class Case:
    """A tool of a profile that reads a page, and what it says of one that is too large."""

    profile: str
    tool: str
    arguments: Callable[[str], dict[str, Any]]
    said: str
    settings: dict[str, str] = field(default_factory=dict)


CASES = {
    "kindly fetch": Case("kindly", "get_content", lambda url: {"url": url}, NOTE),
    "kindly search": Case("kindly", "web_search", lambda url: {"query": QUESTION}, NOTE, KEY),
    "kindly read": Case(
        "kindly", "read_page", lambda url: {"url": url, "question": QUESTION}, NOTE
    ),
    "pages": Case("pages", "web.readFromPage", lambda url: {"url": url, "query": QUESTION}, NOTE),
    "media": Case(
        "media",
        "WebFetch",
        lambda url: {"url": url},
        "Content too large: only the beginning of the page was fetched",
    ),
    "searxng": Case(
        "searxng",
        "web_search",
        lambda url: {"query": QUESTION},
        "1 pages are larger than the size limit: only their beginning was read.",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
async def test_eight_megabytes_are_read_up_to_the_limit(
    site: Site, tmp_path: Path, case: Case
) -> None:
    url = site.add("/long", html(long_html().decode()))
    site.add("/serper/search", serper([url]))
    site.add("/searx/search", searx(url))
    environ = environment(site, tmp_path, KINDLY_BROWSER="off", **case.settings)
    environ["SEARXNG_BASE_URL"] = site.url("/searx") if case.profile == "searxng" else ""
    async with stdio_client(environ, "--profile", case.profile) as client:
        answer = await client.call_tool(case.tool, case.arguments(url))
    text = text_of(answer)
    assert not answer.is_error, text
    assert case.said in text
    assert re.search(r"Line \d+ of a very long page", f"{text}{answer.structured_content}")


@pytest.mark.slow
async def test_a_cut_page_is_still_said_to_be_cut_when_the_library_has_it(
    site: Site, tmp_path: Path
) -> None:
    url = site.add("/long", html(long_html().decode()))
    arguments = {"url": url, "question": QUESTION}
    async with stdio_client(environment(site, tmp_path, KINDLY_BROWSER="off")) as client:
        first = text_of(await client.call_tool("read_page", arguments))
        second = text_of(await client.call_tool("read_page", arguments))
    assert NOTE in first
    assert "Only a part of the page is stored." in second
    assert site.count("/long") == 1


@pytest.mark.slow
async def test_what_is_kept_of_a_cut_page_goes_on_by_cursor(site: Site, tmp_path: Path) -> None:
    url = site.add("/long", html(long_html().decode()))
    environ = environment(site, tmp_path, KINDLY_BROWSER="off")
    async with stdio_client(environ) as client:
        first = (await client.call_tool("get_content", {"url": url})).structured_content or {}
        arguments = {"url": url, "cursor": first["cursor"]}
        second = (await client.call_tool("get_content", arguments)).structured_content or {}
    assert NOTE in first["page_content"]
    assert NOTE in second["page_content"]
    assert second["cursor"] != first["cursor"]
    assert site.count("/long") == 1


def table_cells() -> bytes:
    return b"<table>" + b"<tr><td>1<td>2" * 500_000


FILES: dict[str, tuple[str, str, Callable[[], bytes], str]] = {
    "cells of a table": ("text/html", "", table_cells, "ok"),
    "plain text": ("text/plain", "", lambda: LINE.encode() * (BYTES // len(LINE)), "ok"),
    "compressed": ("text/html", "gzip", long_html, "ok"),
    "decompression bomb": ("text/html", "gzip", lambda: b"<p>" + b"a " * BYTES, "too_large"),
    "false page": ("text/html", "", lambda: b"%PDF-1.7\n" + bytes(BYTES), "too_large"),
    "file": ("application/pdf", "", lambda: b"%PDF-1.7\n" + bytes(3 * BYTES), "too_large"),
    "archive": ("application/zip", "", lambda: b"PK\x03\x04" + bytes(BYTES), "too_large"),
}


@pytest.mark.slow
async def test_text_is_cut_and_files_and_bombs_are_refused(site: Site, tmp_path: Path) -> None:
    found: dict[str, tuple[str, bool]] = {}
    async with stdio_client(environment(site, tmp_path, KINDLY_BROWSER="off")) as client:
        for number, (name, (media_type, coding, body, _)) in enumerate(FILES.items()):
            headers = {"Content-Type": media_type}
            headers |= {"Content-Encoding": coding} if coding else {}
            sent = compressed(coding, body()) if coding else body()
            url = site.add(f"/long/{number}", Answer(sent, headers=headers))
            page = (await client.call_tool("get_content", {"url": url})).structured_content or {}
            found[name] = page["status"], NOTE in page["page_content"]
    assert found == {name: (status, status == "ok") for name, (*_, status) in FILES.items()}
