"""Rendered pixels: would a person see the difference between two words on a page?"""

import os
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kindly.fetch.browser.executables import find, this_machine

if TYPE_CHECKING:
    from playwright.async_api import Page

NOTICED = 12
"""The smallest visible difference of a colour channel, of 255."""
DIFFERENCE = """async pictures => {
  const pixels = await Promise.all(pictures.map(async picture => {
    const image = await createImageBitmap(await (await fetch("data:image/png;base64," + picture)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    return canvas.getImageData(0, 0, image.width, image.height).data;
  }));
  return pixels[0].reduce((most, value, at) => Math.max(most, Math.abs(value - pixels[1][at])), 0);
}"""
WORDS = ("KROLMAVIZU", "BEHTOWIPAD")
"""Of equal width in a monospaced font."""


@dataclass(frozen=True)
class Eyes:
    """One tab, in which pages are rendered one after the other."""

    tab: "Page"

    async def seen(self, page: str) -> bytes:
        """A screenshot of a page."""
        await self.tab.set_content(page, wait_until="load")
        return await self.tab.screenshot(animations="disabled")

    async def tell_apart(self, one: str, other: str) -> bool:
        """Whether a person would see a difference between two pages."""
        pictures = await self.seen(one), await self.seen(other)
        if pictures[0] == pictures[1]:
            return False
        encoded = [b64encode(picture).decode() for picture in pictures]
        difference: int = await self.tab.evaluate(DIFFERENCE, encoded)
        return difference > NOTICED


@asynccontextmanager
async def open_eyes() -> AsyncIterator[Eyes]:
    """A browser, for as long as the block runs."""
    from playwright.async_api import async_playwright

    executable = find(this_machine(os.environ)).path
    arguments = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=executable, args=arguments)
        try:
            tab = await browser.new_page(viewport={"width": 640, "height": 400}, offline=True)
            yield Eyes(tab)
        finally:
            await browser.close()
