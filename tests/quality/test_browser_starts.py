"""How many saved pages start a browser: a count that does not depend on the machine."""

from itertools import islice

from bench.browser_need import DATA, decide, static_pages

from tests.support.paths import SHARED_DATA
from tests.support.shared_data import needs_shared

EVERY = 16
"""Every n-th page is read, to save time."""
MAX_STARTS = 1


@needs_shared(SHARED_DATA / "extract")
def test_hardly_any_saved_page_starts_a_browser() -> None:
    assert DATA.is_dir()
    pages = list(islice(static_pages(), 0, None, EVERY))
    starting = [name for name, html, url in pages if decide(name, html, url).reason]
    assert len(pages) > 100
    assert len(starting) <= MAX_STARTS, starting
