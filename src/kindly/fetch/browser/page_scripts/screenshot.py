"""The limits of a screenshot: hosts refuse large answers, and a model sees a tall picture only scaled down."""

import base64
from collections.abc import Awaitable, Callable

from kindly.fetch.browser import driver_protocol

SCREENSHOT_WIDTH = 1280
SCREENSHOT_HEIGHTS = (2560, 1280, 640)
"""The tallest that fits is taken; a page that is shorter is taken whole."""
SCREENSHOT_BYTES = 700_000
"""Of the PNG file; its base64 form is a third longer."""
PAGE_HEIGHT = (
    "() => Math.max(document.documentElement.scrollHeight, document.body?.scrollHeight ?? 0)"
)
REMOVE = (
    "banners => banners.forEach(one => document.querySelectorAll(one).forEach(e => e.remove()))"
)
"""Takes consent banners away."""

Capture = Callable[[int], Awaitable[bytes]]
"""The PNG file of the page's first so many pixels."""


async def pictured(
    job: driver_protocol.Job, at: str, status: int, page_height: int, capture: Capture
) -> driver_protocol.Rendered | driver_protocol.RenderFailed:
    """The largest screenshot from the top of the page that has no more bytes than allowed."""
    page_height = max(1, page_height)
    for height in dict.fromkeys(min(limit, page_height) for limit in SCREENSHOT_HEIGHTS):
        png = await capture(height)
        if len(png) <= SCREENSHOT_BYTES:
            shown = base64.b64encode(png).decode("ascii")
            return driver_protocol.Rendered(job.id, at, status, "", shown, height, page_height)
    return driver_protocol.RenderFailed(job.id, "too_large", at)
