"""`kindly changes` and `kindly verify` in real processes, with a site on loopback."""

import json
from pathlib import Path

import pytest

from tests.support.processes import run_kindly as run
from tests.support.served_world import environment
from tests.support.site import Site, html

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

PAGE = "<title>Bees</title><h1>Bees</h1><p>A bee visits {} flowers on each of its trips.</p>"


async def test_a_quote_and_the_changes_of_a_page(site: Site, tmp_path: Path) -> None:
    environ = environment(site, tmp_path)
    url = site.add("/bees", html(PAGE.format(50)))
    exact = await run(environ, "verify", "A bee visits 50 flowers", url)
    assert (exact.code, exact.out.partition("\n")[0]) == (0, "Verdict: exact.")
    assert "<<<web-page" not in exact.out
    near = await run(environ, "verify", "--json", "A bee visits 70 flowers on each of its", url)
    assert near.code == 3, near.err
    (difference,) = json.loads(near.out)["differences"]
    assert difference == {"quoted": "70", "found": "50", "kind": "number"}
    site.add("/bees", html(PAGE.format(60)))
    changed = await run(environ, "changes", url, "--refresh")
    assert changed.code == 0, changed.err
    assert "1 of 1 pages changed" in changed.out
    assert "+A bee visits 60 flowers" in changed.out


async def test_what_is_not_stored_is_refused_in_a_line(site: Site, tmp_path: Path) -> None:
    done = await run(environment(site, tmp_path), "changes", "unknown")
    assert (done.code, done.out) == (2, "")
    assert "neither an address nor a collection" in done.err
