"""`kindly read`, `recall` and `library`."""

import json
from pathlib import Path

import duckdb
import pytest

from tests.support.processes import run_kindly as run
from tests.support.served_world import environment
from tests.support.site import Site, running_site

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_pages_can_be_searched_listed_exported_moved_and_deleted(
    tmp_path: Path,
) -> None:
    async with running_site() as site:
        url, environ = site.url("/article"), environment(site, tmp_path / "data")
        read = await run(environ, "read", url, "What does the dance point to?")
        assert (read.code, "dance" in read.out) == (0, True), read.err
        nothing = await run(environ, "read", url, "What is quantum chromodynamics?")
        assert nothing.code == 3
        assert "does not seem to answer this. Closest passages:" in nothing.out
        assert "1. score" in nothing.out
        await asked(environ, site)
    await listed(environ, url)
    await moved(environ, url, tmp_path)
    assert "1 page deleted" in (await run(environ, "library", "forget", url)).out
    assert (await run(environ, "library", "forget", url)).code == 1
    assert (await run(environ, "library", "forget")).code == 2


async def asked(environ: dict[str, str], site: Site) -> None:
    before = len(site.requests)
    recalled = await run(environ, "recall", "ultraviolet light", "--json")
    (finding,) = json.loads(recalled.out)["findings"]
    assert finding["passages"][0]["url"] == site.url("/article")
    nothing = await run(environ, "recall", "quantum chromodynamics")
    assert nothing.code == 3
    assert "No page read so far seems to answer this. Closest passages:" in nothing.out
    assert "1. score" in nothing.out
    assert len(site.requests) == before


async def listed(environ: dict[str, str], url: str) -> None:
    assert url in (await run(environ, "library", "list")).out
    assert json.loads((await run(environ, "library", "list", "--json")).out)["url"] == url
    assert "ultraviolet" in (await run(environ, "library", "show", url)).out
    assert json.loads((await run(environ, "library", "show", url, "--json")).out)["chunks"]
    missing = await run(environ, "library", "show", "https://example.com/none")
    assert (missing.code, "is not in the library" in missing.err) == (2, True)
    assert "1 pages" in (await run(environ, "library", "stats")).out
    assert json.loads((await run(environ, "library", "stats", "--json")).out)["pages"] == 1


async def moved(environ: dict[str, str], url: str, folder: Path) -> None:
    lines, table = folder / "pages.jsonl", folder / "chunks.parquet"
    assert (await run(environ, "library", "export", str(lines))).code == 0
    assert json.loads(lines.read_text(encoding="utf-8"))["url"] == url
    assert (await run(environ, "library", "export", str(table))).code == 0
    with duckdb.connect(":memory:") as database:
        found = database.execute("SELECT DISTINCT url FROM read_parquet(?)", [str(table)])
        assert found.fetchall() == [(url,)]
    assert "1 pages embedded again" in (await run(environ, "library", "rebuild")).out
    assert "1 pages copied" in (await run(environ, "library", "move", "duckdb")).out
    there = await run({**environ, "KINDLY_STORE": "duckdb"}, "library", "list")
    assert url in there.out, there.err
