"""How often a browser starts without need, and how often a needed one does not start.

    python -m bench.browser_need [--show]

Static pages are the saved ones beside the checkout, in `../shared/data/extract`; the pages that only a script fills are
in `tests/support/js_pages.py`. Exits 1 when fewer than 95 % of the first go without a browser, or not all of the second
get one.
"""

import argparse
import gzip
import json
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from tests.support.js_pages import JS_PAGES

from kindly.fetch.browser.need import browser_reason
from kindly.models import Page

DATA = Path(__file__).parents[1] / "../shared/data/extract"
MIN_WITHOUT = 0.95


def page(html: str, url: str = "https://example.com/") -> Page:
    """A page as the HTTP client returns it."""
    return Page(url, url, 200, "text/html", html.encode(), datetime(2026, 1, 1, tzinfo=UTC))


def static_pages() -> Iterator[tuple[str, str]]:
    """Name and HTML of every saved page."""
    for path in sorted(DATA.glob("*/dev.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                yield f"{path.parent.name}/{row['id']}", row["html"]


def measure(*, show: bool) -> int:
    """Print both rates; 1 if one misses its bar."""
    got = {name: browser_reason(page(html)) for name, html in JS_PAGES.items()}
    missed = [name for name, why in got.items() if why is None]
    print(
        f"JS-only pages that get a browser:      {len(got) - len(missed)} of {len(got)}   bar all"
    )
    for name in missed:
        print(f"  missed: {name}")
    if not DATA.is_dir():
        print("Static pages: skipped, because ../shared/data/extract is not beside this checkout.")
        return int(bool(missed))
    total, took_s = 0, 0.0
    needing: list[str] = []
    for name, html in static_pages():
        one = page(html)
        began = time.perf_counter()
        why = browser_reason(one)
        took_s += time.perf_counter() - began
        total += 1
        if why:
            needing.append(f"{name}: {why}")
    rate = 1 - len(needing) / total
    print(f"Static pages that need no browser:     {rate:.2%} of {total}   bar {MIN_WITHOUT:.0%}")
    print(f"  decided in                           {took_s / total * 1000:.2f} ms a page")
    if show:
        print("\n".join(needing))
    return int(bool(missed) or rate < MIN_WITHOUT)


def main() -> int:
    """Parse the arguments and measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--show", action="store_true", help="name the static pages that need one")
    return measure(show=parser.parse_args().show)


if __name__ == "__main__":
    sys.exit(main())
