"""Pages in one tab of a real browser: what a person sees of them, and what the product takes from them."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from kindly.fetch.browser.executables import find, this_machine
from kindly.fetch.browser.flags import LEAN
from kindly.fetch.browser.page_scripts import script

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Page

NOTICED = 12
"""The smallest visible difference of a colour channel, of 255."""
WIDTH, HEIGHT = 640, 400
"""The viewport of a page that is looked at."""
COLUMNS, ROWS = 3, 4
"""How many pages are looked at together, each in a frame of its own."""
DIFFERENCES = """async ([pictures, columns, rows, width, height]) => {
  const drawn = await Promise.all(pictures.map(async picture => {
    const image = await createImageBitmap(await (await fetch("data:image/png;base64," + picture)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    return canvas;
  }));
  return [...Array(columns * rows).keys()].map(at => {
    const place = [(at % columns) * width, Math.floor(at / columns) * height, width, height];
    const [one, other] = drawn.map(canvas => new Uint32Array(canvas.getImageData(...place).data.buffer));
    let most = 0;
    for (let pixel = 0; pixel < one.length; pixel++) {
      if (one[pixel] === other[pixel]) continue;
      for (const shift of [0, 8, 16, 24]) {
        const difference = ((one[pixel] >>> shift) & 255) - ((other[pixel] >>> shift) & 255);
        most = Math.max(most, Math.abs(difference));
      }
    }
    return most;
  });
}"""
WORDS = ("KROLMAVIZU", "BEHTOWIPAD")
"""Of equal width in a monospaced font."""
PRODUCT_VIEWPORT = (1280, 720)


@dataclass(frozen=True)
class Eyes:
    """One tab, in which pages are rendered side by side."""

    tab: "Page"
    devtools: "CDPSession"

    async def tell_apart(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """For each pair of pages, whether a person would see a difference between them."""
        seen: list[bool] = []
        for start in range(0, len(pairs), COLUMNS * ROWS):
            some = pairs[start : start + COLUMNS * ROWS]
            seen += (await self._differences(some))[: len(some)]
        return seen

    async def _differences(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        pictures = [await self._picture([pair[side] for pair in pairs]) for side in (0, 1)]
        if pictures[0] == pictures[1]:
            return [False] * len(pairs)
        grid = [COLUMNS, ROWS, WIDTH, HEIGHT]
        differences = await self.tab.evaluate(DIFFERENCES, [pictures, *grid])
        return [difference > NOTICED for difference in differences]

    async def _picture(self, pages: Sequence[str]) -> str:
        """A screenshot of the pages in a grid, in Base64."""
        frames = "".join(f'<iframe srcdoc="{escape(page)}"></iframe>' for page in pages)
        size = f"width:{WIDTH}px;height:{HEIGHT}px"
        style = f"body{{margin:0;display:flex;flex-wrap:wrap}}iframe{{border:0;{size}}}"
        content = f"<!doctype html><style>{style}</style>{frames}"
        await self.tab.set_content(content, wait_until="load")
        png = {"format": "png", "optimizeForSpeed": True}
        return str((await self.devtools.send("Page.captureScreenshot", png))["data"])


@dataclass(frozen=True)
class Taker:
    """One tab, in which pages are rendered one after the other."""

    tab: "Page"

    async def take(self, page: str) -> str:
        """The visible HTML of a page, by the script of the product."""
        await self.tab.set_content(page, wait_until="load")
        taken = await self.tab.evaluate(script.TAKE, [list(script.BANNERS), 10**6])
        return str(taken)


@asynccontextmanager
async def open_eyes() -> AsyncIterator[Eyes]:
    """A browser to look at pages, for as long as the block runs."""
    flags = ("--disable-gpu", "--hide-scrollbars")
    async with _open_tab(flags, COLUMNS * WIDTH, ROWS * HEIGHT) as tab:
        yield Eyes(tab, await tab.context.new_cdp_session(tab))


@asynccontextmanager
async def open_taker() -> AsyncIterator[Taker]:
    """A browser to take pages, for as long as the block runs."""
    async with _open_tab(LEAN, *PRODUCT_VIEWPORT) as tab:
        yield Taker(tab)


@asynccontextmanager
async def _open_tab(flags: Sequence[str], width: int, height: int) -> AsyncIterator["Page"]:
    from playwright.async_api import async_playwright

    executable = find(this_machine(os.environ)).path
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=executable, args=["--no-sandbox", *flags]
        )
        try:
            yield await browser.new_page(viewport={"width": width, "height": height}, offline=True)
        finally:
            await browser.close()
