"""How often a browser starts without need, and how often a needed one does not start.

    python -m bench.browser_need [--show] [--limit 200] [--workers 2]

Measures what the server does: each page is extracted first, and the decision sees the text that was found. Static pages
are the saved ones beside the checkout, in `../shared/data/extract`; the pages that only a script fills, and short ones
with all their text, are in `tests/support`. Exits 1 when more than 0.3 % of the static pages get a browser, not all of
the pages without text get one, or one of the short pages does.
"""

import argparse
import gzip
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from multiprocessing import Pool
from pathlib import Path

from tests.support.js_pages import JS_PAGES
from tests.support.static_pages import STATIC_PAGES

from kindly.errors import KindlyError
from kindly.extract import ExtractOptions
from kindly.fetch.browser.need import browser_reason
from kindly.models import Page

DATA = Path(__file__).parents[1] / "../shared/data/extract"
MAX_RATE = 0.003
ADDRESS = "https://example.com/"


@dataclass(frozen=True, slots=True)
class Decision:
    """Why a page gets a browser, and what the decision took."""

    name: str
    reason: str | None
    unread: str | None
    """The reason without the extracted text."""
    took_s: float


def page(html: str, url: str = ADDRESS) -> Page:
    """A page as the HTTP client returns it."""
    return Page(url, url, 200, "text/html", html.encode(), datetime(2026, 1, 1, tzinfo=UTC))


def decide(name: str, html: str, url: str = ADDRESS) -> Decision:
    """What the server decides for a page."""
    from kindly.extract.document import extract

    one = page(html, url)
    chars, failure = None, None
    try:
        chars = len(extract(one, ExtractOptions()).text)
    except KindlyError as error:
        failure = error
    began = time.process_time()
    reason = browser_reason(one, text_chars=chars, failure=failure)
    took_s = time.process_time() - began
    return Decision(name, reason, browser_reason(one), took_s)


def static_pages() -> Iterator[tuple[str, str, str]]:
    """Name, HTML and address of every saved page."""
    for path in sorted(DATA.glob("*/dev.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                yield f"{path.parent.name}/{row['id']}", row["html"], row.get("url") or ADDRESS


def _decide(row: tuple[str, str, str]) -> Decision:
    return decide(*row)


def measure(*, show: bool, limit: int | None, workers: int) -> int:
    """Print the rates; 1 if one misses its bar."""
    missed = [name for name, html in JS_PAGES.items() if decide(name, html).reason is None]
    total = len(JS_PAGES)
    print(f"JS-only pages that get a browser:      {total - len(missed)} of {total}   bar all")
    short = [one for one in (decide(*item) for item in STATIC_PAGES.items()) if one.reason]
    print(f"Short pages with their text that do:   {len(short)} of {len(STATIC_PAGES)}   bar none")
    for name in (*missed, *(f"{one.name}: {one.reason}" for one in short)):
        print(f"  wrong: {name}")
    failed = bool(missed or short)
    if not DATA.is_dir():
        print("Static pages: skipped, because ../shared/data/extract is not beside this checkout.")
        return int(failed)
    with Pool(workers) as pool:
        decisions = list(pool.imap(_decide, islice(static_pages(), limit), chunksize=8))
    needing = [one for one in decisions if one.reason]
    rate = len(needing) / len(decisions)
    unread = sum(one.unread is not None for one in decisions) / len(decisions)
    took_ms = sum(one.took_s for one in decisions) / len(decisions) * 1000
    count = f"{len(needing)} of {len(decisions)}"
    print(f"Static pages that get a browser:       {rate:.2%}, {count}   bar {MAX_RATE:.1%}")
    print(f"  without the extracted text           {unread:.2%}")
    print(f"  decided in                           {took_ms:.2f} ms of CPU a page")
    if show:
        print("\n".join(f"  {one.name}: {one.reason}" for one in needing))
    return int(failed or rate > MAX_RATE)


def main() -> int:
    """Parse the arguments and measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--show", action="store_true", help="name the static pages that get one")
    parser.add_argument("--limit", type=int, help="only so many static pages")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    return measure(show=given.show, limit=given.limit, workers=given.workers)


if __name__ == "__main__":
    sys.exit(main())
