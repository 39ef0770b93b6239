"""Benchmark of memory: the peak growth of a process while it extracts a page, as a multiple of the page's size.

    python -m bench.extract_memory [--set wcxb] [--every 12]

Each page is read in a forked process that has read the project's small pages before, so that all libraries are loaded.
Linux only.
"""

import argparse
import gc
import gzip
import json
import os
import statistics
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from kindly.errors import KindlyError
from kindly.extract import ExtractOptions
from kindly.extract.html import read_html

SHARED = Path(__file__).parents[1] / "../shared/data/extract"
SMALL_PAGES = sorted((Path(__file__).parents[1] / "tests/quality/pages").glob("*.html"))
STATUS = Path("/proc/self/status")
RESET_PEAK = Path("/proc/self/clear_refs")
LARGE_BYTES = 100_000


def read(markup: str) -> None:
    """Extract a page and discard the result."""
    try:
        read_html(markup, ExtractOptions(), "https://site.example/")
    except KindlyError:
        return


def read_small_pages() -> None:
    """Load everything that is loaded once."""
    for path in SMALL_PAGES:
        read(path.read_text(encoding="utf-8"))


def status_bytes(name: str) -> int:
    """A field of `/proc/self/status`, in bytes."""
    lines = STATUS.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def growth_bytes(markup: str) -> int:
    """The peak growth of a process while it reads a page."""
    pipe_out, pipe_in = os.pipe()
    child = os.fork()
    if child == 0:
        read_small_pages()
        RESET_PEAK.write_text("5", encoding="ascii")
        before = status_bytes("VmRSS")
        read(markup)
        os.write(pipe_in, str(status_bytes("VmHWM") - before).encode())
        os._exit(0)
    os.close(pipe_in)
    os.waitpid(child, 0)
    with os.fdopen(pipe_out, "rb") as pipe:
        return int(pipe.read())


def multiple(markup: str) -> float:
    """The growth as a multiple of the page's size."""
    return growth_bytes(markup) / len(markup.encode())


def pages(path: Path, every: int) -> Iterator[str]:
    """The markup of every n-th page of a data set."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in islice(lines, 0, None, every):
            yield json.loads(line)["html"]


def show(name: str, multiples: list[float]) -> None:
    """Print the median, the 95th percentile and the maximum."""
    ordered = sorted(multiples)
    print(
        f"{name}: {len(ordered)}, median {statistics.median(ordered):.1f} x,"
        f" p95 {ordered[int(len(ordered) * 0.95)]:.1f} x, maximum {ordered[-1]:.1f} x"
    )


def main() -> None:
    """Parse the arguments and measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=SHARED)
    parser.add_argument("--set", default="wcxb")
    parser.add_argument("--every", type=int, default=12)
    options = parser.parse_args()
    path = options.data / options.set / "dev.jsonl.gz"
    if not path.is_file() or not RESET_PEAK.exists():
        parser.exit(2, f"There is no data set {options.set} in {options.data}, or no Linux.\n")
    read_small_pages()
    gc.collect()
    gc.freeze()
    measured = [(len(markup.encode()), multiple(markup)) for markup in pages(path, options.every)]
    show("all pages", [times for _, times in measured])
    show(
        f"of at least {LARGE_BYTES:,} bytes",
        [times for size, times in measured if size >= LARGE_BYTES],
    )


if __name__ == "__main__":
    main()
