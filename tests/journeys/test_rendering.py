"""Pages that need a browser get one; pages that do not never start one."""

import json
from importlib.util import find_spec
from pathlib import Path

import anyio
import pytest

from kindly.errors import SettingsError
from kindly.fetch.browser.executables import find, this_machine
from tests.support.served_world import calling, environment, text_of
from tests.support.site import Answer, Site, html

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SHELL = """<!doctype html><html><head><title>App</title></head><body><div id="root"></div>
<noscript>You need to enable JavaScript to run this app.</noscript>
<script>
fetch('/data.json').then(r => r.json()).then(d => {
  document.getElementById('root').innerHTML =
    '<main><h1>' + d.title + '</h1>' + d.paragraphs.map(p => '<p>' + p + '</p>').join('') + '</main>';
});
</script></body></html>"""
DATA = {
    "title": "Drawn by a script",
    "paragraphs": [
        f"Paragraph {n} was brought by a script after the page had loaded." for n in range(8)
    ],
}


def no_browser() -> str:
    """Why no page can be rendered here; empty if pages can be."""
    if find_spec("playwright") is None:
        return "playwright is not installed"
    try:
        find(this_machine({}), None)
    except SettingsError as error:
        return error.detail
    return ""


needs_chromium = pytest.mark.skipif(bool(no_browser()), reason=no_browser() or "there is one")


@needs_chromium
async def test_a_page_drawn_by_scripts_is_rendered(site: Site, tmp_path: Path) -> None:
    url = site.add("/app", html(SHELL))
    site.add(
        "/data.json",
        Answer(json.dumps(DATA).encode(), headers={"Content-Type": "application/json"}),
    )
    async with calling(environment(site, tmp_path)) as call:
        with anyio.fail_after(120):
            page = await call.page(url)
            again = await call.page(url)
    assert page["how"] == "browser"
    assert "Paragraph 7 was brought" in page["page_content"]
    assert again["how"] == "cache"
    assert "Paragraph 7 was brought" in again["page_content"]


async def test_without_a_browser_the_page_is_reported_as_empty(site: Site, tmp_path: Path) -> None:
    url = site.add("/app", html(SHELL))
    async with calling(environment(site, tmp_path, KINDLY_BROWSER="off")) as call:
        with anyio.fail_after(120):
            result = await call("get_content", url=url)
    assert result.is_error
    assert "(empty)" in text_of(result)
    assert "JavaScript" in text_of(result)


async def test_a_page_with_text_never_starts_a_browser(site: Site, tmp_path: Path) -> None:
    """A browser that cannot start would be noticed: it does not exist."""
    settings = {"KINDLY_BROWSER": "playwright", "KINDLY_BROWSER_PATH": str(tmp_path / "none")}
    async with calling(environment(site, tmp_path, **settings)) as call:
        with anyio.fail_after(120):
            assert (await call.page(site.url("/article")))["how"] == "http"
