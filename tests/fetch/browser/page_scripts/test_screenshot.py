import base64

import pytest

from kindly.fetch.browser import driver_protocol
from kindly.fetch.browser.page_scripts.screenshot import (
    SCREENSHOT_BYTES,
    SCREENSHOT_HEIGHTS,
    pictured,
)

pytestmark = pytest.mark.anyio

JOB = driver_protocol.Job(7, "http://pub.example.com/a", "u", "p", 5, 2, 1_000, picture=True)
TALLEST, MIDDLE, LOWEST = SCREENSHOT_HEIGHTS


@pytest.mark.parametrize(
    ("page_height", "bytes_a_pixel", "expected"),
    [
        (10_000, 1, TALLEST),
        (900, 1, 900),
        (0, 1, 1),
        (10_000, SCREENSHOT_BYTES // MIDDLE, MIDDLE),
        (MIDDLE - 1, SCREENSHOT_BYTES // LOWEST, LOWEST),
        (10_000, SCREENSHOT_BYTES, None),
    ],
    ids=["a long page", "a short page", "no height", "large", "larger", "too large"],
)
async def test_the_tallest_picture_within_the_limit_is_taken(
    page_height: int, bytes_a_pixel: int, expected: int | None
) -> None:
    async def capture(height: int) -> bytes:
        return b"x" * (height * bytes_a_pixel)

    answer = await pictured(JOB, "http://pub.example.com/b", 200, page_height, capture)
    if expected is None:
        assert isinstance(answer, driver_protocol.RenderFailed)
        assert answer.problem == "too_large"
        return
    assert isinstance(answer, driver_protocol.Rendered)
    assert (answer.url, answer.html) == ("http://pub.example.com/b", "")
    assert (answer.height, answer.page_height) == (expected, max(1, page_height))
    assert len(base64.b64decode(answer.png)) == expected * bytes_a_pixel <= SCREENSHOT_BYTES
