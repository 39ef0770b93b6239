"""Pages rendered in parallel by the real server process: all are shown, and no process is left when it ends."""

import os
import sys
import tempfile
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters

from kindly.fetch.browser.browser_process import marked
from tests.support.chromium import needs_chromium
from tests.support.processes import until
from tests.support.served_world import environment
from tests.support.site import Site, html, running_site

pytestmark = [pytest.mark.anyio, pytest.mark.slow, needs_chromium]

PAGES, AT_ONCE = 8, 4
SHELL = """<!doctype html><title>App</title><div id="root"></div>
<noscript>You need to enable JavaScript to run this app.</noscript>
<script>
root.innerHTML = '<main><h1>Page</h1>' + '<p>Drawn by a script for a reader.</p>'.repeat(9) + '</main>'</script>"""


async def render_all(client: Client, site: Site) -> list[str]:
    """How each page was retrieved."""
    hows: list[str] = []
    slots = anyio.Semaphore(AT_ONCE)

    async def show(number: int) -> None:
        async with slots:
            url = site.add(f"/app/{number}", html(SHELL))
            result = await client.call_tool("get_content", {"url": url})
            content = result.structured_content or {}
            hows.append(str(content.get("how")))

    async with anyio.create_task_group() as tasks:
        for number in range(PAGES):
            tasks.start_soon(show, number)
    return hows


async def test_no_process_is_left_after_many_pages_and_the_servers_end(
    tmp_path: Path,
) -> None:
    with tempfile.TemporaryDirectory(prefix="k-") as folder, anyio.fail_after(300):
        async with running_site() as site:
            environ = {
                **os.environ,
                **environment(site, tmp_path, RESPECT_ROBOTS_TXT="0", REQUEST_TIMEOUT_MS="240000"),
                "TMPDIR": folder,
            }
            server = StdioServerParameters(
                command=sys.executable, args=["-m", "kindly", "start-mcp-server"], env=environ
            )
            async with Client(server) as client:
                hows = await render_all(client, site)
                assert len(marked(folder)) > 2
        assert hows == ["browser"] * PAGES
        await until(lambda: not marked(folder))
