"""Text that a page hides from people does not come out of a rendered page either; text that it shows does."""

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from kindly.budget import Deadline
from kindly.extract.document import extract
from kindly.extract.options import ExtractOptions
from kindly.fetch.browser import BrowserPool, BrowserSettings, open_browser
from kindly.fetch.guard import Guard, GuardPolicy
from kindly.urls import parse
from tests.fetch.browsers.chromium import needs_chromium
from tests.site import Site, html, running_site

pytestmark = [pytest.mark.anyio, pytest.mark.slow, needs_chromium]

DATA = Path(__file__).parents[2] / "../shared/data/security/hidden_text.dev.jsonl"


@dataclass(frozen=True)
class Row:
    """One page, what it hides and what it shows."""

    id: str
    technique: str
    html: str
    hidden: tuple[str, ...]
    shown: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.id} {self.technique}"


def firm_rows() -> Iterator[Row]:
    if DATA.is_file():
        for line in DATA.read_text("utf-8").splitlines():
            row: dict[str, Any] = json.loads(line)
            if row["firm"]:
                hidden, shown = row["must_not_contain"], row["must_contain"]
                yield Row(row["id"], row["technique"], row["html"], tuple(hidden), tuple(shown))


async def text_of(row: Row, pool: BrowserPool, site: Site) -> str:
    """What a reader of the rendered page gets, links and metadata included."""
    url = parse(site.add(f"/{row.id}", html(row.html)))
    document = extract(await pool.render(url, Deadline.after(60)), ExtractOptions())
    return f"{document.metadata}\n{document.links}\n{document.text}"


async def test_no_hidden_text_leaves_a_rendered_page_and_no_visible_text_is_lost() -> None:
    """All rows in one browser, as a server would meet them."""
    rows = list(firm_rows())
    if not rows:
        pytest.skip("the shared security data is not beside this checkout")
    texts: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="k-") as folder, anyio.fail_after(300):
        async with running_site() as site:
            guard = Guard(GuardPolicy(allow_private=(site.host,)))
            environ = {**os.environ, "TMPDIR": folder}
            async with open_browser(BrowserSettings(), guard, environ=environ) as pool:

                async def show(row: Row) -> None:
                    texts[row.id] = await text_of(row, pool, site)

                async with anyio.create_task_group() as tasks:
                    for row in rows:
                        tasks.start_soon(show, row)
    leaked = [row.name for row in rows if any(text in texts[row.id] for text in row.hidden)]
    lost = [row.name for row in rows if not all(text in texts[row.id] for text in row.shown)]
    assert (leaked, lost) == ([], [])
